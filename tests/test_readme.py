"""The commands of the README and of the table of systems work as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bbllm.core.registry import load_planners
from bbllm.scene.sources import TRUTH
from bbllm_bench.commands.options import parse_ks
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import prepare
from tests.doubles.terminals import bbllm

README = Path(__file__).parent.parent / 'README.md'


def commands(start: str) -> list[str]:
    """Return the README's commands that begin with *start*, without their comments."""
    blocks = re.findall(r'^```(\w*)\n(.*?)^```', README.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for language, text in blocks if not language for line in text.splitlines()]
    return [re.split(r'\s{2,}#', line)[0] for line in lines if line.startswith(start)]


def run(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)[1:]
    return bbllm({**os.environ, **variables}, *words, timeout_s=900.0)


WITHOUT_STACK = [c for c in commands('bbllm ') if not c.startswith(('bbllm up', 'bbllm run'))]


@pytest.mark.parametrize('target', [c.split()[1] for c in commands('make ')])
def test_the_makefile_has_the_target(target: str) -> None:
    makefile = (README.parent / 'Makefile').read_text()

    assert re.search(rf'^{target}:', makefile, flags=re.MULTILINE)


@pytest.fixture(scope='module')
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder where what one command records can be shown by the next."""
    return tmp_path_factory.mktemp('state')


@pytest.mark.parametrize(
    'command',
    # 140 episodes take more than a minute of all cores.
    [
        pytest.param(c, marks=[pytest.mark.slow] * c.startswith('bbllm bench tabletop'))
        for c in WITHOUT_STACK
    ],
)
def test_a_command_does_what_it_is_for(command: str, state: Path) -> None:
    if command.startswith('bbllm show') and not any(state.rglob('*.jsonl')):
        done = run('bbllm demo', XDG_STATE_HOME=str(state))
        assert done.returncode == 0, done.stderr

    done = run(command, XDG_STATE_HOME=str(state))

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


def test_the_python_program_runs(tmp_path: Path) -> None:
    (program,) = re.findall(r'^```python\n(.*?)^```', README.read_text(), re.DOTALL | re.MULTILINE)

    done = subprocess.run(
        [sys.executable, '-c', program],
        env={**os.environ, 'XDG_STATE_HOME': str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.stdout.startswith('FINISHED'), done.stdout + done.stderr


SYSTEMS = re.findall(
    r'`bbllm bench ([^`]*?)`(?=<br>| \|)', (README.parent / 'docs/systems.md').read_text()
)
"""The commands of the table of systems, each behind `bbllm bench`."""
FIRST_TASKS = {
    'household': 'throw_away_apple',
    'household_goals': 'new_tasks_000',
    'household_long': 'open_fridge',
    'partial': 'stack',
    'table_sorting': 'banana_in_bowl_0',
    'tabletop': 'right_side',
    'tabletop_hard': 'retrieve_one',
}
"""One task of each suite, so that what is played here is short."""


def words_of(system: str) -> tuple[str, dict[str, str]]:
    """Return the suite of a command and its options."""
    suite, *options = shlex.split(system)
    return suite, dict(zip(options[::2], options[1::2], strict=True))


def stand_ins(suite: str, options: dict[str, str]) -> dict[str, str]:
    """Return the options by which nobody needs a key, as the README says them."""
    who = 'offline' if suite == 'tabletop' else 'expert'
    embeds = options.get('--mapping') == 'embedding'
    return {'--brain': who, '--body': 'lexical' if embeds else who}


def test_every_planner_has_its_row_among_the_systems() -> None:
    options = [words_of(system)[1] for system in SYSTEMS]
    named = {printed.get('--planner', 'brain_body').partition(':')[0] for printed in options}

    assert named == set(load_planners()[0])


@pytest.mark.parametrize('system', SYSTEMS)
def test_a_system_of_the_table_can_be_played_without_a_key(system: str, tmp_path: Path) -> None:
    suite, options = words_of(system)
    printed = {**stand_ins(suite, options), **options}

    prepared = prepare(
        BenchRequest(
            suite=suite,
            planner=printed.pop('--planner', 'brain_body'),
            brain=printed.pop('--brain'),
            body=printed.pop('--body'),
            mapping=printed.pop('--mapping', 'auto'),
            sources=printed.pop('--sources', TRUTH),
            ks=parse_ks(printed.pop('-k', '3')),
            tasks=(FIRST_TASKS[suite],),
        ),
        tmp_path,
    )

    assert printed == {}
    assert prepared.plan.settings.suite == suite


@pytest.mark.ros
def test_the_goal_that_is_sent_by_hand_fits_the_interface() -> None:
    from bbllm_interfaces.action import RunTask

    words = shlex.split(commands('ros2 action')[0])
    goal = RunTask.Goal(**yaml.safe_load(words[-1]))

    assert words[-2] == 'bbllm_interfaces/action/RunTask'
    assert goal.task == 'put the red cube on location_B'
