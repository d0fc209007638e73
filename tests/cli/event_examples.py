"""Events of an episode, as a view is told of them."""

from bbllm.core.events import (
    AnswerGiven,
    ApprovalAnswered,
    BeliefsEstimated,
    ConditionChecked,
    Ending,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    EventData,
    EventKind,
    FeedbackReceived,
    GoalStated,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanGrown,
    PlanMade,
    PlanRehearsed,
    QuestionAsked,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
    WarningRaised,
    WordGrounded,
)
from bbllm.core.observation import Observed
from bbllm.core.progress import Progress, StepState
from bbllm.core.types import (
    Code,
    Fact,
    HandReading,
    Kind,
    Outcome,
    Pose,
    Scene,
    SceneObject,
    Skill,
    SkillCall,
    Status,
)


def outcome(call: str, status: str = 'SUCCEEDED', message: str = '') -> Event:
    skill, _, arg = call.partition(' ')
    done = status == 'SUCCEEDED'
    return event(
        Outcome(
            call=SkillCall(skill, (arg,) if arg else ()),
            status=Status[status],
            code=Code.NONE if done else Code.OUT_OF_WORKSPACE,
            message=message,
            duration_s=2.0 if done else 0.0,
        )
    )


def event(data: EventData) -> Event:
    return Event(100.0, data)


STARTED = event(EpisodeStarted(episode_id='e1', task='stack', planner='p', brain='b', body='b'))
PLAN = event(PlanMade(steps=('pick a', 'put it on b', 'pick c'), start=0))
CUBE = SceneObject(name='red_cube', kind=Kind.CUBE, pose=Pose(position_m=(0.4, 0.0, 0.02)))
SCENE = Scene(
    (CUBE,),
    (Skill('pick', ('target',)),),
    (Fact('red_cube', 'on', 'table'),),
    1.0,
    HandReading(tcp=CUBE.pose, width_m=0.08),
)
FAR = 'c is out of the workspace of the robot.'


def step(index: int, text: str = '') -> Event:
    return event(StepBegun(index=index, text=text or f'step {index}'))


def call(skill: str, *args: str) -> Event:
    return event(SkillCall(skill, args))


def after(*events: Event) -> Progress:
    progress = Progress()
    for item in (STARTED, PLAN, *events):
        progress.take(item)
    return progress


def states(progress: Progress) -> list[tuple[int, StepState]]:
    return [(row.index, row.state) for row in progress.rows]


REPAIRED = (
    step(0),
    call('pick', 'a'),
    outcome('pick a'),
    step(1),
    call('pick', 'c'),
    outcome('pick c', 'REJECTED', FAR),
    event(RepairBegun(index=1, text='step 1', cause=FAR, loop=1)),
    event(PlanMade(steps=('pick a', 'pick d', 'rest'), start=1)),
)
CALL = SkillCall('pick', ('red_cube',))
EXAMPLES = {
    EventKind.STARTED: STARTED.data,
    EventKind.SCENE: SceneRecorded('before', SCENE),
    EventKind.GOAL: GoalStated(('red_cube is on table',), 'on(red_cube, table)', 'b'),
    EventKind.PLAN: PlanMade(('pick it', 'sing'), 0),
    EventKind.PLAN_GROWN: PlanGrown(('pick it', 'sing', 'go'), 2, rest='the song'),
    EventKind.STEP: StepBegun(0, 'pick it'),
    EventKind.CALL: CALL,
    EventKind.PASS: StepPassed(1, 'sing'),
    EventKind.REHEARSAL: PlanRehearsed(samples=3, succeeded=3, calls=2, robot_s=7.5),
    EventKind.GROUNDED: WordGrounded('cube', 'red_cube', 'nearest', 2),
    EventKind.CHECKED: ConditionChecked('c', True, 'graph'),
    EventKind.SUB_GOAL: SubGoalBegun('first', 0, 2),
    EventKind.ESTIMATED: BeliefsEstimated({'red_cube': ('warm',)}),
    EventKind.DISCARDED: LineDiscarded('juggle', 'two\nlines', refused=True),
    EventKind.OUTCOME: Outcome(call=CALL, status=Status.FAILED, code=Code.TIMEOUT),
    EventKind.SENSED: Observed(eef=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),
    EventKind.REPAIR: RepairBegun(1, 'sing', 'two\nlines', 1),
    EventKind.FAILED: StepFailed(1, 'sing', 'two\nlines', code=Code.TIMEOUT),
    EventKind.MODEL_TEXT: ModelReplied('brain', '0: pick it\n1: sing'),
    EventKind.MODEL_CALL: ModelCall(role='brain', model='m', prompt_tokens=5),
    EventKind.HUMAN_FEEDBACK: FeedbackReceived('stop'),
    EventKind.QUESTION: QuestionAsked('Which cup?', ('grey_cup', 'teal_cup')),
    EventKind.ANSWER: AnswerGiven('Two (both are listed).'),
    EventKind.APPROVAL: ApprovalAnswered(granted=True, text='approved'),
    EventKind.WARNING: WarningRaised('careful'),
    EventKind.ENDED: EpisodeEnded(Ending.FINISHED, ''),
}
"""An event of every kind."""
