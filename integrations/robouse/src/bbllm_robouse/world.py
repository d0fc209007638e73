"""A table of Robo Use as a world of bbllm."""

import math
import threading

from bbllm_robouse.episode import Episode
from bbllm_robouse.motions import (
    SKILLS,
    Hold,
    Leg,
    Motion,
    Refusal,
    Spot,
    pick,
    place,
    pull,
    push,
    rise,
    shut,
)
from bbllm_robouse.table import Point, Table, read_table, scene_of

from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.types import Code, Outcome, Scene, Skill, SkillCall, Status

STEP_S = 0.02
"""Duration of one step of a table, by `robouse.backends.tabletop.backend` of 0.6.1 [s]."""
MOST_REPEATS = 50
"""So many steps one request takes at most, by the same version's episode server."""
TRIES = 6
"""How often a leg is corrected."""
STALLED_M = 0.001
"""A hand that a correction moves less is blocked [m]."""
SLACK_M = 0.02
"""An object that rests further than this from where it was put is misplaced [m]."""
PULLED_M, SHUT_M = 0.08, 0.01
"""What counts as open and as closed, by the texts of the drawer tasks [m]."""


class BlockedError(Exception):
    """The hand did not get where a leg ends."""


class RoboUseWorld:
    """
    The table of an episode, by its episode server.

    Raises:
        ServerGoneError: There is no server.
        NoObjectsError: The task shows no positions.
        NoSkillError: The task has an object without a known grasp.
    """

    def __init__(self, episode: Episode):
        self._episode = episode
        self._stopped = threading.Event()
        self._held: str | None = None
        self._steps = 0
        self._repeats = min(MOST_REPEATS, int(episode.info().get('max_repeat', MOST_REPEATS)))
        self._table()

    @property
    def skills(self) -> tuple[Skill, ...]:
        return SKILLS

    @property
    def steps(self) -> int:
        """How many steps of the budget this world has used."""
        return self._steps

    def observe(self) -> Scene:
        """Return the scene; raises as the constructor."""
        table = self._table()
        return scene_of(table, SKILLS, held=self._held, stamp_s=self._steps * STEP_S)

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call; raises WorldError where the server has gone or the episode is over."""
        self._stopped.clear()
        begun = self._steps
        table = self._table()
        try:
            call = check_call(call, self.observe())
        except CallError as error:
            return error.outcome
        planned = self._planned(call, table)
        if isinstance(planned, Refusal):
            return Outcome(
                call=call, status=Status.REJECTED, code=planned.code, message=planned.message
            )
        motion, spot = planned
        held = self._held
        fault = self._carried_out(motion)
        fault = fault or self._judged(call, self._table(), held, spot)
        return Outcome(
            call=call,
            status=Status.FAILED if fault else Status.SUCCEEDED,
            code=fault.code if fault else Code.NONE,
            message=fault.message if fault else '',
            duration_s=(self._steps - begun) * STEP_S,
        )

    def stop(self) -> None:
        """Stop the running call after the request that is under way."""
        self._stopped.set()

    def _table(self) -> Table:
        """Observe, and note what the closed fingers touch."""
        table = read_table(self._episode.observe())
        if self._held not in table.touching:
            self._held = None
        return table

    def _planned(self, call: SkillCall, table: Table) -> tuple[Motion, Spot | None] | Refusal:
        held = self._held
        spot: Spot | None = None
        match call.skill, call.args:
            case 'pick', (name,):
                motion = pick(table, name, held)
            case 'place', (target,):
                placed = place(table, target, held)
                if isinstance(placed, Refusal):
                    return placed
                motion, spot = placed
            case 'push', (name, direction, distance):
                motion = push(table, name, direction, float(distance), held)
            case 'open', (name,):
                motion = pull(table, name, held)
            case 'close', (name,):
                motion = shut(table, name, held)
            case _:
                motion = rise(table, held)
        return motion if isinstance(motion, Refusal) else (motion, spot)

    def _carried_out(self, motion: Motion) -> Refusal | None:
        try:
            for part in motion:
                if isinstance(part, Hold):
                    self._act((0.0, 0.0, 0.0), part.grip, part.steps)
                else:
                    self._go(part)
                if self._stopped.is_set():
                    return Refusal(Code.CANCELLED, 'The call was stopped.')
        except BlockedError as error:
            return Refusal(Code.NO_PATH, str(error))
        return None

    def _go(self, leg: Leg) -> None:
        """Follow a leg; raises BlockedError where something is in the way."""
        here, last = self._hand(), None
        for _ in range(TRIES):
            way = [leg.to_m[axis] - here[axis] for axis in range(3)]
            if math.dist(here, leg.to_m) <= leg.near_m:
                return
            if last is not None and math.dist(last, here) < STALLED_M:
                break
            steps = max(1, math.ceil(max(map(abs, way)) / leg.step_m))
            unit = (way[0] / steps / 0.01, way[1] / steps / 0.01, way[2] / steps / 0.01)
            last = here
            while steps > 0 and not self._stopped.is_set():
                count = min(steps, self._repeats)
                self._act(unit, leg.grip, count)
                steps -= count
            here = self._act((0.0, 0.0, 0.0), leg.grip, 2)
        if not leg.may_touch and math.dist(here, leg.to_m) > 2 * leg.near_m:
            raise BlockedError(
                f'The hand stopped {math.dist(here, leg.to_m) * 100:.1f} cm before where it was '
                'to go: something is in the way.'
            )

    def _hand(self) -> Point:
        return read_table(self._episode.observe()).hand_m

    def _act(self, unit: Point, grip: float, count: int) -> Point:
        result = self._episode.act((*unit, grip), count)
        self._steps += int(result['executed_steps'])
        return read_table(result['state']).hand_m

    def _judged(
        self, call: SkillCall, table: Table, held: str | None, spot: Spot | None
    ) -> Refusal | None:
        """Return what the table shows to have gone wrong; None for nothing."""
        name = call.args[0] if call.args else ''
        if call.skill == 'pick':
            if name not in table.touching:
                return Refusal(Code.GRASP_FAILED, f'The fingers closed, and {name} is not held.')
            self._held = name
        elif call.skill == 'place' and held is not None and spot is not None:
            self._held = None
            thing = table.things[held]
            off_m = math.dist(thing.at_m[:2], spot.xy_m)
            low_m = thing.at_m[2] - thing.height_m / 2 - spot.surface_m
            if held in table.touching:
                return Refusal(Code.GRIPPER_FAILED, f'{held} still touches the fingers.')
            if off_m > SLACK_M or abs(low_m) > SLACK_M:
                return Refusal(
                    Code.MISPLACED,
                    f'{held} came to rest {off_m * 100:.1f} cm beside and {low_m * 100:.1f} cm '
                    f'above where it was put.',
                )
        elif call.skill in ('open', 'close'):
            opening = table.things[name].opening_m or 0.0
            if (call.skill == 'open') is not (opening >= PULLED_M) and opening > SHUT_M:
                return Refusal(
                    Code.MISPLACED, f'{name} is open by {opening * 100:.1f} cm after that.'
                )
        return None
