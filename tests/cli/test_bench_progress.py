"""The lines that a run prints of its episodes."""

from unittest.mock import Mock

import pytest

from bbllm_bench.commands.progress import ProgressView
from bbllm_bench.runner.run_watch import RunProgress
from tests.bench.made_results import make_result


@pytest.mark.parametrize(
    ('verdict', 'ending', 'end'),
    [
        ('passed', 'FINISHED', ' left'),
        ('failed', 'FINISHED', ' left  It failed.'),
        ('failed', 'MODEL_FAILED', ' left  MODEL_FAILED: It failed.'),
        ('passed', 'GAVE_UP', ' left  GAVE_UP'),
    ],
)
def test_a_line_names_the_ending_beside_the_verdict_s_reason(
    verdict: str, ending: str, end: str
) -> None:
    output = Mock(live=False)
    result = make_result(verdict=verdict, ending=ending)

    ProgressView(output, Mock(), bool).ended(result, RunProgress.of([result], total=2))

    (line,) = (call.args[0] for call in output.print.call_args_list)
    assert line.startswith('   1/2  plus_sign-t000-k3  ') and line.endswith(end)
