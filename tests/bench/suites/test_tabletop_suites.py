"""The suites `tabletop_long` and `tabletop_sessions`, played."""

import json
from pathlib import Path

import pytest
import yaml

from bbllm.core.constants import GRAVITY_M_S2
from bbllm.core.journal import read_episode
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey
from bbllm_bench.runner.play_here import play
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import FILES, Suite, load_suite, parse_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from bbllm_ros.parameters.node_params import Fr3ExecutorParams
from bbllm_viewer.replay.exchanges import read_exchanges

# --- The suite `tabletop_long`: what cannot be moved comes first; who believes so is done sooner

LONG = load_suite('tabletop_long')
NAMES = [task.name for task in LONG.tasks]
LIFT_CAP_KG = Fr3ExecutorParams().lift_cap_n / GRAVITY_M_S2


def case_of(task: str, trial: int = 0) -> Case:
    return make_case(LONG, task, seed=0, trial=trial)


def played(
    case: Case, open_state: str = 'rules', k: int = 6, llm: LlmConfig | None = None
) -> EpisodeRecord:
    offline = ModelConfig(provider='offline')
    models = llm or LlmConfig(brain=offline, body=offline)
    config = RunConfig(planner=f'brain_body:open_state={open_state}', llm=models)
    return play(EpisodeSpec(key=EpisodeKey(case.task, 0, k), case=case, config=config))


@pytest.mark.parametrize('task', NAMES)
@pytest.mark.parametrize('trial', range(3))
def test_the_first_three_objects_are_fixed_too_heavy_and_out_of_reach(
    task: str, trial: int
) -> None:
    case = case_of(task, trial)
    first = [spec.name for spec in case.table.objects[:3]]
    heavy = {spec.name for spec in case.table.objects if spec.mass > 1.5 * LIFT_CAP_KG}
    far = set(case.out_of_reach)

    assert len(case.table.fixed) == len(heavy) == len(far) == 1
    assert {*case.table.fixed, *heavy, *far} == set(first)


def test_with_a_loop_for_each_such_object_only_planners_with_beliefs_succeed() -> None:
    case = case_of('red_triangle')
    believing, forgetful = (played(case, state, 3).result for state in ('rules', 'no'))

    assert (believing.verdict, believing.loops) == ('passed', 3), believing.reason
    assert (forgetful.verdict, forgetful.loops) == ('failed', 3)


# --- Sessions: episodes one after the other at one table, of which the last is judged

SESSIONS = load_suite('tabletop_sessions')
EASY = 'put one cube on another cube'


def case_of_sessions(task: str) -> Case:
    return make_case(SESSIONS, task, seed=0, trial=0)


def variant(**fields: object) -> Suite:
    """Return the suite with other fields of its second task."""
    text, path = FILES.read('tabletop_sessions')
    data = yaml.safe_load(text)
    data['tasks'] = [data['tasks'][0], {**data['tasks'][1], **fields}]
    return parse_suite(yaml.safe_dump(data), path)


@pytest.fixture(scope='module')
def third() -> tuple[Case, EpisodeRecord]:
    """Play a session of three episodes, once for the tests that look at it."""
    case = case_of_sessions('third')
    return case, played(case)


def test_only_the_last_episode_is_on_record_and_counts(third: tuple[Case, EpisodeRecord]) -> None:
    case, game = third

    events = [json.loads(line) for line in game.journal.splitlines()]
    assert [event['data']['task'] for event in events if event['kind'] == 'started'] == [
        case.instruction
    ]
    calls = [event['data'] for event in events if event['kind'] == 'outcome']
    assert game.result.attempted == len(calls)
    # And the time until all has settled: more than that is not on its account.
    spent_s = sum(call['duration_s'] for call in calls)
    assert spent_s <= game.result.robot_s < spent_s + 10.0
    assert game.result.unsafe == 0


def test_a_session_reports_the_cost_of_earlier_episodes_and_keeps_their_journals(
    third: tuple[Case, EpisodeRecord], tmp_path: Path
) -> None:
    case, game = third

    # What the first episodes found out is known, so that nothing fails here.
    assert (game.result.verdict, game.result.loops) == ('passed', 0)
    assert len(game.earlier) == 2
    paths = []
    for name, text in game.files.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text)
    journals = paths[3:]
    assert [path.stem for path in journals] == [
        'third-t000-k6',
        'third-t000-k6-before0',
        'third-t000-k6-before1',
    ]
    judged, *before = map(read_episode, journals)
    for episode, path in zip((judged, *before), journals, strict=True):
        assert {call.missing for call in read_exchanges(episode, path)} == {''}
    assert [episode.task.instruction for episode in before] == list(case.earlier)
    assert [episode.id for episode in before] == [path.stem for path in journals[1:]]
    assert game.result.model_calls == len(judged.model_calls)
    assert game.result.earlier is not None
    assert game.result.earlier.episodes == 2
    calls = [call for episode in before for call in episode.model_calls]
    assert game.result.earlier.model_calls == len(calls) > 0


def test_a_server_that_is_down_before_the_judged_episode_loses_it() -> None:
    nowhere = ModelConfig(
        provider='openai', model='m', base_url='http://127.0.0.1:9/v1', retries=0
    )
    llm = LlmConfig(brain=nowhere, body=nowhere)
    game = played(case_of_sessions('third'), llm=llm)

    assert (game.result.verdict, game.result.error) == ('lost', 'ModelUnavailableError')
    assert game.result.reason.startswith(
        'Episode 1 of the 2 before this one: The model could not be asked: '
    )
    assert list(game.files) == ['third-t000-k6-before0.prompts', 'third-t000-k6-before0.jsonl']
    assert game.result.earlier is not None
    assert game.result.earlier.episodes == 1


def test_sessions_in_a_house_are_refused(tmp_path: Path) -> None:
    text, _ = FILES.read('household')
    data = FILES.parse(text, 'household')
    data['tasks'] = [{**data['tasks'][0], 'earlier': ['open the fridge']}]

    with pytest.raises(SuiteFileError, match='earlier goes with a task on a table'):
        parse_suite(yaml.safe_dump(data), tmp_path / 'houses.yaml')
