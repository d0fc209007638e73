"""The command in this process, on a world of paper and with models that follow a script."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bbllm.api import setup
from bbllm.api.config import EpisodeConfig
from bbllm.api.stage import Settled, Stage
from bbllm.cli.commands import plan
from bbllm.cli.main import app
from bbllm.cli.support import session
from bbllm.sim.drawing import RenderError
from tests.cli import scripted_models
from tests.doubles.paper_world import PaperWorld

Command = Callable[..., Result]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of this test's episodes."""
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'state'))
    return tmp_path / 'state' / 'bbllm' / 'episodes'


@pytest.fixture
def bbllm(state: Path) -> Command:
    """Return the command, as a function of its words."""

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, list(words), prog_name='bbllm')

    return run


def _environment(repository: Path) -> dict[str, str]:
    paths = [str(repository / 'src' / 'bbllm'), os.environ.get('PYTHONPATH', '')]
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, paths))}


@pytest.fixture
def own_environment(state: Path, repository: Path) -> dict[str, str]:
    """Return an environment for processes, in which this checkout's package is found."""
    return _environment(repository)


@pytest.fixture(scope='module')
def environment(
    tmp_path_factory: pytest.TempPathFactory, repository: Path, ros_domain: int
) -> dict[str, str]:
    """Return an environment with a domain and a state folder of this file's own."""
    return {**_environment(repository), 'XDG_STATE_HOME': str(tmp_path_factory.mktemp('cli'))}


@contextmanager
def paper_stage(options: EpisodeConfig) -> Iterator[Stage]:
    """Open a world of paper, which cannot be rendered."""
    world = PaperWorld(options.scene)

    def render(path: Path) -> None:
        raise RenderError('No picture can be drawn of paper; install a simulator.')

    try:
        yield Stage(world, lambda: world.time_s, lambda: Settled(world.observe()), render)
    finally:
        world.close()


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace physics by paper, where a test is about the command and not about physics."""
    monkeypatch.setattr(session, 'open_stage', paper_stage)
    monkeypatch.setattr(plan, 'open_stage', paper_stage)


@pytest.fixture
def script(paper: None, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that sets what the Brain will reply: plans, and a goal."""

    def follow(*replies: str, goal: str = 'none') -> None:
        models = scripted_models.models(*replies, goal=goal)
        monkeypatch.setattr(setup, 'make_chosen_models', lambda options: models)

    return follow
