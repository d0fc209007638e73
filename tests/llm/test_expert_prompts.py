"""How `expert` reads the prompts of its planners: the very ones that these write."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bbllm.core.delimiters import without_delimiters
from bbllm.core.errors import NotMeasuredError
from bbllm.core.observation import Observed, observed
from bbllm.core.types import HandReading, Kind, Pose, Scene, SceneObject, Task
from bbllm.llm.expert.belief import learn
from bbllm.llm.expert.deciding import Decision, Stage
from bbllm.llm.expert.ft_prompt import QUESTIONS, is_ft_prompt, read_ft_prompt, write_ft_reply
from bbllm.llm.expert.pop_prompt import is_pop_prompt, read_pop_prompt, write_pop_reply
from bbllm.llm.expert.sight import Asked, Deed, Move, Sight, UnreadableError
from bbllm.planners.llm_pop.fine_tuned_grammar import parse_reply
from bbllm.planners.llm_pop.fine_tuned_history import FtHistory, FtRound, said_so
from bbllm.planners.llm_pop.fine_tuned_prompting import FtPrompts
from bbllm.planners.llm_pop.fine_tuned_questions import Question
from bbllm.planners.llm_pop.grammar import parse_evaluator, parse_planner
from bbllm.planners.llm_pop.history import History, Round, Tried
from bbllm.planners.llm_pop.prompting import PopPrompts
from bbllm.skills.catalog import SKILLS

TASK = Task('t', 'stack the blocks')
DOWN = (1.0, 0.0, 0.0, 0.0)


def cube(name: str, x: float, y: float) -> SceneObject:
    return SceneObject(
        name=name,
        kind=Kind.CUBE,
        pose=Pose(position_m=(x, y, 0.02)),
        size_m=(0.04, 0.04, 0.04),
        color=name.partition('_')[0],
    )


SCENE = Scene(
    (
        SceneObject(
            name='table',
            kind=Kind.FIXTURE,
            pose=Pose(position_m=(0.5, 0.0, -0.02)),
            size_m=(0.36, 0.6, 0.04),
        ),
        cube('red_cube', 0.45, -0.1),
        cube('dark_blue_cube', 0.55, 0.1),
    ),
    SKILLS,
    (),
    0.0,
    HandReading(
        tcp=Pose(position_m=(0.35, 0.0, 0.4), quat_xyzw=DOWN),
        width_m=0.08,
        force_n=(0.0, 0.1, 0.2),
    ),
)
LIFTED = Observed(
    blocks={
        'red_cube': (0.45, -0.1, 0.1, 0.0, 0.0, 0.0, 1.0),
        'dark_blue_cube': (0.55, 0.1, 0.02, 0.0, 0.0, 0.0, 1.0),
    },
    eef=(0.45, -0.1, 0.112, *DOWN),
    force_n=(0.1, 0.2, -1.25),
    fingers_m=(0.02, 0.02),
)
POSE = (0.45, -0.1, 0.032, *DOWN)
SOME_MOVES = (
    Move('pick', 'red_cube'),
    Move('wait'),
    Move('place', 'red_cube', POSE),
    Move('reach', pose=POSE),
    Move('reset'),
)


def next_prompt(scene: Scene = SCENE, text: str = '') -> str:
    """Return the prompt of FT-Vanilla as its readers get it; without a history by default."""
    history = text or FtHistory().text()
    return without_delimiters(str(FtPrompts().ask(Question.NEXT, TASK, scene, history)))


def seen_by(history: History) -> Sight:
    asked = PopPrompts().planner(TASK, SCENE, history.text(), 'nothing is known')
    prompt = without_delimiters(asked)
    assert is_pop_prompt(prompt)
    assert not is_ft_prompt(prompt)
    return read_pop_prompt(prompt)


def rounds(*tried: Tried, budget: int = 40_000, more: int = 0) -> History:
    history = History(budget)
    history.add(Round('because', tried))
    for _ in range(more):
        history.add(Round('later', (Tried('WAIT', 'done', LIFTED),)))
    return history


def test_what_is_there_now_is_read_with_sizes_and_corners() -> None:
    sight = seen_by(History())

    assert sight.asked is Asked.PLAN
    assert sight.names == ('red_cube', 'dark_blue_cube')
    assert sight.half_m('dark_blue_cube') == 0.02
    assert set(sight.corners) == {(0.5 + i * 0.18, j * 0.3) for i in (1, -1) for j in (1, -1)}
    assert sight.now.force_n == (0.0, 0.1, 0.2)
    assert sight.deeds == ()


def test_an_evaluator_is_asked_something_else() -> None:
    prompt = without_delimiters(PopPrompts().evaluator(TASK, SCENE, History().text()))

    assert read_pop_prompt(prompt).asked is Asked.EVALUATE


def test_the_history_is_read_action_by_action() -> None:
    sight = seen_by(
        rounds(
            Tried('PICK red_cube', 'done', LIFTED),
            Tried(f'PLACE [{" ".join(map(str, POSE))}]', 'failed: red_cube slid; look.', LIFTED),
            Tried('RESET'),
        )
    )

    assert sight.deeds == (
        Deed(move=Move('pick', 'red_cube'), done=True, seen=LIFTED),
        Deed(
            move=Move('place', pose=POSE), done=False, message='red_cube slid; look.', seen=LIFTED
        ),
        Deed(move=Move('reset'), done=False, tried=False, message='not tried'),
    )


def test_rounds_in_short_tell_actions_results_and_forces() -> None:
    history = rounds(
        Tried('PICK red_cube', 'done', LIFTED),
        Tried(f'PLACE [{" ".join(map(str, POSE))}]', 'failed: it slid; PICK it up again', LIFTED),
        budget=800,
        more=1,
    )

    first, second, _ = seen_by(history).deeds

    assert 'Round 0 in short:' in history.text()
    assert first == Deed(move=Move('pick', 'red_cube'), done=True, force_z_n=-1.25)
    assert (second.move, second.done) == (Move('place', pose=POSE), False)


def test_replies_are_in_the_grammar_of_the_planner() -> None:
    decided = Decision(Stage.ACT, 'Both are known.', SOME_MOVES)

    reply = parse_planner(write_pop_reply(Asked.PLAN, decided), may_end=False)

    assert reply.explanation == 'Both are known.'
    assert [action.verb.name.lower() for action in reply.actions] == [m.verb for m in SOME_MOVES]
    assert [float(word) for word in reply.actions[2].argument.split()] == pytest.approx(POSE)
    done = write_pop_reply(Asked.PLAN, Decision(Stage.DONE, 'So it is.'))
    assert parse_planner(done, may_end=True).actions == ()


@pytest.mark.parametrize('stage', list(Stage))
def test_verdicts_are_in_the_grammar_of_the_evaluator(stage: Stage) -> None:
    evaluation = parse_evaluator(write_pop_reply(Asked.EVALUATE, Decision(stage, 'Why so.')))

    assert evaluation.success is (stage is Stage.DONE)
    assert evaluation.reason == 'Why so.'


def ft_seen(history: FtHistory, question: Question = Question.NEXT) -> Sight:
    prompt = without_delimiters(str(FtPrompts().ask(question, TASK, SCENE, history.text())))
    assert is_ft_prompt(prompt)
    assert not is_pop_prompt(prompt)
    return read_ft_prompt(prompt)


def test_every_question_of_the_ft_planners_is_known() -> None:
    asked = {ft_seen(FtHistory(), question).asked for question in Question}

    assert asked == set(QUESTIONS.values())
    assert ft_seen(FtHistory(), Question.NEXT).asked is Asked.PLAN


def test_vectors_of_numbers_are_read_as_what_they_show() -> None:
    reply = parse_reply(write_ft_reply(Asked.SOLVE, Decision(Stage.ACT, 'Now.', SOME_MOVES[:3:2])))
    history = FtHistory()
    history.add(FtRound('No. Nothing is known'))
    history.add(
        FtRound('Now. Failed: it [red] slid', reply.actions, (LIFTED.vector(), LIFTED.vector()))
    )

    sight = ft_seen(history)

    assert sight.corners == seen_by(History()).corners
    assert sight.now.blocks == seen_by(History()).now.blocks
    assert [deed.move for deed in sight.deeds] == [SOME_MOVES[0], SOME_MOVES[2]]
    assert [deed.done for deed in sight.deeds] == [True, False]
    assert sight.deeds[1].message == 'it (red) slid'
    assert sight.deeds[0].seen == LIFTED


def test_ft_rounds_in_short_tell_what_was_felt() -> None:
    reply = parse_reply(write_ft_reply(Asked.GATHER, Decision(Stage.ACT, 'Now.', SOME_MOVES[:1])))
    history = FtHistory(700)
    history.add(FtRound('Now.', reply.actions, (LIFTED.vector(),)))
    for _ in range(3):
        history.add(FtRound('Now.', reply.actions, (LIFTED.vector(),)))

    sight = ft_seen(history)

    assert 'In short:' in history.text()
    assert sight.deeds[0] == Deed(move=SOME_MOVES[0], done=True, force_z_n=-1.25)


def test_a_pick_that_failed_has_failed_in_a_round_in_short_too() -> None:
    reply = parse_reply(write_ft_reply(Asked.GATHER, Decision(Stage.ACT, 'Now.', SOME_MOVES[:1])))
    words = said_so('Failed: is what I fear.', 'red_cube did not rise.')
    history = FtHistory()
    history.add(FtRound(words, reply.actions, (observed(SCENE).vector(),)))

    for text in (history.write(), history.write(in_short=1)):
        sight = read_ft_prompt(next_prompt(text=text))
        assert [deed.message for deed in sight.deeds] == ['red_cube did not rise.']
        assert learn(sight).stuck == {'red_cube'}


def test_what_an_explanation_says_of_failure_is_no_failure() -> None:
    reply = parse_reply(write_ft_reply(Asked.GATHER, Decision(Stage.ACT, 'Now.', SOME_MOVES[:1])))
    history = FtHistory()
    history.add(FtRound(said_so('Failed: before. Now again.'), reply.actions, (LIFTED.vector(),)))

    assert [deed.done for deed in ft_seen(history).deeds] == [True]


def test_a_force_of_zeros_was_measured_as_such() -> None:
    assert SCENE.hand is not None
    scene = replace(SCENE, hand=replace(SCENE.hand, force_n=(0.0, 0.0, 0.0)))
    prompt = without_delimiters(
        str(FtPrompts().ask(Question.NEXT, TASK, scene, FtHistory().text()))
    )

    assert read_ft_prompt(prompt).now.force_n == (0.0, 0.0, 0.0)


def test_without_a_force_no_prompt_with_a_vector_is_written() -> None:
    assert SCENE.hand is not None
    scene = replace(SCENE, hand=replace(SCENE.hand, force_n=None))

    with pytest.raises(NotMeasuredError, match='force on the hand is not measured'):
        FtPrompts().ask(Question.NEXT, TASK, scene, FtHistory().text())


@pytest.mark.parametrize('stage', list(Stage))
def test_answers_to_the_first_question_begin_with_yes_or_no(stage: Stage) -> None:
    reply = parse_reply(write_ft_reply(Asked.ENOUGH, Decision(stage, 'Why so.', SOME_MOVES)))

    assert reply.enough is (stage is not Stage.GATHER)
    assert reply.actions == ()


def test_numbers_that_are_too_few_are_refused() -> None:
    prompt = without_delimiters(
        str(FtPrompts().ask(Question.NEXT, TASK, SCENE, FtHistory().text()))
    )
    short = prompt.replace('Current: [0.450, ', 'Current: [')

    with pytest.raises(UnreadableError, match='26 numbers, but one has 25'):
        read_ft_prompt(short)


def test_a_prompt_without_blocks_is_refused() -> None:
    scene = Scene(SCENE.objects[:1], SKILLS, (), 0.0)

    with pytest.raises(UnreadableError, match=r'no .Block:'):
        read_pop_prompt(without_delimiters(PopPrompts().evaluator(TASK, scene, 'None.')))


def test_heights_of_centres_tell_sizes_where_nothing_else_does() -> None:
    sight = ft_seen(FtHistory())

    assert math.isclose(sight.half_m('red_cube'), 0.02)
