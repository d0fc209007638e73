"""What a run may show of earlier episodes, and what it adds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bbllm.core.errors import ConfigError
from bbllm.llm.models.factory import Models
from bbllm.planners.common.experience.entry import Entry, Origin
from bbllm.planners.common.experience.store import ExperienceFile
from bbllm.testing import ScriptedModel
from bbllm_bench.log.episodes import EpisodeSpec
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.log.run_settings import join
from bbllm_bench.log.store import RunFolder
from bbllm_bench.runner.episode_setup import play_alone
from bbllm_bench.runner.experience import learn, shown_in
from bbllm_bench.runner.play_here import play_with
from bbllm_bench.runner.request import BenchRequest
from bbllm_bench.runner.run_setup import Prepared, prepare
from bbllm_bench.suites.case import fingerprint
from tests.planners.common.test_experience import made

SUITE = 'household'


def from_case(number: int, suite: str = SUITE, seed: int = 5, case: str = 'other') -> Entry:
    origin = Origin(suite=suite, task='watch_tv', trial=0, seed=seed, case=case)
    return made(number, domain='household', task='Watch TV', origin=origin)


def prepared(folder: Path, file: ExperienceFile, **changes: Any) -> Prepared:
    chosen = {'suite': SUITE, 'brain': 'expert', 'body': 'expert', 'seed': 5, **changes}
    return prepare(BenchRequest.of({'experience': file.path, **chosen}), folder)


def test_a_run_shows_what_other_splits_and_other_cases_left_alone(tmp_path: Path) -> None:
    file = ExperienceFile(tmp_path / 'worked.jsonl')
    case = prepared(tmp_path, file).plan.make_case('watch_tv', 0)
    same = from_case(1, seed=6, case=fingerprint(case))
    own_split, other_seed, other_suite = from_case(2), from_case(3, seed=6), from_case(4, 'eai')
    file.add([made(0), same, own_split, other_seed, other_suite])

    run = prepared(tmp_path, file)

    assert run.plan.config.known == (same, other_seed, other_suite)
    assert shown_in(case, run.plan.config.known) == (other_seed, other_suite)
    assert any('3 earlier episodes' in text and '2 others' in text for text in run.notices)


def test_what_a_run_adds_does_not_change_its_settings_but_other_entries_do(
    tmp_path: Path,
) -> None:
    file = ExperienceFile(tmp_path / 'worked.jsonl')
    file.add([from_case(1, seed=6)])
    settings = prepared(tmp_path, file).plan.settings

    file.add([from_case(2)])
    assert join(settings, prepared(tmp_path, file).plan.settings, 'it')
    file.add([from_case(3, seed=7)])
    with pytest.raises(ConfigError, match='experience_hash'):
        join(settings, prepared(tmp_path, file).plan.settings, 'it')
    assert prepared(tmp_path, file, experience='no').plan.settings.experience_hash is None


@pytest.mark.parametrize(
    ('changes', 'text'),
    [
        ({'suite': 'tabletop', 'world': 'ros', 'brain': 'offline', 'body': 'offline'}, '--world'),
        ({'planner': 'prog_prompt'}, 'brain_body'),
    ],
)
def test_where_it_cannot_be_kept_apart_or_read_it_is_refused(
    tmp_path: Path, changes: dict[str, Any], text: str
) -> None:
    with pytest.raises(ConfigError, match=text):
        prepared(tmp_path, ExperienceFile(tmp_path / 'worked.jsonl'), **changes)


def test_a_case_is_shown_entries_and_leaves_one_where_the_judge_passed_it(tmp_path: Path) -> None:
    file = ExperienceFile(tmp_path / 'worked.jsonl')
    shown, hidden = from_case(1, seed=6), from_case(2, seed=6)
    plan = prepared(tmp_path, file).plan
    case = plan.make_case('watch_tv', 0)
    hidden = replace(hidden, origin=replace(hidden.origin, case=fingerprint(case)))
    config = plan.config.model_copy(update={'known': (shown, hidden)})
    job = EpisodeSpec(key=EpisodeKey('watch_tv', 0, 3), case=case, config=config)
    brain = ScriptedModel([PLAN, REPAIR])

    played = play_alone(
        job, lambda job, models, *rest: play_with(job, Models(brain, models.body), *rest)
    )
    with RunFolder(tmp_path / 'run') as folder:
        folder.write_settings(plan.settings)
        folder.add(played)
        for _ in range(2):  # a run that was begun again
            learn(folder, plan.settings, file)
        folder.drop([played.key])
        folder.add(replace(played, result=replace(played.result, verdict='failed')))
        other = ExperienceFile(tmp_path / 'other.jsonl')
        learn(folder, plan.settings, other)

    assert played.result.passed, played.result.reason
    assert all('Watch TV' in request.prompt for request in brain.requests)
    assert f'episodes: {shown.id}.' in played.journal
    (entry,), _ = file.read()
    assert entry.origin == Origin(
        suite=SUITE, task='watch_tv', trial=0, seed=5, case=fingerprint(case)
    )
    assert other.read() == ((), ())


PLAN = '0: walk to the tv\n1: open the tv\n2: Done'
REPAIR = (
    'It was off.\nNew plan:\n1: switch on the tv\n2: walk to the sofa\n3: sit on the sofa\n4: Done'
)
