"""The summary: what it says, and that it says the same of the same results."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.errors import ConfigError
from bbllm_bench.log.results import EpisodeResult, PictureResult
from bbllm_bench.log.store import Session
from bbllm_bench.metrics.metrics import BY_PICTURES
from bbllm_bench.report.summary import (
    RunSummary,
    closing_line,
    read_summary,
    summarize_run,
    summary_text,
)
from bbllm_bench.report.summary_table import lines_for_terminal
from tests.bench.made_results import TASKS, make_result, make_settings, printed
from tests.drawn import examples

SESSION = Session(started_s=100.0, ended_s=160.0, episodes=4)


def of_all(verdict: str = 'passed', k: int = 3, **changes: Any) -> list[EpisodeResult]:
    """Return two trials of both tasks."""
    return [
        make_result(task, trial, k, verdict, **changes) for task in TASKS for trial in range(2)
    ]


def test_no_episode_at_all_gives_a_summary_too() -> None:
    summary = summarize_run(make_settings(), [], [])

    assert (summary.top.n, summary.top.value('sr')) == (0, None)
    assert summary.episodes_per_minute is None
    assert closing_line(summary) == (
        'tabletop planner=brain_body brain=offline SR=none [0.00, 1.00] GCR=none EXEC=none n=0'
    )
    assert 'plus_sign' in printed(summary)


def test_speed_counts_all_sessions_but_not_the_pauses_between_them() -> None:
    later = Session(started_s=10_000.0, ended_s=10_060.0, episodes=8)
    killed = Session(started_s=20_000.0, ended_s=None, episodes=3)

    summary = summarize_run(make_settings(), of_all(), [SESSION, later, killed])

    assert summary.episodes_per_minute == 6
    assert summary.timing.wall_s == 120
    assert (summary.timing.model_s, summary.timing.episode_s) == (8, 12)


def without_times(summary: RunSummary) -> str:
    return summary.model_dump_json(exclude={'episodes_per_minute', 'timing'})


@examples(20)
@given(data=st.data())
def test_a_resumed_run_gives_the_identical_summary(data: st.DataObject) -> None:
    """Other order, other sessions, other wall times; JSON text, so that key order counts too."""
    verdicts = st.sampled_from(('passed', 'failed', 'lost'))
    shares = st.floats(0, 1)
    results = [
        make_result(
            task, trial, k, data.draw(verdicts), gcr=data.draw(shares), robot_s=data.draw(shares)
        )
        for task in TASKS
        for trial in range(3)
        for k in (0, 3)
    ]
    times = st.floats(0, 1e3)
    shuffled = [
        replace(result, wall_s=data.draw(times), model_s=data.draw(times))
        for result in data.draw(st.permutations(results))
    ]
    run = make_settings(ks=[0, 3], trials=3)

    one = summarize_run(run, results, [SESSION])
    other = summarize_run(run, shuffled, [SESSION, replace(SESSION, ended_s=1000.0)])

    assert without_times(one) == without_times(other)


def test_a_summary_is_read_as_it_was_written(tmp_path: Path) -> None:
    results = [*of_all('failed', k=0, gcr=1 / 3), *of_all('lost')]
    summary = summarize_run(make_settings(ks=[0, 3]), results, [SESSION])
    path = tmp_path / 'summary.json'
    path.write_text(summary_text(summary))

    found = read_summary(path)

    assert summary_text(found) == path.read_text()
    assert found.by_k[0].value('gcr') == 0.333333  # without rounding noise
    assert 'NaN' not in path.read_text()


@pytest.mark.parametrize('text', ['', '[]', '{"suite": "tabletop"}'])
def test_what_is_no_summary_is_refused_with_the_command_that_makes_one(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / 'summary.json').write_text(text)

    with pytest.raises(ConfigError, match='bbllm bench report'):
        read_summary(tmp_path / 'summary.json')


def test_tokens_that_no_server_counted_are_estimated_and_marked() -> None:
    silent = of_all(prompt_tokens=0, completion_tokens=0, sent_tokens=512)

    summary = summarize_run(make_settings(), silent, [])

    assert (summary.top.tokens, summary.top.tokens_estimated) == (2048, True)
    assert '~2,048' in printed(summary)
    assert '~' not in printed(summarize_run(make_settings(), of_all(), []))


def test_the_closing_line_has_the_form_that_programs_read() -> None:
    summary = summarize_run(make_settings(), [*of_all()[:3], *of_all('failed')[3:]], [])

    assert closing_line(summary) == (
        'tabletop planner=brain_body brain=offline SR=0.75 [0.30, 0.95] GCR=0.88 EXEC=0.80 n=4'
    )


def test_the_table_shows_every_k_and_what_was_lost() -> None:
    results = [*of_all('failed', k=0), *of_all(k=3)]
    results[-1] = make_result('plus_sign', 1, verdict='lost')

    summary = summarize_run(make_settings(ks=[0, 3]), results, [SESSION])
    text = printed(summary)

    assert 'SR by K' in text and 'K = 0' in text and 'K = 3' in text
    # Once with all its figures, once with what each K adds.
    assert text.count('cubes_right') == 2
    assert '1 episode was lost to infrastructure (1 ModelUnavailableError)' in text
    assert 'Steps that failed with K = 0: 8 OUT_OF_WORKSPACE.' in text
    assert 'Endings with K = 3: 3 FINISHED, 1 MODEL_FAILED.' in text
    assert 'Endings with K = 0' not in text  # all of them finished
    assert 'Unsafe commands: 0, counted in 8 episodes.' in text
    assert '4.0 episodes a minute.' in text


def by_pictures(verdict: str, accepted: bool, trial: int = 0) -> EpisodeResult:
    seen = PictureResult(
        accepted=accepted,
        scenes=4,
        present=40,
        shown=39,
        correct=38,
        position_mm=1.5,
        position_p95_mm=4.0,
        turned_deg=0.7,
        pictures=20,
        wall_s=1.0,
    )
    return make_result(trial=trial, verdict=verdict, by_pictures=seen)


def test_a_run_by_pictures_has_their_errors_and_what_their_judge_got_wrong() -> None:
    results = [
        by_pictures('passed', True),
        by_pictures('passed', False, 1),
        by_pictures('failed', True, 2),
        by_pictures('failed', False, 3),
        by_pictures('lost', False, 4),
    ]

    summary = summarize_run(make_settings(sources='camera', trouble='light'), results, [])

    values = {key: summary.top.value(key) for key in BY_PICTURES}
    assert values == pytest.approx({
        'judge': 0.5, 'false_accept': 0.5, 'false_refuse': 0.5,
        'recall': 38 / 40, 'precision': 38 / 39,
        'position_mm': 1.5, 'position_p95_mm': 4.0, 'turned_deg': 0.7,
    }, abs=1e-6)  # fmt: skip
    assert summary.timing.picture_s == pytest.approx(0.05)
    reported = ' '.join(lines_for_terminal(summary))
    assert 'Scenes come from pictures (trouble: light)' in reported
    assert 'false accept 0.50 [0.09, 0.91] of 2, false refuse 0.50 [0.09, 0.91] of 2' in reported
    assert 'sources=camera JUDGE=0.50' in closing_line(summary)
