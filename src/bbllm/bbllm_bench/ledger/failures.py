"""The failures of one episode, read from its events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bbllm.core.events import (
    Ending,
    Episode,
    EpisodeStarted,
    Event,
    FeedbackReceived,
    ModelCall,
    PlanGrown,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    WarningRaised,
)
from bbllm.core.naming import class_of
from bbllm.core.types import Code, Outcome, Scene, SkillCall

NOT_TRIED = 'NOT_TRIED'
"""Status of a step that no call was made for."""
REHEARSED = 'REHEARSED'
"""Status of a step that failed in a rehearsal, before the arm moved."""
BY_CALL, BY_TASK = 'call', 'task'
_PASSED = ' was passed: '
"""Begins the reason in the warning that follows a passed step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """One failed call or step; the columns of the ledger in their order."""

    journal: str = ''
    """Path of the journal."""
    episode: str
    number: int
    """From 1 in the episode."""
    stamp_s: float
    """Since the epoch [s]."""
    planner: str
    """With its options."""
    brain: str
    body: str
    domain: str = ''
    """`tabletop` or `household`."""
    suite: str = ''
    """Of a bench, as the next three; '' for an episode of a person."""
    bench_task: str = ''
    trial: int | None = None
    seed: int | None = None
    verdict: str = ''
    """`passed`, `failed` or `lost`; '' where no bench judged the episode."""
    k: int | None = None
    """Feedback loops that the episode could use."""
    task: str = ''
    """In words."""
    step: str = ''
    """The step of the plan."""
    call: str = ''
    """The call that was made for it; '' if none was."""
    skill: str = ''
    kinds: str = ''
    """What the arguments of the call are, with commas: a kind on a table, a class in a house; ''
    for what the scene lacks, such as a pose."""
    status: str
    """`FAILED`, `REJECTED`, `NOT_TRIED` or `REHEARSED`."""
    code: str
    """A name of `core.types.Code`; NONE where the failure has none."""
    sentence: str
    """What the Brain was sent."""
    raw: str = ''
    """The controller's own text."""
    plan_before: str = ''
    """The plan in force, a step a line."""
    plan_after: str = ''
    """The next plan; '' if the step stayed failed or no plan followed."""
    recovered: str = ''
    """`call`, `task` or '', see `failures_of`."""
    worked: str = ''
    """Calls that succeeded between the failure and its recovery, one a line."""
    loops: int = 0
    """Feedback loops from the failure to its recovery, or to the end, as the next three."""
    requests: int = 0
    """To Brain and Body."""
    tokens: int = 0
    """Of prompts and replies; those of prompts as estimated if a server did not count."""
    arm_s: float = 0.0
    """Duration of calls on the world's clock [s]."""
    ending: str
    """Of the episode; INTERRUPTED if its journal breaks off."""
    goal: str = ''
    """As the episode states it: met, unmet, not checked, or ''."""

    @property
    def error(self) -> str:
        """The code, and for a PRECONDITION the rule of the world, which the outcome names."""
        return (
            f'{self.code} {self.raw}'.strip() if self.code == Code.PRECONDITION.name else self.code
        )


def failures_of(episode: Episode, verdict: str = '', journal: str = '') -> tuple[FailureRow, ...]:
    """
    Return the failures of an episode, oldest first.

    A failure is recovered by `call` if the same call, with the same arguments, succeeded later in
    the episode. It is recovered by `task` if a feedback loop or a new plan followed, and the task
    was done in the end: the bench's verdict is `passed` or, without a bench, the ending is
    FINISHED, for which the goal has to be met if it was checked. Costs count from the failure to
    that call, or to the end of the episode.
    """
    found = tuple(_found(episode.events))
    common = replace(_common(episode, verdict), journal=journal)
    scene = next((e.data.scene for e in episode.events if isinstance(e.data, SceneRecorded)), None)
    done = verdict == 'passed' if verdict else episode.ending is Ending.FINISHED
    return tuple(
        _row(each, number, episode.events, common, scene, done=done)
        for number, each in enumerate(found, start=1)
    )


@dataclass
class _Found:
    """A failure where it stands among the events."""

    at: int
    """Number of its event."""
    index: int | None
    """Number of its step."""
    step: str
    sentence: str
    plan: tuple[str, ...]
    code: Code = Code.NONE
    outcome: Outcome | None = None
    rehearsed: bool = False
    left_at: int | None = None
    """Number of the event by which the step stays failed."""


def _found(events: Sequence[Event]) -> list[_Found]:
    found: list[_Found] = []
    plan: tuple[str, ...] = ()
    step: StepBegun | None = None
    remarks: list[str] = []
    last: _Found | None = None
    """The failure that a repair or the end of the step would be of."""
    for at, event in enumerate(events):
        data = event.data
        match data:
            case PlanMade(steps):
                plan = steps
            case StepBegun():
                step, last = data, None
            case SkillCall():
                last = None
            case FeedbackReceived(text):
                remarks.append(text)
            case Outcome() if not data.succeeded:
                index, text = (step.index, step.text) if step is not None else (None, '')
                last = _Found(at, index, text, data.message, plan, data.code, data)
                found.append(last)
            case RepairBegun() | StepFailed() | StepPassed():
                sentence = _sentence(data, events[at + 1 : at + 2])
                code = getattr(data, 'code', None) or Code.NONE
                rehearsed = isinstance(data, RepairBegun) and data.rehearsed
                if rehearsed or last is None or last.index not in (None, data.index):
                    if not sentence or (code is Code.NONE and any(x in sentence for x in remarks)):
                        continue  # it waits on purpose, or a person spoke
                    last = _Found(at, data.index, data.text, sentence, plan, code)
                    last.rehearsed = rehearsed
                    found.append(last)
                if isinstance(data, RepairBegun):
                    remarks = []
                else:
                    last.left_at = at
    return found


def _sentence(data: RepairBegun | StepFailed | StepPassed, following: Sequence[Event]) -> str:
    """Return why a step failed; '' for one that was passed without a reason."""
    if not isinstance(data, StepPassed):
        return data.cause
    texts = [event.data.text for event in following if isinstance(event.data, WarningRaised)]
    return texts[0].partition(_PASSED)[2] if texts else ''


def _row(
    found: _Found,
    number: int,
    events: Sequence[Event],
    common: FailureRow,
    scene: Scene | None,
    *,
    done: bool,
) -> FailureRow:
    call = found.outcome.call if found.outcome is not None else None
    later = range(found.at + 1, len(events))
    again = next((i for i in later if call is not None and _worked(events[i]) == call), None)
    plan_after = _plan_after(events, found, again)
    answered = plan_after or any(isinstance(events[i].data, RepairBegun) for i in later)
    recovered = BY_CALL if again is not None else BY_TASK if done and answered else ''
    spent = [e.data for e in events[found.at + 1 : None if again is None else again + 1]]
    requests = [data for data in spent if isinstance(data, ModelCall)]
    outcomes = [data for data in spent if isinstance(data, Outcome)]
    return replace(
        common,
        number=number,
        stamp_s=events[found.at].stamp_s,
        step=found.step,
        call='' if call is None else str(call),
        skill='' if call is None else call.skill,
        kinds='' if call is None else ','.join(_kinds(call, scene)),
        status=_status(found),
        code=found.code.name,
        sentence=found.sentence,
        raw=found.outcome.raw if found.outcome is not None else '',
        plan_before=_lines(found.plan),
        plan_after=_lines(plan_after),
        recovered=recovered,
        worked=_lines([str(x.call) for x in outcomes if x.succeeded]) if recovered else '',
        loops=sum(isinstance(data, RepairBegun) for data in spent),
        requests=len(requests),
        tokens=sum(item.size_tokens + item.completion_tokens for item in requests),
        arm_s=round(sum(item.duration_s for item in outcomes), 3),
    )


def _status(found: _Found) -> str:
    if found.outcome is None:
        return REHEARSED if found.rehearsed else NOT_TRIED
    return found.outcome.status.name


def _worked(event: Event) -> SkillCall | None:
    """Return the call that an event reports the success of."""
    data = event.data
    return data.call if isinstance(data, Outcome) and data.succeeded else None


def _plan_after(events: Sequence[Event], found: _Found, until: int | None) -> tuple[str, ...]:
    """Return the next plan, as far as its model wrote it in the end."""
    steps: tuple[str, ...] = ()
    for at in range(found.at + 1, len(events) if until is None else until):
        data = events[at].data
        if type(data) is PlanMade:
            if steps or (found.left_at is not None and found.left_at < at):
                break
            steps = data.steps
        elif isinstance(data, PlanGrown) and steps:
            steps = data.steps
    return steps


def _kinds(call: SkillCall, scene: Scene | None) -> list[str]:
    kinds = {item.name: item.kind.value for item in scene.objects} if scene is not None else {}
    if scene is not None and scene.is_symbolic:
        kinds = {name: class_of(name) for name in kinds}
    return [kinds.get(name, '') for name in call.args]


def _lines(texts: Sequence[str]) -> str:
    return '\n'.join(' '.join(text.split()) for text in texts)


def _common(episode: Episode, verdict: str) -> FailureRow:
    """Return what all rows of an episode share."""
    start = episode.events[0].data
    settings: Mapping[str, object] = start.settings if isinstance(start, EpisodeStarted) else {}
    scenes = (e.data.scene for e in episode.events if isinstance(e.data, SceneRecorded))
    numbers = {name: settings.get(name) for name in ('trial', 'seed', 'feedback_loops')}
    whole = {name: x if isinstance(x, int) else None for name, x in numbers.items()}
    return FailureRow(
        episode=episode.id,
        number=0,
        stamp_s=0.0,
        planner=episode.planner,
        brain=episode.brain,
        body=episode.body,
        domain=next((scene.domain for scene in scenes), ''),
        suite=str(settings.get('suite') or ''),
        bench_task=str(settings.get('task') or ''),
        trial=whole['trial'],
        seed=whole['seed'],
        verdict=verdict,
        k=whole['feedback_loops'],
        task=episode.task.instruction,
        status='',
        code='',
        sentence='',
        ending='INTERRUPTED' if episode.ending is None else episode.ending.name,
        goal=episode.goal,
    )
