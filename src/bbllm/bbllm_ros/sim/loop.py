"""
The thread in which simulated time passes, and the clock that the rest of the graph sees.

Stamps are the wall time at which the node started plus the simulated time since: at speed 1 they
agree with the wall clock, at any other speed they are the world's clock all the same, and never
run backwards, not even when the scene is changed.
"""

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bbllm.arm.driver import Array
from bbllm.arm.robot_state import Mounted, RobotState
from bbllm.core.errors import SceneFileError, WorldError
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import ForceNoise, load_scene
from bbllm.sim.reading import read_mounted, read_state, read_wrenches, tool_load
from bbllm.sim.robot import GoalSeen, SimulatedRobot
from bbllm.sim.simulation import Simulation

CHUNK_S = 0.01
"""Simulated time between checks of the wall clock [s]."""
REST_S = 1.0
"""Wall time after a goal or a wait before time passes in batches [s]."""
BATCH_S = 0.01
"""
How late a piece of time may begin at rest, by the wall clock, so that one awakening, and one state
of the robot, is enough for two: states then come every 20 ms, which is far less than what counts
as silence (`joint_feed.QUIET_S`) [s].
"""
BEHIND_S = 0.1
LONGEST_WAIT_S = 10.0
"""How far ahead a time may lie that is waited for [s]."""


class SimLoop:
    """
    Owns the simulated robot and makes time pass for it, from `start` on.

    *speed* is in simulated seconds per second; 0 is as fast as it can while a goal runs or a time
    is waited for (`hurry_until`), and real time otherwise. *seed* is of the noise of the wrench,
    *force_noise_n* its deviation and bias; below 0 for the scene's [N]. Raises SceneFileError
    where the scene cannot stand.
    """

    def __init__(
        self,
        scene: str,
        *,
        speed: float,
        seed: int,
        force_noise_n: float = -1.0,
        homed: bool = True,
    ):
        self._homed = homed
        self._seed, self._force_noise_n = seed, force_noise_n
        self.speed = speed
        """Simulated seconds per second; see `__init__`."""
        self._scene = scene
        self._epoch_s = time.time()
        self._robot = self._build(scene, seed)
        with self._robot.paused() as simulation:
            self._tool = tool_load(simulation)
        self._goals = 0
        self._awaited_s = self._epoch_s
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._awake = threading.Event()
        """Set where time must not pass in batches."""
        self.on_advance: Callable[[float], None] = _nothing
        """Called with the clock after every piece of time, in the loop's own thread [s]."""
        self.on_goal: Callable[[GoalSeen, float], None] = _nothing
        """Called with every goal and its time on the world's clock, in the sender's thread [s]."""
        self.on_fault: Callable[[str], None] = _nothing
        """Called with the reason why the physics ended, if ever they do."""
        self._thread = threading.Thread(target=self._run, name='physics', daemon=True)

    @property
    def robot(self) -> SimulatedRobot:
        return self._robot

    @property
    def now_s(self) -> float:
        return self._epoch_s + self._robot.time_s

    @property
    def busy(self) -> bool:
        return self._goals > 0

    @property
    def hurries(self) -> bool:
        """Whether time passes as fast as it can where the speed is 0."""
        return self._goals > 0 or self.now_s < self._awaited_s

    def hurry_until(self, stamp_s: float) -> None:
        """
        Let time pass as fast as it can until a time on the world's clock [s].

        At most `LONGEST_WAIT_S` ahead: whoever waits for longer asks again.
        """
        self._awaited_s = max(self._awaited_s, min(stamp_s, self.now_s + LONGEST_WAIT_S))
        self._awake.set()

    def stamp_s(self, sim_s: float) -> float:
        return self._epoch_s + sim_s

    def to_robot_s(self, stamp_s: float) -> float:
        return stamp_s - self._epoch_s

    def state(self) -> tuple[RobotState, Mounted, float]:
        """Return the state, what is mounted, and the stamp [s]; part of `driver_front.Backend`."""
        state, mounted = read_state(self._robot), read_mounted(self._robot, self._tool)
        return state, mounted, self.stamp_s(state.robot_s)

    def wrenches(self) -> tuple[Array, Array]:
        return read_wrenches(self._robot)

    def measured(self) -> tuple[Array, Array, Array]:
        """Return positions, velocities and torques, shape (7,) each, also while it hangs."""
        with self._robot.paused() as simulation:
            state = simulation.joint_state()
            torque_nm = simulation.data.actuator_force[: len(FR3.joints)].copy()
        return state.position_rad, state.velocity_rad_s, torque_nm

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._awake.set()
        self._thread.join(timeout=2.0)

    @contextmanager
    def goal(self) -> Iterator[None]:
        """Mark that a goal runs: then time may pass as fast as it can."""
        with self._lock:
            self._goals += 1
        self._awake.set()
        try:
            yield
        finally:
            with self._lock:
                self._goals -= 1

    def reset(self, scene: str, seed: int) -> None:
        """
        Put all back to the start of a scene (empty: that in force); goals that run are aborted.

        *seed* is of the noise of the wrench from now on; 0: as at the start of the node. Raises
        SceneFileError where the scene cannot stand; then nothing was changed.
        """
        if not scene and not seed:
            self._robot.reset()
            return
        robot = self._build(scene or self._scene, seed)
        self._robot.reset()
        with self._robot.paused():
            self._epoch_s = self.now_s
            robot.monitor.keep_thresholds(self._robot.monitor)
            self._scene, self._robot = scene or self._scene, robot

    def _build(self, scene: str, seed: int) -> SimulatedRobot:
        file = load_scene(scene)
        if file.robot != FR3.name:
            raise SceneFileError(
                f'The scene {scene} has the robot {file.robot}; mujoco_sim plays the driver of '
                f'{FR3.name}. In one process it can be played: bbllm demo --scene {scene}.'
            )
        if self._force_noise_n >= 0.0:
            noise = ForceNoise(sd=self._force_noise_n, bias=self._force_noise_n)
            file = file.model_copy(update={'force_noise_n': noise})
        simulation = Simulation(file, seed=seed or self._seed)
        simulation.skips_rest = True
        return SimulatedRobot(
            simulation,
            homed=self._homed,
            on_goal=lambda goal: self.on_goal(goal, self.stamp_s(goal.stamp_s)),
        )

    def _run(self) -> None:
        due_s = hurried_s = time.monotonic()
        pieces = 1
        while not self._ending.is_set():
            try:
                self._robot.advance(pieces * CHUNK_S)
                self.on_advance(self.now_s)
            except WorldError as error:
                self.on_fault(str(error))
                return
            except Exception:  # a simulator whose time stands still must not look alive
                self.on_fault(f'fault in the program:\n{traceback.format_exc()}')
                return
            now_s = time.monotonic()
            if hurries := self.hurries:
                hurried_s = now_s
            speed, done, pieces = self.speed, pieces, 1
            if speed == 0 and hurries:
                due_s = now_s
                continue
            piece_s = CHUNK_S / (speed or 1.0)
            due_s = max(due_s + done * piece_s, now_s - BEHIND_S)
            if due_s <= now_s:
                continue
            if now_s < hurried_s + REST_S:
                time.sleep(due_s - now_s)
            elif self._awake.wait(due_s + BATCH_S - now_s):
                self._awake.clear()
                hurried_s = now_s = time.monotonic()
                time.sleep(max(0.0, due_s - now_s))
            else:
                pieces += int(BATCH_S / piece_s)


def _nothing(*_: object) -> None:
    """Do nothing: there is no listener yet."""
