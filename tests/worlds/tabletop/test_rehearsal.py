"""Calls and plans of a table that are tried in simulations first."""

from collections.abc import Iterator
from typing import Any

import pytest

from bbllm.arm.envelope import load_envelope
from bbllm.core.cancel import CancelToken
from bbllm.core.errors import CancelledError
from bbllm.core.types import Code, Outcome, SkillCall, Status
from bbllm.scene.scene_file import make_scene
from bbllm.worlds.tabletop import rehearsal as rehearsals
from bbllm.worlds.tabletop.rehearsal import RehearsalSettings, RehearsedWorld, TwinRehearsal
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm.worlds.tabletop.twin import Deviation

FILE = make_scene(
    {
        'objects': [
            {'name': 'red_cube', 'kind': 'cube', 'xy': [0.5, 0.1]},
            {'name': 'blue_cube', 'kind': 'cube', 'xy': [0.5, -0.1]},
            {'name': 'far_cube', 'kind': 'cube', 'xy': [0.9, 0.7]},
        ],
        'locations': [{'name': 'location_A', 'xy': [0.4, 0.2]}],
    }
)
PICK, PLACE = SkillCall('pick', ('red_cube',)), SkillCall('place', ('location_A',))


class CountingTable(TabletopWorld):
    """A table that keeps what it was asked to do."""

    def __init__(self) -> None:
        super().__init__(FILE, seed=1)
        self.executed: list[str] = []

    def execute(self, call: SkillCall) -> Outcome:
        self.executed.append(str(call))
        return super().execute(call)


@pytest.fixture
def table() -> Iterator[CountingTable]:
    world = CountingTable()
    yield world
    world.close()


@pytest.fixture
def slippery(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be lifted in the simulations but the first."""
    monkeypatch.setattr(rehearsals, 'drawn', lambda *_: Deviation(friction=0.01))


@pytest.mark.usefixtures('slippery')
def test_a_call_that_fails_in_most_simulations_moves_nothing(table: CountingTable) -> None:
    outcome = RehearsedWorld(table, RehearsalSettings()).execute(PICK)

    assert outcome.status is Status.REJECTED
    assert outcome.message.startswith(
        'In a rehearsal in simulation, before the arm tries this step: '
    )
    assert table.executed == []
    assert RehearsedWorld(table, RehearsalSettings(samples=2)).execute(PICK).succeeded
    assert table.executed == ['pick(red_cube)']


def test_a_refused_call_has_the_code_of_its_refusal(table: CountingTable) -> None:
    outcome = RehearsedWorld(table, RehearsalSettings()).execute(SkillCall('pick', ('far_cube',)))
    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.OUT_OF_WORKSPACE)
    assert table.executed == []


def test_a_constraint_of_the_safety_rules_holds_in_the_rehearsal(table: CountingTable) -> None:
    safety = load_envelope().stricter(('touch red_cube',), ())
    outcome = RehearsedWorld(table, RehearsalSettings(safety=safety)).execute(PICK)
    assert outcome.code is Code.UNSAFE
    assert table.executed == []


def test_calls_of_a_rehearsed_plan_are_not_tried_again_one_by_one(
    table: CountingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RehearsedWorld(table, RehearsalSettings(samples=2))
    rehearsal = world.rehearsal()
    assert rehearsal.execute(PICK).succeeded and rehearsal.execute(PLACE).succeeded
    assert rehearsal.observe().has('red_cube', 'on', 'location_A')
    rehearsal.close()
    assert table.executed == []

    begun: list[object] = []
    begin = rehearsals.twin_of

    def counted(*given: Any, **named: Any) -> TabletopWorld:
        begun.append(given)
        return begin(*given, **named)

    monkeypatch.setattr(rehearsals, 'twin_of', counted)
    assert world.execute(PICK).succeeded and world.execute(PLACE).succeeded
    assert begun == []
    assert world.execute(SkillCall('pick', ('blue_cube',))).message == ''
    assert len(begun) == 2


def test_another_call_than_the_rehearsed_one_ends_what_the_rehearsal_is_good_for(
    table: CountingTable,
) -> None:
    world = RehearsedWorld(table, RehearsalSettings(samples=1))
    rehearsal = world.rehearsal()
    assert rehearsal.execute(PICK).succeeded and rehearsal.execute(PLACE).succeeded
    rehearsal.close()

    assert world.execute(SkillCall('pick', ('blue_cube',))).succeeded
    refused = world.execute(PICK)  # rehearsed from the scene as it is: blue_cube is in the hand
    assert refused.code is Code.ALREADY_HOLDING


def rehearse(table: TabletopWorld, *calls: SkillCall, samples: int = 3) -> TwinRehearsal:
    rehearsal = RehearsedWorld(table, RehearsalSettings(samples=samples)).rehearsal()
    for call in calls:
        rehearsal.execute(call)
    rehearsal.close()
    return rehearsal


def test_result_has_shares_and_times(table: CountingTable) -> None:
    result = rehearse(table, PICK, PLACE).result
    assert (result.samples, result.succeeded, result.calls) == (3, 3, 2)
    real_s = sum(table.execute(call).duration_s for call in (PICK, PLACE))
    assert result.robot_s == pytest.approx(real_s, rel=0.15)
    assert result.wall_s > 0


@pytest.mark.usefixtures('slippery')
def test_only_a_failure_that_moved_something_spoils_the_simulations(table: CountingTable) -> None:
    rehearsal = RehearsedWorld(table, RehearsalSettings()).rehearsal()
    assert not rehearsal.execute(SkillCall('pick', ('far_cube',))).succeeded
    assert rehearsal.is_intact
    assert not rehearsal.execute(PICK).succeeded
    assert not rehearsal.is_intact
    rehearsal.close()


def test_a_cancel_ends_a_rehearsal_between_two_calls(table: CountingTable) -> None:
    cancel = CancelToken()
    rehearsal = RehearsedWorld(table, RehearsalSettings(samples=1)).rehearsal(cancel)
    assert rehearsal.execute(PICK).succeeded
    cancel.cancel('a person stopped it')
    with pytest.raises(CancelledError):
        rehearsal.execute(PLACE)
    rehearsal.close()
