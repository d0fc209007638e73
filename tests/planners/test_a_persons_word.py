"""A remark or a denial in mid-task: it changes task, goal and plan, and costs no repair."""

from collections.abc import Callable, Sequence

import pytest

from bbllm.api.approved_world import ApprovedWorld
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.episode import EpisodeRun, RemarkFate
from bbllm.core.errors import TaskError
from bbllm.core.events import Ending, Episode, EventData, GoalStated, Limits, RepairBegun
from bbllm.core.protocols import EpisodeContext, ModelRequest, World
from bbllm.core.tasks import make_task
from bbllm.core.types import Outcome, SkillCall, Task
from bbllm.planners.brain_body.planner import BrainBody
from bbllm.testing import ScriptedModel
from bbllm.worlds.scene.goal_keeper import SceneGoals
from tests.doubles.box_table import BoxTable
from tests.doubles.call_body import CallBody
from tests.planners.chosen import built

PLACES = {
    **{'yellow_cube': (0.4, 0.1), 'orange_cube': (0.5, 0.2), 'aqua_cube': (0.4, 0.2)},
    **{'location_B': (0.5, -0.1), 'location_C': (0.4, -0.1), 'location_E': (0.5, -0.2)},
    'location_F': (0.4, -0.2),
}


class Table(BoxTable):
    """Something may be done during a call."""

    def __init__(self, **how: Callable[[], object]):
        super().__init__(PLACES)
        self._during = how

    def execute(self, call: SkillCall) -> Outcome:
        if act := self._during.pop(f'{call.skill}_{call.args[0]}', None):
            act()
        return super().execute(call)


class Play:
    """An episode whose Brain replies by a script; a reply may be a callable that also acts."""

    def __init__(
        self,
        task: str,
        replies: Sequence[str | Callable[[ModelRequest], str]],
        *,
        k: int = 3,
        goal: str | None = '',
        approve: Callable[[ApprovalRequest], bool | Answer] | None = None,
        limits: Limits | None = None,
        **during: str,
    ):
        self.brain = ScriptedModel(replies)
        self.run = EpisodeRun(
            make_task(task, 'e'), planner='brain_body', brain='b', body='c', limits=limits
        )
        self.fates: list[RemarkFate] = []
        self.refused: list[str] = []
        self.table = Table(
            **{name: lambda text=text: self.say(text) for name, text in during.items()}
        )
        self.world = self.table
        if approve is not None:
            self.world = world = ApprovedWorld(self.table, approve, self.run.task, 'b')  # type: ignore[assignment]
            world.emit, world.interrupt = self.run.emit, self.run.interruption()
            self.run._sinks.append(world.observe_event)
        model = self.run.model(self.brain, 'brain')
        goals = None if goal is None else SceneGoals(model, goal)
        self.episode: Episode = self.run.execute(
            BrainBody(model, CallBody(), k=k), self.world, goals
        )

    def say(self, text: str) -> None:
        try:
            self.fates.append(self.run.add_feedback(text))
        except TaskError as error:
            self.refused.append(str(error))

    def events(self, kind: type[EventData]) -> list[EventData]:  # type: ignore[valid-type]
        return [event.data for event in self.episode.events if isinstance(event.data, kind)]

    @property
    def prompts(self) -> list[str]:
        return [request.prompt for request in self.brain.requests]


def test_a_correction_changes_the_goal_and_the_end_is_checked_against_it() -> None:
    play = Play(
        'Bring the aqua cube to location E.',
        [
            'on(aqua_cube, location_E)',
            '0: pick(aqua_cube)\n1: place(location_E)',
            'on(aqua_cube, location_F)',
            'New plan:\n1: place(location_F)',
        ],
        pick_aqua_cube='E is reserved: put it on location F instead',
    )

    episode = play.episode
    assert (episode.ending, episode.goal, episode.message) == (Ending.FINISHED, 'met', '')
    assert (episode.feedback_loops, episode.remarks) == (0, 1)
    goals = play.events(GoalStated)
    assert [goal.text for goal in goals] == [  # type: ignore[union-attr]
        'on(aqua_cube, location_E)',
        'on(aqua_cube, location_F)',
    ]
    assert episode.goal_stated == goals[-1]
    remark = 'Task: Bring the aqua cube to location E.\nThe person added: E is reserved: put it'
    for prompt in play.prompts[2:]:
        assert remark in prompt
        assert prompt.count('E is reserved') == 1
        assert 'on(aqua_cube, location_E)' not in prompt
    assert [fate.wait(0.0) for fate in play.fates] == ['Taken up: the plan was made anew with it.']


def test_what_the_person_has_withdrawn_is_not_met() -> None:
    play = Play(
        'yellow on C',
        [
            'on(yellow_cube, location_C)',
            '0: pick(yellow_cube)\n1: place(location_C)',
            'on(orange_cube, location_B)\nnot moved(yellow_cube)',
            'New plan:\n2: Done',
            'New plan:\n2: Done',
        ],
        place_location_C='no wait, I meant the orange one, on B',
    )

    assert (play.episode.ending, play.episode.goal) == (Ending.PARTLY_DONE, 'unmet')
    assert 'orange_cube is 30.0 cm from location_B' in play.episode.message
    assert 'location_C' not in play.episode.message
    assert 'orange_cube is 30.0 cm from location_B' in play.prompts[-1]  # asked back once


def test_a_goal_that_cannot_be_read_anew_is_withdrawn() -> None:
    play = Play(
        'yellow on C',
        [
            'on(yellow_cube, location_C)',
            '0: pick(yellow_cube)\n1: place(location_C)',
            'none',
            'New plan:\n1: place(location_B)',
        ],
        pick_yellow_cube='put it down nicely somewhere',
    )

    assert (play.episode.ending, play.episode.goal) == (Ending.FINISHED, 'not checked')
    assert 'the earlier goal was withdrawn' in play.episode.goal_stated.why
    assert not play.episode.goal_stated.conditions


def test_a_goal_that_the_person_gave_follows_what_the_person_adds() -> None:
    play = Play(
        'build something',
        [
            '0: pick(yellow_cube)\n1: place(location_C)',
            'on(yellow_cube, location_B)',
            'New plan:\n1: place(location_B)',
        ],
        goal='on(yellow_cube, location_C)',
        pick_yellow_cube='no, on location_B',
    )

    assert (play.episode.ending, play.episode.goal) == (Ending.FINISHED, 'met')
    assert [goal.by for goal in play.events(GoalStated)] == ['person', 'scripted']  # type: ignore[union-attr]
    given = 'The person gave as its goal: on(yellow_cube, location_C)\nThe person added: no, on'
    assert given in play.prompts[1]


def test_remarks_use_none_of_k_and_end_at_their_own_limit() -> None:
    goal, plan = 'on(yellow_cube, location_C)', '0: pick(yellow_cube)\n1: place(location_C)'
    play = Play(
        'yellow on C',
        [goal, plan, goal, 'New plan:\n1: place(location_C)'],
        k=0,
        limits=Limits(remarks=1),
        pick_yellow_cube='please be quick',
        place_location_C='quicker',
    )

    assert (play.episode.ending, play.episode.goal) == (Ending.FINISHED, 'met')
    assert "this came too late: 'quicker'" in play.refused[0]
    (repair,) = play.events(RepairBegun)
    assert repair.remarked and repair.cause == 'Before this step a person said: please be quick'  # type: ignore[union-attr]


def test_a_remark_cuts_a_request_short_which_is_asked_anew_with_it() -> None:
    def wait_for_person(request: ModelRequest) -> str:
        runs[0].add_feedback('location_B is better')
        return '0: pick(yellow_cube)\n1: place(location_C)'

    runs: list[EpisodeRun] = []

    def first(request: ModelRequest) -> str:
        return 'none'

    brain = ScriptedModel(
        [first, wait_for_person, 'none', '0: pick(yellow_cube)\n1: place(location_B)']
    )
    run = EpisodeRun(make_task('yellow on C', 'e'), planner='p', brain='b', body='c')
    runs.append(run)
    model, table = run.model(brain, 'brain'), BoxTable(PLACES)

    episode = run.execute(BrainBody(model, CallBody()), table, SceneGoals(model))

    assert table.calls == ['pick(yellow_cube)', 'place(location_B)']
    assert (episode.ending, episode.feedback_loops) == (Ending.FINISHED, 0)
    assert brain.requests[-1].prompt.count('The person added: location_B is better') == 1


@pytest.mark.parametrize('k', [0, 3])
def test_two_denials_with_reasons_change_the_task_and_cost_no_repair(k: int) -> None:
    answers = [
        Answer(granted=False, reason='use the orange cube', by='Ann'),
        Answer(granted=False, by='Ann'),
        Answer(granted=True, by='Ann'),
    ]
    goal = 'on(orange_cube, location_C)'
    again = 'New plan:\n0: pick(orange_cube)\n1: place(location_C)'
    play = Play(
        'a cube on C',
        [
            'on(yellow_cube, location_C)',
            '0: pick(yellow_cube)\n1: place(location_C)',
            goal,
            again,
            again.replace('location_C', '0.4 -0.1 0.02'),
        ],
        k=k,
        approve=lambda request: answers.pop(0),
    )

    assert (play.episode.ending, play.episode.goal) == (Ending.FINISHED, 'met')
    assert (play.episode.feedback_loops, play.episode.remarks) == (0, 2)
    assert play.table.calls == ['pick(orange_cube)', 'place(0.4 -0.1 0.02)']
    last = play.prompts[-1]
    denial = 'The person did not approve the plan "pick(yellow_cube); place(location_C)": use'
    assert f'Task: a cube on C\n{denial}' in last
    assert last.count('use the orange cube') == 1
    assert not any('times in this same scene' in prompt for prompt in play.prompts)


def test_a_remark_withdraws_a_question_which_is_asked_anew_with_the_new_plan() -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        if len(asked) == 1:
            play_run[0].add_feedback('location_B is better')
            play_run[0].interruption()()  # what a waiting question polls
        return True

    play_run: list[EpisodeRun] = []
    brain = ScriptedModel(
        [
            '0: pick(yellow_cube)\n1: place(location_C)',
            'New plan:\n0: pick(yellow_cube)\n1: place(location_B)',
        ]
    )
    run = EpisodeRun(make_task('yellow on C', 'e'), planner='p', brain='b', body='c')
    play_run.append(run)
    table = BoxTable(PLACES)
    world = ApprovedWorld(table, approve, run.task, 'b')
    world.emit, world.interrupt = run.emit, run.interruption()
    run._sinks.append(world.observe_event)

    episode = run.execute(BrainBody(run.model(brain, 'brain'), CallBody(), k=0), world)

    assert (episode.ending, episode.feedback_loops) == (Ending.FINISHED, 0)
    assert len(asked) == 2
    assert table.calls == ['pick(yellow_cube)', 'place(location_B)']


def test_a_remark_after_the_plan_counts_for_the_goal_and_is_named_as_late() -> None:
    remark: list[RemarkFate] = []
    run = EpisodeRun(make_task('yellow on C', 'e'), planner='p', brain='b', body='c')
    brain = ScriptedModel(
        [
            'on(yellow_cube, location_C)',
            '0: pick(yellow_cube)\n1: place(location_C)',
            'on(yellow_cube, location_B)',
        ]
    )
    model = run.model(brain, 'brain')

    class SpokenToAtTheEnd(BrainBody):
        def run(self, task: Task, world: World, context: EpisodeContext) -> None:
            super().run(task, world, context)
            remark.append(run.add_feedback('no, on location_B'))

    planner = SpokenToAtTheEnd(model, CallBody(), k=0)
    episode = run.execute(planner, BoxTable(PLACES), SceneGoals(model))

    assert (episode.ending, episode.goal) == (Ending.PARTLY_DONE, 'unmet')
    assert 'yellow_cube is 10.0 cm from location_B' in episode.message
    assert remark[0].wait(0.0).startswith('Too late for the plan')


DONE = {
    'brain_body': 'Done',
    'inner_monologue': 'Robot thought: all is so.\nRobot action: done',
    'llm_state:states=no': 'done',
    'llm_pop_no_evaluator': 'Explanation: all is so.\nEXECUTE\nDONE',
}


@pytest.mark.parametrize('planner', DONE)
def test_every_planner_that_listens_asks_anew_when_somebody_speaks_meanwhile(planner: str) -> None:
    run = EpisodeRun(make_task('tidy up', 'e'), planner=planner, brain='b', body='c')

    def speak(request: ModelRequest) -> str:
        run.add_feedback('location_B is better')
        return DONE[planner]

    brain = ScriptedModel([speak, DONE[planner]])

    episode = run.execute(built(run, planner, brain, ScriptedModel([])), BoxTable(PLACES))

    first, second = (request.prompt for request in brain.requests)
    assert 'location_B is better' not in first
    assert second.count('location_B is better') == 1
    assert (episode.feedback_loops, episode.remarks) == (0, 1)


def test_prompts_after_a_remark_have_its_authority_and_the_earlier_places() -> None:
    play = Play(
        'Bring the aqua cube to location E.',
        [
            'on(aqua_cube, location_E)',
            '0: pick(aqua_cube)\n1: place(location_E)\n2: pick(orange_cube)',
            'not moved(aqua_cube)',
            'New plan:\n2: pick(aqua_cube)\n3: place(0.4 0.2 0.02)',
        ],
        place_location_E='no, back where it was',
    )

    first_goal, _, goal, repair = play.prompts
    assert 'the later one counts' in goal
    assert 'the later one counts' not in first_goal
    assert 'where that has changed since:\naqua_cube cube 0.400 0.200 0.020\n' in repair
    assert 'Before the task' not in play.prompts[1]
