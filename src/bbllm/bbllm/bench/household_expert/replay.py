"""A copy of the start, brought to where a history of low-level calls has led."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bbllm.bench.household_expert.moves import GOING
from bbllm.bench.household_expert.search import search
from bbllm.bench.household_expert.told import Told
from bbllm.core.instances import id_of, instance_name
from bbllm.core.protocols import PASS
from bbllm.core.types import SkillCall
from bbllm.planners.low_level_plan import (
    LowLevelCall,
    as_planned,
    in_world,
    low_level_actions,
    read_call,
)
from bbllm.planners.short_names import ShortNames
from bbllm.worlds.household.sane_checks import above
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action, State
from bbllm.worlds.household.world import HouseholdWorld


@dataclass(frozen=True, slots=True)
class Tried:
    """A call as a prompt tells it, and whether it was a success."""

    text: str
    succeeded: bool


class Replay:
    """
    What a planner knows that tells of its low-level calls and how they went.

    Things get the names that the planner gave them: it too looked at the start and after each
    call. A call that failed has changed nothing, so that it is left out, whatever its cause was.

    Args:
        told: The case.
        history: All calls so far, oldest first.
        names: What things are called already; None where nothing was seen before the start.
    """

    def __init__(self, told: Told, history: Sequence[Tried], names: ShortNames | None = None):
        household, self.goal = told.case()
        self.world = HouseholdWorld(
            household.graph, mode=household.mode, visibility=told.visibility()
        )
        # What is hidden from planners, such as what cannot be held, stays with the household.
        self.world.household = household
        self.names = names or ShortNames()
        self.found: int | None = None
        """What was gone to last."""
        self.causes: dict[int, str] = {}
        """Why a call failed, by its place in the history: the name of the check that it broke
        here, or '' where it would have worked."""
        self.history = tuple(history)
        self.names.see(self.world.observe())
        for i, tried in enumerate(self.history):
            self._repeat(i, tried)

    def plan(self, limit: int) -> tuple[LowLevelCall, ...]:
        """
        Return the next calls, as many as name only what is seen now; none when all is done.

        Args:
            limit: How many there may be.

        Raises:
            NoPlanError: None is found.
        """
        lines = search(
            self.world.household, self.goal, seen=self.world.derived.now, found=self.found
        )
        seen = set(self.world.observe().names)
        calls: list[LowLevelCall] = []
        for line in lines[:limit]:
            unseen = [name for name in named(line) if name not in seen]
            if unseen:
                return tuple(calls or self._look_for(unseen[0], seen))
            calls.append(self._as_planned(line.action.skill, named(line)))
        return tuple(calls)

    def failures_of(self, call: LowLevelCall) -> int:
        """Count how often a call was tried in vain."""
        return sum(not tried.succeeded and tried.text == str(call) for tried in self.history)

    def _repeat(self, i: int, tried: Tried) -> None:
        scene = self.world.observe()
        call = read_call(tried.text, low_level_actions(scene))
        made = in_world(call, scene, self.names) if isinstance(call, LowLevelCall) else PASS
        if not isinstance(made, SkillCall):
            return
        if not tried.succeeded:
            self.causes[i] = self._why_not(made)
            return
        self._do(made)
        self.names.see(self.world.observe())
        if Action(made.skill.upper()) in GOING:
            self.found = id_of(made.args[0])

    def _do(self, call: SkillCall) -> None:
        """Do again what succeeded."""
        self.world.execute(call)

    def _why_not(self, call: SkillCall) -> str:
        graph = self.world.graph
        ids = [id_of(name) for name in call.args]
        things = tuple(
            (graph.nodes[node_id].class_name, node_id) for node_id in ids if node_id in graph.nodes
        )
        line = ScriptLine(Action(call.skill.upper()), things)
        return self.world.household.copy().step(line).broken

    def _look_for(self, name: str, seen: set[str]) -> Iterable[LowLevelCall]:
        """Go where a thing that is not seen must be: to what it is shut in, or into its room."""
        graph = self.world.graph
        node_id = id_of(name)
        assert node_id is not None  # it is a thing of the graph
        room = graph.room_of(node_id)
        shut = {n for n in above(graph, node_id) if State.CLOSED in graph.nodes[n].states} - {room}
        for other in [*sorted(shut), *([room] if room is not None else [])]:
            place = instance_name(graph.nodes[other].class_name, other)
            if place in seen:
                yield self._as_planned('walk', [place])
                if other in shut:
                    yield self._as_planned('open', [place])
                return

    def _as_planned(self, skill: str, things: Sequence[str]) -> LowLevelCall:
        return as_planned(SkillCall(skill, tuple(things)), self.names, in_house=True)


def named(line: ScriptLine) -> list[str]:
    """Return the things of a line by their names in scenes."""
    return [instance_name(class_name, node_id) for class_name, node_id in line.objects]
