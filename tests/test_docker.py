"""The container files, as far as they can be checked without an engine; none runs here."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

import bbllm

ROOT = Path(__file__).resolve().parent.parent
DOCKER = ROOT / 'docker'
ENTRYPOINT = DOCKER / 'entrypoint'


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile as pairs of an instruction and what follows it."""
    lines = (DOCKER / 'Dockerfile').read_text().splitlines()
    text = '\n'.join(line for line in lines if not line.startswith('#'))
    found = re.sub(r'\\\n\s*', '', text).splitlines()
    return [(word, rest) for word, _, rest in (x.partition(' ') for x in found if x.strip())]


def started() -> list[list[str]]:
    """Return what containers start: the CMD of each stage and the command of each service."""
    commands = [json.loads(rest) for word, rest in instructions() if word == 'CMD']
    return commands + [x['command'] for x in services().values() if 'command' in x]


def services() -> dict[str, Any]:
    return yaml.safe_load((DOCKER / 'compose.yaml').read_text())['services']


def test_containers_start_launch_files_that_exist() -> None:
    launches = [words for words in started() if words[:3] == ['ros2', 'launch', 'bbllm']]

    assert [words[3] for words in launches] == ['franka_sim.launch.py', 'franka_real.launch.py']
    assert all((ROOT / 'launch' / words[3]).is_file() for words in launches)


def test_nothing_moves_a_real_arm_because_a_container_came_up() -> None:
    real = next(words for words in started() if 'franka_real.launch.py' in words)

    assert '--show-args' in real
    assert 'command' not in services()['real']
    assert 'restart' not in services()['real']


def test_entrypoint_runs_a_program_in_the_environment_of_the_driver(tmp_path: Path) -> None:
    driver = tmp_path / 'setup.bash'
    driver.write_text('export FROM_DRIVER=yes\n')
    words = [ENTRYPOINT, 'sh', '-c', 'bbllm --version && echo "$FROM_DRIVER"']
    env = {'PATH': os.defpath, 'HOME': str(tmp_path)}

    run, without = (
        subprocess.run(
            words, cwd='/', env={**env, 'ROS_SETUP': str(file)}, capture_output=True, text=True
        )
        for file in (driver, tmp_path / 'nowhere')
    )

    assert run.stdout.splitlines() == [f'bbllm {bbllm.__version__}', 'yes'], run.stderr
    assert (without.returncode != 0, 'nowhere' in without.stderr) == (True, True)
