"""The robot and its table in one process: physics and skills behind `core.protocols.World`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bbllm.arm.driver import ArmDriver
from bbllm.arm.envelope import SafetyEnvelope, check_never, load_envelope
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.safety.envelope_guard import EnvelopeGuard, bounded
from bbllm.core.approval import AskPerson
from bbllm.core.protocols import ScenePicture, WorldFeatures
from bbllm.core.types import MOVABLE, Kind, Outcome, Pose, Scene, Skill, SkillCall
from bbllm.scene.hand_force import PERIOD_S, REST_S, Force, ForceFilter
from bbllm.scene.picture_files import jpeg_of
from bbllm.scene.scene_file import SceneFile, load_scene
from bbllm.scene.views import view_of
from bbllm.sim.camera_settings import TABLE_CAMERA
from bbllm.sim.cameras import SimCameras, state_of
from bbllm.sim.driver import SimDriver
from bbllm.sim.robot import SimulatedRobot
from bbllm.skills.catalog import skills_for
from bbllm.worlds.scene.reaching import ReachCache
from bbllm.worlds.tabletop.object_source import ObjectSource, TruthSource

FELT_S = 0.1
"""How long a first reading of the force is waited for, simulated time [s]."""
WEIGH_S = REST_S + FELT_S
"""How long the full mean of the force is waited for, simulated time [s]."""
RESOLUTION_DIGITS = 2
"""Of the force before its noise is added [N]: what the times of motions change is less."""
LOOSE = MOVABLE | {Kind.CONTAINER}
"""What can come to rest somewhere else."""
STILL_M = 1e-4
"""Objects that move less than this in a tenth of a second are at rest [m]."""


class TabletopWorld:
    """
    A robot at a table, simulated; objects are located by the simulator's state or by cameras.

    Args:
        scene: Name of a scene, path of a scene file, or the scene itself.
        seed: Adds the scene's noise to the wrench, with this seed; exact where None.
        speed: Simulated seconds per second; 1 is real time, 0 as fast as it goes.
        params: How the executor moves and judges.
        on_advance: Called after every 20 ms of simulated time, for pictures; may call `stop`.
        ask_person: Decides whether a stopped robot may go on; by default it may not.
        wrap_driver: Puts something between executor and arm, such as a recorder of trajectories.
        weighs: Whether `observe` waits for the full mean of the force, as it should for a planner
            that reads forces.
        safety: The safety rules; those of config/safety.yaml by default.
        make_source: Makes what locates the objects for the scenes, from the driver of the arm;
            the simulator's state by default.

    Raises UnknownNameError, SceneFileError, or ConfigError for the safety file, also where its
    constraints are about none of the objects.
    """

    def __init__(
        self,
        scene: str | Path | SceneFile,
        *,
        seed: int | None = None,
        speed: float = 0.0,
        params: ExecutorParams | None = None,
        on_advance: Callable[[], None] | None = None,
        ask_person: AskPerson | None = None,
        wrap_driver: Callable[[ArmDriver], ArmDriver] = lambda driver: driver,
        weighs: bool = False,
        safety: SafetyEnvelope | None = None,
        make_source: Callable[[SimDriver], ObjectSource] | None = None,
    ) -> None:
        file = scene if isinstance(scene, SceneFile) else load_scene(scene)
        safety = safety or load_envelope()
        check_never(safety, file.shown)
        params = params or ExecutorParams()
        params = replace(
            params, ways=bounded(params.ways, safety), grip_offset_m=file.grip_offset_m
        )
        self.robot = SimulatedRobot.of(file, seed)
        self._force, self._weighs = ForceFilter(), weighs
        self._calls = 0
        """How many calls have begun: the number of the mean that is read after them."""
        self.robot.on_force = self._force.add
        driver = SimDriver(self.robot, speed=speed, on_advance=self._advanced)
        self._on_advance = on_advance
        self._truth = TruthSource(driver, self.robot.objects)
        self.driver = wrap_driver(driver)
        robot_model = self.robot.robot_model
        self.guard = EnvelopeGuard(
            robot_model, safety, width_m=lambda: self.driver.joint_state().width_m
        )
        self.executor = SkillExecutor(
            self.driver, self._scene, params=params, guard=self.guard, ask_person=ask_person
        )
        self._reach = ReachCache(robot_model)
        self._newest: tuple[object, Scene] | None = None
        """The last scene, with what it was made from."""
        self._pictures = TablePictures(self.robot)
        self.features = WorldFeatures(
            picture=self._pictures.take, settle=self.settled, expect=self.executor.expect
        )
        """Pictures are those of the simulated camera over the table."""
        self._skills = skills_for(file.movables, file.skills)
        self._source: ObjectSource = self._truth if make_source is None else make_source(driver)

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._skills

    @property
    def time_s(self) -> float:
        """Simulated time since the world was made [s]."""
        return self.robot.time_s

    def observe(self) -> Scene:
        """
        Return the scene as it is now.

        Where nothing was felt yet, or the arm has only just come to rest, time passes until there
        is a reading of the force, in a world that weighs a full mean of it: `FELT_S` or `WEIGH_S`
        at most. Raises SceneError or WorldError.
        """
        until_s = self.time_s + (WEIGH_S if self._weighs else FELT_S)
        while self.time_s < until_s and not self._is_felt():
            self.robot.advance(PERIOD_S)
        return self._scene()

    def truth(self) -> Scene:
        """Return the scene by the simulator's own state: for whoever judges, not for planners."""
        view = self._truth.look()
        return view.scene(self._skills, now_s=self.time_s, reach=self._reach)

    @property
    def source(self) -> ObjectSource:
        """What locates the objects for the scenes."""
        return self._source

    def _is_felt(self) -> bool:
        return self._force.full if self._weighs else self._force.force_n(self.time_s) is not None

    def _felt(self) -> Force | None:
        """Return the force as it is read now, in world axes; None where none was at rest [N]."""
        force_n = self._force.force_n(self.time_s)
        if force_n is None:
            return None
        count = self._force.count(self.time_s)
        noise_n = self.robot.simulation.force_noise(self._calls, count)
        x, y, z = (
            round(exact_n, RESOLUTION_DIGITS) + off_n
            for exact_n, off_n in zip(force_n, noise_n, strict=True)
        )
        return (x, y, z)

    def _scene(self) -> Scene:
        """Return the scene; where nothing has changed since the last one, that one."""
        view = self._source.look()
        now_s, force_n = self.time_s, self._felt()
        seen = (view, now_s, force_n)
        if self._newest is None or self._newest[0] != seen:
            scene = view.scene(self._skills, now_s=now_s, reach=self._reach, force_n=force_n)
            self._newest = (seen, scene)
        return self._newest[1]

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call to its end and return its outcome."""
        self._calls += 1
        return self.executor.execute(call)

    def stop(self) -> None:
        """Stop the running call, from any thread; the grip stays."""
        self.executor.stop()

    def set_activity_callback(self, on_activity: Callable[[str], None] | None) -> None:
        """Replace the receiver of activities."""
        self.executor.set_activity_callback(on_activity)

    def settled(self, timeout_s: float = 3.0) -> dict[str, Pose]:
        """Let time pass, at most so long [s], until all rest; return where movable objects are."""
        deadline_s = self.time_s + timeout_s
        self.driver.begin()
        before = self._movables()
        while True:
            self.driver.wait(0.1)
            now = self._movables()
            if furthest(before, now) < STILL_M or self.time_s >= deadline_s:
                return now
            before = now

    def close(self) -> None:
        """Stop what runs; the world is of no use afterwards."""
        self.stop()
        self._pictures.close()
        self._source.close()

    def _advanced(self) -> None:
        self._source.take_hand()
        if self._on_advance is not None:
            self._on_advance()

    def _movables(self) -> dict[str, Pose]:
        return {item.name: item.pose for item in self.robot.objects() if item.kind in LOOSE}


def furthest(before: Mapping[str, Pose], now: Mapping[str, Pose]) -> float:
    """Return the largest movement of any object along any axis [m]."""
    moves = [
        abs(now[name].position_m[axis] - pose.position_m[axis])
        for name, pose in before.items()
        if name in now
        for axis in range(3)
    ]
    return max(moves, default=0.0)


CAMERA = TABLE_CAMERA.name


class TablePictures:
    """What the simulated camera over the table sees; it costs nothing before the first picture."""

    def __init__(self, robot: SimulatedRobot):
        self._robot = robot
        self._cameras: SimCameras | None = None

    def take(self) -> ScenePicture:
        """Return a JPEG; raises RenderError where nothing can be drawn on this machine."""
        if self._cameras is None:
            self._cameras = SimCameras(self._robot.simulation)
        with self._robot.paused() as simulation:
            state = state_of(simulation)
        image = self._cameras.take(CAMERA, state)
        view = view_of(CAMERA, self._cameras.pose(CAMERA, state))
        return ScenePicture(data=jpeg_of(image.rgb), view=view)

    def close(self) -> None:
        """End the process that draws, if there is one."""
        if self._cameras is not None:
            self._cameras.close()
