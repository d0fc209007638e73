"""The suites `ambiguous` and `questions`: cases, their person, and what counts."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bbllm.core.events import QuestionAsked
from bbllm.llm.models.factory import Models
from bbllm.testing import ScriptedModel
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.metrics.metrics import METRICS
from bbllm_bench.runner.episode_setup import Alone
from bbllm_bench.runner.play_here import play_with
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.judging import judge
from bbllm_bench.scorers.talk import answered
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.goals import Conditions
from bbllm_bench.suites.scores import FinalState, Score
from bbllm_bench.suites.suite import load_suite, parse_suite

SUITE, QUESTIONS = load_suite('ambiguous'), load_suite('questions')
SHORT = {'A': 'location_A', 'W': 'white_cylinder', 'K': 'black_cylinder'}
WRONG = {
    **{'two_cylinders': 'K A', 'below_which': 'red_cube W', 'no_place': 'red_cube A'},
    **{'it_of_nothing': 'red_cube location_B', 'other_of_many': 'red_cube location_F'},
    **{'swap_which': 'W A red_cube W', 'a_bit': 'yellow_cube location_C', 'tidy_up': 'red_cube A'},
    **{'both_places': 'red_cube A', 'stay_and_go': '', 'over_there': 'orange_cube A'},
    **{'two_of_them': 'W A K location_B', 'warm_colour': 'red_cube location_D'},
    **{'none_of_that': 'K location_C', 'the_small_one': 'blue_cube location_C'},
    **{'back_which': 'W location_E', 'what_is_on_top': 'green_cube A blue_cube location_B'},
    **{'place_taken': 'W location_C red_cube A', 'cube_on_cube': 'red_cube green_cube'},
    **{'two_on_one': 'red_cube location_D green_cube red_cube', 'where_the_other_is': 'K W'},
    **{'german': 'K location_E', 'from_before': 'red_cube location_D'},
    **{'same_with_two': 'W location_E K location_F', 'it_of_two': 'red_cube location_D'},
    **{'one_place_over': 'W location_B', 'each_on_the_other': 'red_cube blue_cube'},
    **{'the_two_of_four': 'green_cube location_B blue_cube location_C'},
    **{'against_own_rule': 'aqua_cube location_E', 'where_it_belongs': 'orange_cube A'},
    **{
        'below_is_covered': 'green_cube location_B W blue_cube',
        'like_an_apple': 'red_cube location_F',
    },
    **{
        'taken_by_green': 'green_cube A yellow_cube location_G',
        'two_wishes': 'red_cube location_B',
    },
    **{'third_of_no_row': 'blue_cube location_E', 'french_the_other': 'red_cube W'},
}
"""Readings that are not meant: what is put where, by task."""
MEANT = {
    **{'swap_which': 'blue_cube @white_cylinder W @blue_cube', 'a_cube': 'red_cube A'},
    **{
        'what_is_on_top': 'green_cube location_C blue_cube location_B',
        'any_cylinder': 'W location_B',
    },
    **{'place_taken': 'W location_D red_cube A', 'two_cubes': 'red_cube A aqua_cube location_B'},
    **{'where_the_other_is': 'W location_B K A', 'other_of_two': 'W location_B K A'},
    **{
        'exchange': 'W location_D red_cube A',
        'fill_two': 'red_cube location_D aqua_cube location_E',
    },
    **{'something': 'aqua_cube location_C', 'clear_place': 'W location_B'},
    **{'a_tower': 'red_cube aqua_cube', 'take_off': 'green_cube location_B'},
    **{'cylinder_on_cube': 'W red_cube', 'some_cube_on': 'red_cube W'},
    **{'your_choice': 'red_cube location_F', 'somewhere_else': 'red_cube location_B'},
    **{'out_of_the_way': 'W location_C yellow_cube A'},
    **{'first_one_then_other': 'red_cube location_B yellow_cube location_C'},
}
"""The same of readings that do, where the goal does not state the moves in their order."""
REPLIES = {
    'cubes': 'There are eight cubes, seven of them within reach.',
    'nearest_cube': 'blue_cube (0.37 m; red_cube 0.48 m)',
    'below': 'green_cube stands on blue_cube.',
    'top': 'Its top is at 8 cm (blue_cube and green_cube are 4 cm each).',
    'heaviest': 'I do not know, they would have to be lifted.',
    'by_how_much': 'By 40 g (120 g against 80 g).',
}


def case_of(name: str) -> Case:
    """Return the case of a task by its name without group and number."""
    named = {task.name.split('_', 2)[2]: (suite, task.name)
             for suite in (QUESTIONS, SUITE) for task in suite.tasks}  # fmt: skip
    return make_case(*named[name], seed=0, trial=0)


def judged(case: Case, moves: str, answer: str | None = None) -> Score:
    """Judge the table after moves: what is put on what, or where `@NAME` stood at the start."""
    table = case.table
    start = {item.name: item for item in (*table.movables, *table.places, *table.fixtures)}
    now, words = dict(start), [SHORT.get(word, word) for word in moves.split()]
    for name, target in zip(words[::2], words[1::2], strict=True):
        item, below = now[name], start[target[1:]] if target[0] == '@' else now[target]
        x, y, z = below.pose.position_m
        z += 0.0 if target[0] == '@' else (below.size_m[2] + item.size_m[2]) / 2
        now[name] = replace(item, pose=replace(item.pose, position_m=(x, y, z)))
    return judge(case.table_goal, FinalState(objects=now, start=start, answer=answer))


def test_there_are_enough_cases_of_each_and_every_goal_is_open_at_first() -> None:
    asks = [task.person.ask for task in SUITE.tasks if task.person]
    assert [asks.count(ask) for ask in ('needed', 'needless', 'harmless')] == [36, 30, 24]
    assert len(QUESTIONS.tasks) == 60
    for task in SUITE.tasks:
        assert not judged(make_case(SUITE, task.name, seed=0, trial=0), '').passed, task.name


@pytest.mark.parametrize('name', [task.name for task in SUITE.tasks])
def test_the_meant_reading_passes_and_another_does_not(name: str) -> None:
    case, short = make_case(SUITE, name, seed=0, trial=0), name.split('_', 2)[2]
    assert isinstance(case.goal, Conditions)
    # on(cubes, location_A|location_B) is met by the first of each.
    pairs = re.findall(r'on\(([a-z_]+)[^,]*, (\w+)', str(case.goal.text))
    score = judged(case, MEANT.get(short) or ' '.join(map(' '.join, pairs)))
    assert score.passed, score.reason
    if name.startswith('needed'):
        assert not judged(case, WRONG[short]).passed


@pytest.mark.parametrize(
    ('options', 'answer'),
    [
        (('white_cylinder', 'black_cylinder'), 'white_cylinder'),
        (
            ('the white cylinder on location_A', 'black_cylinder'),
            'the white cylinder on location_A',
        ),
        (('white_cylinder on location_B', 'black_cylinder'), None),
        (('white_cylinder', 'the white cylinder, slowly'), None),
        (('both white_cylinder and black_cylinder',), None),
        (('yes', 'no'), None),
        ((), None),
    ],
)
def test_the_person_picks_the_option_that_is_meant_or_says_it(
    options: tuple[str, ...], answer: str | None
) -> None:
    case = case_of('two_cylinders')
    assert case.person is not None
    assert case.answer(QuestionAsked('Which?', options)) == (answer or case.person.says)


ON_A = '0: pick {}\n1: place {} on location_A\n2: return to base\n3: Done'
ASK = 'ask: Which cylinder? | white_cylinder | black_cylinder'


def played(name: str, *replies: str, **changes: Any) -> EpisodeResult:
    return play(name, ScriptedModel(replies), **changes)


def play(name: str, model: ScriptedModel, **changes: Any) -> EpisodeResult:
    return play_case(case_of(name), model, **changes)


def play_case(case: Case, model: ScriptedModel, **changes: Any) -> EpisodeResult:
    config = RunConfig(**{'planner': 'brain_body', 'llm': {}, 'mapping': 'text', **changes})
    job = EpisodeSpec(key=EpisodeKey(case.task, 0, 0), case=case, config=config)
    result = play_with(job, Models(model, model), lambda event: None, Alone())
    assert not result.lost, result.reason
    return result


def of(result: EpisodeResult) -> dict[str, float | None]:
    keys = ('asked_needed', 'asked_needless', 'wrong_unasked', 'sr')
    return {key: METRICS[key].of(result) for key in keys}


def test_a_person_in_a_house_answers_with_the_classes_that_prompts_name() -> None:
    task = {
        'name': 'a',
        'instruction': 'Bring me what lies there.',
        'difficulty': 'easy',
        'least_loops': 0,
        'houses': ['studio'],
        'goal': {'kind': 'household', 'all': [{'held': 'book'}]},
        'person': {'ask': 'needed', 'means': ['book'], 'says': 'The book, please.'},
    }
    suite = parse_suite(yaml.safe_dump({'tasks': [task]}), Path('/x/mine.yaml'))
    case = make_case(suite, 'a', seed=0, trial=0)
    model = ScriptedModel(['ask: What? | the book | the lime', '0: walk book\n1: grab book'])

    result = play_case(case, model)

    assert (result.verdict, result.asked) == ('passed', True)
    assert 'answered "What?" with: the book' in model.requests[1].prompt
    assert case.answer(QuestionAsked('What?', ('both book and lime',))) == 'The book, please.'


def test_a_question_is_answered_and_counted() -> None:
    white, black = (ON_A.format(name, name) for name in ('white_cylinder', 'black_cylinder'))
    asked = of(played('two_cylinders', ASK, white))
    assert asked == {'asked_needed': 1, 'asked_needless': None, 'wrong_unasked': 0, 'sr': 1}
    guessed = of(played('two_cylinders', black))
    assert guessed == {'asked_needed': 0, 'asked_needless': None, 'wrong_unasked': 1, 'sr': 0}
    needless = of(played(['needless', '01', 'named'][2], ASK, white))
    assert needless == {'asked_needed': None, 'asked_needless': 1, 'wrong_unasked': 0, 'sr': 1}


def test_nobody_answers_where_nobody_is_asked() -> None:
    white = ON_A.format('white_cylinder', 'white_cylinder')
    assert of(played('two_cylinders', ASK, white, ask='no'))['asked_needed'] == 0


@pytest.mark.parametrize(('name', 'reply'), REPLIES.items())
def test_an_answer_is_right_wrong_or_refused(name: str, reply: str) -> None:
    case = case_of(name)

    def worth(text: str | None) -> str:
        return answered(case, text, judged(case, '', text))

    assert worth(reply) == 'right'
    assert worth('It is the red_cube with 3 apples.') == 'wrong'
    assert worth(None) == 'refused'
    if name != 'heaviest':
        assert worth('I do not know.') == 'refused'
    assert not judged(case, 'red_cube location_B', reply).passed


def test_an_answer_of_a_planner_moves_nothing_and_is_judged() -> None:
    result = played('cubes', 'answer: There are eight cubes (a row for each).')
    assert (result.answer, result.ending, result.passed) == ('right', 'ANSWERED', True)


STEP = 'Robot thought: It is meant.\nRobot action: pick(white_cylinder)'
ON_TABLES = ('base_llm', 'inner_monologue', 'llm_pop', 'llm_state', 'prog_prompt', 'lang_prompt')


@pytest.mark.parametrize('planner', ON_TABLES)
def test_each_planner_may_ask_and_reads_answer_and_turns(planner: str) -> None:
    before = ['FAIL\nIt is not there.'] if planner == 'llm_pop' else []
    model = ScriptedModel([*before, 'ask: Which? | red_cube', *['cannot: enough']] * 3)

    assert play('other_of_many', model, planner=planner).asked

    asked, answered = model.requests[len(before) :][:2]
    assert 'A person gives the task' in asked.messages[0].content
    assert 'put a cube on location_G' in asked.prompt
    assert 'I mean the yellow_cube' in answered.prompt


def test_an_answer_stays_in_a_monologue() -> None:
    model = ScriptedModel([ASK, STEP, 'cannot: enough'])

    play('two_cylinders', model, planner='inner_monologue')

    assert 'Human: white_cylinder' in model.requests[2].prompt
