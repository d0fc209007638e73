"""A task on a robot without ROS: real libfranka, a scene file, and a person who approves."""

from pathlib import Path

import numpy as np
import pytest

from bbllm import Robot
from bbllm.api.config import EpisodeConfig
from bbllm.arm.envelope import load_envelope
from bbllm.bags.motion import motion_path, read_motion
from bbllm.bags.motion_recorder import RATE_HZ
from bbllm.core.approval import ApprovalRequest
from bbllm.core.errors import ConfigError
from bbllm.core.events import Ending
from bbllm.core.journal import list_journals
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Code
from bbllm_bench.commands.episode_files import write_page
from bbllm_franka import stage
from bbllm_franka.errors import NoRouteError, SimulatedServerError

SCENE = """
description: Two cubes that a person measured.
objects:
  - {name: red_cube, kind: cube, color: red, xy: [0.45, 0.1]}
  - {name: blue_cube, kind: cube, color: blue, xy: [0.5, -0.15]}
locations:
  - {name: location_A, xy: [0.4, -0.05]}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / 'measured.yaml'
    path.write_text(SCENE)
    return path


@pytest.fixture
def as_if_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a simulation on this computer pass for a robot."""
    monkeypatch.setattr(stage, 'check_address', lambda address, simulated: address)


def test_picks_and_places_by_positions_from_a_file(
    address: str, scene: Path, tmp_path: Path
) -> None:
    options = {'ip': address, 'scene': scene, 'simulated_robot': True, 'rehearse': False}
    with Robot('fr3', never='touch the blue cube', **options) as robot:
        episode = robot.do('put the red cube on location_A')

        assert episode.ending is Ending.FINISHED, episode.message
        assert episode.goal == 'met'
        at = robot.observe().object('red_cube').pose.position_m
        assert at == pytest.approx((0.4, -0.05, 0.02), abs=0.005)
        assert robot.execute('pick(blue_cube)').code is Code.UNSAFE

    journal = list_journals(episodes_dir())[-1]
    motion = read_motion(motion_path(journal))
    assert motion.complete
    assert motion.poses['red_cube'][-1][:3] == pytest.approx((0.4, -0.05, 0.02), abs=0.005)
    assert motion.poses['red_cube'][:, 2].max() > 0.05  # it was carried
    assert float(np.diff(motion.world_s).mean()) < 2 / RATE_HZ
    page = tmp_path / 'page.html'
    write_page(journal, page)
    assert 'red_cube' in page.read_text('utf-8')


def test_nothing_moves_a_real_arm_that_was_not_approved(
    address: str, scene: Path, as_if_real: None
) -> None:
    asked: list[ApprovalRequest] = []

    def deny(request: ApprovalRequest) -> bool:
        asked.append(request)
        return False

    options = {'ip': address, 'scene': scene, 'realtime': 'ignore', 'rehearse': False}
    with Robot('fr3', approve=deny, **options) as robot:
        before = robot.observe()
        episode = robot.do('put the red cube on location_A')
        assert episode.ending is not Ending.FINISHED
        assert len(asked) == 1

        # Nor by a call of the program, which belongs to no plan.
        outcome = robot.execute('pick(red_cube)')
        assert outcome.code is Code.NOT_APPROVED
        assert len(asked) == 2
        after = robot.observe()
    assert before.objects == after.objects


def test_a_real_arm_needs_somebody_to_ask(scene: Path) -> None:
    with pytest.raises(ConfigError, match='moves after a person has approved'):
        Robot('fr3', ip='172.16.0.2', scene=scene)


def test_the_envelope_of_a_robot_is_the_slow_one() -> None:
    assert EpisodeConfig().on_arm('fr3').envelope == load_envelope('safety_slow')


@pytest.mark.parametrize(
    ('options', 'error', 'text'),
    [
        ({}, ConfigError, 'Where is the robot'),
        ({'ip': '127.0.0.1'}, ConfigError, 'Where are the objects'),
        ({'ip': '127.0.0.1', 'scene': 'first_day'}, SimulatedServerError, 'is this computer'),
        (
            {'ip': '192.0.2.1', 'scene': 'first_day', 'simulated_robot': True},
            SimulatedServerError,
            'may be a robot',
        ),
        ({'ip': 'no.such.robot.invalid', 'scene': 'first_day'}, NoRouteError, 'is no address'),
        ({'speed': 1.0}, ConfigError, 'does not have speed'),
    ],
)
def test_what_cannot_be_is_refused_before_a_connection(
    options: dict[str, object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Robot('fr3', approve=lambda request: True, **options)


def test_an_option_of_robots_is_refused_elsewhere() -> None:
    with pytest.raises(ConfigError, match='does not have ip'):
        Robot('sim', ip='172.16.0.2')
