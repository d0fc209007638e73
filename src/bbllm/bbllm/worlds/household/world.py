"""The household as a world: symbols only, and VirtualHome's actions for skills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bbllm.core.instance_names import id_of
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Outcome, Scene, Skill, SkillCall, Status
from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.derived import DerivedStates
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.houses import House, load_house
from bbllm.worlds.household.scenes import build_scene
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.visibility import FULL, Sight, Visibility
from bbllm.worlds.household.vocabulary import Action

SUMMARIES = {
    Action.CLOSE: 'Close something that is open.',
    Action.CUT: 'Cut food, with a knife in one hand and the other hand free.',
    Action.DRINK: 'Drink from what is held.',
    Action.DROP: 'Let what is held fall where you are.',
    Action.EAT: 'Eat food that is close.',
    Action.FIND: 'Go to something and look for it.',
    Action.GRAB: 'Take something that is close into a free hand; there are two hands.',
    Action.GREET: 'Greet a person.',
    Action.LIE: 'Lie down on something that is close.',
    Action.LOOKAT: 'Look at something that you are turned to.',
    Action.LOOKAT_LONG: 'Look at something for long.',
    Action.LOOKAT_SHORT: 'Have a short look at something.',
    Action.MOVE: 'Move something that can be moved.',
    Action.OPEN: 'Open something that is closed; one hand has to be free.',
    Action.PLUGIN: 'Put the plug of a device in.',
    Action.PLUGOUT: 'Pull the plug of a device.',
    Action.POINTAT: 'Point at something that you are turned to.',
    Action.POUR: 'Pour what is held into something that is close.',
    Action.PULL: 'Pull something that can be moved.',
    Action.PUSH: 'Push something.',
    Action.PUTBACK: 'Put what is held on something that is close.',
    Action.PUTIN: 'Put what is held into something that is close and not closed.',
    Action.PUTOBJBACK: 'Put what is held where it was taken from.',
    Action.PUTOFF: 'Take off clothes that you wear.',
    Action.PUTON: 'Put on clothes that are held.',
    Action.READ: 'Read what is held.',
    Action.RELEASE: 'Let go of what is held.',
    Action.RINSE: 'Rinse something that is close.',
    Action.RUN: 'Run to something, or into a room.',
    Action.SCRUB: 'Scrub something that is close.',
    Action.SIT: 'Sit down on something that is close.',
    Action.SLEEP: 'Sleep, sitting or lying.',
    Action.SQUEEZE: 'Squeeze something that is close.',
    Action.STANDUP: 'Stand up.',
    Action.SWITCHOFF: 'Switch off a device that is on.',
    Action.SWITCHON: 'Switch on a device that is off.',
    Action.TOUCH: 'Touch something that is close.',
    Action.TURNTO: 'Turn to something.',
    Action.TYPE: 'Type on something that is close.',
    Action.WAKEUP: 'Wake up.',
    Action.WALK: 'Walk to something, or into a room.',
    Action.WASH: 'Wash something that is close.',
    Action.WATCH: 'Watch something that you are turned to.',
    Action.WIPE: 'Wipe something that is close, with something in a hand.',
}
_PARAMS: tuple[tuple[str, ...], ...] = ((), ('object',), ('object', 'place'))

SKILLS = tuple(Skill(action.skill, _PARAMS[action.arity], SUMMARIES[action]) for action in Action)
"""All actions; not `target`, which a table's skills also take as a pose."""


STEP_S = 1.0
"""How far the clock goes with each step; a household of symbols has no time of its own [s]."""


class HouseholdWorld:
    """
    A household behind `core.protocols.World`.

    Args:
        house: Name of a house, path of a house file or of a graph, the house or graph itself; it
            is not changed.
        mode: Which rules hold.
        visibility: How much of it a scene tells. What is not told cannot be named in a call.
        derived: Remembers what becomes of objects; None goes by the rules of `derived`.
        seed: Nothing in the household is left to chance; taken so that all worlds can be given
            one.
        constraints: What no scene tells and a step may fail by, see `constraints`.

    Raises:
        UnknownNameError: No house of that name.
        ConfigError: A file that is no house, or a graph that is no household.
    """

    def __init__(
        self,
        house: str | Path | House | Graph,
        *,
        mode: Mode = Mode.SANE,
        visibility: Visibility = FULL,
        derived: DerivedStates | None = None,
        seed: int | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        if isinstance(house, (str, Path)):
            house = load_house(house)
        graph = house.graph if isinstance(house, House) else house
        self.household = Household(graph, mode=mode, constraints=constraints)
        self.lines: list[ScriptLine] = []
        """What was carried out, as lines of a script; steps that were refused are not in it."""
        self._derived = derived or DerivedStates()
        self._derived.look(self.graph)
        self._sight = Sight(visibility)
        self._steps = 0
        self._scene: Scene | None = None

    @property
    def graph(self) -> Graph:
        """The household as it is now; not to be changed from outside."""
        return self.household.graph

    @property
    def derived(self) -> DerivedStates:
        """What has become of objects so far."""
        return self._derived

    @property
    def seat(self) -> int | None:
        """Id of what the character sat or lay down on last; None before it has."""
        for line in reversed(self.lines):
            if line.action in (Action.SIT, Action.LIE):
                return line.objects[0][1]
        return None

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that `execute` knows."""
        return SKILLS

    @property
    def time_s(self) -> float:
        """A second for each step that was tried [s]."""
        return self._steps * STEP_S

    def observe(self) -> Scene:
        """Return what the character knows now."""
        if self._scene is None:
            known = self._sight.look(self.graph)
            # How much there is beyond what was seen nobody tells, not even that it is nothing.
            whole = self._sight.visibility.reach == 'full'
            self._scene = build_scene(
                self.graph, known, self._derived, SKILLS, self.time_s, whole=whole
            )
        return self._scene

    def execute(self, call: SkillCall) -> Outcome:
        """
        Do one action, or nothing and tell why not in VirtualHome's own words.

        The name of the check that failed is the outcome's `raw`, for example `not_close`.
        """
        try:
            checked = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        line = line_of(checked, self.graph)
        self._steps += 1
        self._scene = None
        result = self.household.step(line)
        message = '; '.join(result.messages)
        if not result.succeeded:
            told = message or f'Nothing came of "{line}", and VirtualHome does not say why'
            return Outcome(
                call=call,
                status=Status.REJECTED,
                code=Code.PRECONDITION,
                message=told,
                raw=result.broken,
            )
        self.lines.append(line)
        self._derived.look(self.graph, line)
        return Outcome(call=call, status=Status.SUCCEEDED, message=message, duration_s=STEP_S)

    def stop(self) -> None:
        """Do nothing: each action is done at once."""

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


def line_of(call: SkillCall, graph: Graph) -> ScriptLine:
    """Return a checked call as a line of a script, numbered 0 as ProgPrompt's lines are."""
    ids = [node_id for node_id in map(id_of, call.args) if node_id is not None]
    things = tuple((graph.nodes[node_id].class_name, node_id) for node_id in ids)
    return ScriptLine(Action(call.skill.upper()), things)
