"""A hand that was not homed, or is not there, at the simulated table with unmodified libfranka."""

import importlib.util
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bbllm.arm.driver import GoalStatus
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.errors import ApprovalError, ConfigError
from bbllm.core.events import Ending, describe
from bbllm.core.journal import read_line
from bbllm.core.paths import episodes_dir
from bbllm.robots.fr3 import FR3
from bbllm.scene.scene_file import load_scene
from bbllm_franka import hand, homing
from bbllm_franka.errors import NoHandError, UnhomedError
from bbllm_franka.hand import HandLink, unhomed
from bbllm_franka.homing import home_hand

WIDEST_M = FR3.hand.max_width_m


@pytest.mark.parametrize(
    ('width_m', 'max_width_m', 'why'),
    [
        (0.03, 0.0, 'not homed since it was switched on'),
        (0.03, 0.041, 'homed to a widest opening of 41 mm'),
        (0.12, WIDEST_M, 'its fingers are 120 mm apart'),
        (-0.02, WIDEST_M, 'its fingers are -20 mm apart'),
    ],
)
def test_widths_that_cannot_be_are_those_of_a_hand_to_be_homed(
    width_m: float, max_width_m: float, why: str
) -> None:
    assert why in unhomed(width_m, max_width_m, FR3.hand)


@pytest.mark.parametrize('max_width_m', [WIDEST_M, 0.0782, 0.082])
@pytest.mark.parametrize('share', [-0.01, 0.0, 0.5, 1.01])
def test_a_homed_hand_is_usable(max_width_m: float, share: float) -> None:
    assert unhomed(share * max_width_m, max_width_m, FR3.hand) == ''


def table_at(address: str, *faults: str) -> Any:
    """Return the simulated table, to be entered, with states from its start on."""
    for module in ('franky', 'franka_sim'):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: make extras')
    from bbllm_fci.table import FciTable, StateFault

    return FciTable(load_scene('tower'), ip=address, faults=[StateFault(name) for name in faults])


@pytest.fixture
def address() -> str:
    high, low = divmod(os.getpid() % 65024, 254)
    return f'127.9.{high}.{low + 1}'


@pytest.fixture
def table(address: str) -> Iterator[Any]:
    with table_at(address, 'hand_not_homed') as table:
        yield table


@pytest.fixture
def as_if_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a simulation on this computer pass for a robot."""
    monkeypatch.setattr(homing, 'check_address', lambda address, simulated: address)


def test_a_hand_is_homed_once_a_person_has_approved(
    table: Any, address: str, as_if_real: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Answer:
        asked.append(request)
        return Answer(granted=True, by='a person')

    width_m = home_hand(address, approve)

    assert width_m == pytest.approx(WIDEST_M, abs=0.001)
    (request,) = asked
    assert request.reason == 'it was not homed since it was switched on'
    link = HandLink(address)
    link.need_homed(FR3.hand)
    link.close()
    (journal,) = episodes_dir().glob('*.jsonl')
    started, approved, ended = map(read_line, journal.read_text().splitlines())
    assert started.data.task == f'home the hand at {address}'  # type: ignore[union-attr]
    assert started.data.settings == {'simulated_robot': False}  # type: ignore[union-attr]
    assert '\n'.join(text for _, text in describe(started.data)).endswith(journal.stem)
    assert (approved.data.granted, approved.data.by) == (True, 'a person')  # type: ignore[union-attr]
    assert ended.data.ending is Ending.FINISHED  # type: ignore[union-attr]


def test_nothing_moves_a_hand_that_nobody_approved(
    table: Any, address: str, as_if_real: None
) -> None:
    with pytest.raises(ConfigError, match='moves after a person has approved'):
        home_hand(address)
    with pytest.raises(ApprovalError, match='not approved: a finger is in it'):
        home_hand(address, lambda request: Answer(granted=False, reason='a finger is in it'))

    link = HandLink(address)
    with pytest.raises(UnhomedError, match=f'bbllm home --ip {address}'):
        link.need_homed(FR3.hand)
    link.close()


def test_a_robot_without_a_hand_is_reported_with_what_to_do(address: str) -> None:
    with table_at(address, 'no_hand'), pytest.raises(NoHandError, match='select it as end'):
        HandLink(address)


class _Goal:
    """A goal of the hand that ends after some polls, or when it is stopped."""

    def __init__(self, polls: int) -> None:
        self.polls, self.stopped = polls, False

    def wait(self, timeout_s: float) -> bool:
        time.sleep(timeout_s)
        self.polls -= 1
        return self.polls < 0 or self.stopped

    def get(self) -> bool:
        return not self.stopped

    def stop_async(self) -> None:
        self.stopped = True


@pytest.mark.parametrize(
    ('slowness', 'status'), [(1000.0, GoalStatus.SUCCEEDED), (1.0, GoalStatus.CANCELED)]
)
def test_a_goal_is_given_up_by_the_clock_of_the_robot(
    slowness: float, status: GoalStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand, 'GIVE_UP_S', 0.1)
    goal = _Goal(polls=50)  # half a second on the wall
    link = HandLink.__new__(HandLink)
    link._robot_s = lambda: time.monotonic() / slowness
    link._gripper, link._state = goal, SimpleNamespace(width=0.04)
    link._franky = SimpleNamespace(CommandException=OSError, NetworkException=OSError)
    link._news, link._seen_s = threading.Condition(), 0.0

    assert link._run(goal, lambda: False).status is status
