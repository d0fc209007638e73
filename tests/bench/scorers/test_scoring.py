"""What an episode's events and its final table become in the results."""

from dataclasses import replace
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import (
    BbllmError,
    CancelledError,
    GaveUpError,
    LostNodeError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    ParseError,
    PromptTooLongError,
    ReplayError,
)
from bbllm.core.protocols import PASS, EpisodeContext, Pass, Planner, Reply, Usage, World
from bbllm.core.types import PlanStep, Scene, SkillCall, Task
from bbllm.llm.config import LlmConfig
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.scene.scene_file import make_scene
from bbllm.testing import ScriptedModel
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.scorers.scoring import NO_CALL, score
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Conditions
from tests.doubles.paper_world import PaperWorld

SCENE = make_scene(
    {
        'name': 'two_cubes',
        'description': 'Two cubes and three places, one of them too far away.',
        'objects': [
            {'name': 'red_cube', 'kind': 'cube', 'color': 'red', 'xy': [0.5, 0.0]},
            {'name': 'blue_cube', 'kind': 'cube', 'color': 'blue', 'xy': [0.5, 0.2]},
        ],
        'locations': [
            {'name': 'location_A', 'xy': [0.4, -0.2]},
            {'name': 'location_B', 'xy': [0.5, -0.2]},
            {'name': 'location_C', 'xy': [0.9, -0.2]},
        ],
    }
)
ON = 'on(red_cube, location_A); on(blue_cube, location_B)'
BOTH = (
    '0: pick(red_cube)\n1: place(location_A)\n2: pick(blue_cube)\n3: place(location_B)\n4: admire'
)


def job_of(**config: Any) -> EpisodeSpec:
    case = Case(
        suite='own',
        task='tidy',
        trial=1,
        seed=0,
        instruction='put the cubes where they belong',
        scene=SCENE,
        goal=Conditions(kind='conditions', text=ON, level_m=0.01, tilt_deg=18),
        difficulty='easy',
        least_loops=1,
        out_of_reach=('location_C',),
    )
    run = RunConfig(planner='brain_body', llm=LlmConfig(), **config)
    return EpisodeSpec(key=EpisodeKey('tidy', 1, 2), case=case, config=run)


class Literal:
    """Takes steps as calls by their word; has no call for `mumble`, and passes on `admire`."""

    name, reads_calls = 'literal', False

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        skill, _, rest = step.text.partition('(')
        if skill == 'admire':
            return PASS
        if skill == 'mumble':
            raise ParseError('Nobody knows what that is.')
        return SkillCall(skill, (rest.strip(')'),))


class Raises:
    """A planner that ends as it is told."""

    def __init__(self, error: BbllmError):
        self._error = error

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        raise self._error


def play(
    *replies: str | Reply | Exception,
    k: int = 2,
    job: EpisodeSpec | None = None,
    planner: Planner | None = None,
) -> EpisodeResult:
    """Let BrainBody run on paper, with a Brain that says these replies, and score it."""
    job = job or job_of()
    world, brain = PaperWorld(SCENE), ScriptedModel(replies, name='gpt-x')
    run = EpisodeRun(
        Task('t', job.case.instruction),
        planner='brain_body',
        brain='gpt-x',
        body='literal',
    )
    before = world.observe()
    method = planner or BrainBody(run.model(brain, 'brain'), Literal(), k=k)
    episode = run.execute(method, world)
    after = world.observe()
    return score(job, episode, before=before, after=after, robot_s=20.0, unsafe=0)


def ended_by(error: BbllmError) -> EpisodeResult:
    return play(planner=Raises(error))


def test_an_episode_that_does_everything_passes() -> None:
    result = play(BOTH, k=0)

    assert (result.verdict, result.reason, result.gcr) == ('passed', '', 1)
    assert result.passed and not result.lost
    assert set(result.conditions) >= {'red_cube is on location_A', 'blue_cube is on location_B'}
    assert all(result.conditions.values())
    assert (result.executable, result.attempted, result.passes) == (4, 4, 1)
    assert (result.ending, result.error, dict(result.codes)) == ('PARTLY_DONE', '', {})
    assert result.key == EpisodeKey('tidy', 1, 2)
    assert (result.robot_s, result.unsafe, result.least_loops) == (20.0, 0, 1)


def test_a_passed_step_that_is_repaired_costs_a_loop_and_counts_as_tried() -> None:
    result = play(BOTH, '4: Done')

    assert (result.executable, result.attempted, result.passes) == (4, 5, 0)
    assert (result.loops, result.ending) == (1, 'FINISHED')


def test_half_of_the_goal_is_half_of_gcr() -> None:
    result = play('0: pick(red_cube)\n1: place(location_A)')

    assert (result.verdict, result.gcr) == ('failed', 0.5)
    assert (result.ending, result.false_success) == ('FINISHED', True)
    assert 'blue_cube' in result.reason
    assert result.conditions['red_cube is on location_A']
    assert not result.conditions['blue_cube is on location_B']


def test_a_failed_call_is_attempted_and_its_code_and_loop_are_counted() -> None:
    result = play(
        '0: pick(red_cube)\n1: place(location_C)',
        '1: place(location_A)\n2: pick(blue_cube)\n3: place(location_B)',
    )

    assert result.verdict == 'passed'
    assert (result.executable, result.attempted, result.loops) == (4, 5, 1)
    assert dict(result.codes) == {'OUT_OF_WORKSPACE': 1}


def test_a_step_that_has_no_call_is_attempted_whether_it_is_repaired_or_stays_failed() -> None:
    repaired = play('0: mumble\n1: pick(red_cube)', '0: pick(red_cube)', k=1)
    left = play('0: mumble\n1: pick(red_cube)\n2: mumble', k=0)

    assert (repaired.executable, repaired.attempted) == (1, 2)
    assert dict(repaired.codes) == {NO_CALL: 1}
    assert (left.executable, left.attempted) == (1, 3)
    assert dict(left.codes) == {NO_CALL: 2}


@pytest.mark.parametrize(
    'error', [ParseError('That is no plan.'), ModelError('It declined to answer.')]
)
def test_a_model_whose_replies_are_no_use_is_judged(error: BbllmError) -> None:
    result = ended_by(error)

    assert (result.verdict, result.ending) == ('failed', 'MODEL_FAILED')
    assert result.error == type(error).__name__


@pytest.mark.parametrize(
    'error',
    [
        ModelUnavailableError('The server is down.'),
        ModelRefusedError('No such key.'),
        PromptTooLongError('4100 tokens are more than the 4096 of the context.'),
        ReplayError('Not in the recording.'),
        LostNodeError('The simulator has gone.'),
        CancelledError('Stopped by hand.'),
    ],
)
def test_what_infrastructure_ended_is_lost_and_not_judged(error: BbllmError) -> None:
    result = ended_by(error)

    assert (result.verdict, result.lost, result.passed) == ('lost', True, False)
    assert result.error == type(error).__name__
    assert str(error) in result.reason
    assert (dict(result.conditions), result.gcr) == ({}, 0)


def test_a_server_that_dies_after_everything_was_done_does_not_make_it_pass() -> None:
    plan = BOTH.replace('4: admire', '4: place(location_C)')
    result = play(plan, ModelUnavailableError('The server is down.'))

    assert result.verdict == 'lost'
    assert result.loops == 1
    # The table is still drawn as it was seen.
    assert {item.name for item in result.settled} >= {'red_cube', 'location_A'}


def test_an_episode_whose_journal_breaks_off_or_that_left_no_settled_table_is_lost() -> None:
    world, job = PaperWorld(SCENE), job_of()
    run = EpisodeRun(Task('t', 'x'), planner='p', brain='b', body='b')
    episode = run.execute(Raises(GaveUpError('No.')), world)
    broken = replace(episode, ending=None, message='The journal breaks off.')
    seen = world.observe()

    result = score(job, broken, before=seen, after=seen, robot_s=1.0, unsafe=None)
    unseen = score(job, episode, before=seen, after=None, robot_s=1.0, unsafe=None)

    assert (result.verdict, result.ending) == ('lost', 'INTERRUPTED')
    assert unseen.verdict == 'lost'
    assert unseen.reason and unseen.settled == ()


def test_tokens_and_names_come_from_the_model_calls() -> None:
    reply = Reply(
        text=BOTH, model='gpt-x-2026-01-01', usage=Usage(100_000, 20_000), duration_s=1.5
    )

    result = play(reply, k=0)

    assert (result.model_calls, result.prompt_tokens, result.completion_tokens) == (
        1,
        100_000,
        20_000,
    )
    assert result.model_s == 1.5
    assert dict(result.models) == {'brain': 'gpt-x-2026-01-01'}
