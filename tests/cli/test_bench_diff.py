"""`bbllm bench diff`, as people and programs use it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bbllm.cli.main import app
from bbllm.cli.support.verb_group import BAD_INPUT
from tests.bench.made_results import make_result, make_settings, write_run


def bench_diff(*words: object) -> Result:
    return CliRunner().invoke(app, ['bench', 'diff', *map(str, words)])


def run_of(verdict: str, n: int = 8, k: int = 3, **changes: Any) -> list[Any]:
    return [make_result(trial=i, k=k, verdict=verdict, **changes) for i in range(n)]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_run(tmp_path / 'good', run_of('passed'), make_settings(brain='gpt-x'))


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write_run(tmp_path / 'bad', run_of('failed', loops=3))


def test_the_verdict_is_which_is_better_or_no_difference(
    good: Path, bad: Path, tmp_path: Path
) -> None:
    same = write_run(tmp_path / 'same', run_of('passed'), make_settings(brain='gpt-x'))

    better, equal = bench_diff(good, bad), bench_diff(good, same)

    assert better.exit_code == 0
    for text in (
        'planner=brain_body brain=gpt-x body=offline K=3',
        'They differ in brain.',
        'A passes more often, by 1.00: the interval over 8 pairs excludes 0',
        'McNemar p = 0.0078',
        'Only A passed 8: plus_sign 0, plus_sign 1,',
    ):
        assert text in better.output
    assert 'All settings of theirs are the same.' in equal.output
    assert 'A and B passed equally often in 8 pairs (McNemar p = 1).' in equal.output


def test_tasks_whose_suites_require_other_information_are_listed(tmp_path: Path) -> None:
    asked = write_run(tmp_path / 'asked', run_of('passed', informed=True))
    results = [*run_of('passed', n=6, informed=False), *run_of('passed')[6:]]
    some = write_run(tmp_path / 'some', results)

    output = bench_diff(asked, some).output

    (row,) = (line for line in output.splitlines() if 'informed success' in line[:25])
    assert ' 6 ' in row
    reported = 'In 2 pairs the suite of one run alone asks to find something out'
    assert reported in output.replace('\n', ' ') and 'plus_sign 6, plus_sign 7' in output


def test_two_k_of_one_run_or_the_largest_of_each_planner_are_compared(tmp_path: Path) -> None:
    results = [*run_of('failed', k=0), *run_of('passed', k=2), *run_of('passed', k=3)]
    folder = write_run(tmp_path / 'run', results)
    other = write_run(tmp_path / 'b', run_of('failed', k=0), make_settings(planner='base_llm'))

    two_k = bench_diff(folder, folder, '--k-a', 3, '--k-b', 0)

    assert 'A passes more often, by 1.00' in two_k.output
    assert 'Both also have K = 2 (--k-a, --k-b).' in two_k.output
    assert 'A passes more often' in bench_diff(folder, other).output


def test_what_could_not_be_paired_is_listed(good: Path, tmp_path: Path) -> None:
    results = run_of('passed', 10)
    results[2] = make_result(trial=2, case_hash='another')
    other = write_run(tmp_path / 'other', results)

    output = bench_diff(good, other).output

    assert 'Not paired: 1 is in both, but with another table' in output
    assert 'Not paired: 2 are only in B: plus_sign 8, plus_sign 9.' in output


def test_no_winner_is_declared_from_what_infrastructure_lost(tmp_path: Path) -> None:
    a = write_run(tmp_path / 'a', run_of('passed', 5))
    b = write_run(tmp_path / 'b', run_of('lost', 5))

    output = bench_diff(a, b).output
    data = json.loads(bench_diff(a, b, '--json').stdout)

    assert 'A is better' not in output and 'more often' not in output
    assert 'No verdict: in every pair an episode was lost to infrastructure' in output
    assert '5 pairs infrastructure failed (0 lost of A, 5 of B)' in output
    assert (data['verdict'], data['only_a_passed'], data['mcnemar_p']) == ('none', [], 1)
    success = data['differences']['sr']
    assert (success['winner'], success['certain']) == ('', False)
    assert success['difference']['value'] == 1


def test_a_verdict_is_not_clear_where_interval_and_test_disagree(tmp_path: Path) -> None:
    a = write_run(tmp_path / 'a', run_of('passed', 5))
    b = write_run(tmp_path / 'b', run_of('failed', 5))

    output = ' '.join(bench_diff(a, b).output.split())

    assert 'A passed more often, by 1.00, but the interval' in output
    assert 'the interval over 5 pairs excludes 0, and McNemar p = 0.062 is above 0.05' in output
    row = next(line for line in bench_diff(a, b).output.splitlines() if 'success rate' in line)
    assert 'not clear' in row and 'better' not in row


def test_a_run_that_is_being_written_can_be_compared(good: Path, bad: Path) -> None:
    before = {path.name for path in bad.iterdir()}
    with (bad / 'results.jsonl').open('a') as file:
        file.write('{"key": {"task": "plus')

    assert 'over 8 pairs' in bench_diff(good, bad).output
    # Only looked at: nothing was mended, and no lock left behind.
    assert (bad / 'results.jsonl').read_text().endswith('"plus')
    assert {path.name for path in bad.iterdir()} == before


def test_what_cannot_be_compared_is_refused_with_the_reason(
    good: Path, bad: Path, tmp_path: Path
) -> None:
    empty = write_run(tmp_path / 'empty', [])
    without_loops = write_run(tmp_path / 'k0', run_of('passed', k=0))
    of_seed_1 = run_of('passed', case_hash='of seed 1')
    other_seed = write_run(tmp_path / 'seed', of_seed_1, make_settings(seed=1))

    for words, reason in (
        ((good, empty), 'has no results'),
        ((good, good), 'the same episodes'),
        ((good, bad, '--k-a', 3, '--k-b', 1), 'A has episodes with K = 3, B with K = 3: name one'),
        ((good, without_loops), 'A has episodes with K = 3, B with K = 0: name one of each'),
        ((good, other_seed), 'seed: 0 in A, 1 in B'),
    ):
        result = bench_diff(*words)
        assert result.exit_code == BAD_INPUT, result.output
        assert reason in ' '.join(result.output.split())
