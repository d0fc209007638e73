"""
A table with a Franka Research 3 and no camera: objects are where a scene file states them.

They stay there until the hand moves them: the fingers show what is gripped, and where it is put
down.
"""

import logging
import threading
import time
from dataclasses import replace

from bbllm.arm.envelope import SafetyEnvelope, check_never
from bbllm.arm.execution.executor import SkillExecutor
from bbllm.arm.execution.skill_execution import ExecutorParams
from bbllm.arm.safety.envelope_guard import EnvelopeGuard, bounded
from bbllm.bags.motion_recorder import MotionRecorder, Moved
from bbllm.core.approval import AskPerson
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import WorldError
from bbllm.core.protocols import WorldFeatures
from bbllm.core.types import Outcome, Scene, SceneObject, Skill, SkillCall
from bbllm.robots.robot_model import RobotModel
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.hand_force import ForceFilter
from bbllm.scene.scene_file import SceneFile
from bbllm.skills.catalog import skills_for
from bbllm.worlds.scene.reaching import ReachCache
from bbllm.worlds.tabletop.table import ObservedTable, ObserverParams, TableView
from bbllm_franka.driver import FrankaDriver

SAMPLE_S = 0.02
"""Period of the measurements of the hand, more often than a recording has them [s]."""
DECIDED_S = 2.0
"""How long it may take until the hand shows what it did; its fingers rest for 0.1 s [s]."""


class FrankaTable:
    """
    Implements core.protocols.World on an arm behind a `FrankaDriver`.

    Args:
        driver: The arm and its hand; closed with the world.
        scene: Tables, objects and locations as a person has measured them.
        safety: The safety rules.
        weighs: Whether `observe` waits for the full mean of the force.

    Raises ConfigError where a constraint is about none of the objects.
    """

    def __init__(
        self,
        driver: FrankaDriver,
        scene: SceneFile,
        safety: SafetyEnvelope,
        *,
        weighs: bool = False,
    ) -> None:
        check_never(safety, scene.shown)
        self.driver = driver
        params = ExecutorParams(grip_offset_m=scene.grip_offset_m)
        params = replace(params, ways=bounded(params.ways, safety))
        self._ask: AskPerson | None = None
        guard = EnvelopeGuard(
            driver.robot_model, safety, width_m=lambda: driver.joint_state().width_m
        )
        self.executor = SkillExecutor(
            driver, self._scene, params=params, guard=guard, ask_person=self._ask_person
        )
        self._skills = skills_for(scene.movables, scene.skills)
        self._reach = ReachCache(driver.robot_model)
        self._force, self._weighs = ForceFilter(), weighs
        self._table = ObservedTable(
            (*scene.fixtures, *scene.places),
            scene.movables,
            Catalogue.of_objects(scene.movables),
            ObserverParams(),
            logging.getLogger('bbllm').warning,
        )
        self.motion = MotionRecorder(self)
        """Samples the arm and the objects beside journals."""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._sample()
        self._sampler = threading.Thread(target=self._watch, name='franka_table', daemon=True)
        self._sampler.start()
        self.features = WorldFeatures(expect=self.executor.expect, ask_person=self._take_asking)

    @property
    def robot_model(self) -> RobotModel:
        return self.driver.robot_model

    @property
    def time_s(self) -> float:
        """The clock of the newest measurement of the hand [s]."""
        return self._state.stamp_s

    def objects(self) -> tuple[SceneObject, ...]:
        """Return all of the scene, where it is by file and hand."""
        return self._view().objects

    def moved(self) -> Moved:
        """Return where the arm and the objects are, by the newest measurement."""
        poses = {item.name: item.pose for item in self.objects()}
        return Moved(self._state.position_rad.tolist(), self._state.width_m, poses)

    @property
    def skills(self) -> tuple[Skill, ...]:
        return self._skills

    def observe(self) -> Scene:
        """Return the scene; raises SceneError where nothing is left to be known, or WorldError."""
        self.driver.reconnect()
        end_s = time.monotonic() + DECIDED_S
        since_s = self.driver.now_s()
        while time.monotonic() < end_s and not self._is_decided(since_s):
            time.sleep(SAMPLE_S)
        return self._scene()

    def view(self) -> TableView:
        """Return hand and objects as they are known now; raises as `observe`."""
        self._sample()
        return self._view()

    def _view(self) -> TableView:
        with self._lock:
            return self._table.view()

    def execute(self, call: SkillCall) -> Outcome:
        """Execute one call to its end and return its outcome."""
        return self.executor.execute(call)

    def stop(self) -> None:
        """Stop the running call, from any thread; the grip stays."""
        self.executor.stop()

    def close(self) -> None:
        """Stop what runs and end the connection; the robot keeps its place and its grip."""
        self.stop()
        self._closed.set()
        self._sampler.join()
        self.driver.close()

    def _scene(self) -> Scene:
        view, now_s = self.view(), self.driver.now_s()
        with self._lock:
            force_n = self._force.force_n(now_s)
        return view.scene(self._skills, now_s=now_s, reach=self._reach, force_n=force_n)

    def _is_decided(self, since_s: float) -> bool:
        with self._lock:
            return self._table.shows(since_s) and (self._force.full or not self._weighs)

    def _sample(self) -> None:
        state, force_n = self.driver.joint_state(), self.driver.force_n()
        hand = self.driver.robot_model.hand_at(state.position_rad, state.width_m)
        fastest_rad_s = float(abs(state.velocity_rad_s).max())
        with self._lock:
            self._state = state
            self._table.take_hand(hand, state.stamp_s)
            if any(force_n):  # all zeros near a singularity, where it is undefined
                self._force.add(force_n, state.stamp_s, fastest_rad_s)

    def _watch(self) -> None:
        while not self._closed.wait(SAMPLE_S):
            try:
                self._sample()
                self.motion.sample()
            except WorldError:  # whoever asks the driver is told
                self._closed.wait(SAMPLE_S * 10)

    def _take_asking(self, ask: AskPerson) -> None:
        self._ask = ask

    def _ask_person(self, text: str, cancel: CancelToken) -> bool:
        return self._ask is not None and self._ask(text, cancel)
