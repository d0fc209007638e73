"""`bbllm bench diff`, as people and programs use it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).parent.parent / 'bench'))

from made_results import make_result, make_settings, write_run

from bbllm.cli.main import app
from bbllm.cli.support.verb_group import BAD_INPUT


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


def test_says_which_is_better_and_whether_it_may_be_luck(good: Path, bad: Path) -> None:
    result = bench_diff(good, bad)

    assert result.exit_code == 0
    assert 'planner=brain_body brain=gpt-x body=offline K=3' in result.output
    assert 'They differ in brain.' in result.output
    assert 'A passes more often, by 1.00: the interval over 8 pairs excludes 0' in result.output
    assert 'McNemar p = 0.0078' in result.output
    assert 'Only A passed 8: plus_sign 0, plus_sign 1,' in result.output


def test_says_that_there_is_no_difference(good: Path, tmp_path: Path) -> None:
    same = write_run(tmp_path / 'same', run_of('passed'), make_settings(brain='gpt-x'))

    result = bench_diff(good, same)

    assert 'All settings of theirs are the same.' in result.output
    assert 'A and B passed equally often in 8 pairs (McNemar p = 1).' in result.output


def test_says_where_the_suites_ask_for_other_things_to_be_found_out(tmp_path: Path) -> None:
    asked = write_run(tmp_path / 'asked', run_of('passed', informed=True))
    some = write_run(
        tmp_path / 'some', [*run_of('passed', n=6, informed=False), *run_of('passed')[6:]]
    )

    result = bench_diff(asked, some)

    (row,) = (line for line in result.output.splitlines() if 'informed success' in line[:25])
    assert ' 6 ' in row
    assert 'In 2 pairs the suite of one run alone asks to find something out' in (
        result.output.replace('\n', ' ')
    )
    assert 'plus_sign 6, plus_sign 7' in result.output


def test_two_k_of_one_run_are_compared(tmp_path: Path) -> None:
    results = [*run_of('failed', k=0), *run_of('passed', k=2), *run_of('passed', k=3)]
    folder = write_run(tmp_path / 'run', results)

    result = bench_diff(folder, folder, '--k-a', 3, '--k-b', 0)

    assert 'A passes more often, by 1.00' in result.output
    assert 'Both also have K = 2 (--k-a, --k-b).' in result.output


def test_other_planners_are_compared_each_at_its_largest_k(tmp_path: Path) -> None:
    a = write_run(tmp_path / 'a', [*run_of('failed', k=0), *run_of('passed', k=3)])
    b = write_run(tmp_path / 'b', run_of('failed', k=0), make_settings(planner='base_llm'))

    assert 'A passes more often' in bench_diff(a, b).output


def test_says_what_could_not_be_paired(good: Path, tmp_path: Path) -> None:
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
    assert data['differences']['sr']['difference']['value'] == 1
    assert (data['differences']['sr']['winner'], data['differences']['sr']['certain']) == (
        '',
        False,
    )


def test_the_verdict_is_by_pairs_in_which_neither_was_lost(tmp_path: Path) -> None:
    mixed = [*run_of('failed', 8), *run_of('lost', 12)[8:]]
    a = write_run(tmp_path / 'a', run_of('passed', 12))
    b = write_run(tmp_path / 'b', mixed)

    output = bench_diff(a, b).output

    assert 'success, none lost' in output and '4 lost' in output
    assert 'over 8 pairs in which neither was lost excludes 0' in output
    assert 'Only A passed 8' in output


def test_a_verdict_is_not_clear_where_interval_and_test_disagree(tmp_path: Path) -> None:
    a = write_run(tmp_path / 'a', run_of('passed', 5))
    b = write_run(tmp_path / 'b', run_of('failed', 5))

    output = ' '.join(bench_diff(a, b).output.split())

    assert 'A passed more often, by 1.00, but the interval' in output
    assert 'the interval over 5 pairs excludes 0, and McNemar p = 0.062 is above 0.05' in output
    row = next(line for line in bench_diff(a, b).output.splitlines() if 'success rate' in line)
    assert 'not clear' in row and 'better' not in row


def test_programs_get_one_object(good: Path, bad: Path) -> None:
    result = bench_diff(good, bad, '--json')

    data = json.loads(result.stdout)
    assert (data['k_a'], data['k_b'], data['pairs']) == (3, 3, 8)
    assert data['a']['brain'] == 'gpt-x' and data['differ_in'] == ['brain']
    assert data['differences']['sr']['difference']['value'] == 1
    assert data['differences']['loops']['winner'] == 'A'
    assert data['only_a_passed'][0] == ['plus_sign', 0]


def test_a_run_that_is_being_written_can_be_compared(good: Path, bad: Path) -> None:
    before = {path.name for path in bad.iterdir()}
    with (bad / 'results.jsonl').open('a') as file:
        file.write('{"key": {"task": "plus')

    assert 'over 8 pairs' in bench_diff(good, bad).output
    # Only looked at: nothing was mended, and no lock left behind.
    assert (bad / 'results.jsonl').read_text().endswith('"plus')
    assert {path.name for path in bad.iterdir()} == before


def refused(*words: object) -> str:
    result = bench_diff(*words)
    assert result.exit_code == BAD_INPUT, result.output
    return ' '.join(result.output.split())


def test_a_run_without_results_is_refused(good: Path, tmp_path: Path) -> None:
    assert 'has no results' in refused(good, write_run(tmp_path / 'empty', []))


def test_the_same_episodes_twice_are_refused(good: Path) -> None:
    assert 'the same episodes' in refused(good, good)


def test_a_k_that_a_run_lacks_is_refused_with_those_it_has(good: Path, bad: Path) -> None:
    assert 'A has episodes with K = 3, B with K = 3: name one' in refused(
        good, bad, '--k-a', 3, '--k-b', 1
    )


def test_runs_without_a_common_k_ask_for_one_of_each(good: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / 'other', run_of('passed', k=0))

    assert 'A has episodes with K = 3, B with K = 0: name one of each' in refused(good, other)


def test_another_seed_is_named_where_nothing_pairs(good: Path, tmp_path: Path) -> None:
    results = run_of('passed', case_hash='of seed 1')
    other = write_run(tmp_path / 'other', results, make_settings(seed=1))

    assert 'seed: 0 in A, 1 in B' in refused(good, other)
