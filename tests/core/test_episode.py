"""One episode: what is recorded, how it ends, how it is cancelled, and what models get of it."""

import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import (
    BbllmError,
    BudgetError,
    ConfigError,
    GaveUpError,
    LostNodeError,
    ModelUnavailableError,
    TaskError,
)
from bbllm.core.events import (
    Ending,
    Event,
    EventKind,
    FeedbackReceived,
    Limits,
    PlanMade,
    StepBegun,
    StepFailed,
    StepPassed,
)
from bbllm.core.goals import GoalFinding, TaskGoal, parse_goal
from bbllm.core.observation import Observed
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    ModelRequest,
    OnText,
    PromptRequest,
    Reply,
    Situation,
    World,
    WorldFeatures,
    features_of,
    in_episode,
    streams,
)
from bbllm.core.text import hidden_fault
from bbllm.core.types import Code, Outcome, Plan, PlanStep, Scene, SkillCall, Status, Task
from bbllm.llm.recording.replay import RecordedMessage, RecordingModel, read_recording
from bbllm.planners.common.prompting import ask
from bbllm.testing import Pace, PacedModel, ScriptedModel
from tests.core.scripted_episodes import (
    PICK,
    STEP,
    TASK,
    EchoModel,
    OneCubeWorld,
    ScriptedPlanner,
    asking,
    play,
    raising,
    start,
)

NO_ACTION = PlanStep(1, 'sing a song')
PLAN = PlanMade.of(Plan((STEP,)), 0)
BOTH = PlanMade.of(Plan((STEP, NO_ACTION)), 0)
PASSED = StepPassed.of(NO_ACTION)


def test_a_plan_that_ran_to_its_end_is_finished_and_accounted_for() -> None:
    run = start()
    ask_model = asking(run.model(EchoModel(), 'brain'))
    episode = play(ask_model, PLAN, StepBegun.of(STEP), PICK, run=run)

    assert (episode.ending, episode.message) == (Ending.FINISHED, '')
    assert (episode.steps, episode.robot_s, episode.feedback_loops) == (1, 2.0, 0)
    (call,) = episode.model_calls
    assert (call.role, call.prompt_tokens, call.completion_tokens) == ('brain', 7, 3)
    kinds = 'started scene model_call model_text plan step call outcome scene ended'
    assert ' '.join(event.kind.value for event in episode.events) == kinds


def test_a_step_that_stays_failed_means_that_the_episode_gave_up() -> None:
    cause = 'red_cube is out of the workspace of the robot.'

    episode = play(PLAN, PICK, StepFailed.of(STEP, cause))

    assert episode.ending is Ending.GAVE_UP
    assert cause in episode.message


def test_a_new_plan_clears_failed_and_passed_steps_from_its_first_step_on() -> None:
    failed = play(PLAN, StepFailed.of(STEP, 'no'), PLAN, PICK)
    passed = play(BOTH, PASSED, PlanMade.of(Plan((STEP, STEP)), 1), PICK)

    assert failed.ending is Ending.FINISHED
    assert (passed.ending, passed.passed_steps) == (Ending.FINISHED, 0)


def test_a_plan_with_a_passed_step_is_not_finished_and_quotes_it() -> None:
    episode = play(BOTH, PICK, PASSED)

    assert (episode.ending, episode.passed_steps) == (Ending.PARTLY_DONE, 1)
    assert episode.message == (
        "1 step of the plan was passed, because no action was found for it: 1: 'sing a song'."
    )


def test_a_task_that_a_planner_finds_done_is_finished_though_nothing_was_executed() -> None:
    def done(world: object, context: EpisodeContext) -> None:
        context.report_done()

    passed = play(PASSED, done)

    assert (passed.ending, passed.passed_steps) == (Ending.FINISHED, 1)
    assert play(done).ending is Ending.FINISHED
    assert play().ending is Ending.GAVE_UP


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
    episode = play(raising(error))

    assert (episode.ending, episode.message) == (ending, str(error))


def test_no_call_is_executed_beyond_the_limit() -> None:
    episode = play(*[PICK] * 5, run=start(Limits(steps=2)))

    assert (episode.ending, episode.steps) == (Ending.OUT_OF_BUDGET, 2)
    assert 'limit of 2 calls' in episode.message


@pytest.mark.parametrize('limits', [Limits(model_calls=1), Limits(tokens=10)])
def test_no_model_is_asked_beyond_the_limit(limits: Limits) -> None:
    run = start(limits)

    episode = play(*[asking(run.model(EchoModel(), 'brain'))] * 5, run=run)

    assert episode.ending is Ending.OUT_OF_BUDGET
    assert len(episode.model_calls) == 1


def test_a_call_that_is_under_way_counts_towards_the_limit() -> None:
    run = start(Limits(model_calls=2))

    with run.asking(), run.asking(), pytest.raises(BudgetError, match='2 model calls'):
        run.model(EchoModel(), 'body').ask(ModelRequest.of('hello'))

    assert run.model(EchoModel(), 'body').ask(ModelRequest.of('hello')).text


def test_nothing_is_on_record_after_the_end() -> None:
    run = start()

    episode = play(PICK, run=run)
    run.warn('A reply came late.')

    assert tuple(run.events) == episode.events


class ForeseeingCube(OneCubeWorld):
    """Keeps what was announced."""

    def __init__(self) -> None:
        super().__init__()
        self.expected: list[Sequence[SkillCall]] = []

    @property
    def features(self) -> WorldFeatures:
        return WorldFeatures(expect=self.expected.append)


@pytest.mark.parametrize('stream', [True, False])
def test_models_stream_and_calls_are_announced_where_the_run_allows_it(stream: bool) -> None:
    world, model = ForeseeingCube(), PacedModel(EchoModel(), Pace(first_token_s=0.0))
    run = EpisodeRun(TASK, planner='p', brain='b', body='c', stream=stream)

    def announce(world: World, context: EpisodeContext) -> None:
        expect = features_of(world).expect
        assert (expect is not None) is stream
        if expect is not None:
            expect([PICK])

    play(announce, run=run, world=world)

    assert world.expected == ([[PICK]] if stream else [])
    assert streams(run.model(model, 'brain')) is stream
    assert not streams(run.model(EchoModel(), 'brain'))


class SlowGoals:
    """Reads the goal only after something has happened."""

    by = 'slow'
    overlaps = True

    def __init__(self, error: BbllmError | None = None) -> None:
        self.moved = threading.Event()
        self._error = error

    def read(self, task: Task, scene: Scene, context: EpisodeContext) -> TaskGoal:
        assert self.moved.wait(20.0)
        if self._error is not None:
            raise self._error
        return parse_goal('held(red_cube)', scene)

    def check(
        self, goal: TaskGoal, scene: Scene, start: Scene, observations: Sequence[Observed] | None
    ) -> GoalFinding:
        return GoalFinding(unmet=('red_cube is not held',))

    def withdraw(self, goal: TaskGoal, condition: str, reason: str, start: Scene) -> TaskGoal:
        raise NotImplementedError


@pytest.mark.parametrize(
    ('error', 'ending'),
    [(None, Ending.PARTLY_DONE), (ModelUnavailableError('down'), Ending.MODEL_FAILED)],
)
def test_a_goal_that_is_read_while_the_planner_works_counts_at_the_end(
    error: BbllmError | None, ending: Ending
) -> None:
    goals = SlowGoals(error)
    run = EpisodeRun(TASK, planner='p', brain='b', body='c', stream=True)

    def work(world: World, context: EpisodeContext) -> None:
        world.execute(PICK)
        goals.moved.set()

    episode = run.execute(ScriptedPlanner(work), OneCubeWorld(), goals)

    assert episode.ending is ending
    assert episode.goal == ('not checked' if error else 'unmet')


@pytest.mark.parametrize(
    ('error', 'ending'),
    [
        (ModelUnavailableError('down'), Ending.MODEL_FAILED),
        (KeyboardInterrupt(), Ending.CANCELLED),
    ],
)
def test_a_model_call_that_failed_or_was_cut_off_is_on_the_account(
    error: BaseException, ending: Ending
) -> None:
    run, world = start(), OneCubeWorld()

    episode = play(asking(run.model(EchoModel(error), 'body')), run=run, world=world)

    assert episode.ending is ending
    assert world.stopped.is_set() == isinstance(error, KeyboardInterrupt)
    assert [(call.role, call.prompt_tokens) for call in episode.model_calls] == [('body', 0)]


HIDDEN = ('mind\x1b[2J the cat', '\u202etac eht dnim', 'mi\u200bnd')


@pytest.mark.parametrize(
    ('printed', 'why'),
    [
        *((text, 'contains the character U+') for text in HIDDEN),
        ('', 'is empty'),
        ('x ' * 100_000, 'has 199999 characters; at most 2000 are taken'),
    ],
)
def test_remarks_are_read_once_and_never_lost_or_refused_without_a_warning(
    printed: str, why: str
) -> None:
    run = start()
    read: list[tuple[FeedbackReceived, ...]] = []

    def script(world: World, context: EpisodeContext) -> None:
        with pytest.raises(TaskError, match=re.escape(why)):
            run.add_feedback(printed)
        run.add_feedback('mind  the\ncat 👩\u200d🚀')
        read.extend(context.take_human_feedback() for _ in range(2))
        world.execute(PICK)
        run.add_feedback('too late', 'mcp')

    episode = play(script, run=run)

    assert read == [(FeedbackReceived('mind the cat 👩\u200d🚀'),), ()]
    events = [e.data for e in episode.events if e.kind is EventKind.HUMAN_FEEDBACK]
    assert events == [*read[0], FeedbackReceived('too late', 'mcp')]
    refused, late = (str(e.data.text) for e in episode.events if e.kind is EventKind.WARNING)
    assert refused.startswith('A remark was refused.') and why in refused
    assert hidden_fault(refused) == ''
    assert 'too late' in late


@pytest.mark.parametrize(
    ('given', 'text'),
    [
        ('0: pick\x1b]0;title\x07\n\ttwo\ud800\x00', '0: pick]0;title\n\ttwo'),
        ('pick\x1b[2J red\u202e_cube\u2028' + '1: re\u200bst\n', 'pick[2J red_cube\n1: rest\n'),
    ],
)
def test_a_reply_is_stripped_of_what_is_not_visible(given: str, text: str) -> None:
    run = start()
    replies: list[str] = []
    model = ScriptedModel([Reply(text=given, model='odd')])

    play(asking(run.model(model, 'brain'), replies), run=run)

    assert replies == [text]


def test_a_fault_of_the_program_is_on_record_stops_the_arm_and_goes_up() -> None:
    events: list[Event] = []
    world = OneCubeWorld()

    with pytest.raises(ZeroDivisionError):
        play(raising(ZeroDivisionError('oops')), run=start(sink=events.append), world=world)

    assert events[-1].kind is EventKind.ENDED
    assert 'ZeroDivisionError' in str(events[-1].data)
    assert world.stopped.is_set()


def test_cancel_stops_the_world_and_nothing_runs_after_it() -> None:
    run, world = start(), OneCubeWorld()

    episode = play(
        PICK, lambda *_: run.cancel('The person pressed stop.'), PICK, run=run, world=world
    )

    assert (episode.ending, episode.message) == (Ending.CANCELLED, 'The person pressed stop.')
    assert world.stopped.is_set()
    assert episode.steps == 1


class LateWorld(OneCubeWorld):
    """A world that stops only what moves, and begins to move a while after it was told to."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.begin = threading.Event()
        self.moving = threading.Event()

    def execute(self, call: SkillCall) -> Outcome:
        self.reached.set()
        self.begin.wait(10.0)
        self.stopped.clear()
        self.moving.set()
        done = self.stopped.wait(10.0)
        code = Code.CANCELLED if done else Code.NONE
        return Outcome(call=call, status=Status.FAILED, code=code)


def test_a_cancel_before_the_first_motion_of_a_call_stops_it_all_the_same() -> None:
    run = start()
    world = LateWorld()
    outcomes: list[Outcome] = []
    context = ScriptedPlanner(lambda world, context: outcomes.append(world.execute(PICK)))
    thread = threading.Thread(target=run.execute, args=(context, world))
    thread.start()
    assert world.reached.wait(10.0)

    run.cancel('stop')
    world.begin.set()
    thread.join(10.0)

    assert not thread.is_alive()
    assert world.moving.is_set() and world.stopped.is_set()
    assert outcomes == []  # the planner learns nothing more: the episode has ended


def test_a_sink_that_fails_ends_the_episode_and_the_others_still_receive_events() -> None:
    received: list[Event] = []

    def full(event: Event) -> None:
        received.append(event)
        if event.kind is EventKind.OUTCOME:
            raise ConfigError('The disk is full.')

    run = EpisodeRun(TASK, planner='p', brain='b', body='b', sinks=[full, received.append])

    episode = play(PICK, PICK, run=run)

    assert (episode.steps, episode.message) == (1, 'The disk is full.')
    assert received[-1].kind is EventKind.ENDED
    assert 'The disk is full.' in str(received[-1].data)


class SituatedDouble:
    """Replies with what it was handed."""

    name = 'double'
    supports_schema = False

    def __init__(self, situation: Situation | None = None):
        self.situation = situation

    def in_episode(self, situation: Situation) -> ChatModel:
        return SituatedDouble(situation)

    def refusal(self, planner: str) -> str:
        return f'not {planner}'

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        assert self.situation is not None
        kinds = [event.kind for event in self.situation.events()]
        situation = self.situation
        situated = (situation.task.instruction, situation.planner, EventKind.WARNING in kinds)
        return Reply(
            text=f'{situated} {request.declared.kind if request.declared else None}',
            model=self.name,
        )


def run() -> EpisodeRun:
    return EpisodeRun(Task('1', 'stack'), planner='lang_prompt', brain='double', body='none')


def test_situated_model_gets_the_task_the_events_and_the_request(tmp_path: Path) -> None:
    path = tmp_path / 'talk.jsonl'
    episode = run()
    model = episode.model(RecordingModel(SituatedDouble(), path, 'brain'), 'brain')
    episode.warn('something')

    reply = ask(model, 'the prompt', str, request=PromptRequest(kind='plan'))

    assert reply == "('stack', 'lang_prompt', True) plan"
    assert read_recording(path)[0].messages == (RecordedMessage('user', 'the prompt'),)
    assert 'request' not in path.read_text().split('"reply"')[0]


def test_other_models_stay_as_they_are() -> None:
    model = ScriptedModel(['yes'])

    assert in_episode(model, Situation(task=Task('1', 'stack'), planner='lang_prompt')) is model
    assert RecordingModel(model, Path('talk.jsonl'), 'brain').refusal('lang_prompt') == ''
