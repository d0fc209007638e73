"""Fitness: models that answer right, and wrong in each way; questions that can be answered."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError, ModelDeclinedError, ModelUnavailableError, ReplayError
from bbllm.core.protocols import ModelRequest
from bbllm.core.registry import load_planner
from bbllm.llm.models.factory import (
    Models,
    make_models,
    parse_config,
    record_models,
    replay_models,
)
from bbllm.testing import Answer, ScriptedModel
from bbllm_bench.fitness.fitness import Grade, examine
from bbllm_bench.fitness.questions import (
    BODY_QUESTIONS,
    BRAIN,
    BodyQuestion,
    BrainQuestion,
    facts_of,
)

ACTION = re.compile(r'<\w+0>\[\w+\](?: ?<[^<>]+>)*')


def asked(planner: str, task: str) -> BrainQuestion:
    (found,) = (item for item in BRAIN if item.planner == planner and item.task.startswith(task))
    return found


def repeat(request: ModelRequest) -> str:
    """Reply as a Body with the action that a step already is."""
    return ACTION.findall(request.prompt)[-1]


def models_of(*replies: Answer, body: Sequence[Answer] = (repeat,) * 9) -> Models:
    return Models(ScriptedModel(replies), ScriptedModel(body))


PICK = '0: <rob0>[pick] <red_cube>\n1: <rob0>[place] <location_B>\n2: Done'
SALMON = ('walk', 'salmon'), ('grab', 'salmon'), ('walk', 'fridge'), ('open', 'fridge')
FRIDGE = (
    '\n'.join(f'{i}: <char0>[{skill}] <{name}>' for i, (skill, name) in enumerate(SALMON))
    + '\n4: <char0>[putin] <salmon> <fridge>\n5: Done'
)
PROGRAM = """
    find('salmon')
    grab('salmon')
    find('fridge')
    open('fridge')
    putin('salmon', 'fridge')
"""
PROGRAM_OF_APPLE = PROGRAM.replace('salmon', 'apple').replace('fridge', 'garbagecan')
PROGRAM_OF_BOOK = """
    find('book')
    grab('book')
    find('table')
    putback('book', 'table')
"""
SWITCH = "walk('tv(id:106)')\nswitchon('tv(id:106)')\n# done"
MOVE = """EXPLAIN
I move it.
EXECUTE
ACTION PICK blue_cube
ACTION PLACE [0.56 0.04 0.06 1 0 0 0]
ACTION RESET"""
LOW_LEVEL = """walk('salmon(id:101)')
grab('salmon(id:101)')
walk('fridge(id:104)')
open('fridge(id:104)')
putin('salmon(id:101)', 'fridge(id:104)')
# done"""
TV = ('I go.\nRobot action: move(tv1)', 'On.\nRobot action: switchon(tv1)', 'Robot action: done()')


@pytest.mark.parametrize(
    ('planner', 'task', 'replies'),
    [
        ('brain_body', 'put the red', (PICK,)),
        ('brain_body', 'put the salmon', (FRIDGE,)),
        ('base_llm', 'put the red', (PICK,)),
        ('base_llm', 'put the salmon', (FRIDGE,)),
        ('prog_prompt', 'put the salmon', (PROGRAM,)),
        ('planning_only', 'put the salmon', (LOW_LEVEL, '# done')),
        ('inner_monologue', 'switch on', TV),
        ('brain_body', 'stack', ('0: <rob0>[pick] <blue_cube>\n1: <rob0>[place] <green_cube>',)),
        ('base_llm', 'switch on', ('0: <char0>[walk] <tv>\n1: <char0>[switchon] <tv>',)),
        ('prog_prompt', 'throw', (PROGRAM_OF_APPLE,)),
        ('prog_prompt', 'put the book', (PROGRAM_OF_BOOK,)),
        ('fltrnn', 'switch on', ('subgoal{turnon_tv: 1}', SWITCH, '# done')),
        ('llm_pop', 'stack', ('FAIL\nNot yet.', MOVE, 'SUCCESS\nIt is there.')),
    ],
)
def test_a_right_answer_leaves_no_fault(
    planner: str, task: str, replies: tuple[Answer, ...]
) -> None:
    assert asked(planner, task).fault(models_of(*replies)) == ''


@pytest.mark.parametrize(
    ('planner', 'task', 'replies', 'fault'),
    [
        ('base_llm', 'put the red', ('No.', 'Never.'), 'calls: none. .*Never'),
        ('base_llm', 'put the red', ('0: <rob0>[pick] <blue_cube>\n1: Done',), 'pick.blue_cube'),
        (
            'prog_prompt',
            'put the salmon',
            ("    find('salmon')\n",),
            'salmon inside fridge; calls',
        ),
        (
            *('prog_prompt', 'put the salmon'),
            (PROGRAM.replace("    open('fridge')\n", ''),),
            r'not so at the end: salmon inside fridge',
        ),
        ('inner_monologue', 'switch on', TV[:1] * 9, 'not so at the end: tv is on'),
    ],
)
def test_the_fault_of_a_wrong_answer_is_its_effect(
    planner: str, task: str, replies: tuple[Answer, ...], fault: str
) -> None:
    assert re.search(fault, asked(planner, task).fault(models_of(*replies)), re.DOTALL)


def test_a_body_is_judged_by_its_call() -> None:
    red, sing = (
        next(item for item in BODY_QUESTIONS if item.step == step)
        for step in ('pick up the red cube', 'sing a song')
    )
    right = models_of(body=['<rob0>[pick] <red_cube>'])
    wrong = models_of(body=['<rob0>[pick] <blue_cube>'])
    silent = models_of(body=['hm', 'hm'])

    assert red.fault(right) == ''
    assert red.fault(wrong) == 'pick(blue_cube), not pick(red_cube)'
    assert "'hm'" in red.fault(silent)
    assert 'declined' in red.fault(models_of(body=[ModelDeclinedError('declined')]))
    assert sing.fault(models_of(body=['<pass>'])) == ''


@pytest.mark.parametrize('question', BODY_QUESTIONS, ids=lambda question: question.step)
def test_every_call_that_is_accepted_leaves_no_fault(question: BodyQuestion) -> None:
    robot = 'char0' if question.house else 'rob0'
    for text in question.accepted:
        skill, _, args = text.rstrip(')').partition('(')
        named = ''.join(f' <{arg}>' for arg in args.split(',') if arg)
        reply = '<pass>' if text == 'pass' else f'<{robot}>[{skill}]{named}'
        assert question.fault(models_of(body=[reply])) == ''


def test_grades_are_by_planner_and_name_what_failed() -> None:
    questions = [*(item for item in BRAIN if item.planner == 'base_llm'), BODY_QUESTIONS[0]]
    models = models_of(PICK, 'No.', 'No.', 'No.', 'No.', FRIDGE, body=['<rob0>[pick] <red_cube>'])
    seen: list[tuple[int, str]] = []
    order = [questions[0], questions[1], questions[3], questions[2], questions[4]]

    base, body = examine(
        models, order, at_once=1, on_progress=lambda n, what: seen.append((n, what))
    )

    assert (base.planner, base.grade, base.right, base.asked) == ('base_llm', Grade.PARTLY, 2, 4)
    assert [item.question for item in base.wrong] == [order[1].text, order[2].text]
    assert (body.planner, body.grade, body.wrong) == ('body', Grade.FIT, ())
    assert seen == [
        (1, 'base_llm'),
        (2, 'base_llm'),
        (3, 'base_llm'),
        (4, 'base_llm'),
        (5, 'body'),
    ]


def test_no_model_is_no_failure_of_the_model() -> None:
    with pytest.raises(ModelUnavailableError, match='down'):
        examine(models_of(ModelUnavailableError('down')), [asked('base_llm', 'put the red')])


@pytest.mark.parametrize('roles', [{}, {'brain': 'offline'}])
def test_a_stand_in_is_refused_in_one_sentence(roles: dict[str, str]) -> None:
    models = make_models(parse_config('', 'f'), overrides=roles, environ={})

    with pytest.raises(ConfigError, match='`offline` is a stand-in and no language model'):
        examine(models)


def test_a_recording_answers_the_same(tmp_path: Path) -> None:
    question = asked('base_llm', 'put the red')
    path = tmp_path / 'talk.jsonl'
    recorded = examine(record_models(models_of(PICK), path), [question], at_once=1)

    replay = replay_models(path, embedding=False)
    assert examine(replay, [question], at_once=1) == recorded
    assert recorded[0].grade is Grade.FIT
    with pytest.raises(ReplayError, match='once more'):
        examine(replay, [question], at_once=1)


def test_there_are_24_questions_of_each_role_and_none_is_answered_before() -> None:
    assert (len(BRAIN), len(set(BRAIN))) == (24, 24)
    assert (len(BODY_QUESTIONS), len(set(BODY_QUESTIONS))) == (24, 24)
    for question in BRAIN:
        scene = question.world().observe()
        assert scene.domain in load_planner(question.planner).domains
        assert question.wanted not in facts_of(scene)
