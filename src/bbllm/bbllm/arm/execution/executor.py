"""
Execution of skill calls, one at a time, on an arm behind `ArmDriver`.

Every call goes the same way: observe, check the call, turn it into motions, plan all of them,
move, observe again. A precondition that does not apply is REJECTED and nothing moves; a later
failure is FAILED, and the arm is raised where that is possible.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.arm.driver import ArmDriver
from bbllm.arm.execution.plan_ahead import AheadPlanner
from bbllm.arm.execution.skill_execution import ExecutorParams, SkillRun
from bbllm.arm.execution.trajectory_executor import TrajectoryExecutor
from bbllm.arm.failures import SkillError
from bbllm.arm.motion.motion_planner import GraspPlanner, GraspPlannerParams
from bbllm.arm.safety.envelope_guard import EnvelopeGuard
from bbllm.core.approval import AskPerson, Permit, Provenance
from bbllm.core.cancel import CancelToken
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.skills.catalog import find_skill, moves
from bbllm.skills.grasps import Hand
from bbllm.skills.halves import carry_out_halves


class SkillExecutor:
    """
    The skills of one arm.

    *observe* returns the scene as it is now, and may raise SceneError. Without a guard no motion
    is refused, without a permit all calls may be tried, and without *ask_person* a robot that only
    a person may release stays stopped. *on_activity* receives the activities of the arm: `closing
    the hand on red_cube`.

    Raises:
        ConfigError: A lift would pull harder than the guard's limits allow.
    """

    def __init__(
        self,
        driver: ArmDriver,
        observe: Callable[[], Scene],
        *,
        params: ExecutorParams | None = None,
        on_activity: Callable[[str], None] | None = None,
        guard: EnvelopeGuard | None = None,
        permit: Permit | None = None,
        ask_person: AskPerson | None = None,
    ) -> None:
        self.params = params or ExecutorParams()
        if guard is not None and guard.contact_limits is not None:
            stops_n = min(guard.contact_limits.collision_wrench[:3])
            self.params.lift.check_below(driver.robot_model, stops_n)
        self._driver = driver
        self._observe = observe
        self._permit = permit
        self._executor = TrajectoryExecutor(
            driver, on_activity, guard=guard, ask_person=ask_person
        )
        self._plan_with(self.params)
        self._one_at_a_time = threading.Lock()
        self._state = threading.Lock()
        self._running = False

    def use_ways(self, ways: GraspPlannerParams) -> None:
        self._plan_with(replace(self.params, ways=ways))

    def expect(self, calls: Sequence[SkillCall]) -> None:
        """
        Plan ahead what follows the call that runs, or the next one where none does.

        From any thread. Each list replaces the one before. Nothing moves for it; see
        `execution.plan_ahead`.
        """
        self._ahead.expect(calls)

    def _plan_with(self, params: ExecutorParams) -> None:
        self.params = params
        self._planner = GraspPlanner(self._driver.robot_model, params.ways)
        self._ahead = AheadPlanner(self._driver.robot_model, params.ways, params.grip_offset_m)

    def set_activity_callback(self, on_activity: Callable[[str], None] | None) -> None:
        self._executor.on_activity = on_activity

    def hand(self) -> Hand:
        return self._executor.hand()

    def execute(
        self,
        call: SkillCall,
        provenance: Provenance | None = None,
        *,
        should_abort: Callable[[], bool] = bool,
    ) -> Outcome:
        """
        Execute one call to its end; a second one waits for its turn.

        Raises:
            WorldError: The driver has gone.
        """
        with self._one_at_a_time:
            with self._state:
                self._executor.begin()
                self._running = True
                if should_abort():  # `stop` found nothing to stop when that was said
                    self._executor.cancel()
            ahead, succeeded = self._ahead, False
            ahead.begin(call)
            try:
                refused = self._refusal(call, provenance)
                # How long a person thinks it over is no part of what the call takes.
                start_s = self._driver.now_s()
                outcome = refused or self._carry_out(call)
                succeeded = outcome.succeeded
            finally:
                ahead.end(succeeded=succeeded)
                with self._state:
                    self._running = False
            if outcome.succeeded:
                self._executor.succeeded()
            return replace(outcome, duration_s=self._driver.now_s() - start_s)

    def stop(self) -> None:
        """Stop the running call, from any thread; the grip stays."""
        with self._state:
            if self._running:
                self._executor.cancel()

    def _refusal(self, call: SkillCall, provenance: Provenance | None) -> Outcome | None:
        """
        Recover a robot that stopped since the last call, ask for a permit, set contact thresholds.

        Returns why the call ends with that, if so.
        """
        cancel = CancelToken(lambda: self._executor.check('waiting for a person'))
        try:
            # First of all: a robot that is stopped shows no scene, and its clock stands.
            self._executor.ready(f'waiting for {call}')
            refused = None if self._permit is None else self._permit(call, provenance, cancel)
        except SkillError as failure:
            return failure.outcome(call)
        if refused is not None or not moves(call):
            return refused
        try:  # which takes the controller down, as no permit allows for a call that does not move
            self._executor.limit_contacts(f'{call}')
        except SkillError as failure:
            failure.moved = failure.stopped
            return failure.outcome(call)
        return None

    def _carry_out(self, call: SkillCall) -> Outcome:
        def run(call: SkillCall, ahead: AheadPlanner | None = None) -> Outcome:
            parts = self._observe, self._executor, self._planner, self.params
            return SkillRun(call, *parts, ahead).outcome()

        skill = find_skill(call.skill)
        if skill is not None and skill.halves:
            return carry_out_halves(skill, call, self._observe, run, self._forbidden)
        return run(call, self._ahead)

    def _forbidden(self, call: SkillCall, scene: Scene) -> Outcome | None:
        guard = self._executor.guard
        try:
            if guard is not None:
                guard.check_call(call, scene)
        except SkillError as failure:
            return failure.outcome(call)
        return None
