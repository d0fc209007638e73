"""
What an LLM-POP episode has done and felt so far, as the models of its next round read it.

    == Round 0 ==
    Explanation: weigh the red one first
    Action 0: PICK red_cube
    Result 0: done
    Observation 0: red_cube: [...] EEF: [...] Force: [...] Gripper: [...]
    Action 1: PLACE [0.5 0 0.02 1 0 0 0]
    Result 1: failed: The target is occupied by blue_cube.
    Observation 1: ...
    Action 2: RESET
    Result 2: not tried

What people said stands between the rounds, as `Person: ...`. Where the text would be longer than
it may, the oldest rounds shrink to a line each, and where that is not enough they go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from bbllm.core.observation import Observed
from bbllm.planners.common.prompt_history import BUDGET, PromptHistory
from bbllm.planners.common.prompting import one_line

NOTHING = 'None.'
"""The history of an episode that has done nothing yet."""
DONE = 'done'
FAILED = 'failed: '
"""Goes before the sentence that says why."""
NOT_TRIED = 'not tried'
"""What became of actions behind one that failed."""


@dataclass(frozen=True, slots=True)
class TriedAction:
    """One action of a plan, and what came of it."""

    action: str
    """As the planner wrote it, without the word ACTION."""
    result: str = NOT_TRIED
    observation: Observed | None = None
    """What was observed after it; None where it was not tried."""

    def in_short(self) -> str:
        """Return what became of it in a few words."""
        words = f'{self.action} {self.result}'
        if self.observation is None or self.observation.force_n is None:
            return words
        return f'{words}, force z {self.observation.force_n[2] + 0.0:.2f}'


@dataclass(frozen=True, slots=True)
class Round:
    """One plan, carried out as far as it went."""

    explanation: str
    tried: tuple[TriedAction, ...] = ()

    def in_full(self, number: int) -> str:
        """Write all of it."""
        lines = [f'== Round {number} ==', f'Explanation: {self.explanation}']
        for i, item in enumerate(self.tried):
            lines += [f'Action {i}: {item.action}', f'Result {i}: {item.result}']
            if item.observation is not None:
                lines.append(f'Observation {i}: {item.observation}')
        return '\n'.join(lines)

    def in_short(self, number: int) -> str:
        """Write it in one line."""
        done = '; '.join(item.in_short() for item in self.tried if item.result != NOT_TRIED)
        return f'Round {number} in short: {done or "nothing was done"}'


class History(PromptHistory):
    """The rounds of one episode, and what people said in between, which is never left out."""

    in_short = 'in a line each'

    def __init__(
        self, budget: int | None = BUDGET, *, on_short: Callable[[str], None] | None = None
    ):
        super().__init__(budget, on_short=on_short)
        self._entries: list[Round | str] = []

    @property
    def n_rounds(self) -> int:
        """How many rounds there were."""
        return sum(isinstance(entry, Round) for entry in self._entries)

    def add(self, finished: Round) -> None:
        """Put the next round behind all that there is."""
        tried = tuple(replace(item, result=one_line(item.result)) for item in finished.tried)
        self._entries.append(Round(one_line(finished.explanation), tried))

    def hear(self, said: Iterable[str]) -> None:
        """Put what people said behind all that there is."""
        self._entries += [f'Person: {one_line(text)}' for text in said]

    def write(self, in_short: int = 0, left_out: int = 0) -> str:
        """See `PromptHistory.write`."""
        parts = [f'Rounds before round {left_out} are left out.'] if left_out else []
        number = 0
        for entry in self._entries:
            if isinstance(entry, str):
                parts.append(entry)
                continue
            if number >= in_short:
                parts.append(entry.in_full(number))
            elif number >= left_out:
                parts.append(entry.in_short(number))
            number += 1
        return '\n'.join(parts) or NOTHING
