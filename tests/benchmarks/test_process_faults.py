"""The bench of faults of processes: what it draws, what it counts as good, and two real trials."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core.events import Ending, EpisodeEnded, EpisodeStarted, Event
from bbllm.core.journal import JournalWriter
from bbllm.core.paths import episodes_dir
from bbllm_bench.benchmarks.faults import process
from bbllm_bench.benchmarks.faults.process import (
    LIMIT_S,
    OWNERS,
    Manner,
    ProcessFault,
    ProcessFaultResult,
    draw_trials,
    judge,
    run_trials,
)
from bbllm_ros.stack.stack import NODES

START = EpisodeStarted(episode_id='e', task='t', planner='p', brain='b', body='c')
GONE = 'The node body_mapper has gone: its process 7 has ended.'


def seen(
    episode_id: str, target: str = 'body_mapper', told_s: float = 1.0, at_rest: bool = True
) -> ProcessFaultResult:
    return ProcessFaultResult(
        trial=ProcessFault(target, Manner.KILL, 1.0),
        episode_id=episode_id,
        struck=True,
        told_s=told_s,
        ending=Ending.WORLD_FAILED.name,
        message=GONE,
        at_rest=at_rest,
    )


@pytest.fixture
def episode(request: pytest.FixtureRequest) -> str:
    """Leave a journal of an episode that ended with the loss of a node; return its id."""
    episode_id = f'judged_{request.node.name.partition("[")[0]}'
    with JournalWriter(episodes_dir(), episode_id) as journal:
        journal(Event(1.0, START))
        journal(Event(2.0, EpisodeEnded(Ending.WORLD_FAILED, GONE, 'LostNodeError')))
    yield episode_id
    Path(episodes_dir() / f'{episode_id}.jsonl').unlink()


def test_trials_are_drawn_by_a_seed_and_those_of_owners_come_last() -> None:
    drawn = draw_trials(300, 3)

    assert drawn == draw_trials(300, 3) != draw_trials(300, 4)
    targets = [trial.target for trial in drawn]
    assert set(NODES) < set(targets) <= {*NODES, *OWNERS}
    first_owner = next(i for i, target in enumerate(targets) if target in OWNERS)
    assert not set(targets[first_owner:]) & set(NODES)


def test_trial_is_good_where_the_node_is_named_in_time_and_all_is_at_rest_and_whole(
    episode: str,
) -> None:
    assert judge(seen(episode)).good
    assert not judge(seen(episode, 'mujoco_sim')).good
    assert not judge(seen(episode, told_s=LIMIT_S[Manner.KILL] + 0.1)).good
    assert not judge(seen(episode, at_rest=False)).good


@pytest.mark.slow  # two stacks
@pytest.mark.ros
def test_node_that_is_killed_and_one_that_is_stopped_are_good_trials(ros_domain: int) -> None:
    results: list[ProcessFaultResult] = []
    trials = [
        ProcessFault('state_estimator', Manner.KILL, 0.5),
        ProcessFault('fr3_executor', Manner.STOP, 0.5),
    ]

    run_trials(trials, results.append)

    assert [result.trial for result in results] == trials
    assert [(r.named, r.at_rest, r.journal_whole) for r in results] == [(True, True, True)] * 2


def test_the_report_is_the_one_object_of_stdout_and_fails_where_a_trial_is_not_good(
    bbllm: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(
        trials: Sequence[ProcessFault], on_result: Callable[[ProcessFaultResult], None]
    ) -> None:
        on_result(seen('e', at_rest=False))

    monkeypatch.setattr(process, 'run_trials', run)
    out = tmp_path / 'faults.json'

    result = bbllm('bench', 'process-faults', '--json', '--out', str(out))

    assert result.exit_code == 1, result.exception
    assert json.loads(result.stdout) == {**json.loads(out.read_text()), 'out': str(out)}
    assert [each['good'] for each in json.loads(result.stdout)['results']] == [False]
