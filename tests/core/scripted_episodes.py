"""Episodes of one cube, with a planner that does what a test says and a model that echoes."""

import threading
from collections.abc import Callable

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode, Event, EventData, Limits
from bbllm.core.protocols import (
    ChatModel,
    EpisodeContext,
    ModelRequest,
    OnText,
    Reply,
    Usage,
    World,
)
from bbllm.core.tasks import make_task
from bbllm.core.types import (
    Kind,
    Outcome,
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

    def __init__(self, error: BaseException | None = None):
        self.error = error
        self.spoken: list[str] = []

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        if self.error is not None:
            raise self.error
        for word in ('a ', 'b ', 'c'):
            self.spoken.append(word)
            if request.cancel is not None:
                request.cancel.raise_if_cancelled()
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


def play(
    *acts: EventData | Script, run: EpisodeRun | None = None, world: World | None = None
) -> Episode:
    """Run an episode in which a planner executes calls, emits other events, calls functions."""

    def script(world: World, context: EpisodeContext) -> None:
        for act in acts:
            if isinstance(act, SkillCall):
                world.execute(act)
            elif callable(act):
                act(world, context)
            else:
                context.emit(act)

    return (run or start()).execute(ScriptedPlanner(script), world or OneCubeWorld())


def raising(error: BaseException) -> Script:
    """Return an act that raises."""

    def act(world: World, context: EpisodeContext) -> None:
        raise error

    return act


def asking(model: ChatModel, replies: list[str] | None = None, prompt: str = 'plan') -> Script:
    """Return an act that asks a model, and keeps its reply."""

    def act(world: World, context: EpisodeContext) -> None:
        reply = model.ask(ModelRequest.of(prompt))
        if replies is not None:
            replies.append(reply.text)

    return act
