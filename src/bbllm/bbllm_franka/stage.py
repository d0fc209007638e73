"""A Franka Research 3 as the stage of episodes, by the options of an episode."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bbllm.api.config import EpisodeConfig
from bbllm.api.session import Seen
from bbllm.api.stage import Settled, Stage
from bbllm.core.errors import ConfigError
from bbllm.core.registry import uses_force
from bbllm.scene.scene_file import load_scene
from bbllm_franka.address import check_address
from bbllm_franka.driver import FrankaDriver
from bbllm_franka.messages import ENFORCE, IGNORE
from bbllm_franka.table import FrankaTable

LOG = logging.getLogger('bbllm')


@contextmanager
def open_arm(options: EpisodeConfig) -> Iterator[Stage]:
    """
    Connect to the robot at `options.ip`, whose objects are where `options.scene` states them.

    Raises ConfigError for options that do not go together, and as `FrankaDriver`.
    """
    if not options.ip:
        raise ConfigError(
            "Where is the robot? State the address of its control: --ip 172.16.0.2, or ip='...' "
            'in Python. Desk shows it under Settings > Network.'
        )
    if 'scene' not in options.model_fields_set:
        raise ConfigError(
            'Where are the objects? Without a camera only a person can tell: state a scene file '
            'with the positions that you measured, --scene my_table.yaml (docs/scene-files.md).'
        )
    scene = load_scene(options.scene)
    if scene.robot != options.robot:
        raise ConfigError(
            f'The scene {options.scene} is for the robot {scene.robot}, and {options.robot} was '
            f'asked for: write `robot: {options.robot}` in the scene file.'
        )
    address = check_address(options.ip, simulated=options.simulated_robot)
    what = 'A simulated robot' if options.simulated_robot else 'A REAL ROBOT'
    LOG.warning(
        f'{what} at {options.ip}. Objects are where {options.scene} states them; nothing measures '
        'their positions.'
    )
    driver = FrankaDriver(
        address,
        realtime=IGNORE if options.ignores_realtime else ENFORCE,
        robot=options.robot,
        load_kg=options.load_kg,
    )
    try:
        driver.need_hand()  # by whose widths objects are gripped and followed
        world = FrankaTable(driver, scene, options.envelope, weighs=uses_force(options.planner))
    except BaseException:
        driver.close()
        raise
    try:
        yield Stage(
            world,
            driver.now_s,
            lambda: Settled(world.observe()),
            _draw_nothing,
            world.motion.record,
            snapshot=lambda: _seen(world),
            approved=not options.simulated_robot,
        )
    finally:
        world.close()


def _draw_nothing(path: Path) -> None:
    """Draw no rendering: what could be drawn is what the scene file states."""


def _seen(world: FrankaTable) -> Seen:
    state = world.driver.joint_state()
    return Seen(None, world.view().objects, state.position_rad, state.width_m)
