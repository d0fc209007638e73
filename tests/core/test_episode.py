"""An episode counts, records, stops and names how it ended."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from scripted_episodes import PICK, STEP, EchoModel, OneCubeWorld, ScriptedPlanner, start

from bbllm.core.budget import Limits
from bbllm.core.errors import BbllmError, GaveUpError, LostNodeError, ModelUnavailableError
from bbllm.core.events import (
    ConditionChecked,
    Ending,
    Event,
    EventKind,
    PlanMade,
    StepBegun,
    StepFailed,
    StepPassed,
    WordGrounded,
)
from bbllm.core.printable import hidden_fault
from bbllm.core.protocols import EpisodeContext, Message, Reply, World
from bbllm.core.types import Plan, PlanStep
from bbllm.llm.scripted import ScriptedModel


def kinds(events: Sequence[Event]) -> list[EventKind]:
    return [event.kind for event in events]


def test_a_plan_that_ran_to_its_end_is_finished_and_accounted_for() -> None:
    run = start()
    model = run.model(EchoModel(), 'brain')

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'plan')])
        context.emit(PlanMade.of(Plan((STEP,)), 0))
        context.emit(StepBegun.of(STEP))
        world.execute(PICK)

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert episode.ending is Ending.FINISHED
    assert episode.message == ''
    assert (episode.steps, episode.robot_s, episode.feedback_loops) == (1, 2.0, 0)
    assert [(c.role, c.prompt_tokens, c.completion_tokens) for c in episode.model_calls] == [
        ('brain', 7, 3)
    ]
    assert kinds(episode.events) == [
        EventKind.STARTED,
        EventKind.SCENE,
        EventKind.MODEL_CALL,
        EventKind.MODEL_TEXT,
        EventKind.PLAN,
        EventKind.STEP,
        EventKind.CALL,
        EventKind.OUTCOME,
        EventKind.SCENE,
        EventKind.ENDED,
    ]


def test_a_step_that_stays_failed_means_that_the_episode_gave_up() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.emit(PlanMade.of(Plan((STEP,)), 0))
        world.execute(PICK)
        context.emit(StepFailed.of(STEP, 'red_cube is out of the workspace of the robot.'))

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert episode.ending is Ending.GAVE_UP
    assert 'red_cube is out of the workspace' in episode.message


def test_what_a_word_was_taken_for_and_what_was_checked_is_on_record() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.emit(WordGrounded('cube', 'red_cube', policy='nearest', among=2))
        context.emit(ConditionChecked("'red_cube' in 'hands'", False, by='graph'))
        world.execute(PICK)

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    told = {event.kind: event.data for event in episode.events}
    assert told[EventKind.GROUNDED] == WordGrounded('cube', 'red_cube', 'nearest', 2)
    assert told[EventKind.CHECKED] == ConditionChecked("'red_cube' in 'hands'", False, 'graph')
    assert (episode.ending, episode.steps) == (Ending.FINISHED, 1)


def test_a_new_plan_from_a_failed_step_on_clears_that_failure() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.emit(PlanMade.of(Plan((STEP,)), 0))
        context.emit(StepFailed.of(STEP, 'no'))
        context.emit(PlanMade.of(Plan((STEP,)), 0))
        world.execute(PICK)

    assert start().execute(ScriptedPlanner(script), OneCubeWorld()).ending is Ending.FINISHED


NO_ACTION = PlanStep(1, 'sing a song')


def test_a_plan_with_a_passed_step_is_not_finished_and_quotes_it() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.emit(PlanMade.of(Plan((STEP, NO_ACTION)), 0))
        world.execute(PICK)
        context.emit(StepPassed.of(NO_ACTION))

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.ending, episode.passed_steps) == (Ending.PARTLY_DONE, 1)
    assert episode.message == (
        "1 step of the plan was passed, because no action was found for it: 1: 'sing a song'."
    )


def test_a_message_quotes_three_passed_steps_and_counts_the_others() -> None:
    steps = tuple(PlanStep(i, f'{i} ' + 100 * 'x') for i in range(5))

    def script(world: World, context: EpisodeContext) -> None:
        context.emit(PlanMade.of(Plan(steps), 0))
        for step in steps:
            context.emit(StepPassed.of(step))

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.ending, episode.passed_steps) == (Ending.GAVE_UP, 5)
    assert 'without one step that the robot carried out. 5 steps' in episode.message
    assert episode.message.endswith("x ...', and 2 more.")


def test_a_new_plan_from_a_passed_step_on_clears_that_pass() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.emit(PlanMade.of(Plan((STEP, NO_ACTION)), 0))
        context.emit(StepPassed.of(NO_ACTION))
        context.emit(PlanMade.of(Plan((STEP, STEP)), 1))
        world.execute(PICK)

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.ending, episode.passed_steps) == (Ending.FINISHED, 0)


def test_a_planner_that_finds_the_task_done_may_have_passed_steps() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.emit(StepPassed.of(NO_ACTION))
        context.report_done()

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.ending, episode.passed_steps) == (Ending.FINISHED, 1)


def test_a_plan_of_which_nothing_was_executed_is_not_finished() -> None:
    episode = start().execute(ScriptedPlanner(lambda world, context: None), OneCubeWorld())

    assert episode.ending is Ending.GAVE_UP


def test_a_task_that_a_planner_finds_done_is_finished_though_nothing_was_executed() -> None:
    planner = ScriptedPlanner(lambda world, context: context.report_done())

    assert start().execute(planner, OneCubeWorld()).ending is Ending.FINISHED


@pytest.mark.parametrize(
    ('error', 'ending'),
    [
        (ModelUnavailableError('no server'), Ending.MODEL_FAILED),
        (LostNodeError('fr3_executor has gone'), Ending.WORLD_FAILED),
        (GaveUpError('no such thing as a moon'), Ending.GAVE_UP),
    ],
)
def test_an_error_of_a_part_becomes_an_ending_with_its_sentence(
    error: BbllmError, ending: Ending
) -> None:
    def script(world: World, context: EpisodeContext) -> None:
        raise error

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.ending, episode.message) == (ending, str(error))


def test_no_call_is_executed_beyond_the_limit() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        for _ in range(5):
            world.execute(PICK)

    episode = start(Limits(steps=2)).execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.ending, episode.steps) == (Ending.OUT_OF_BUDGET, 2)
    assert 'limit of 2 calls' in episode.message


@pytest.mark.parametrize('limits', [Limits(model_calls=1), Limits(tokens=10)])
def test_no_model_is_asked_beyond_the_limit(limits: Limits) -> None:
    run = start(limits)
    model = run.model(EchoModel(), 'brain')

    def script(world: World, context: EpisodeContext) -> None:
        for _ in range(5):
            model.complete([Message('user', 'x')])

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert episode.ending is Ending.OUT_OF_BUDGET
    assert len(episode.model_calls) == 1


def test_a_model_call_that_failed_is_on_the_account() -> None:
    run = start()
    model = run.model(EchoModel(ModelUnavailableError('down')), 'body')

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'x')])

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert [(call.role, call.prompt_tokens) for call in episode.model_calls] == [('body', 0)]


def test_what_a_person_says_is_read_once_and_never_lost_silently() -> None:
    run = start()
    read: list[tuple[str, ...]] = []

    def script(world: World, context: EpisodeContext) -> None:
        run.hear('not  that\none')
        read.append(context.take_human_feedback())
        read.append(context.take_human_feedback())
        world.execute(PICK)
        run.hear('too late')

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert read == [('not that one',), ()]
    warnings = [e.data.text for e in episode.events if e.kind is EventKind.WARNING]
    assert len(warnings) == 1 and 'too late' in str(warnings[0])


def test_what_is_no_text_is_taken_out_of_a_reply() -> None:
    class Odd(EchoModel):
        def complete(self, messages: Sequence[Message], **_: object) -> Reply:
            return Reply(text='0: pick\x1b]0;title\x07\n\ttwo\ud800\x00', model='odd')

    run = start()
    model = run.model(Odd(), 'brain')
    texts: list[str] = []

    def script(world: World, context: EpisodeContext) -> None:
        texts.append(model.complete([Message('user', 'x')]).text)

    run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert texts == ['0: pick]0;title\n\ttwo']


@pytest.mark.parametrize('said', ['mind\x1b[2J the cat', '\u202etac eht dnim', 'mi\u200bnd'])
def test_feedback_with_characters_that_nobody_sees_is_refused_with_a_warning(said: str) -> None:
    run = start()
    read: list[str] = []

    def script(world: World, context: EpisodeContext) -> None:
        run.hear(said)
        run.hear('mind the cat 👩\u200d🚀')
        read.extend(context.take_human_feedback())
        world.execute(PICK)

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert read == ['mind the cat 👩\u200d🚀']
    (warning,) = (e.data.text for e in episode.events if e.kind is EventKind.WARNING)
    assert 'Human feedback was refused: it contains the character U+' in str(warning)
    assert hidden_fault(str(warning)) == ''


def test_a_reply_is_stripped_of_what_is_not_visible() -> None:
    painter = ScriptedModel(['0: pick\x1b[2J red\u202e_cube\u2028' + '1: re\u200bst\n'])
    run = start()
    replies: list[str] = []

    def script(world: World, context: EpisodeContext) -> None:
        replies.append(run.model(painter, 'brain').complete([Message('user', 'plan')]).text)

    run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert replies == ['0: pick[2J red_cube\n1: rest\n']
