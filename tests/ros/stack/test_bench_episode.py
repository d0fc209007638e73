"""One episode of the bench through the five nodes, beside the same one in this process."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bbllm_interfaces.srv import MapStep

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.events import EventKind
from bbllm.core.journal import read_episode
from bbllm.core.protocols import PASS
from bbllm.core.types import PlanStep, SkillCall
from bbllm.llm.config import LlmConfig, ModelConfig
from bbllm.llm.models.factory import load_config, make_models
from bbllm.testing import Handler, ModelServer, replies
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.log.episodes import EpisodeRecord, EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.oracle.case_goals import brief_of
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.runner.play_here import play as play_here
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.stack import episode as bench_episode
from bbllm_bench.stack.episode import _Files
from bbllm_bench.stack.episode import play as play_over_ros
from bbllm_bench.suites.suite import load_suite
from bbllm_ros.convert.records import from_msg, to_msg
from bbllm_ros.stack.stack import Stack
from bbllm_viewer.replay.exchanges import read_exchanges
from tests.ros.asking import BODY_MARK, prompt_of
from tests.ros.stacks import process_alive, started

pytestmark = pytest.mark.ros

STAND_IN = ModelConfig(provider='offline')
OFFLINE = RunConfig(
    planner='brain_body:read_calls=no',
    llm=LlmConfig(brain=STAND_IN, body=STAND_IN),
)
RECORDED = OFFLINE.model_copy(update={'records': True})
ASK = 'ask: Which cube? | red_cube | yellow_cube please'
Answers = Callable[[Handler, dict[str, Any]], None]


@pytest.fixture(scope='module')
def server() -> Iterator[ModelServer]:
    with ModelServer(replies('0: Done')) as server:
        yield server


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> list[Stack]:
    found: list[Stack] = []

    class Noted(Stack):
        def start(self) -> None:
            super().start()
            found.append(self)
            self.pids = [process.pid for process in self.processes.values()]

    monkeypatch.setattr(bench_episode, 'Stack', Noted)
    return found


def job_of(task: str, k: int, config: RunConfig = OFFLINE) -> EpisodeSpec:
    case = make_case(load_suite('tabletop'), task, seed=0, trial=0)
    return EpisodeSpec(key=EpisodeKey(task, 0, k), case=case, config=config)


def asking(server: ModelServer) -> RunConfig:
    role = {'provider': 'openai', 'model': 'fake', 'base_url': server.url, 'retries': 0}
    role = {**role, 'schema': False}
    llm = LlmConfig.model_validate({'brain': role, 'body': role})
    return OFFLINE.model_copy(update={'llm': llm})


def script_of(job: EpisodeSpec) -> dict[str, list[str]]:
    played = play_here(replace(job, config=RECORDED))
    script: dict[str, list[str]] = {'brain': [], 'body': []}
    for line in map(json.loads, played.recording.splitlines()):
        script[line['role']].append(line['reply']['text'])
    return script


def follows(script: dict[str, list[str]], declines: int | None = None) -> Answers:
    """Say the lines of a script whatever the prompt; the Body may decline to say its n-th."""
    lines = {role: list(texts) for role, texts in script.items()}

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        role = 'body' if BODY_MARK in prompt_of(body) else 'brain'
        if role == 'body' and len(script['body']) - len(lines['body']) == declines:
            replies('I would rather not.', finish='content_filter')(handler, body)
        else:
            replies(lines[role].pop(0))(handler, body)

    return behave


def reported(result: EpisodeResult) -> dict[str, Any]:
    names = (
        *('verdict', 'loops', 'codes', 'conditions', 'gcr', 'ending', 'error', 'executable'),
        *('attempted', 'passes', 'model_calls', 'prompt_tokens', 'case_hash', 'models'),
    )
    return {name: getattr(result, name) for name in names}


@pytest.mark.parametrize(
    ('task', 'k', 'declines', 'verdict', 'loops'),
    [
        pytest.param('plus_sign', 3, None, 'passed', 2, marks=pytest.mark.slow),
        ('right_side', 3, 3, 'failed', 0),
    ],
    ids=['with two loops', 'where the Body declines'],
)
def test_same_case_and_replies_give_the_same_verdict_in_both_worlds(
    server: ModelServer,
    stacks: list[Stack],
    task: str,
    k: int,
    declines: int | None,
    verdict: str,
    loops: int,
    tmp_path: Path,
) -> None:
    job = job_of(task, k, asking(server))
    script = script_of(job)
    played: list[EpisodeRecord] = []

    for play in (play_here, play_over_ros):
        server.will(follows(script, declines))
        played.append(play(job))

    here, over_ros = (item.result for item in played)
    assert reported(over_ros) == reported(here)
    assert (here.verdict, here.loops) == (verdict, loops)
    assert bool(over_ros.reason) is (verdict != 'passed')
    assert {item.name for item in over_ros.settled} == {item.name for item in here.settled}
    assert over_ros.robot_s > 0
    assert [process_alive(pid) for stack in stacks for pid in stack.pids] == [False] * 5
    assert not stacks[0].log_folder.exists()
    for record in played:
        for name, text in record.files.items():
            (tmp_path / name).write_text(text)
        journal = tmp_path / f'{job.key.name}.jsonl'
        calls = read_exchanges(read_episode(journal), journal)
        # Also the prompts of the Body, which another node has asked.
        assert {call.call.role for call in calls} == {'brain', 'body'}
        assert all(call.messages and not call.missing for call in calls)
        # A call that failed says why.
        assert [bool(call.reply) for call in calls] == [not call.call.error for call in calls]


def test_the_person_of_a_case_is_asked_over_ros_and_has_a_history(server: ModelServer) -> None:
    name = 'needed_05_other_of_many'
    case = make_case(load_suite('ambiguous'), name, seed=0, trial=0)
    place = '0: pick yellow_cube\n1: place yellow_cube on location_F\n2: Done'
    prompts: list[str] = []

    def plan(handler: Handler, body: dict[str, Any]) -> None:
        prompts.append(prompt_of(body))
        reply = place if 'yellow_cube please' in prompts[-1] else ASK
        replies(reply)(handler, body)

    server.will(plan)
    config = asking(server).model_copy(update={'planner': 'brain_body'})
    result = play_over_ros(
        EpisodeSpec(key=EpisodeKey(name, 0, 0), case=case, config=config)
    ).result

    assert (result.ask, result.asked, result.passed) == ('needed', True, True), result.reason
    assert case.person is not None
    assert case.person.turns[0].split(' | ')[0] in prompts[0]


@pytest.mark.slow
def test_recording_over_ros_answers_for_the_models_in_either_world(tmp_path: Path) -> None:
    job = job_of('red_triangle', 3, RECORDED)

    recorded = play_over_ros(job)

    journal = tmp_path / 'journal.jsonl'
    journal.write_text(recorded.journal)
    episode = read_episode(journal)
    assert episode.id == job.key.name
    assert episode.events[-1].kind is EventKind.ENDED
    lines = [json.loads(line) for line in recorded.recording.splitlines()]
    assert {line['episode'] for line in lines} == {job.key.name}
    assert len(lines) == recorded.result.model_calls
    replayed = replace(job, replay=recorded.recording, config=OFFLINE)
    for play in (play_here, play_over_ros):
        again = play(replayed).result
        assert reported(again) == reported(recorded.result)


@pytest.mark.slow  # a process that waits for its stack
def test_stack_that_cannot_start_is_an_episode_lost_with_the_reason(stacks: list[Stack]) -> None:
    played = play_over_ros(replace(job_of('right_side', 3), replay='no recording\n'))

    assert played.result.verdict == 'lost'
    assert played.result.error == 'LostNodeError'
    assert 'is no recorded exchange' in played.result.reason
    assert played.journal == ''
    assert not any(process_alive(pid) for pid in stacks[0].pids)


@pytest.mark.parametrize(
    ('change', 'expected'),
    [
        ({'planner': 'brain_bodies'}, 'Did you mean .brain_body.'),
        ({'llm': LlmConfig(brain=ModelConfig(provider='openai', model='a'))}, 'OPENAI_API_KEY'),
    ],
)
def test_setup_that_cannot_be_used_is_refused_before_a_node_starts(
    stacks: list[Stack], change: dict[str, object], expected: str
) -> None:
    with pytest.raises(BbllmError, match=expected):
        play_over_ros(job_of('right_side', 3, OFFLINE.model_copy(update=change)))

    assert not stacks


def test_body_mapper_matches_by_embedding(ros_domain: int) -> None:
    params = {'body_mapper': {'mapping': 'embedding', 'body': 'lexical', 'brain': 'offline'}}
    scene = TabletopWorld('plus_sign').observe()

    with started(nodes=('body_mapper',), params=params) as running:
        step = to_msg(PlanStep(0, 'pick up the red_cube'))
        reply = running.ask(MapStep, 'map_step', step=step, scene=to_msg(scene))

    assert from_msg(SkillCall, reply.call) == SkillCall('pick', ('red_cube',))
    assert [call.role for call in reply.model_calls] == ['body']
    assert reply.model_calls[0].model.startswith('lexical')


def test_body_mapper_maps_a_step_or_passes_it(ros_domain: int) -> None:
    params = {'body_mapper': {'body': 'offline', 'brain': 'offline'}}
    scene = to_msg(TabletopWorld('plus_sign').observe())
    wave, reach = (
        to_msg(PlanStep(i, text)) for i, text in enumerate(['wave', 'hover over location_A'])
    )

    with started(nodes=('body_mapper',), params=params) as running:
        passed = running.ask(MapStep, 'map_step', step=wave, scene=scene)
        mapped = running.ask(MapStep, 'map_step', step=reach, scene=scene)

    assert (passed.passed, passed.reason) == (True, PASS.reason)
    assert from_msg(SkillCall, mapped.call) == SkillCall('reach', ('location_A',))
    assert len(mapped.model_calls) == 1


def test_sessions_are_refused() -> None:
    case = make_case(load_suite('tabletop_sessions'), 'second', seed=0, trial=0)
    with pytest.raises(ConfigError, match='leave --world ros out'):
        play_over_ros(EpisodeSpec(key=EpisodeKey('second', 0, 0), case=case, config=OFFLINE))


def test_the_node_that_plans_reads_the_brief_of_its_case(tmp_path: Path) -> None:
    llm = LlmConfig(brain=ModelConfig(provider='uninformed'), body=ModelConfig(provider='offline'))
    config = RunConfig(planner='llm_pop', llm=llm, step_limit=2, token_limit=10**6)
    case = make_case(load_suite('partial'), 'tower_by_weight', seed=3, trial=1)
    files = _Files(
        tmp_path, EpisodeSpec(key=EpisodeKey('tower_by_weight', 1, 3), case=case, config=config)
    )

    files.write()

    params = files.params()
    config = load_config(Path(str(params['brain_planner']['llm_config'])))
    assert GoalBrief.model_validate(config.brain.goal) == brief_of(case, case.seed)
    assert make_models(config).brain.name == 'uninformed'
    names = ('step_limit', 'model_call_limit', 'token_limit', 'wall_limit_s')
    assert [params['brain_planner'][name] for name in names] == [2, 300, 10**6, 0.0]
