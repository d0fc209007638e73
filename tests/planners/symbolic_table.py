"""A table in symbols: small, but honest about what cannot be done; and what hears a planner."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from bbllm.core.events import (
    ConditionChecked,
    EventData,
    FeedbackReceived,
    PlanMade,
    RepairBegun,
    StepBegun,
    StepFailed,
    StepPassed,
    WordGrounded,
)
from bbllm.core.skill_calls import CallError, check_call, is_pose_like, parse_pose
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Plan,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
    Task,
)
from bbllm.skills.catalog import SKILLS
from bbllm.skills.motions import refusal
from bbllm.skills.needs import IN_REACH
from bbllm.skills.rejection import Rejection

Point = tuple[float, float, float]

WEIGHT_N = 1.0
"""What the hand feels of whatever it holds [N]."""


class SymbolicTabletop:
    """A World of cubes, cylinders and locations, whose poses are bookkeeping."""

    skills: tuple[Skill, ...] = SKILLS

    def __init__(
        self,
        objects: Mapping[str, tuple[float, float]],
        *,
        unreachable: Iterable[str] = (),
        faults: Iterable[tuple[str, Code, str]] = (),
    ):
        """
        Lay the table.

        Args:
            things: Names, such as `red_cube` or `location_A`, and where they are (x, y) [m].
            unreachable: Names of what the arm cannot get to.
            faults: (call as text, code, sentence); each strikes once.
        """
        self.unreachable = set(unreachable)
        self.faults = list(faults)
        self.calls: list[str] = []
        self.held: str | None = None
        self._items = {name: _item(name, at) for name, at in objects.items()}

    def observe(self) -> Scene:
        items = tuple(self._items.values())
        return Scene(items, self.skills, tuple(self._facts()), 0.0, self._hand())

    def stop(self) -> None:
        pass

    def execute(self, call: SkillCall) -> Outcome:
        self.calls.append(str(call))
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        for fault in self.faults:
            if fault[0] == str(call):
                self.faults.remove(fault)
                return Outcome(call=call, status=Status.FAILED, code=fault[1], message=fault[2])
        refused = refusal(call, self.observe()) or self._far_or_occupied(call)
        if refused is not None:
            return refused.outcome(call)
        if call.skill == 'pick':
            self.held = call.args[0]
        elif call.skill == 'place' and self.held is not None:
            held = self._items[self.held]
            self._items[self.held] = replace(held, pose=Pose(position_m=self._rest(call.args[0])))
            self.held = None
        elif call.skill == 'open_gripper':
            self.held = None
        return Outcome(call=call, status=Status.SUCCEEDED)

    # --- what tests look at -----------------------------------------------------------------

    def at(self, name: str) -> Point:
        return self._items[name].pose.position_m

    def on(self, name: str) -> str:
        """Name of what a thing stands on."""
        return next(f.object for f in self._facts() if (f.subject, f.predicate) == (name, 'on'))

    def objects_on(self, *locations: str) -> list[str]:
        return [f.subject for f in self._facts() if f.predicate == 'on' and f.object in locations]

    # --- physics ----------------------------------------------------------------------------

    def _hand(self) -> HandReading:
        tcp = Pose(position_m=(0.3, 0.0, 0.5), quat_xyzw=(1.0, 0.0, 0.0, 0.0))
        if self.held is None:
            return HandReading(tcp=tcp, width_m=0.08, force_n=(0.0, 0.0, 0.0))
        return HandReading(tcp=tcp, width_m=0.04, force_n=(0.0, 0.0, -WEIGHT_N))

    def _facts(self) -> list[Fact]:
        facts = [Fact(self.held, 'held_by', 'hand')] if self.held else []
        for name, item in self._items.items():
            if item.kind is Kind.LOCATION or name == self.held:
                continue
            facts.append(Fact(name, 'on', self._below(item)))
        for name in self._items:
            facts.append(Fact(name, 'reachable', 'no' if name in self.unreachable else 'yes'))
        return facts

    def _below(self, item: SceneObject) -> str:
        best = 'table'
        for name, other in self._items.items():
            rise = item.pose.position_m[2] - other.pose.position_m[2]
            if name in (item.name, self.held) or not _near(item, other.pose.position_m):
                continue
            under = other.kind is Kind.LOCATION and rise < 0.03 and best == 'table'
            if under or (other.kind is not Kind.LOCATION and 0.03 < rise < 0.05):
                best = name
        return best

    def _far_or_occupied(self, call: SkillCall) -> Rejection | None:
        for target in set(call.args) & self.unreachable:
            return IN_REACH.refusal({'target': target})
        if call.skill != 'place':
            return None
        (target,), at = call.args, self._rest(call.args[0])
        for name in self.unreachable:
            # Only names are judged where `offline` plays, whose poses have three numbers.
            seven = is_pose_like(target) and parse_pose(target).quat_xyzw
            if seven and _near(self._items[name], at):
                return IN_REACH.refusal({'target': name})
        for name, item in self._items.items():
            close = abs(item.pose.position_m[2] - at[2]) < 0.03 and name != self.held
            if close and item.kind is not Kind.LOCATION and _near(item, at, 0.04):
                return Rejection(Code.OCCUPIED, f'{target} is occupied by {name}.')
        return None

    def _rest(self, target: str) -> Point:
        if is_pose_like(target):
            return parse_pose(target).position_m
        x, y, z = self._items[target].pose.position_m
        return (x, y, z + (0.02 if self._items[target].kind is Kind.LOCATION else 0.04))


def _near(item: SceneObject, at: Point, within: float = 0.02) -> bool:
    x, y, _ = item.pose.position_m
    return (x - at[0]) ** 2 + (y - at[1]) ** 2 < within**2


def _item(name: str, at: tuple[float, ...]) -> SceneObject:
    """Make an object of a name like `red_cube`; a third number is its height."""
    words = name.split('_')
    kind = Kind.LOCATION if words[0] == 'location' else Kind(words[1])
    z = 0.0 if kind is Kind.LOCATION else 0.02
    if len(at) > 2:
        z = at[2]
    return SceneObject(
        name=name,
        kind=kind,
        pose=Pose(position_m=(at[0], at[1], z)),
        size_m=(0.04, 0.04, 0.04) if kind is not Kind.LOCATION else (0.0, 0.0, 0.0),
        color='' if kind is Kind.LOCATION else words[0],
    )


class Diary:
    """An EpisodeContext that writes everything down."""

    def __init__(
        self,
        ending: Mapping[int, str] | None = None,
        between: Mapping[int, str] | None = None,
    ):
        """
        Begin a diary.

        Args:
            said: What a person says, by how often the planner has listened before.
            between: Likewise, by how often it has asked whether somebody has spoken.
        """
        self._said = dict(ending or {})
        self._between = dict(between or {})
        self._pending: list[str] = []
        self._listened = self._asked = 0
        self.lines: list[str] = []
        self.plans: list[Plan] = []
        self.repairs: list[str] = []
        self.failed: list[tuple[int, str]] = []
        self.warnings: list[str] = []
        self.held_done = False
        self.remarks_left = 10
        self.before = self.calls_left = None
        self.talks = self.asks = False
        self._added: list[str] = []

    def emit(self, data: EventData) -> None:
        match data:
            case PlanMade():
                self.plans.append(data.plan)
                self.lines.append(f'plan from {data.start}')
            case StepBegun(index, text):
                self.lines.append(f'step {index}: {text}')
            case StepPassed(index):
                self.lines.append(f'pass {index}')
            case RepairBegun(index, cause=cause):
                self.repairs.append(cause)
                self.lines.append(f'repair {index}')
            case StepFailed(index, cause=cause):
                self.failed.append((index, cause))
                self.lines.append(f'failed {index}')
            case WordGrounded(word, name, policy, among):
                self.lines.append(f'{word} is {name} ({policy} of {among})')
            case ConditionChecked(condition, holds, by):
                self.lines.append(f'{condition}: {holds} by {by}')

    def report_done(self) -> None:
        self.held_done = True

    def unfinished(self, scene: Scene | None = None) -> str:
        return ''

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    @property
    def spoken(self) -> bool:
        if text := self._between.pop(self._asked, ''):
            self._pending.append(text)
        self._asked += 1
        return bool(self._pending)

    @contextmanager
    def taking_remarks(self) -> Iterator[None]:
        yield

    def current(self, task: Task) -> Task:
        return replace(task, added=tuple(self._added))

    def take_human_feedback(self) -> tuple[FeedbackReceived, ...]:
        texts = [*self._pending, self._said.pop(self._listened, '')]
        self._listened += 1
        self._pending.clear()
        remarks = tuple(FeedbackReceived(text) for text in texts if text)
        self._added += [remark.sentence for remark in remarks]
        return remarks


CUBES = ('red', 'green', 'blue', 'yellow', 'orange', 'purple', 'aqua', 'pink', 'white')
BUSY_TABLE: dict[str, tuple[float, float]] = {
    **{f'{c}_cube': (0.35 + 0.08 * (i % 3), 0.12 + 0.08 * (i // 3)) for i, c in enumerate(CUBES)},
    'grey_cylinder': (0.60, 0.15),
    'black_cylinder': (0.60, 0.25),
    'location_A': (0.54, -0.18),
    'location_B': (0.48, -0.12),
    'location_C': (0.48, -0.18),
    'location_D': (0.48, -0.24),
    'location_E': (0.42, -0.18),
    'location_F': (0.42, -0.24),
    'location_G': (0.36, -0.24),
    'location_H': (0.42, -0.30),
    'location_I': (0.30, 0.40),
    'location_J': (0.62, 0.36),
}
"""Nine cubes and two cylinders on the left; locations for two plus signs, around C and F."""


def busy_table(
    moved: Mapping[str, tuple[float, float]] | None = None, **how: Any
) -> SymbolicTabletop:
    """Lay a busy table; keywords go to SymbolicTabletop."""
    return SymbolicTabletop({**BUSY_TABLE, **(moved or {})}, **how)
