"""How episodes of a person's sentence end: by what the scene shows, not by what the plan says."""

from collections.abc import Sequence

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import (
    BbllmError,
    CancelledError,
    LostNodeError,
    ModelUnavailableError,
    NeedsPersonError,
    SceneError,
)
from bbllm.core.events import (
    Ending,
    Episode,
    EpisodeEnded,
    EventKind,
    GoalStated,
    Limits,
    WarningRaised,
)
from bbllm.core.goals import GoalFinding, TaskGoal
from bbllm.core.journal import line_of, read_line, summarize
from bbllm.core.observation import Observed
from bbllm.core.protocols import ModelRequest
from bbllm.core.tasks import make_task
from bbllm.core.types import Outcome, Scene, SkillCall
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.planners.common.goal_request import goal_prompt
from bbllm.testing import ScriptedModel
from bbllm.worlds.scene.goal_keeper import SceneGoals
from bbllm.worlds.scene.table_tolerances import TableTolerances
from tests.doubles.box_table import BoxTable
from tests.doubles.call_body import CallBody

PLACES = {'red_cube': (0.4, 0.1), 'blue_cube': (0.5, 0.2), 'location_A': (0.5, -0.1)}
GOAL = 'on(red_cube, blue_cube)'
STACK = '0: pick(red_cube)\n1: place(blue_cube)'
ASIDE = '0: pick(red_cube)\n1: place(table)'


def do(
    *replies: str | Exception,
    k: int = 3,
    goal: str | None = '',
    world: BoxTable | None = None,
    limits: Limits | None = None,
) -> tuple[Episode, ScriptedModel, BoxTable]:
    """Run a task with the replies of a Brain; the first is the goal where none is given."""
    world, brain = world or BoxTable(PLACES), ScriptedModel(replies)
    task = make_task('put the red cube on the blue cube', 'e')
    run = EpisodeRun(task, planner='p', brain='b', body='c', limits=limits)
    model = run.model(brain, 'brain')
    goals = None if goal is None else SceneGoals(model, goal)
    return run.execute(BrainBody(model, CallBody(), k=k), world, goals), brain, world


def causes(episode: Episode) -> Sequence[str]:
    return [e.data.cause for e in episode.events if e.kind is EventKind.REPAIR]  # type: ignore[union-attr]


def test_a_goal_that_the_scene_meets_is_finished_and_on_the_account() -> None:
    episode, brain, _ = do(GOAL, STACK)

    assert (episode.ending, episode.goal, episode.message) == (Ending.FINISHED, 'met', '')
    assert episode.goal_stated == GoalStated(('red_cube is on blue_cube',), GOAL, 'scripted')
    assert (len(brain.requests), len(episode.model_calls)) == (2, 2)
    kinds = [event.kind.value for event in episode.events]
    assert kinds.index('goal') < kinds.index('plan')
    assert {'goal': 'met', 'conditions': GOAL}.items() <= summarize(episode).items()
    for event in episode.events:
        assert read_line(line_of(event)) == event


def test_a_goal_that_is_not_met_goes_back_to_the_brain_while_loops_are_left() -> None:
    episode, brain, _ = do(
        GOAL,
        ASIDE,
        'Explanation: it is on the table.\nNew plan:\n2: pick(red_cube)\n3: place(blue_cube)',
    )

    assert (episode.ending, episode.goal, episode.feedback_loops) == (Ending.FINISHED, 'met', 1)
    (cause,) = causes(episode)
    assert cause.startswith(
        'The plan has ended, and the task is not done. The goal is not met: red_cube is not on '
        'blue_cube: it is on table.'
    )
    assert cause in brain.requests[-1].prompt
    assert 'Error step: 2' in brain.requests[-1].prompt


@pytest.mark.parametrize(('k', 'replies'), [(0, []), (1, ['New plan:\n2: Done'])])
def test_a_goal_that_stays_unmet_is_partly_done_with_the_condition(
    k: int, replies: list[str]
) -> None:
    episode, brain, _ = do(GOAL, ASIDE, *replies, k=k)

    assert (episode.ending, episode.goal) == (Ending.PARTLY_DONE, 'unmet')
    assert episode.message == 'The goal is not met: red_cube is not on blue_cube: it is on table.'
    assert len(brain.requests) == 2 + k


def test_a_brain_that_finds_nothing_left_to_do_is_not_asked_again() -> None:
    episode, brain, _ = do(GOAL, ASIDE, 'New plan:\n2: Done', k=3)

    assert (episode.ending, len(brain.requests)) == (Ending.PARTLY_DONE, 3)


@pytest.mark.parametrize('done', ['0: Done', 'Done', '```\nDone\n```'])
def test_a_task_that_is_true_already_is_finished_after_its_goal_was_checked(done: str) -> None:
    met, brain, world = do('on(red_cube, table)', done)
    partly, _, _ = do('on(red_cube, table)\nnot checked: gently', done)
    unchecked, _, _ = do('none', done)

    assert (met.ending, met.goal, met.message) == (
        Ending.FINISHED,
        'met',
        'Nothing to do: red_cube is on table already.',
    )
    assert (len(brain.requests), world.calls) == (2, [])
    assert (partly.ending, partly.goal) == (Ending.FINISHED, 'met as far as checked')
    assert partly.message.endswith('already. Not checked: gently.')
    assert (unchecked.ending, unchecked.goal) == (Ending.FINISHED, 'not checked')
    assert 'Nothing was done' in unchecked.message and 'goal was not checked' in unchecked.message


def test_a_brain_that_answers_done_before_the_goal_holds_is_asked_back_once() -> None:
    mended, brain, _ = do(GOAL, 'Done', f'Explanation: so far it is not.\nNew plan:\n{STACK}')
    stubborn, asked, world = do(GOAL, 'Done', 'New plan:\nDone')
    never_asked, _, _ = do(GOAL, 'Done', k=0)

    assert 'red_cube is not on blue_cube: it is on table' in brain.requests[-1].prompt
    assert (mended.ending, mended.goal, mended.feedback_loops) == (Ending.FINISHED, 'met', 1)
    assert (len(asked.requests), world.calls) == (3, [])
    for episode in (stubborn, never_asked):
        assert (episode.ending, episode.goal) == (Ending.GAVE_UP, 'unmet')
        assert episode.message.endswith('red_cube is not on blue_cube: it is on table.')


def test_in_a_bench_a_plan_without_steps_stays_given_up() -> None:
    episode, _, _ = do('Done', goal=None)

    assert (episode.ending, episode.message) == (
        Ending.GAVE_UP,
        'The plan ended without one step that the robot carried out.',
    )


@pytest.mark.parametrize(
    ('replies', 'why'),
    [
        (['none'], 'cannot be checked by conditions'),
        (['nonsense', 'more nonsense'], 'Conditions are on(a, b)'),
        (['on(red_cube, moon)', 'on(red_cube, sun)'], "no object named 'sun'"),
        ([ModelUnavailableError('no server')], 'no server'),
        (['on(red_cube|blue_cube, table)'], 'is met before anything has moved'),
    ],
)
def test_without_a_goal_that_can_be_used_the_task_is_done_and_not_checked(
    replies: list[str | Exception], why: str
) -> None:
    episode, _, _ = do(*replies, STACK)

    assert (episode.ending, episode.goal) == (Ending.FINISHED, 'not checked')
    assert why in episode.goal_stated.why
    assert not episode.goal_stated.conditions


def test_a_cancel_and_a_budget_end_the_request_for_the_goal_as_any_other() -> None:
    def cancel(request: ModelRequest) -> str:
        raise CancelledError('stop')

    world = BoxTable(PLACES)
    cancelled = do(cancel, world=world)[0]  # type: ignore[arg-type]  # an answer of the model
    spent = do(GOAL, STACK, limits=Limits(model_calls=1))[0]

    assert cancelled.ending is Ending.CANCELLED
    assert spent.ending is Ending.OUT_OF_BUDGET
    assert world.calls == []


def test_conditions_of_a_person_are_checked_without_asking_the_brain() -> None:
    episode, brain, _ = do(STACK, goal='tower(blue_cube, red_cube); not on(red_cube, table)')

    assert (episode.ending, episode.goal, episode.goal_stated.by) == (
        Ending.FINISHED,
        'met',
        'person',
    )
    assert len(brain.requests) == 1


def test_what_the_goal_does_not_ask_to_hold_is_set_down_by_the_brain_or_named() -> None:
    held, _, _ = do('on(red_cube, table)', '0: pick(red_cube)', k=0)
    meant, _, _ = do('held(red_cube)', '0: pick(red_cube)')
    set_down, _, world = do(
        'not on(red_cube, blue_cube)', '0: pick(red_cube)', 'New plan:\n1: place(location_A)'
    )

    assert held.ending is Ending.PARTLY_DONE
    assert 'red_cube is still in the hand, and the task does not ask' in held.message
    assert (meant.ending, meant.goal) == (Ending.FINISHED, 'met')
    assert (set_down.ending, set_down.feedback_loops) == (Ending.FINISHED, 1)
    assert world.held == ''


def test_without_a_goal_a_hand_that_was_to_be_emptied_is_named_after_one_loop() -> None:
    world = BoxTable(PLACES, unreachable=['location_A'])
    replies = ('0: pick(red_cube)\n1: place(location_A)', 'New plan:\n1: Done')

    dropped, _, _ = do(*replies, 'New plan:\n1: place(table)', goal=None, world=world)
    kept, _, _ = do(
        *replies, 'New plan:\n1: Done', goal=None, world=BoxTable(PLACES, ['location_A'])
    )
    meant, _, _ = do('0: pick(red_cube)', goal=None)

    assert (dropped.ending, world.held) == (Ending.FINISHED, '')
    assert kept.ending is Ending.PARTLY_DONE
    assert kept.message == (
        'red_cube is still in the hand: a step after it was taken was not carried out.'
    )
    assert (meant.ending, meant.goal) == (Ending.FINISHED, '')


def test_a_task_given_up_with_something_in_the_hand_sets_it_down_on_record() -> None:
    world = BoxTable(PLACES, unreachable=['location_A'])

    episode, _, _ = do(
        'none',
        '0: pick(red_cube)\n1: place(location_A)',
        'cannot: location_A is too far',
        world=world,
    )

    assert (episode.ending, episode.message) == (Ending.GAVE_UP, 'location_A is too far')
    assert world.held == '' and world.calls[-1] == 'place(table)'
    plans = [e.data for e in episode.events if e.kind is EventKind.PLAN]
    assert plans[-1].steps[-1] == 'place red_cube on table'  # type: ignore[union-attr]


def test_what_a_failed_step_left_in_the_hand_is_set_down_too_but_not_in_a_bench() -> None:
    plan = '0: pick(red_cube)\n1: place(location_A)\n2: wait(2)'
    person, bench = (BoxTable(PLACES, unreachable=['location_A']) for _ in range(2))

    episode, _, _ = do('none', plan, k=0, world=person)
    do(plan, k=0, goal=None, world=bench)

    assert episode.ending is Ending.GAVE_UP
    assert episode.message.startswith('Step 1 stayed failed')
    assert (person.held, person.calls[-1]) == ('', 'place(table)')
    assert bench.held == 'red_cube'


@pytest.mark.parametrize(
    ('error', 'ending', 'message'),
    [
        (
            SceneError('The scene is stale.'),
            Ending.GAVE_UP,
            'it is glued red_cube is still in the hand: The scene is stale.',
        ),
        (LostNodeError('fr3_executor has gone.'), Ending.WORLD_FAILED, 'fr3_executor has gone.'),
        (NeedsPersonError('Stopped.'), Ending.WORLD_FAILED, 'Stopped.'),
        (CancelledError('stop'), Ending.CANCELLED, 'stop'),
    ],
)
def test_what_cannot_be_set_down_is_added_to_the_reason_for_giving_up(
    error: BbllmError, ending: Ending, message: str
) -> None:
    class Broken(BoxTable):
        def execute(self, call: SkillCall) -> Outcome:
            if call.skill == 'place':
                raise error
            return super().execute(call)

    episode, _, _ = do(
        'none', '0: pick(red_cube)\n1: pick(a moon)', 'cannot: it is glued', world=Broken(PLACES)
    )
    spent, _, _ = do(
        *('none', '0: pick(red_cube)\n1: pick(a moon)', 'cannot: it is glued'),
        limits=Limits(steps=2),
    )

    assert (episode.ending, episode.message) == (ending, message)
    assert spent.ending is Ending.GAVE_UP
    assert spent.message.startswith('it is glued red_cube is still in the hand: The limit of 2')


def test_a_fault_while_the_goal_is_checked_does_not_keep_the_end_off_the_record() -> None:
    class Faulty(SceneGoals):
        def check(
            self,
            goal: TaskGoal,
            scene: Scene,
            start: Scene,
            observations: Sequence[Observed] | None,
        ) -> GoalFinding:
            raise KeyError('plate')

    run = EpisodeRun(make_task('x', 'r'), planner='p', brain='b', body='c')
    planner = BrainBody(ScriptedModel([STACK]), CallBody(), k=0)

    with pytest.raises(KeyError):
        run.execute(planner, BoxTable(PLACES), Faulty(ScriptedModel([]), GOAL))

    ended = run.events[-1].data
    assert isinstance(ended, EpisodeEnded)
    assert (ended.ending, ended.goal) == (Ending.WORLD_FAILED, 'not checked')


def test_nothing_is_set_down_where_nothing_was_taken() -> None:
    episode, _, world = do('none', 'cannot: there is no moon')

    assert (episode.ending, world.calls) == (Ending.GAVE_UP, [])


@pytest.mark.parametrize(
    'reply', [f'{STACK}\ncannot: the rest is glued', f'{STACK}\n2: cannot: the rest is glued']
)
def test_a_plan_may_leave_a_rest_which_is_then_partly_done(reply: str) -> None:
    episode, brain, _ = do(GOAL, reply)

    assert (episode.ending, episode.goal) == (Ending.PARTLY_DONE, 'met')
    assert episode.message == 'Left undone: the rest is glued'
    assert (episode.steps, len(brain.requests)) == (2, 2)
    (plan,) = [e.data for e in episode.events if e.kind is EventKind.PLAN]
    assert plan.rest == 'the rest is glued'  # type: ignore[union-attr]


def test_a_repair_may_leave_what_failed_undone() -> None:
    world = BoxTable(PLACES, unreachable=['location_A'])
    plan = f'{STACK}\n2: pick(location_A)'

    episode, _, _ = do(
        GOAL, plan, 'New plan:\n2: Done\ncannot: location_A is out of reach', world=world
    )

    assert (episode.ending, episode.feedback_loops) == (Ending.PARTLY_DONE, 1)
    assert episode.message == 'Left undone: location_A is out of reach'


@pytest.mark.parametrize('given', [False, True])
def test_a_condition_that_the_task_does_not_ask_for_is_withdrawn_in_a_repair(given: bool) -> None:
    wrong = 'beside(red_cube, blue_cube)'
    goal = f'{wrong}; on(red_cube, table)'
    line = f'goal: withdraw {wrong}: room to grab\nNew plan:\nDone'
    replies = [ASIDE, line] if given else [goal.replace('; ', '\n'), ASIDE, line]
    episode, brain, _ = do(*replies, goal=goal if given else '')

    hint = f'add a line `goal: withdraw {wrong}: <reason>`.'
    assert (hint in brain.requests[-1].prompt) is not given
    if given:
        assert (episode.ending, episode.goal) == (Ending.PARTLY_DONE, 'unmet')
        warned = [e.data.text for e in episode.events if isinstance(e.data, WarningRaised)]
        assert f'A person gave the condition {wrong}, so that it stays.' in warned
        return
    assert (episode.ending, episode.goal) == (Ending.FINISHED, 'met as far as checked')
    assert episode.message.startswith('Checked and met: 1 of 2 parts of the goal. Not checked: ')
    assert episode.message.endswith('(withdrawn by the planner: room to grab).')
    assert episode.goal_stated.text.startswith(
        'on(red_cube, table); not checked: red_cube is right'
    )


def test_the_prompt_lists_every_form_and_no_other_name() -> None:
    prompt = goal_prompt(make_task('clear the table', 't'), BoxTable(PLACES).observe())

    assert 'at_place_of(a, b)' in prompt and prompt.endswith('Task: clear the table\nConditions:')
    assert 'state(' not in prompt and 'dishwasher' not in prompt
    limits = TableTolerances()
    assert (limits.beside, limits.offset) == (1.0, 0.5)  # widths, in words
    assert prompt.count('half a width') == 4 and 'at most a width apart' in prompt
    assert f'middles at most {limits.gap:g} widths apart' in prompt
    assert f'within {100 * limits.within_m:g} cm or {limits.within_deg:g} deg' in prompt
