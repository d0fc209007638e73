"""
Plays one episode through the five nodes; the twin of bench.play_tabletop.

Each episode has a stack, a ROS domain and a folder, so no part of one can reach another.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bbllm.api.config import LimitChoice
from bbllm.core.dialogue import AskMode
from bbllm.core.errors import BbllmError, ConfigError, TaskError, WorldError
from bbllm.core.events import Event, QuestionAsked
from bbllm.core.goals import NO_GOAL
from bbllm.core.journal import prompts_text, read_episode
from bbllm.core.registry import load_planner
from bbllm.core.types import MOVABLE, Pose, Scene
from bbllm.files.yaml_files import yaml_text
from bbllm.llm.config import GOAL_SUFFIX
from bbllm.worlds.tabletop.tabletop import STILL_M, furthest
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec
from bbllm_bench.oracle.case_goals import with_goal
from bbllm_bench.runner.episode_models import models_of
from bbllm_bench.scorers.scoring import lost, score
from bbllm_ros.rclpy_support.domains import own_domain
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.stack.client import StackClient
from bbllm_ros.stack.stack import Stack, StackConfig

READY_S = 90.0
OBSERVE_EVERY_S = 0.1
SETTLE_S = 3.0
"""World time after which the scene is taken even if objects still move [s]."""
PATIENCE_S = 30.0
SEEDS = 2**31


def play(job: EpisodeSpec) -> EpisodeRecord:
    """Play an episode through the five nodes; see `log.episodes.Play`."""
    load_planner(job.config.planner)
    if job.case.earlier:
        raise ConfigError('Sessions are played in this process: leave --world ros out.')
    if job.replay is None:
        # What cannot be used at all shows here, in words, and not as a node that died.
        models_of(job)
    try:
        folder = tempfile.TemporaryDirectory(prefix='bbllm-ros-')
    except OSError as error:
        raise ConfigError(
            f'There is no room for an episode in {tempfile.gettempdir()} ({error.strerror}); '
            'set TMPDIR to a folder that can be written.'
        ) from error
    with folder:
        return _play_in(Path(folder.name), job)


def _play_in(folder: Path, job: EpisodeSpec) -> EpisodeRecord:
    files = _Files(folder, job)
    files.write()
    before = after = None
    settling_s = 0.0
    fault: BbllmError | None = None
    try:
        with own_domain() as domain:
            config = StackConfig(
                params=files.params(),
                environ={'ROS_DOMAIN_ID': str(domain)},
                log_folder=folder / 'log',
            )
            with Stack(config) as stack, stack.wait_ready(READY_S) as client:
                before = client.scene()
                _run(client, job)
                after, settling_s = _settled(client)
    except ConfigError:
        raise
    except BbllmError as error:
        fault = error
    return files.played(before, after, settling_s, fault)


def _run(client: StackClient, job: EpisodeSpec) -> None:
    case, person = job.case, job.case.person
    ask = AskMode.YES if job.config.ask is AskMode.AUTO else job.config.ask

    def answer(event: Event) -> None:
        if person is not None and isinstance(event.data, QuestionAsked):
            # Not in this thread, which receives the reply of the service.
            asked = event.data
            words = case.answer(asked)
            answering.submit(client.send_remark, words, question=asked.text)

    with ThreadPoolExecutor(1, 'person') as answering:
        result = client.run_task(
            case.instruction,
            episode_id=job.key.name,
            feedback_loops=job.key.k,
            goal=NO_GOAL,
            ask=ask.value,
            person=person is not None,
            history=() if person is None else person.turns,
            on_event=answer,
        )
    if result.refused:
        raise TaskError(result.message)


class _Files:
    """What goes into the folder of an episode, and what comes out of it."""

    def __init__(self, folder: Path, job: EpisodeSpec):
        self._job = job
        self._scene = folder / 'scene.yaml'
        self._llm = folder / f'llm{GOAL_SUFFIX}'
        self._replay = folder / 'replay.jsonl'
        self._recording = folder / 'talk.jsonl'
        self._episodes = folder / 'episodes'

    def write(self) -> None:
        job = self._job
        # Names and descriptions of a file are its path's and nobody's.
        scene = job.case.scene.model_dump(mode='json', exclude={'name'}, exclude_none=True)
        models = with_goal(job.config.llm, job.case)
        llm = models.model_dump(mode='json', by_alias=True, exclude_none=True)
        try:
            self._scene.write_text(yaml_text(scene), 'utf-8')
            self._llm.write_text(yaml_text(llm), 'utf-8')
            if job.replay is not None:
                self._replay.write_text(job.replay, 'utf-8')
        except OSError as error:
            raise ConfigError(
                f'{self._scene.parent} cannot be written ({error.strerror}); make room there, or '
                'set TMPDIR to another folder.'
            ) from error

    def params(self) -> Mapping[str, Mapping[str, Value]]:
        config = self._job.config
        models: dict[str, Value] = {
            'llm_config': str(self._llm),
            'record': str(self._recording) if config.records else '',
            'replay': str(self._replay) if self._job.replay is not None else '',
        }
        limits = {name: getattr(config, name) for name in LimitChoice.model_fields}
        return {
            'brain_planner': {
                **models,
                'planner': config.planner,
                'episodes_folder': str(self._episodes),
                **limits,
                'step_limit': self._job.case.limits(config.limits).steps or 0,
            },
            'body_mapper': {**models, 'mapping': config.mapping.value},
            'mujoco_sim': {
                'scene': str(self._scene),
                'speed': 0.0,
                'seed': self._job.case.noise_seed % SEEDS,
            },
        }

    def played(
        self,
        before: Scene | None,
        after: Scene | None,
        settling_s: float,
        fault: BbllmError | None,
    ) -> EpisodeRecord:
        """Judge what the nodes have written down; `fault` is the reason where it is incomplete."""
        journal = self._episodes / f'{self._job.key.name}.jsonl'
        text = _text(journal)
        if text and before is not None:
            episode = read_episode(journal)
            # The world's clock also runs while a model thinks, which is no work of the robot.
            robot_s = episode.robot_s + settling_s
            result = score(
                self._job, episode, before=before, after=after, robot_s=robot_s, unsafe=None
            )
        else:
            reason = str(fault) if fault is not None else 'The nodes wrote no journal.'
            result = lost(
                self._job.key,
                reason,
                type(fault or WorldError('')).__name__,
                least_loops=self._job.case.least_loops,
                case=self._job.case,
            )
        return EpisodeRecord(
            result=result,
            journal=text,
            prompts=(prompts_text(journal),),
            recording=self._exchanges(),
        )

    def _exchanges(self) -> str:
        """Return the lines of the recording, each with the name of the episode."""
        if not self._recording.exists():
            return ''
        lines = self._recording.read_text('utf-8').removesuffix('\n').split('\n')
        named = ({**json.loads(line), 'episode': self._job.key.name} for line in lines)
        return ''.join(json.dumps(line, ensure_ascii=False) + '\n' for line in named)


def _text(path: Path) -> str:
    return path.read_text('utf-8', errors='replace') if path.exists() else ''


def _settled(client: StackClient) -> tuple[Scene, float]:
    """
    Wait until nothing moves; return the scene, and the world time that took [s].

    Raises WorldError where the world's clock stands still, or there is no scene.
    """
    deadline_s = time.monotonic() + PATIENCE_S
    first = before = client.scene()
    while True:
        now = client.scene()
        if now.stamp_s - before.stamp_s >= OBSERVE_EVERY_S:
            waited_s = now.stamp_s - first.stamp_s
            if furthest(_movables(before), _movables(now)) < STILL_M or waited_s >= SETTLE_S:
                return now, waited_s
            before = now
        if time.monotonic() > deadline_s:
            raise WorldError(
                f'The objects did not come to rest within {PATIENCE_S:g} s: the clock of the '
                f'world went from {first.stamp_s:.2f} to {now.stamp_s:.2f}.'
            )
        time.sleep(OBSERVE_EVERY_S / 2)


def _movables(scene: Scene) -> dict[str, Pose]:
    return {item.name: item.pose for item in scene.objects if item.kind in MOVABLE}
