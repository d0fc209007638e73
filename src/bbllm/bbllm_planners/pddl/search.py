"""
A plan for a goal: solved, checked on an imagined table, and solved again with what that shows.

The actions have what is certain of pairs of objects. What else makes a call impossible, such as
two towers that leave the fingers no room, is found when a whole plan is imagined: of the objects
there, those are sought whose absence lets the call pass, and the action then needs one of them to
be elsewhere.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm import Outcome, Scene, SceneObject, SkillCall
from bbllm.planning import MOVABLE
from bbllm.tables import ImaginedTable
from bbllm_planners.pddl.formulas import (
    FALSE,
    TRUE,
    Action,
    Atom,
    Formula,
    Not,
    Problem,
    all_of,
    any_of,
)
from bbllm_planners.pddl.goal import NoPositionError, Wanted, compiled
from bbllm_planners.pddl.grounding import NEAR_M, Grounding
from bbllm_planners.pddl.shortest import (
    TooLargeError,
    fewest_picks,
    shortened,
    shortest,
    unstacked,
)
from bbllm_planners.pddl.solver import NoPlanError, NotFoundError, solve

MOST_ROUNDS = 12
"""How often a plan is sought anew for what an imagined table has shown."""
MOST_BLAMED = 4
"""So many objects at most are found to be in the way of one call."""
MOVED_M = 0.005
"""An object that is this far from where it was has moved [m]."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that has failed in the world, and the objects that may be the reason."""

    call: tuple[str, ...]
    about: str
    """The object that was to be picked, or put down."""
    blamed: tuple[SceneObject, ...]
    """Objects as they were then: one of them has to be elsewhere before it is tried again."""
    where: SceneObject
    """The object that it is about, as it was then."""

    @classmethod
    def of(cls, action: Action, outcome: Outcome, scene: Scene) -> 'Failure':
        """Return the failure of an action in a scene; its message may name what is in the way."""
        call, held = _call(action), scene.held
        about = held if call.skill == 'place' and held else call.args[0]
        others = [item for item in scene.objects if item.kind in MOVABLE]
        others = [item for item in others if item.name not in (about, held, *call.args)]
        words = {*re.findall(r'\w+', outcome.message)}
        named = [item for item in others if item.name in words]
        x, y, _ = _target(call, scene, about)
        near = sorted(others, key=lambda item: math.dist(item.pose.position_m[:2], (x, y)))
        near = [i for i in near if math.dist(i.pose.position_m[:2], (x, y)) <= NEAR_M]
        blamed = tuple(named or near[:MOST_BLAMED])
        return cls(action.call, about, blamed, scene.object(about))

    def needs(self, action: Action, scene: Scene, so: frozenset[Atom]) -> Formula:
        """Return what an action needs for it not to fail like this; TRUE where it is another."""
        if action.call != self.call:
            return TRUE
        if action.call[0] == 'pick':
            where = _where(so).get(self.about)
            if where not in action.needs or _has_moved(self.where, scene):
                return TRUE
        elif Atom('holding', (self.about,)) not in action.needs:
            return TRUE
        if any(_has_moved(item, scene) for item in self.blamed):
            return TRUE
        now = _where(so)
        return any_of(Not(now[item.name]) for item in self.blamed if item.name in now)


def _has_moved(item: SceneObject, scene: Scene) -> bool:
    if item.name not in scene.names:
        return True
    return math.dist(item.pose.position_m, scene.object(item.name).pose.position_m) > MOVED_M


def find_plan(
    wanted: Wanted, scene: Scene, start: Scene, failures: Sequence[Failure]
) -> Sequence[Action]:
    """
    Return the actions that lead to a goal.

    Raises:
        NoPlanError: There is no plan, or as NotFoundError, none was found; the text is why.
        ConfigError: Kairos is needed, and is not installed.
    """
    table = Grounding(scene, wanted.wishes)
    learned: dict[Action, Formula] = {}
    for action in table.actions:
        needed = all_of(failure.needs(action, scene, table.so) for failure in failures)
        if needed != TRUE:
            learned[action] = needed
    actions = tuple(action for action in table.actions if learned.get(action) != FALSE)
    try:
        goal = compiled(wanted, table, scene, start)
    except NoPositionError as error:
        raise NoPlanError(str(error)) from error
    if goal == FALSE:
        raise NoPlanError('its conditions exclude each other')
    for _ in range(MOST_ROUNDS):
        problem = Problem(actions, table.so, goal, learned)
        plan = plan_of(problem, flat=wanted.only_on is None)
        fault = _first_fault(plan, scene, table.so)
        if fault is None:
            return plan
        action, needed = fault
        learned[action] = all_of([learned[action], needed] if action in learned else [needed])
    raise NotFoundError(
        f'each of {MOST_ROUNDS} plans has a call that would be refused, the last '
        f'{" ".join(action.call)}'
    )


def plan_of(problem: Problem, *, flat: bool = False) -> Sequence[Action]:
    """
    Return a shortest plan; where that search is too large, one of Kairos, shortened.

    Args:
        problem: What is planned for.
        flat: Whether plans come first that put nothing on other objects on the way. They are
            fewer, and leave the hand more room.
    """
    for each in (unstacked(problem), problem) if flat else (problem,):
        try:
            plan = shortest(each)
        except TooLargeError:
            break  # the other one is larger still
        if plan is not None:
            return plan
        if each is problem:
            raise NoPlanError('it is proved that no sequence of calls leads there')
    return shortened(problem, solve(problem, enough=fewest_picks(problem)))


def _first_fault(
    plan: Sequence[Action], scene: Scene, so: frozenset[Atom]
) -> tuple[Action, Formula] | None:
    """Return the first action of a plan that would be refused, and what it needs beside."""
    table = ImaginedTable(scene)
    for action in plan:
        before = table.observe()
        if not table.execute(_call(action)).succeeded:
            blamed = _blamed(action, before)
            where = _where(so)
            parts = [where[name] for name in blamed if name in where]
            return action, any_of(map(Not, parts)) if len(parts) == len(blamed) else FALSE
        so = action.after(so)
    return None


def _blamed(action: Action, scene: Scene) -> Sequence[str]:
    """Return the objects without which a call would pass, the fewest of the nearest ones."""
    call = _call(action)
    spared = {*call.args, scene.held}
    about = scene.held if call.skill == 'place' else call.args[0]
    x, y, _ = _target(call, scene, about)
    others = sorted(
        (item for item in scene.objects if item.kind in MOVABLE and item.name not in spared),
        key=lambda item: math.dist(item.pose.position_m[:2], (x, y)),
    )
    gone: list[str] = []
    for item in others:
        if _passes(call, scene, [item.name]):
            return [item.name]
    for item in others[:MOST_BLAMED]:
        gone.append(item.name)
        if _passes(call, scene, gone):
            return gone
    return []


def _target(call: SkillCall, scene: Scene, about: str | None) -> tuple[float, float, float]:
    if call.skill == 'place':
        target = call.args[0]
        if target in scene.names:
            return scene.object(target).pose.position_m
        x, y, *_ = map(float, target.split())
        return x, y, 0.0
    return scene.object(about or call.args[0]).pose.position_m


def _passes(call: SkillCall, scene: Scene, without: Sequence[str]) -> bool:
    left = replace(
        scene, objects=tuple(item for item in scene.objects if item.name not in without)
    )
    return ImaginedTable(left).execute(call).succeeded


def _where(so: frozenset[Atom]) -> Mapping[str, Atom]:
    """Return where each object is, as an atom."""
    return {atom.args[0]: atom for atom in so if atom.predicate in ('at', 'on')}


def _call(action: Action) -> SkillCall:
    return SkillCall(action.call[0], action.call[1:])


def calls_of(plan: Sequence[Action]) -> list[SkillCall]:
    return [_call(action) for action in plan]
