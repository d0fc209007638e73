"""Bags of tasks in this process."""

from pathlib import Path

from bbllm.api.config import EpisodeConfig
from bbllm.api.setup import make_setup
from bbllm.api.stage import open_stage
from bbllm.core.events import Episode
from bbllm.core.tasks import make_task
from bbllm.core.types import Scene


def record_demo(path: Path, task: str) -> tuple[Episode, Scene]:
    """Carry out a task on the simulated table into a bag; return its record and last scene."""
    options = EpisodeConfig(brain='offline', body='offline', goal='no', bag=path)
    setup = make_setup(options, options.domain)
    with open_stage(options) as stage:
        assert stage.bag is not None
        _, execute = setup.begin(make_task(task), [stage.bag.hear])
        episode = execute(stage.world)
        scene = stage.settle().scene
    assert stage.bag.broken == ''
    return episode, scene
