"""`pip install .` gives a package that works without the checkout and without ROS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_ROS = """
import sys
from importlib.abc import MetaPathFinder

class NoRos(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in ('rclpy', 'bbllm_interfaces'):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoRos())
import bbllm
assert bbllm.__file__.startswith(sys.argv[1]), bbllm.__file__
with bbllm.Robot('sim', brain='offline', body='offline') as robot:
    episode = robot.do('stack the red cube on the blue cube')
    assert episode.ending.name == 'FINISHED', episode.message
with bbllm.Robot('household', scene='studio', brain='offline', body='offline') as house:
    assert house.observe().objects
assert bbllm.load_suite('tabletop').tasks
"""


@pytest.fixture(scope='module')
def installed(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """Install from the root without a network, beside this environment's libraries."""
    target = tmp_path_factory.mktemp('installed')
    pip = [sys.executable, '-m', 'pip', '--disable-pip-version-check', 'install', '--no-index']
    pip += ['--no-deps', '--no-build-isolation', '--target', str(target), str(repository)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # The checkout is left as it was.
    assert not (repository / 'src' / 'bbllm' / 'build').exists()
    return target


def run(installed: Path, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != 'BBLLM_ROOT'}
    env = {**kept, 'PYTHONPATH': str(installed), 'XDG_STATE_HOME': str(tmp_path)}
    return subprocess.run(
        [sys.executable, *words],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_installed_package_drives_table_and_house_without_ros(
    installed: Path, tmp_path: Path
) -> None:
    done = run(installed, tmp_path, '-c', WITHOUT_ROS, str(installed))

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_installed_bench_plays_a_suite(installed: Path, tmp_path: Path) -> None:
    words = 'bench tabletop --brain offline --body offline --tasks right_side --trials 1'
    done = run(installed, tmp_path, '-m', 'bbllm', *words.split())

    assert done.returncode == 0, done.stderr
    assert 'SR=' in done.stdout
