"""Everyday sentences: what `offline` does, asks, answers and refuses on the table of the demo."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bbllm import Robot
from bbllm.core.events import Ending, FeedbackReceived
from bbllm.core.goals import MET, parse_goal
from bbllm.core.protocols import Message, ModelRequest, PromptRequest, Situation, in_episode
from bbllm.core.types import Scene, Task
from bbllm.planners.common.call_grammar import parse_call
from bbllm.skills.catalog import own_skills
from bbllm.skills.plan_check import ImaginedTable
from bbllm.worlds.scene.goal_check import check_goal
from bbllm_bench.oracle.model import offline
from bbllm_bench.oracle.step_mapping import call_text

NEAR = 'red_cube|green_cube|blue_cube|yellow_cube|orange_cube|aqua_cube|purple_cube'
SENTENCES = yaml.safe_load(
    (Path(__file__).parent / 'sentences.yaml')
    .read_text()
    .replace('NEAR', NEAR)
    .replace('NOT_RED', NEAR.partition('|')[2])
)


@pytest.fixture(scope='module')
def scene() -> Iterator[Scene]:
    with Robot('sim', brain='offline', body='offline') as robot:
        skills = tuple(skill.signature for skill in own_skills())
        yield replace(robot.observe(), skills=skills)


def reply(
    sentence: str, scene: Scene, kind: str = 'plan', answer: FeedbackReceived | None = None
) -> str:
    situation = Situation(
        task=Task('t', sentence),
        planner='brain_body',
        remarks=lambda: (answer,) if answer else (),
        talks=lambda: True,
        asks=lambda: True,
    )
    request = PromptRequest(kind=kind, scene=scene)
    return in_episode(offline(), situation).ask(ModelRequest([Message('user', '', request)])).text


def carried_out(plan: str, scene: Scene) -> Scene:
    """Return the table after a plan, each call of which has to be possible."""
    table = ImaginedTable(scene)
    for line in plan.splitlines()[:-1]:
        call = parse_call(call_text(line.partition(': ')[2], scene), table.observe())
        outcome = table.execute(call)  # type: ignore[arg-type]
        assert outcome.succeeded, outcome.message
    return table.observe()


def unmet(goal: str, end: Scene, start: Scene) -> tuple[str, ...]:
    return check_goal(parse_goal(goal, start), end, start).unmet


@pytest.mark.parametrize(('sentence', 'wanted'), SENTENCES['done'].items())
def test_a_sentence_ends_in_the_scene_that_it_asks_for(
    sentence: str, wanted: str, scene: Scene
) -> None:
    plan, goal = reply(sentence, scene), reply(sentence, scene, 'goal')

    assert plan.startswith('0: '), plan
    end = carried_out(plan, scene)
    assert not unmet(wanted, end, scene)
    assert goal == 'none' or not unmet(goal.replace('\n', '; '), end, scene)


@pytest.mark.parametrize('sentence', SENTENCES['refused'])
def test_what_is_not_understood_to_the_last_word_is_refused(sentence: str, scene: Scene) -> None:
    assert reply(sentence, scene).startswith('cannot: ')
    assert reply(sentence, scene, 'goal') == 'none'


@pytest.mark.parametrize(('sentence', 'begin'), SENTENCES['answered'].items())
def test_a_question_is_answered_from_the_scene(sentence: str, begin: str, scene: Scene) -> None:
    assert reply(sentence, scene).startswith(f'answer: {begin}')
    assert reply(sentence, scene, 'goal') == 'none'


@pytest.mark.parametrize(('sentence', 'answered'), SENTENCES['asked'].items())
def test_a_sentence_with_several_readings_is_asked_about(
    sentence: str, answered: tuple[str, str], scene: Scene
) -> None:
    answer, wanted = answered
    asked = reply(sentence, scene)
    assert asked.startswith('ask: ')
    question = asked.removeprefix('ask: ').partition(' | ')[0]

    plan = reply(sentence, scene, answer=FeedbackReceived(answer, question=question))
    assert not unmet(wanted, carried_out(plan, scene), scene)
    unclear = FeedbackReceived('hm', question=question)
    assert reply(sentence, scene, answer=unclear).startswith(('ask: ', 'cannot: '))


def test_nothing_is_picked_for_a_place_that_is_out_of_reach(scene: Scene) -> None:
    text = reply('put the closest cube on the farthest location', scene)

    assert text.startswith('cannot: location_H is out of the workspace')


def test_without_a_fact_on_reach_it_is_not_known(scene: Scene) -> None:
    blind = replace(scene, facts=tuple(x for x in scene.facts if x.predicate != 'reachable'))

    assert reply('which cubes can you reach?', blind).startswith('answer: I do not know')


@pytest.mark.parametrize(
    'sentence',
    [
        'swap the red cube and the blue cube',
        'put the red cube between the orange cube and the aqua cube',
        'turn the red cube by 45 degrees',
    ],
)
def test_a_sentence_is_done_in_simulation(sentence: str) -> None:
    with Robot('sim', brain='offline', body='offline', journal=False) as robot:
        episode = robot.do(sentence)

    assert (episode.ending, episode.goal) == (Ending.FINISHED, MET)


def test_what_a_turn_moved_is_put_back_by_the_next() -> None:
    with Robot('sim', brain='offline', body='offline', journal=False) as robot:
        before = robot.observe()
        chat = robot.chat(lambda event: None)
        chat.say('put the cube that is on location_G on location_B')
        chat.say('put it back')

        assert not unmet('on(green_cube, location_G)', robot.observe(), before)
