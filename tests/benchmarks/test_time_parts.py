"""The measurements of `bbllm bench time`: way-points, waits, the paced server, processes."""

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bbllm.arm.driver import Array, JointTrajectory
from bbllm.arm.motion.cartesian_path import rising_path
from bbllm.arm.motion.trajectory import joint_move
from bbllm.core.errors import ModelError, WorldError
from bbllm.core.events import Event, ModelCall, StepBegun
from bbllm.core.protocols import Message, ModelRequest
from bbllm.core.types import Outcome, SkillCall, Status
from bbllm.llm.config import ModelConfig
from bbllm.llm.openai.chat import OpenAIChat
from bbllm.llm.openai.settings import openai_settings
from bbllm.robots.fr3 import FR3
from bbllm.skills.segments import HOVER_M
from bbllm.testing import ModelServer, Pace
from bbllm_bench.benchmarks.time.machine import MEASURED_MS, beside_fixed_work, speed
from bbllm_bench.benchmarks.time.motion import waypoints_of
from bbllm_bench.benchmarks.time.processes import family_of, run_command, running
from bbllm_bench.benchmarks.time.stack import overheads_of
from bbllm_bench.benchmarks.time.task import (
    Answered,
    PacedTask,
    TaskScript,
    first_step_s,
    motion_s,
    play,
    script_of,
)

AT_ONCE = Pace(first_token_s=0.0, tokens_per_s=1e6)
SCRIPT = TaskScript(
    task='go', goal='held(a)', steps=(('take a', 'pick', 'a'), ('leave it', 'place', 'b'))
)
CALL = SkillCall('wait')


def test_way_points_depend_on_grips_and_not_on_how_motions_are_cut() -> None:
    grip, place = FR3.home_rad + 0.1, FR3.home_rad - 0.1
    over, away = (rising_path(FR3, q, HOVER_M)[-1] for q in (grip, place))
    cut = moves(FR3.home_rad, over, grip, over, away, place, away)
    whole = moves(FR3.home_rad, grip, place, away)

    points, stands = waypoints_of(cut, [2, 5])
    same, stands_too = waypoints_of(whole, [1, 2])

    assert stands == stands_too == [2, 5]
    assert np.allclose(points, same)
    assert np.allclose(points, [FR3.home_rad, over, grip, over, away, place, away])
    heights = [FR3.kinematics.forward(q)[2, 3] for q in points]
    assert heights[1] - heights[2] == pytest.approx(HOVER_M)


def test_a_paced_model_replies_by_what_the_prompt_asks_for() -> None:
    with served(AT_ONCE) as (model, task):
        goal = model.ask(ModelRequest.of('Task: go\nConditions:')).text
        plan = model.ask(ModelRequest.of('Task: go\nStep-by-step plan:\n')).text
        call = model.ask(
            ModelRequest([Message('user', 'Step: <data>1: b</data>\nCall:')], schema={})
        ).text
        with pytest.raises(ModelError, match='it replies to "Conditions:"'):
            model.ask(ModelRequest.of('Who are you?'))
    line = SCRIPT.reply('Step: 1: b\nCall:', in_json=False)

    assert goal == 'held(a)'
    assert line == ('call', '1: place(b)')
    assert plan == '0: take a\n1: leave it\n2: Done'
    assert '"step": 1, "skill": "place", "args": ["b"]' in call
    assert [item.kind for item in task.answered[:3]] == ['goal', 'plan', 'call']


@pytest.mark.parametrize('by_body', [False, True])
def test_the_task_is_done_and_the_body_asked_where_it_is_meant_to_be(by_body: bool) -> None:
    events, answered = play(script_of(by_body=by_body), AT_ONCE, speed=0.0)

    kinds = [item.kind for item in answered]
    outcomes = [event.data for event in events if isinstance(event.data, Outcome)]
    assert len(outcomes) == 10
    assert ('call' in kinds) is by_body
    assert 0 <= first_step_s(answered) < motion_s(events)


def test_first_step_is_the_first_line_of_the_plan() -> None:
    answered = [
        Answered(kind='goal', begun_s=1.0, first_line_s=2.0),
        Answered(kind='plan', begun_s=2.0, first_line_s=2.7),
    ]

    assert first_step_s(answered) == pytest.approx(0.7)


def test_each_question_is_timed_once_with_work_beside_it() -> None:
    asked: list[int] = []

    values, works = beside_fixed_work(asked.append, 3)

    assert asked == [0, 1, 2] * 2  # once before, for the caches
    assert len(values) == len(works) == 3
    assert min(works) > 0


def test_speed_of_the_machine_is_compared_with_that_of_the_page() -> None:
    took_ms, ratio = map(float, re.findall(r'\d+\.\d+', speed(10)))

    assert took_ms > 0
    assert ratio == pytest.approx(took_ms / MEASURED_MS, abs=0.02)


def step(begun_s: float, model_s: float, called_s: float, ended_s: float) -> list[Event]:
    return [
        Event(begun_s, StepBegun(0, 'a step')),
        Event(begun_s + model_s, ModelCall(role='brain', model='m', duration_s=model_s)),
        Event(called_s, CALL),
        Event(ended_s, Outcome(call=CALL, status=Status.SUCCEEDED)),
    ]


def test_overhead_is_the_way_to_the_first_trajectory_without_the_model() -> None:
    events = [*step(10.0, 0.5, 10.6, 14.0), *step(20.0, 0.0, 20.1, 24.0)]

    found = list(overheads_of(events, [10.7, 12.0, 20.3]))

    assert found == pytest.approx([0.2, 0.3])


def test_step_without_a_trajectory_does_not_count() -> None:
    events = [*step(10.0, 0.0, 10.1, 11.0), *step(20.0, 0.0, 20.1, 21.0)]

    assert list(overheads_of(events, [5.0, 20.2, 30.0])) == pytest.approx([0.2])


def test_a_command_that_fails_or_hangs_is_named() -> None:
    printed, wall_s, used_s = run_command(python('print("done")'), 30.0)
    assert printed == 'done\n'
    assert used_s > 0
    assert wall_s > 0

    with pytest.raises(WorldError, match=r'ended with code 3: no luck'):
        run_command(python('import sys; print("no luck"); sys.exit(3)'), 30.0)
    with pytest.raises(WorldError, match=r'did not end within 0.5 s'):
        run_command(python('import time; time.sleep(60)'), 0.5)
    with (
        pytest.raises(WorldError, match=r"did not print 'is up' within 30 s: still at it"),
        running(python('print("still at it", flush=True)'), 'is up', 30.0, {}),
    ):
        pass


def test_a_running_command_and_its_children_end_with_the_context() -> None:
    child = (
        'import subprocess, sys, time; '
        'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]); '
        'print("it is up", flush=True); time.sleep(60)'
    )
    with running(python(child), 'is up', 30.0, {}) as started:
        family = family_of(started.pid)
        assert len(family) == 2
        assert started.ready_s > 0

    deadline_s = time.monotonic() + 10.0
    while any(map(is_alive, family)):
        assert time.monotonic() < deadline_s, f'{family} are still alive'
        time.sleep(0.01)


def moves(*points: Array) -> list[JointTrajectory]:
    return [joint_move(FR3, a, b) for a, b in pairwise(points)]


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended may wait for someone to take note."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def python(code: str) -> list[str]:
    return [sys.executable, '-c', code]


@contextmanager
def served(pace: Pace) -> Iterator[tuple[OpenAIChat, PacedTask]]:
    task = PacedTask(SCRIPT, pace)
    with ModelServer(task) as server:
        section = ModelConfig(provider='openai', model='paced', base_url=server.url, retries=0)
        yield OpenAIChat(openai_settings(section, 'brain', {})), task
