"""
How a task over five nodes ends when the robot fails in the middle of it.

One stack runs as fast as it can, in mode `approval:=plan`. Each trial resets the world, starts a
task, and injects a fault at a random moment. Goals are counted where they arrive at the robot
(topic `sim/goals`), not where they are sent.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from bbllm_interfaces.msg import SimGoal
from rclpy.qos import QoSProfile

from bbllm.arm.driver import RobotMode
from bbllm.core.errors import WorldError
from bbllm.core.events import Event
from bbllm.core.records import to_json
from bbllm.core.types import MOVABLE, Outcome, Pose, Scene
from bbllm.sim.faults import Fault
from bbllm.worlds.tabletop.tabletop import furthest
from bbllm_bench.benchmarks.faults.person import BenchPerson
from bbllm_bench.benchmarks.faults.trials import (
    FaultResult,
    FaultTrial,
    Verdict,
    draw_trials,
    judge,
    line_of,
    rows_of,
)
from bbllm_bench.benchmarks.shared import TrialBar, write_report
from bbllm_bench.log.versions import describe_machine
from bbllm_bench.report.grid import Grid, grid_of
from bbllm_ros.rclpy_support.domains import own_domain
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.stack.client import StackClient, TaskResult
from bbllm_ros.stack.stack import Stack, StackConfig

TASK = 'put the red cube on location_B'
DONE = ('red_cube', 'on', 'location_B')
LOOPS = 5
PARAMS: dict[str, dict[str, Value]] = {
    'mujoco_sim': {'speed': 0.0},
    'fr3_executor': {'approval': 'plan', 'approval_timeout_s': 4.0, 'simulated': True},
}
READY_S = 90.0
TRIAL_S = 120.0
"""How long a trial may take, by the wall clock, before it is cancelled [s]."""
IN_FLIGHT_S = 0.05
"""A goal that arrives so soon after the user stop was sent before the stop could arrive. Before
every goal a new joint state is waited for; one that was measured before the stop may be under way
and in the poller for 15 ms, and then the goal itself is under way. The rest is this bench's own:
it takes the time before it asks for the stop and after the goal has arrived [s]."""
QUIET_S = 0.05
"""A goal may be this much on its way when a person begins to be waited for [s]."""
SCENE_S = 15.0
"""How long it may take until there is a scene again after a fault was taken back [s]."""
BACK_M = 0.005
"""An object that is this near to where it began is back [m]."""
GOALS = QoSProfile(depth=1000)
STRAY = (
    'stray: goals of arm and hand while the user stop was in force or a person was waited for;\n'
    f'crossed: goals that arrived within {IN_FLIGHT_S:g} s after the user stop (and were accepted)'
)


def measure(
    faults: Sequence[Fault], trials: int, seed: int, out: Path, *, json: bool = False
) -> bool:
    """Play trials of each fault, print and write the report; return whether all are good."""
    drawn = draw_trials(faults, trials, seed)
    results: list[FaultResult] = []
    with TrialBar(len(drawn)) as bar:

        def on_result(result: FaultResult) -> None:
            results.append(result)
            line = line_of(result, len(results), len(drawn))
            bar.advance(
                line if result.good else f'{line}\n{_details(result)}', failed=not result.good
            )

        run_fault_bench(drawn, on_result)
    report = {
        'machine': describe_machine(),
        'seed': seed,
        'task': TASK,
        'rows': rows_of(results),
        'results': [to_json(result) for result in results],
    }
    write_report(out, report, [grid_of_faults(results)], [sums_of(results)], json=json)
    return all(result.good for result in results)


def run_fault_bench(
    trials: Sequence[FaultTrial], on_result: Callable[[FaultResult], None]
) -> list[FaultResult]:
    """Run all trials, one after the other, on one stack; call `on_result` after each."""
    results = []
    with own_domain() as domain:
        config = StackConfig(params=PARAMS, environ={'ROS_DOMAIN_ID': str(domain)})
        with Stack(config) as stack, stack.wait_ready(READY_S) as client:
            ground = ProvingGround(client)
            try:
                for trial in trials:
                    stack.check()
                    results.append(ground.run(trial))
                    on_result(results[-1])
            finally:
                ground.close()
    return results


class ProvingGround:
    """A running stack with a person beside it, in which faults are injected."""

    def __init__(self, client: StackClient):
        self._client = client
        self._person = BenchPerson(client)
        client.node.create_subscription(
            SimGoal, 'sim/goals', self._see_goal, GOALS, callback_group=client.group
        )
        self._start = _poses(client.scene())
        self._news = threading.Condition()
        self._goals: list[SimGoal] = []
        self._codes: list[str] = []
        self._stray: list[str] = []
        self._in_flight: list[str] = []
        self._taken = 0
        self._struck_s = 0.0

    def close(self) -> None:
        self._person.close()

    def run(self, trial: FaultTrial) -> FaultResult:
        self._put_back()
        person = self._person
        person.there, person.fault = trial.person, trial.fault.value
        person.approved_plans = person.asked_to_resume = 0
        with self._news:
            self._goals, self._codes, self._stray, self._in_flight = [], [], [], []
            self._taken = 0
        begun_s = time.monotonic()
        ended = threading.Event()
        meddler = threading.Thread(target=self._meddle, args=(trial, ended), daemon=True)
        too_late = threading.Timer(TRIAL_S, self._client.cancel)
        meddler.start()
        too_late.start()
        try:
            result = self._client.run_task(TASK, feedback_loops=LOOPS, on_event=self._take_event)
        finally:
            ended.set()
            too_late.cancel()
            with self._news:
                self._news.notify_all()
            meddler.join()
        return self._result(trial, result, time.monotonic() - begun_s)

    def _result(self, trial: FaultTrial, result: TaskResult, wall_s: float) -> FaultResult:
        self._person.sim.inject('', clear=True)
        # That a task is done has to show on the table.
        # What stops the robot after its last motion leaves the table as it is.
        done = not result.message and self._client.scene(or_stopped=True).has(*DONE)
        verdict = judge(trial, result.ending, result.message, done)
        with self._news:
            goals, codes = list(self._goals), tuple(self._codes)
            stray, in_flight = tuple(self._stray), tuple(self._in_flight)
        return FaultResult(
            trial=trial,
            verdict=verdict,
            # What ends an episode shows there, and a stop between two motions in the question to a
            # person: neither is in a call's code.
            struck=bool(codes or self._person.asked_to_resume) or verdict is Verdict.CLEAR_STOP,
            ending=result.ending,
            message=result.message,
            codes=codes,
            stray=stray,
            in_flight=in_flight,
            taken=self._taken,
            goals=len(goals),
            approvals=self._person.approved_plans,
            wall_s=wall_s,
        )

    def _put_back(self) -> None:
        """Take every fault back and begin from the start, with a scene that shows it."""
        self._person.sim.inject('', clear=True)
        self._person.sim.reset()
        deadline_s = time.monotonic() + SCENE_S
        while True:
            try:
                scene = self._client.scene()
                if scene.held is None and furthest(self._start, _poses(scene)) < BACK_M:
                    return
                reason = 'it shows the last trial still'
            except WorldError as error:
                reason = str(error)
            if time.monotonic() > deadline_s:
                raise WorldError(f'No scene {SCENE_S:g} s after sim/reset: {reason}')
            time.sleep(0.1)

    def _meddle(self, trial: FaultTrial, ended: threading.Event) -> None:
        """Wait for the moment, and let it go wrong; take back what a person would notice."""
        with self._news:
            self._news.wait_for(lambda: len(self._goals) >= trial.after_goals or ended.is_set())
        if ended.wait(trial.delay_s):
            return

        def strike() -> None:
            self._struck_s = time.monotonic()

        self._person.sim.inject(trial.fault.value, sending=strike)
        if trial.fault is Fault.ENDLESS_GOAL:
            with self._news:
                self._news.wait_for(lambda: bool(self._codes) or ended.is_set())
            self._person.sim.inject(trial.fault.value, clear=True)

    def _see_goal(self, msg: SimGoal) -> None:
        waited_s = self._person.waited_for_s
        stopped = msg.robot_mode == RobotMode.USER_STOPPED
        goal = f'{msg.name} in {RobotMode(msg.robot_mode).name} (accepted: {msg.accepted})'
        with self._news:
            self._goals.append(msg)
            after_s = time.monotonic() - self._struck_s
            if stopped and after_s < IN_FLIGHT_S:
                self._in_flight.append(f'{goal}, {after_s:.3f} s after the user stop')
                self._taken += bool(msg.accepted)
            elif stopped or waited_s > QUIET_S:
                self._stray.append(f'{goal}, {waited_s:.3f} s into waiting for a person')
            self._news.notify_all()

    def _take_event(self, event: Event) -> None:
        if isinstance(event.data, Outcome) and not event.data.succeeded:
            with self._news:
                self._codes.append(event.data.code.name)
                self._news.notify_all()


def _poses(scene: Scene) -> dict[str, Pose]:
    return {item.name: item.pose for item in scene.objects if item.kind in MOVABLE}


def grid_of_faults(results: Sequence[FaultResult]) -> Grid:
    rows = [
        {
            'fault': row['fault'],
            'person': 'yes' if row['person'] else 'no',
            'should end as': row['wanted'],
            'did': f'{row["good"]}/{row["n"]}',
            'struck': f'{row["struck"]}/{row["n"]}',
            'stray': str(row['stray']),
            'crossed': f'{row["in_flight"]} ({row["taken"]})' if row['in_flight'] else '0',
        }
        for row in rows_of(results)
    ]
    return grid_of(f'{TASK}, with one fault each', rows, notes={'stray': STRAY})


def sums_of(results: Sequence[FaultResult]) -> str:
    walls = [result.wall_s for result in results]
    return (
        f'{sum(result.approvals for result in results)} plans approved, '
        f'{sum(result.goals for result in results)} goals of arm and hand, '
        f'{sum(walls) / max(1, len(walls)):.1f} s a trial'
    )


def _details(result: FaultResult) -> str:
    ended = f'{result.verdict.value}, {result.ending.name}: {result.message} {result.codes}'
    return f'{asdict(result.trial)}: {ended} stray: {result.stray}'
