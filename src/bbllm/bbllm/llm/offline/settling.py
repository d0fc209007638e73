"""Bringing things to their places, on an imagined board."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.llm.offline.arranging import Pairs
from bbllm.llm.offline.board import BESIDE_M, Board
from bbllm.llm.offline.phrases import RefusalError
from bbllm.llm.offline.shapes import Box


class Settling:
    """One set of things on their way to one set of places."""

    def __init__(
        self, board: Board, pairs: Pairs, elsewhere: Sequence[Box], box: Box | None = None
    ):
        """
        Begin.

        Args:
            board: The table; steps are added to its plan.
            pairs: Things and places.
            elsewhere: What other goals speak of; nothing is put aside there either.
            box: What is to stay free of other things; just the places where not given.
        """
        self._board = board
        self._cells = dict(pairs)
        self._todo = {name: cell for name, cell in pairs if not cell.holds(board.things[name])}
        self._there = {name for name, _ in pairs if name not in self._todo}
        boxes = [box] if box else [Box.around([cell]) for _, cell in pairs]
        self._away = [*boxes, *elsewhere]

    def run(self, strangers: Sequence[str], *, named: bool) -> None:
        """
        Write the steps: what is held first, then in the order given where that is possible.

        Args:
            strangers: Things that have to leave first.
            named: Whether the task names the places. Then what stands in the way is only put
                aside after feedback said so: whoever named the place may not know of it.

        Raises:
            RefusalError: A place or what is in the way is out of reach; says so.
        """
        board = self._board
        if strangers and board.held is not None:
            board.put_aside(self._away)
        for name in strangers:
            self._put_aside(name)
        while self._todo:
            name = self._next()
            cell = self._todo.pop(name)
            if cell.key in board.lessons.bad_places:
                raise RefusalError(board.lessons.bad_places[cell.key])
            if not named or cell.key in board.lessons.taken:
                while (found := board.in_the_way(cell, {name, *self._there})) is not None:
                    self._put_aside(found)
            board.pick(name, self._away)
            board.place(cell)
            self._there.add(name)
            self._call_back()

    def _put_aside(self, name: str) -> None:
        self._board.pick(name, self._away)
        self._board.put_aside(self._away)

    def _call_back(self) -> None:
        """Take up again what had to leave its place so that something else could be picked."""
        for name in [*self._there]:
            if not self._cells[name].holds(self._board.things[name]):
                self._there.remove(name)
                self._todo[name] = self._cells[name]

    def _next(self) -> str:
        """
        Return what is held, else the first thing whose place is free, else the first.

        What stands beside a place that is yet to be filled goes before all others: later, the
        hand would find no room beside it.
        """
        board = self._board
        if board.held in self._todo:
            return board.held
        endangered = [name for name in self._todo if self._stands_beside(name)]
        for name in (*endangered, *self._todo):
            if board.in_the_way(self._todo[name], {name, *self._there}) is None:
                return name
        return next(iter(self._todo))

    def _stands_beside(self, name: str) -> bool:
        thing = self._board.things[name]
        return any(
            cell.near(thing, BESIDE_M) for other, cell in self._todo.items() if other != name
        )
