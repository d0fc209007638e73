"""A copy of the start, brought to where a history of low-level calls has led."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bbllm.bench.household_expert.conclusions import refused_in
from bbllm.bench.household_expert.lessons import NOTHING, Lessons, Surprise, surprised
from bbllm.bench.household_expert.moves import GOING
from bbllm.bench.household_expert.search import search
from bbllm.bench.household_expert.states import turn
from bbllm.bench.household_expert.told import Told
from bbllm.core.instance_names import id_of, instance_name
from bbllm.core.protocols import PASS
from bbllm.core.types import SkillCall
from bbllm.planners.common.low_level_plan import (
    LowLevelCall,
    as_planned,
    in_world,
    low_level_actions,
    read_call,
)
from bbllm.planners.common.short_names import ShortNames
from bbllm.worlds.household.derived import WORDS
from bbllm.worlds.household.sane_checks import above
from bbllm.worlds.household.scenes import name_of
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action, State
from bbllm.worlds.household.world import HouseholdWorld


@dataclass(frozen=True, slots=True)
class Tried:
    """A call as a prompt tells it, and whether it was a success."""

    text: str
    succeeded: bool
    why: str = ''
    """What is told of why it failed; most prompts tell that it did, and no more."""


class Replay:
    """
    What a planner knows that tells of its low-level calls and how they went.

    Things get the names that the planner gave them: it too looked at the start and after each
    call. A call that failed has changed nothing, so that it is left out; what it teaches is not.

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
        self.names = names or ShortNames()
        self.found: int | None = None
        """What was gone to last."""
        self.causes: dict[int, str] = {}
        """Why a call failed, by its place in the history: the name of the check that it broke
        here, or '' where it would have worked."""
        self.surprises: dict[int, Surprise] = {}
        """Calls that would have worked, by their place in the history."""
        self._refused = NOTHING
        self.history = tuple(history)
        self.names.see(self.world.observe())
        for i, tried in enumerate(self.history):
            self._repeat(i, tried)

    @property
    def lessons(self) -> Lessons:
        """What the history teaches of what nobody sees."""
        return surprised(self.surprises.values()) | self._refused

    def plan(self, limit: int, lessons: Lessons | None = None) -> tuple[LowLevelCall, ...]:
        """
        Return the next calls, as many as name only what is seen now; none when all is done.

        Args:
            limit: How many there may be.
            lessons: What is known to fail; None: what the history teaches.

        Raises:
            NoPlanError: None is found.
        """
        lines = search(
            self.world.household,
            self.goal,
            seen=self.world.derived.now,
            found=self.found,
            in_classes=False,
            lessons=self.lessons if lessons is None else lessons,
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

    def id_of(self, short: str) -> int | None:
        """Return the number of what the planner calls so."""
        name = self.names.name(short)
        return None if name is None else id_of(name)

    def short(self, node_id: int) -> str:
        """Return what the planner calls a thing."""
        return self.names.short(name_of(self.world.graph, node_id))

    def believe(self, thing: int, words: Collection[str]) -> None:
        """Take over what is said of a thing: its states, and what has become of it."""
        for word in words:
            turn(self.world.graph.nodes[thing].states, word)
        become = self.world.derived
        denied = [word for word in WORDS if word not in words]
        become.now = frozenset(
            (node_id, word)
            for node_id, word in become.now
            if node_id != thing or word.split(' ')[0] not in denied
        ) | {(thing, word) for word in WORDS if word in words}

    def _repeat(self, i: int, tried: Tried) -> None:
        scene = self.world.observe()
        call = read_call(tried.text, low_level_actions(scene))
        made = in_world(call, scene, self.names) if isinstance(call, LowLevelCall) else PASS
        if not isinstance(made, SkillCall):
            return
        if not tried.succeeded:
            self._learn(i, made, tried.why)
            return
        self._do(made)
        self.names.see(self.world.observe())
        if Action(made.skill.upper()) in GOING:
            self.found = id_of(made.args[0])

    def _learn(self, i: int, call: SkillCall, why: str) -> None:
        self.causes[i] = self._why_not(call)
        graph = self.world.graph
        ids = tuple(n for name in call.args if (n := id_of(name)) is not None)
        if not self.causes[i]:
            self.surprises[i] = Surprise.at(graph, Action(call.skill.upper()), ids)
        self._refused |= refused_in(why, graph, self.id_of)

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
