"""Our houses beside the evaluator of the Embodied Agent Interface."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm_bench.benchmarks.eai.command import (
    ONE_EDGE,
    EaiOutcome,
    app,
    differences,
    ours,
    spoiled,
)
from bbllm_bench.suites.eai_suite import WHERE_TO_GET, read_tasks, script_of
from tests.bench.eai_data import write_eai

SAME = EaiOutcome((True, False), ('MISSING_STEP',), (frozenset(), frozenset()), (1, 1, 0), True)


@pytest.mark.parametrize(
    ('changed', 'n_edges', 'expected'),
    [
        ({}, 1, []),
        ({'done': (True, True)}, 1, ['another line is carried out']),
        ({'errors': ('WRONG_ORDER',)}, 1, ['error MISSING_STEP there, WRONG_ORDER here']),
        ({'graph': (frozenset({(1, 'ON', 2)}), frozenset())}, 1, ['another graph at the end']),
        ({'met': (0, 1, 0), 'passed': False}, 1, ['goals are judged otherwise']),
        ({'met': (1, 2, 0)}, 2, [ONE_EDGE]),
        ({'met': (0, 2, 0)}, 2, ['goals are judged otherwise']),
    ],
)
def test_each_difference_has_its_class(
    changed: dict[str, Any], n_edges: int, expected: list[str]
) -> None:
    assert list(differences(SAME, replace(SAME, **changed), n_edges)) == expected


def test_a_program_is_carried_out_and_judged_here(tmp_path: Path) -> None:
    folder = write_eai(tmp_path)
    tasks = {task.file_id: task for task in read_tasks(folder)}

    whole = ours(tasks['688_1'], script_of(tasks['688_1'].goal), folder)
    assert (whole.done, whole.errors) == ((True, True, False), ('ADDITIONAL_STEP',))
    assert (whole.met, whole.passed) == ((0, 0, 0), False)
    assert len(spoiled(tasks['3_2'])) == 2 and spoiled(tasks['3_2']) == spoiled(tasks['3_2'])


def test_both_agree_on_annotated_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('virtualhome_eval', reason=f'not installed: {WHERE_TO_GET}')

    app(['--first', '3', '--out', str(tmp_path / 'out')], standalone_mode=False)

    out = capsys.readouterr().out
    assert 'annotated' in out and ONE_EDGE in out
    assert 'goals are judged otherwise' not in out
