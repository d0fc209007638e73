"""An episode counts, records, stops and names how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from bbllm.core.budget import Limits
from bbllm.core.episode import EpisodeRun
from bbllm.core.errors import (
    BbllmError,
    ConfigError,
    GaveUpError,
    LostNodeError,
    ModelUnavailableError,
)
from bbllm.core.protocols import EpisodeContext, JsonSchema, Message, Reply, Usage, World
from bbllm.core.tasks import make_task
from bbllm.core.types import (
    Code,
    Ending,
    Event,
    EventKind,
    Kind,
    Outcome,
    Plan,
    PlanStep,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
    Task,
)

TASK = make_task('put the red cube on location_A', 'test')
PICK = SkillCall('pick', ('red_cube',))
STEP = PlanStep(0, 'pick the red cube')
Script = Callable[[World, EpisodeContext], None]


class OneCubeWorld:
    """A world of one cube whose calls take two seconds each and end as they are told to."""

    skills = (Skill('pick', ('object',)),)

    def __init__(self, *outcomes: Outcome):
        self.outcomes = list(outcomes)
        self.stopped = threading.Event()

    def observe(self) -> Scene:
        cube = SceneObject(name='red_cube', kind=Kind.CUBE, pose=Pose(position_m=(0.5, 0, 0.02)))
        return Scene((cube,), self.skills, (), 0.0)

    def execute(self, call: SkillCall) -> Outcome:
        if self.outcomes:
            return self.outcomes.pop(0)
        return Outcome(call=call, status=Status.SUCCEEDED, duration_s=2.0)

    def stop(self) -> None:
        self.stopped.set()


class ScriptedPlanner:
    """A planner that does what a function says."""

    def __init__(self, script: Script):
        self.script = script

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        self.script(world, context)


class EchoModel:
    """A model that streams three words, then answers, or fails."""

    name = 'echo'
    supports_schema = False

    def __init__(self, error: BbllmError | None = None):
        self.error = error

    def complete(
        self,
        messages: Sequence[Message],
        *,
        stop: Sequence[str] = (),
        schema: JsonSchema | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        if self.error is not None:
            raise self.error
        for word in ('a ', 'b ', 'c'):
            if on_text is not None:
                on_text(word)
        return Reply(text='a b c', model='echo-1', usage=Usage(7, 3), duration_s=0.5)


def start(limits: Limits | None = None, sink: Callable[[Event], None] | None = None) -> EpisodeRun:
    return EpisodeRun(
        TASK,
        planner='scripted',
        brain='echo',
        body='echo',
        limits=limits,
        sinks=[sink] if sink else [],
    )


def kinds(events: Sequence[Event]) -> list[EventKind]:
    return [event.kind for event in events]


def test_a_plan_that_ran_to_its_end_is_finished_and_accounted_for() -> None:
    run = start()
    model = run.model(EchoModel(), 'brain')

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'plan')])
        context.tell_plan(Plan((STEP,)), 0)
        context.tell_step(STEP)
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
        context.tell_plan(Plan((STEP,)), 0)
        world.execute(PICK)
        context.tell_failed(STEP, 'red_cube is out of the workspace of the robot.')

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld())

    assert episode.ending is Ending.GAVE_UP
    assert 'red_cube is out of the workspace' in episode.message


def test_a_new_plan_from_a_failed_step_on_clears_that_failure() -> None:
    def script(world: World, context: EpisodeContext) -> None:
        context.tell_plan(Plan((STEP,)), 0)
        context.tell_failed(STEP, 'no')
        context.tell_plan(Plan((STEP,)), 0)
        world.execute(PICK)

    assert start().execute(ScriptedPlanner(script), OneCubeWorld()).ending is Ending.FINISHED


def test_a_plan_of_which_nothing_was_executed_is_not_finished() -> None:
    episode = start().execute(ScriptedPlanner(lambda world, context: None), OneCubeWorld())

    assert episode.ending is Ending.GAVE_UP


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


def test_a_fault_of_the_program_is_on_record_stops_the_arm_and_goes_up() -> None:
    events: list[Event] = []
    world = OneCubeWorld()

    def script(world: World, context: EpisodeContext) -> None:
        raise ZeroDivisionError('oops')

    with pytest.raises(ZeroDivisionError):
        start(sink=events.append).execute(ScriptedPlanner(script), world)

    assert events[-1].kind is EventKind.ENDED
    assert 'ZeroDivisionError' in str(events[-1].data['message'])
    assert world.stopped.is_set()


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


def test_cancel_stops_the_world_and_nothing_runs_after_it() -> None:
    run = start()
    world = OneCubeWorld()
    executed = []

    def script(world: World, context: EpisodeContext) -> None:
        executed.append(world.execute(PICK))
        run.cancel('The person pressed stop.')
        executed.append(world.execute(PICK))

    episode = run.execute(ScriptedPlanner(script), world)

    assert (episode.ending, episode.message) == (Ending.CANCELLED, 'The person pressed stop.')
    assert world.stopped.is_set()
    assert len(executed) == 1


def test_cancel_ends_a_reply_that_still_streams() -> None:
    run = start()
    model = run.model(EchoModel(), 'brain')
    heard: list[str] = []

    def listen(piece: str) -> None:
        heard.append(piece)
        run.cancel('enough')

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'x')], on_text=listen)

    assert run.execute(ScriptedPlanner(script), OneCubeWorld()).ending is Ending.CANCELLED
    assert heard == ['a ']


def test_ctrl_c_ends_the_episode_as_cancelled() -> None:
    world = OneCubeWorld()

    def script(world: World, context: EpisodeContext) -> None:
        raise KeyboardInterrupt

    assert start().execute(ScriptedPlanner(script), world).ending is Ending.CANCELLED
    assert world.stopped.is_set()


def test_a_lost_node_ends_the_episode() -> None:
    lost = Outcome(
        call=PICK, status=Status.FAILED, code=Code.LOST_NODE, message='fr3_executor has gone.'
    )

    def script(world: World, context: EpisodeContext) -> None:
        world.execute(PICK)

    episode = start().execute(ScriptedPlanner(script), OneCubeWorld(lost))

    assert (episode.ending, episode.message) == (Ending.WORLD_FAILED, 'fr3_executor has gone.')


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
    warnings = [e.data['text'] for e in episode.events if e.kind is EventKind.WARNING]
    assert len(warnings) == 1 and 'too late' in str(warnings[0])


class LateWorld(OneCubeWorld):
    """A world that stops only what moves, and begins to move a while after it was told to."""

    def __init__(self) -> None:
        super().__init__()
        self.told = threading.Event()
        self.begin = threading.Event()
        self.moving = threading.Event()

    def execute(self, call: SkillCall) -> Outcome:
        self.told.set()
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
    assert world.told.wait(10.0)

    run.cancel('stop')
    world.begin.set()
    thread.join(10.0)

    assert not thread.is_alive()
    assert world.moving.is_set() and world.stopped.is_set()
    assert outcomes == []  # the planner learns nothing more: the episode has ended


def test_a_sink_that_fails_ends_the_episode_and_the_others_hear_of_it() -> None:
    heard: list[Event] = []

    def full(event: Event) -> None:
        if event.kind is EventKind.OUTCOME:
            raise ConfigError('The disk is full.')

    run = EpisodeRun(TASK, planner='p', brain='b', body='b', sinks=[full, heard.append])

    def script(world: World, context: EpisodeContext) -> None:
        world.execute(PICK)
        world.execute(PICK)

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert (episode.steps, episode.message) == (1, 'The disk is full.')
    assert heard[-1].kind is EventKind.ENDED
    assert 'The disk is full.' in str(heard[-1].data)


def test_a_model_call_that_was_cut_off_is_on_the_account() -> None:
    class Interrupted(EchoModel):
        def complete(self, messages: Sequence[Message], **_: object) -> Reply:
            raise KeyboardInterrupt

    run = start()
    model = run.model(Interrupted(), 'brain')

    def script(world: World, context: EpisodeContext) -> None:
        model.complete([Message('user', 'x')])

    episode = run.execute(ScriptedPlanner(script), OneCubeWorld())

    assert episode.ending is Ending.CANCELLED
    assert len(episode.model_calls) == 1


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
