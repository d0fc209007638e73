"""What holds for every planner that is installed."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import ModelUnavailableError
from bbllm.core.events import Ending, Episode, EventKind, Limits
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import (
    ChatModel,
    ModelRequest,
    OnText,
    PromptRequest,
    Reply,
    Situation,
    in_episode,
)
from bbllm.core.registry import load_planner, load_planners
from bbllm.core.types import Outcome, Scene, Task
from bbllm.testing import ScriptedModel
from bbllm_bench.oracle.model import offline
from tests.planners.chosen import built
from tests.planners.pop_runs import Scales
from tests.planners.symbolic_table import busy_table

WANTED = re.compile(r'the (\w+) (cube|cylinder) on (location_\w)')


TASK = 'put the red cube on location_A and the blue cube on location_B'
ON_TABLES = [name for name, make in load_planners()[0].items() if 'tabletop' in make.domains]
"""Those that cannot be imported fail in tests/core/test_registry.py."""


class Player:
    """Answers any planner for tasks like TASK, by the scenes of its requests."""

    supports_schema = False
    name = 'player'

    def __init__(self, situation: Situation | None = None):
        self._situation = situation

    def in_episode(self, situation: Situation) -> ChatModel:
        by_offline = situation.planner in ('brain_body', 'base_llm')
        return in_episode(offline(), situation) if by_offline else Player(situation)

    def refusal(self, planner: str) -> str:
        return ''

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        asked = request.declared
        assert asked is not None and asked.scene is not None
        if asked.kind == 'call' or self._situation is None:
            return offline().ask(request)
        return Reply(text=self._answer(asked, asked.scene, self._situation), model=self.name)

    def _answer(self, request: PromptRequest, scene: Scene, situation: Situation) -> str:
        found = WANTED.findall(situation.task.instruction)
        pairs = [(f'{color}_{kind}', place) for color, kind, place in found]
        failed = [e.data for e in situation.events() if isinstance(e.data, Outcome)][-1:]
        left = [pair for pair in pairs if not scene.has(pair[0], 'on', pair[1])]
        kind = request.kind
        if kind in ('attention', 'estimate'):
            return 'none'
        if kind == 'enough':
            return 'EXPLAIN: Yes.\nACTION: <nooutput>'
        if kind == 'evaluate':
            return 'FAIL\nNot all stand there.' if left or not pairs else 'SUCCESS'
        if not pairs or (failed and not failed[0].succeeded):
            reason = f'cannot: {failed[0].message if failed else "there is nothing to place"}'
            return f'Robot action: {reason}' if kind == 'next_action' else reason
        at = {item.name: item.pose.position_m for item in scene.objects}

        def written(pick: str, place: str) -> list[str]:
            """Write what is left to do; a form has `name`, and `x` and `y` of a place."""
            lines = []
            for obj, where in left:
                lines += [pick.format(name=obj)] if obj != scene.held else []
                lines += [place.format(name=where, x=at[where][0], y=at[where][1])]
            return lines

        if kind == 'tool_call':
            name, given = 'done', {'report': 'So.'}
            if scene.held:
                name, given = 'place', {'target': dict(left)[scene.held]}
            elif left:
                name, given = 'pick', {'object': left[0][0]}
            return json.dumps({'name': name, 'arguments': given})
        if kind == 'planning_goal':
            return '\n'.join(f'on({name}, {where})' for name, where in pairs)
        if kind == 'code':
            return '\n'.join(written("pick('{name}')", "place('{name}')")) or 'done'
        if kind == 'next_action':
            return f'Robot action: {[*written("pick({name})", "place({name})"), "done"][0]}'
        if kind == 'actions':
            return '\n'.join(written('pick({name})', 'place({name})')) or 'done'
        if kind == 'program':
            return '\n'.join(['# 1: place them', *written("pick('{name}')", "place('{name}')")])
        if kind == 'steps':
            steps = [*written('pick {name}', 'place it at {name}'), 'Done']
            numbered = [f'{i}: {text}' for i, text in enumerate(steps)]
            return '\n'.join(numbered)
        if kind == 'plan':
            actions = written('PICK {name}', 'PLACE [{x} {y} 0.02 1 0 0 0]')
            return '\n'.join(['EXPLAIN', 'Each on its place.', 'EXECUTE', *(actions or ['DONE'])])
        calls = written("pick('{name}')", 'place([{x}, {y}, 0.02], [1, 0, 0, 0])')
        listed = f'[{", ".join(calls)}]' if calls else '<nooutput>'
        return f'EXPLAIN: So.\nACTION: {listed}'


class Overheard(ModelWrapper):
    """A model of which every prompt is written down."""

    def __init__(self, model: ChatModel):
        super().__init__(model)
        self.prompts: list[str] = []

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        self.prompts += [message.content for message in request.messages]
        return super().ask(request, on_text)


@pytest.fixture(params=ON_TABLES)
def play(request: pytest.FixtureRequest) -> Callable[..., Episode]:
    """Return what plays an episode with a planner, each of those that are installed."""

    def run(world: Any, model: Any = None, task: str = TASK, **limits: int) -> Episode:
        model = model or Player()
        episode_run = EpisodeRun(
            Task('t', task), planner=request.param, brain='b', body='b', limits=Limits(**limits)
        )
        return episode_run.execute(built(episode_run, request.param, model, model), world)

    return run


def test_a_planner_emits_a_plan_and_does_a_task_within_its_limits(
    play: Callable[..., Episode],
) -> None:
    world, limited = busy_table(), busy_table()

    episode = play(world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert (world.on('red_cube'), world.on('blue_cube')) == ('location_A', 'location_B')
    kinds = [event.kind for event in episode.events]
    plan, step, call = map(kinds.index, (EventKind.PLAN, EventKind.STEP, EventKind.CALL))
    assert plan < step < call
    assert kinds.count(EventKind.CALL) == kinds.count(EventKind.OUTCOME)
    assert EventKind.MODEL_CALL in kinds[:plan]
    assert play(limited, steps=2).ending is Ending.OUT_OF_BUDGET
    assert len(limited.calls) == 2


def test_an_object_out_of_reach_stays_and_the_episode_reports_it_or_finds_a_way(
    play: Callable[..., Episode],
) -> None:
    world = busy_table(unreachable=['location_A'])

    episode = play(world)

    assert world.objects_on('location_A') == []
    assert episode.ending is Ending.GAVE_UP
    assert 'location_A' in episode.message


def test_an_error_of_a_model_ends_the_episode(play: Callable[..., Episode]) -> None:
    world = busy_table()

    episode = play(world, ScriptedModel([ModelUnavailableError('It is down.')]))

    assert (episode.ending, episode.message) == (Ending.MODEL_FAILED, 'It is down.')
    assert world.calls == []


def test_replies_that_nobody_can_read_end_the_episode(play: Callable[..., Episode]) -> None:
    episode = play(busy_table(), ScriptedModel(['Well, well.'] * 20))

    assert episode.ending is Ending.MODEL_FAILED
    assert len([call for call in episode.model_calls if call.role == 'brain']) <= 2


def test_a_task_that_makes_no_sense_is_given_up_without_a_motion(
    play: Callable[..., Episode],
) -> None:
    world = busy_table()

    assert play(world, task='iron my shirt').ending is Ending.GAVE_UP
    assert world.calls == []


@pytest.mark.parametrize('name', ON_TABLES)
def test_a_spec_states_whether_prompts_have_forces_and_a_body_is_asked(name: str) -> None:
    brain = Overheard(Player())
    body = Overheard(offline())
    world = Scales(busy_table(), dict.fromkeys(['red_cube', 'blue_cube', None], 7.77))
    run = EpisodeRun(Task('t', TASK), planner=name, brain='b', body='b', limits=Limits())
    factory = load_planner(name)
    spec = f'{name}:read_calls=no' if 'read_calls' in factory.choices else name

    episode = run.execute(built(run, spec, brain, body), world)

    assert episode.ending is Ending.FINISHED, episode.message
    assert factory.uses_force == any('-7.77' in prompt for prompt in brain.prompts)
    asked = [call for call in episode.model_calls if call.role == 'body']
    assert factory.asks_body == bool(asked), (
        f'asks_body is {"yes" if factory.asks_body else "no"}, but the Body was asked '
        f'{len(asked)} times: correct the PlannerSpec.'
    )
    assert bool(body.prompts) == (bool(asked))
