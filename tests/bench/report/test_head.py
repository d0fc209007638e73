"""Who made a run, and how it can be made again."""

from pathlib import Path
from typing import Any

import made_up
import pytest

from bbllm.bench.log.store import SavedRun, Session
from bbllm.bench.report.summary import summarize_run
from bbllm.bench.report.write import date_of, head_of, notices_of, settings_of


def notices(models: dict[str, list[str]] | None = None, **settings: Any) -> tuple[str, ...]:
    """Return the notices of a run that is through."""
    made = made_up.make_settings(**settings)
    summary = summarize_run(made, [], [])
    served = {role: tuple(names) for role, names in (models or {}).items()}
    through = {'models': served, 'played': summary.planned}
    return notices_of(made, summary.model_copy(update=through))


@pytest.mark.parametrize(
    ('settings', 'models', 'words'),
    [
        ({'brain': 'offline', 'body': 'offline'}, {}, 'Brain and Body: offline is a determin'),
        ({'body': 'offline (text)'}, {}, 'Body: offline is a deterministic stand-in, not a'),
        ({'brain': 'expert'}, {}, 'it measures the plumbing, not planning.'),
        ({'body': 'lexical matching'}, {}, 'Body: lexical compares words'),
        ({}, {'brain': ['offline']}, 'Brain: offline is a deterministic stand-in'),
        ({'replay': 'runs/gpt.jsonl'}, {}, 'from the recording runs/gpt.jsonl'),
    ],
)
def test_stand_ins_are_named_for_what_they_are(
    settings: dict[str, Any], models: dict[str, list[str]], words: str
) -> None:
    (notice,) = notices(models, **settings)

    assert words in notice
    assert notices() == notices(brain='offline-llama-7b') == ()


def test_server_that_calls_its_model_otherwise_is_quoted() -> None:
    served = {'brain': ['some-large-model-2026'], 'body': ['some-small-model']}
    run = SavedRun(Path(), made_up.make_settings(), ())
    shown = head_of(run, served)

    assert shown['Brain'] == 'some-large-model (some-large-model-2026)'
    assert shown['Body'] == 'some-small-model'


def test_date_of_a_run_in_sessions_names_first_and_last_day() -> None:
    first = Session(started_s=1_000_000_000.0, ended_s=1_000_000_060.0, episodes=1)
    last = Session(started_s=1_000_100_000.0, ended_s=1_000_200_000.0, episodes=1)

    assert date_of([]) == ''
    assert date_of([first]) == '2001-09-09 01:46 UTC'
    assert date_of([first, last]) == '2001-09-09 to 2001-09-11'


def test_all_settings_are_listed_by_their_path() -> None:
    shown = settings_of(made_up.make_settings(limits={'steps': 50}))

    assert (shown['limits.steps'], shown['ks'], shown['replay']) == ('50', '0, 1, 2, 3', 'none')
    assert shown['llm.brain.model'] == 'some-large-model'
