"""Reports of runs that no language model answered say so."""

import pytest

from bbllm_bench.oracle.notices import handed_the_goal, notices_about, roles_of, stand_ins
from bbllm_bench.report.summary import closing_line, summarize_run
from bbllm_bench.report.summary_table import lines_for_terminal
from bbllm_bench.report.write import notices_of
from tests.bench.made_results import make_result, make_settings

PLUMBING = 'it measures the plumbing, not planning.'


@pytest.mark.parametrize('name', handed_the_goal())
def test_summary_and_terminal_state_that_the_plumbing_was_measured(name: str) -> None:
    summary = summarize_run(make_settings(brain=name), [make_result()], [])

    (notice,) = summary.notices
    assert notice.startswith(f'Brain: {name} is a deterministic stand-in that receives the goal')
    assert notice.endswith(PLUMBING)
    assert notice in lines_for_terminal(summary)


@pytest.mark.parametrize(
    ('planner', 'roles'),
    [('brain_body', ['Body']), ('one of another package', ['Body']), ('llm_pop', [])],
)
def test_a_body_is_named_where_it_may_be_asked(planner: str, roles: list[str]) -> None:
    settings = make_settings(planner=planner, brain='gpt-4o')

    assert roles_of('offline', settings, {}) == roles
    # A Body that has answered was asked.
    assert roles_of('offline', settings, {'body': ['offline']}) == ['Body']
    reported = [f'Body: offline {stand_ins()["offline"]}.']
    assert notices_about(['offline'], settings, {}) == (reported if roles else [])


def test_what_replies_to_other_prompts_come_to_is_no_figure_of_the_model() -> None:
    results = [
        make_result(changed_prompts=('it differs in a.', 'it differs in b.')),
        make_result(trial=1),
    ]

    same = summarize_run(make_settings(), results[1:], [])
    summary = summarize_run(make_settings(), results, [])
    (line,) = summary.changed

    assert line == (
        'Replayed with changed prompts: 2 of 24 prompts differ from what was replied to, so that '
        'no figure is one of the model. The first difference: it differs in a.'
    )
    assert line in lines_for_terminal(summary)
    assert line in notices_of(make_settings(), summary)
    assert ' changed_prompts=yes SR=' in closing_line(summary)
    assert same.changed == ()
    assert 'changed_prompts' not in closing_line(same)
    assert [result.finding for result in results] == [
        'passed, replayed with changed prompts', 'passed',
    ]  # fmt: skip
