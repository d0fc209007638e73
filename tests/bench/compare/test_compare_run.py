"""Several runs in folders beside each other, by the same workers, that go on after a stop."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm_bench.compare.choice import Contender
from bbllm_bench.compare.run import PlannerRun, play_all
from bbllm_bench.log.store import read_run
from bbllm_bench.runner.run_setup import Prepared
from tests.bench.fake_run import Here, Notes, make_plan
from tests.bench.made_results import make_settings


class Spectator(Notes):
    """Writes down too who plays."""

    def __init__(self, end_after: int | None = None):
        super().__init__(end_after)
        self.players: list[str] = []

    def plays(self, planner: str) -> None:
        self.players.append(planner)


class Agency:
    """Hires workers and remembers them."""

    def __init__(self) -> None:
        self.hired: list[Here] = []

    def hire(self) -> Here:
        self.hired.append(Here(2))
        return self.hired[-1]


def contender(planner: str, tasks: Sequence[str] = ('fine',), seed: int = 0) -> Contender:
    settings = make_settings(tasks=tasks, planner=planner, ks=(0,), trials=3, seed=seed)
    return Contender(planner, Prepared(make_plan(settings), ()))


def compared(
    folder: Path,
    *contenders: Contender,
    watch: Spectator | None = None,
    agency: Agency | None = None,
) -> tuple[PlannerRun, ...]:
    hire = (agency or Agency()).hire
    return play_all(contenders, folder, hire, watch or Spectator())


def test_each_planner_has_an_ordinary_run_and_all_have_the_same_workers(tmp_path: Path) -> None:
    watch, agency = Spectator(), Agency()

    ran = compared(tmp_path, contender('a'), contender('b:x=1'), watch=watch, agency=agency)

    assert [item.folder.name for item in ran] == ['a', 'b-x-1']
    assert [read_run(item.folder).settings.planner for item in ran] == ['a', 'b:x=1']
    assert all(len(read_run(item.folder).results) == 3 for item in ran)
    assert (tmp_path / 'a' / 'summary.json').exists()
    assert len(agency.hired) == 1
    assert watch.players == ['a', 'b:x=1']


def test_who_stops_it_finds_on_record_what_was_played_and_goes_on_with_the_rest(
    tmp_path: Path,
) -> None:
    both = (contender('a', ('fine', 'slow')), contender('b'))
    first = compared(tmp_path, *both, watch=Spectator(end_after=2))
    watch = Spectator()

    second = compared(tmp_path, *both, watch=watch)

    assert [item.planner for item in first] == ['a']
    assert first[0].end.interrupted
    assert watch.began_with is not None
    assert watch.began_with.done == first[0].end.progress.done >= 2
    assert [item.end.progress.done for item in second] == [6, 3]
    keys = [result.key for result in read_run(tmp_path / 'a').results]
    assert len(set(keys)) == len(keys) == 6


def test_workers_that_a_run_left_at_work_are_not_those_of_the_next(tmp_path: Path) -> None:
    agency = Agency()
    first = contender('a', ('refused', 'hangs'))

    ran = compared(tmp_path, first, contender('b'), agency=agency)

    assert '$SOME_KEY is not set' in ran[0].end.reason
    assert len(read_run(tmp_path / 'b').results) == 3
    assert len(agency.hired) == 2


def test_nobody_plays_where_the_folder_of_one_holds_another_run(tmp_path: Path) -> None:
    compared(tmp_path, contender('b'))
    agency = Agency()

    with pytest.raises(ConfigError, match='seed: was 0, is 7'):
        compared(tmp_path, contender('a', seed=7), contender('b', seed=7), agency=agency)

    assert agency.hired == []
