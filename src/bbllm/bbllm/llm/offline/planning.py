"""From goals to steps, on an imagined board."""

from __future__ import annotations

from collections.abc import Sequence

from bbllm.llm.offline import words as w
from bbllm.llm.offline.arranging import Pairs, arrange, keeping, tower
from bbllm.llm.offline.board import Board
from bbllm.llm.offline.choosing import Choice
from bbllm.llm.offline.goals import Act, Goal, Move, PerSide, Separate, Shape
from bbllm.llm.offline.lessons import Lessons
from bbllm.llm.offline.ordering import bottom_first, fixed, target_of
from bbllm.llm.offline.phrases import RefusalError, Select, Target
from bbllm.llm.offline.settling import Settling
from bbllm.llm.offline.shapes import Box, Cell, around
from bbllm.llm.offline.sides import moves_apart, share, to_the_middle
from bbllm.llm.offline.sight import Sight


class Planning:
    """One plan in the making."""

    def __init__(self, sight: Sight, lessons: Lessons):
        self._board = Board(sight, lessons)
        self._lessons = lessons
        self._choice = Choice(self._board, lessons)
        self._targets: list[Box] = []
        """Places that goals speak of; nothing is put aside there."""
        self._ends: dict[str, Cell | Target | str] = {}
        """Where things are to be in the end: at a place, at a side or on top of another."""

    def steps_for(self, task: Sequence[Goal], wishes: Sequence[Goal] = ()) -> list[str]:
        """
        Plan for all goals, what others stand on first, and end at the base if something moved.

        Args:
            task: What the task asks for.
            wishes: What people asked for later, even where that undoes some of the task.

        Raises:
            RefusalError: It cannot be done; says why.
        """
        task, wishes = bottom_first(task), bottom_first(wishes)
        goals = [*task, *wishes]
        self._board.fixed |= fixed(goals, self._board)
        for goal in goals:
            target = target_of(goal)
            for select in target.spots if target else ():
                spots = [name for name in select.names if self._board.things[name].at]
                self._targets += [Box.around([self._board.cell(name)]) for name in spots]
        for i, goal in enumerate(goals):
            if i == len(task):
                self._check_ends()
            self._plan(goal, goals[i + 1 :])
        self._check_ends()
        steps = self._board.steps
        placed = any(step.startswith('place') for step in steps)
        if not isinstance(goals[-1], Act) and (placed or not steps) and not self._board.held:
            steps.append('return to base')
        return steps

    def _plan(self, goal: Goal, later: Sequence[Goal]) -> None:
        if isinstance(goal, Act):
            self._act(goal, later)
        elif isinstance(goal, Shape):
            self._shape(goal)
        elif isinstance(goal, Move):
            self._move(goal, later)
        elif isinstance(goal, Separate):
            for move in moves_apart(goal, self._board):
                self._move(move, later)
        elif isinstance(goal, PerSide):
            pairs, extras = share(goal, self._board, self._choice)
            self._settle(pairs)
            for name, cell in to_the_middle(extras, self._board):
                self._board.pick(name, self._targets)
                self._board.place(cell)

    def _check_ends(self) -> None:
        """Refuse goals of which a later one has undone an earlier one."""
        for name, end in self._ends.items():
            if isinstance(end, str):
                holds, said = self._board.below(name) == end, f'on {end}'
            elif isinstance(end, Target):
                holds, said = self._is_at(name, end), end.said
            else:
                holds, said = end.holds(self._board.things[name]), f'at {end.key}'
            if not holds:
                raise RefusalError(
                    f'I cannot do all of this: {name} is to be {said}, and another part of the '
                    f'task takes it away from there. Ask for one of the two. {w.HINT}'
                )
        self._ends.clear()

    # --- what needs no choice of places -------------------------------------------------------

    def _act(self, act: Act, later: Sequence[Goal]) -> None:
        if act.verb == 'pick':
            self._pick(act.items[0], later)
            return
        text = {
            'home': 'return to base',
            'open': 'open the gripper',
            'close': 'close the gripper',
            'wait': f'wait {act.seconds:g} seconds',
            'reach': f'reach over {self._reach_target(act.target)}' if act.target else '',
        }[act.verb]
        if self._lessons.done[text] > 0:
            self._lessons.done[text] -= 1
            return
        self._board.steps.append(text)
        if act.verb == 'open':
            self._board.let_go()

    def _pick(self, select: Select, later: Sequence[Goal]) -> None:
        for name in select.names:
            self._ends.pop(name, None)
        if self._board.held in select.names:
            return
        if later and any(self._lessons.done[f'pick {name}'] for name in select.names):
            return  # it was in the hand once, and what comes later speaks of it again
        self._board.pick(self._choice.choose(select)[0], self._targets)

    def _reach_target(self, target: Target) -> str:
        if target.kind == 'pose':
            return target.pose
        names = [name for one in target.spots for name in one.names]
        usable = [name for name in names if name not in self._lessons.bad_places]
        if not usable:
            raise RefusalError(f'the hand cannot get there. {self._choice.reasons(names)}')
        return usable[0]

    # --- moves --------------------------------------------------------------------------------

    def _move(self, move: Move, later: Sequence[Goal]) -> None:
        target = move.target
        if target.kind == 'on' and len(move.items) == 1 and move.items[0].count == 1:
            self._move_onto(move.items[0], target.spots)
        elif target.kind == 'on' and self._hold_things(target.spots):
            for item in move.items:
                names = item.names if item.count is None else self._choice.choose(item, ())
                for name in names:
                    self._move_onto(Select(name, (name,)), target.spots)
        elif target.kind == 'on':
            self._shape(Shape('tower', (*target.spots, *move.items)))
        elif target.kind == 'pose':
            self._move_to_pose(move, target)
        elif target.kind == 'spots':
            self._move_to_spots(move, target, later)
        else:
            self._move_somewhere(move, target)

    def _hold_things(self, bases: Sequence[Select]) -> bool:
        names = [name for base in bases for name in base.names]
        return all(self._board.things[name].kind == 'container' for name in names)

    def _move_onto(self, item: Select, bases: Sequence[Select]) -> None:
        board = self._board
        names = [name for base in bases for name in base.names]
        there = [name for name in item.names if board.below(name) in names]
        (name,) = self._choice.choose(item, there)
        self._choice.used.add(name)
        if name in there:
            self._ends[name] = board.below(name) or ''
            return
        free = [base for base in names if base not in (name, *self._lessons.bad_places)]
        if not free:
            raise RefusalError(f'nothing can be put there. {self._choice.reasons(names)}')
        base = min(free, key=lambda base: board.on_top_of(base) is not None)
        top = board.on_top_of(base)
        if top is not None and board.things[base].kind != 'container':
            board.pick(top, self._targets)
            board.put_aside(self._targets)
        board.pick(name, self._targets)
        board.place_on(base)
        self._ends[name] = base

    def _move_to_pose(self, move: Move, target: Target) -> None:
        cell = self._board.pose(target.pose)
        there = self._board.standing_at(cell)
        settled = [there.name] if there else []
        names = [name for item in move.items for name in self._choice.choose(item, settled)]
        if len(names) != 1:
            raise RefusalError(f"'{target.said}' has room for one thing. {w.HINT}")
        self._choice.used.update(names)
        self._ends[names[0]] = cell
        if names == settled:
            return
        if (reason := self._lessons.bad_places.get(' '.join(target.pose.split()[:2]))) is not None:
            raise RefusalError(reason)
        self._board.pick(names[0], self._targets)
        self._board.place_at_pose(target.pose)

    def _move_to_spots(self, move: Move, target: Target, later: Sequence[Goal]) -> None:
        spots = [name for select in target.spots for name in select.names]
        cells = [self._board.cell(name) for name in spots]
        there = {cell.key: self._board.standing_at(cell) for cell in cells}
        settled = [item.name for item in there.values() if item is not None]
        chosen = [name for item in move.items for name in self._choice.choose(item, settled)]
        chosen = [name for name in dict.fromkeys(chosen) if not self._moved_on(name, spots, later)]
        most = sum(len(item.names) if item.count is None else item.count for item in move.items)
        if len(cells) > most:
            raise RefusalError(
                f"'{target.said}' are {len(cells)} places, but one place is needed for each of "
                f'{most} things. {w.HINT}'
            )
        if len(chosen) > len(cells):
            raise RefusalError(
                f"'{target.said}' has room for {len(cells)}, but there are {len(chosen)} things: "
                f'{", ".join(chosen)}. {w.HINT}'
            )
        if len(move.items) == len(cells) > 1:  # `the red and the blue cube to A and B`: in order
            self._settle(list(zip(chosen, cells, strict=False)), named=True)
        else:
            self._settle(list(keeping(chosen, cells, there)), named=True)

    def _moved_on(self, name: str, spots: Sequence[str], later: Sequence[Goal]) -> bool:
        """Tell whether a thing was at its place already and a later goal has taken it away."""
        was_there = any(self._lessons.done[f'place {name} on {spot}'] for spot in spots)
        named_later = {name for goal in later for item in goal.items for name in item.names}
        return was_there and name in named_later

    def _move_somewhere(self, move: Move, target: Target) -> None:
        """Move things to a side, to any free place or beside something."""
        settled = [name for item in move.items for name in item.names if self._is_at(name, target)]
        chosen = [name for item in move.items for name in self._choice.choose(item, settled)]
        self._choice.used.update(chosen)
        for name in self._choice.sorted(chosen):
            self._ends.pop(name, None)
            if target.kind == 'side':
                self._ends[name] = target
            if name in settled:
                continue
            cells = self._board.free_cells(target.side)
            if target.kind == 'beside':
                base = self._board.things[target.spots[0].names[0]]
                near = around(base)
                cells = [
                    cell
                    for cell in near
                    if self._board.free(cell) and self._board.has_room(cell, locations=False)
                ]
            preferred = [cell for cell in cells if cell.key in self._lessons.preferred]
            if not cells:
                raise RefusalError(f"there is no free place for {name} at '{target.said}'.")
            self._board.pick(name, self._targets)
            self._board.place((preferred or cells)[0])

    def _is_at(self, name: str, target: Target) -> bool:
        if name == self._board.held:
            return False
        if target.kind == 'side':
            return self._board.side_of(name) == target.side
        if target.kind == 'beside':
            base = self._board.things[target.spots[0].names[0]]
            return any(cell.near(self._board.things[name]) for cell in around(base))
        return name in self._lessons.moved

    def _settle(
        self,
        pairs: Pairs,
        box: Box | None = None,
        strangers: Sequence[str] = (),
        *,
        named: bool = False,
    ) -> None:
        self._choice.used.update(name for name, _ in pairs)
        self._ends.update(pairs)
        Settling(self._board, pairs, self._targets, box).run(strangers, named=named)

    # --- shapes -------------------------------------------------------------------------------

    def _shape(self, shape: Shape) -> None:
        if shape.shape != 'tower':
            layout = arrange(shape, self._board, self._lessons, self._choice)
            self._settle(layout.pairs, layout.box, layout.strangers)
            return
        names = tower(shape, self._board, self._lessons, self._choice)
        self._choice.used.update(names)
        bottom = Select(names[0], (names[0],))
        if shape.base is not None:
            self._move(Move((bottom,), shape.base), ())
        for below, name in zip(names, names[1:], strict=False):
            self._move_onto(Select(name, (name,)), (Select(below, (below,)),))
