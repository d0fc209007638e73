"""Which of the things that fit a description are taken."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.llm.offline.board import Board
from bbllm.llm.offline.lessons import Lessons
from bbllm.llm.offline.phrases import RefusalError, Select


class Choice:
    """Chooses things: what is in hand or in place first, never what feedback ruled out."""

    def __init__(self, board: Board, lessons: Lessons):
        self._board = board
        self._lessons = lessons
        self.used: set[str] = set()
        """Things that an earlier goal has given a place."""

    def choose(self, select: Select, settled: Sequence[str] = ()) -> list[str]:
        """
        Choose the things that are meant.

        Args:
            select: What was said.
            settled: Those that are where they should be already.

        Raises:
            RefusalError: Too few are left that can be used; says why.
        """
        bad = self._lessons.bad_things
        usable = [
            name
            for name in select.names
            if (name not in bad and name not in self._board.fixed)
            or name in settled
            or name == self._board.held
        ]
        if select.count is None and (usable or not select.names):
            return self.sorted(usable, settled)
        fresh = [name for name in usable if name not in self.used]
        needed = select.count or 1
        usable = self.sorted(fresh if len(fresh) >= needed else usable, settled)
        if len(usable) < needed:
            raise RefusalError(
                f"of '{select.said}', {len(usable)} can be used, but {needed} must be. "
                f'{self.reasons(select.names)}'
            )
        return usable[:needed]

    def sorted(self, names: Sequence[str], settled: Sequence[str] = ()) -> list[str]:
        """Sort things: held, in place, asked for, known to be within reach, the others."""

        def rank(name: str) -> int:
            wanted = (
                name == self._board.held,
                name in settled,
                name in self._lessons.preferred,
                name in self._lessons.moved,
            )
            return wanted.index(True) if True in wanted else len(wanted)

        return sorted(dict.fromkeys(names), key=rank)

    def reasons(self, names: Sequence[str]) -> str:
        """Say what ruled out some of these things or places."""
        bad = {**self._lessons.bad_places, **self._lessons.bad_things}
        return ' '.join(dict.fromkeys(bad[name] for name in names if name in bad))
