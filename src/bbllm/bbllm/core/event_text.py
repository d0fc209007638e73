"""Each event of an episode in words: the one place where records become text for people."""

from __future__ import annotations

from bbllm.core.events import (
    ApprovalAnswered,
    BeliefsEstimated,
    ConditionChecked,
    EpisodeEnded,
    EpisodeStarted,
    EventData,
    FeedbackReceived,
    LineDiscarded,
    ModelCall,
    ModelReplied,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    StepBegun,
    StepFailed,
    StepPassed,
    SubGoalBegun,
    WarningRaised,
    WordGrounded,
    assert_never,
)
from bbllm.core.observation import Observed
from bbllm.core.types import Kind, Outcome, Scene, SkillCall

LONGEST = 300
"""Characters of a model's text that one line shows."""


def describe(data: EventData) -> list[tuple[str, str]]:
    """Return an event as lines of (word, text), the first of which names its kind."""
    match data:
        case EpisodeStarted():
            models = f'planner {data.planner}, Brain {data.brain}, Body {data.body}'
            return [('task', data.task), ('episode', f'{data.episode_id}: {models}')]
        case SceneRecorded(moment, scene):
            return [('scene', f'{moment}: {_scene(scene)}')]
        case PlanMade(steps, start):
            new = list(enumerate(steps))[start:]
            head = f'{len(new)} steps from step {start} on'
            return [('plan', head), *(('plan', f'  {index}: {text}') for index, text in new)]
        case StepBegun(index, text):
            return [('step', f'{index}: {text}')]
        case SkillCall():
            return [('call', str(data))]
        case StepPassed(index, text):
            return [('pass', f'{index}: {text}')]
        case WordGrounded(word, name, policy, among):
            return [('means', f'{word} is {name}, {policy} of {among}')]
        case ConditionChecked(condition, holds, by):
            return [('check', f'{condition} {"holds" if holds else "does not hold"}, by {by}')]
        case SubGoalBegun(text, index, of):
            return [('sub-goal', f'{index + 1} of {of}: {text}')]
        case BeliefsEstimated():
            return [('believes', str(data))]
        case LineDiscarded(text, why):
            return [('left out', f'{text!r}: {why}')]
        case Outcome(call=call) if data.succeeded:
            return [('ok', f'{call} in {data.duration_s:.1f} s')]
        case Outcome(call=call):
            # Status and code are the words of the record, so that views and journal agree.
            return [(data.status.name.lower(), f'{call} {data.code.name}: {data.message}')]
        case Observed():
            return [('sensed', str(data))]
        case RepairBegun():
            return [('repair', f'{data.loop} at step {data.index}: {data.cause}')]
        case StepFailed():
            return [('given up', f'step {data.index}: {data.cause}')]
        case ModelReplied(role, text):
            return [('reply', f'{role}: {" ".join(text.split())[:LONGEST]}')]
        case ModelCall():
            return [('model', _model_call(data))]
        case FeedbackReceived(text):
            return [('human', text)]
        case ApprovalAnswered(text=text):
            return [('approval', text)]
        case WarningRaised(text):
            return [('warning', text)]
        case EpisodeEnded(ending, message):
            return [('ended', ending.name + (f': {message}' if message else ''))]
        case _:
            assert_never(data)


def event_text(data: EventData) -> str:
    """Return an event in one line."""
    lines = describe(data)
    return f'{lines[0][0]}: {" / ".join(" ".join(text.split()) for _, text in lines)}'


def _scene(scene: Scene) -> str:
    """Return how much is in a scene, and which objects are out of reach."""
    kinds = [item.kind for item in scene.objects]
    objects = sum(kind not in (Kind.LOCATION, Kind.FIXTURE, Kind.HAND) for kind in kinds)
    far = [f.subject for f in scene.facts if (f.predicate, f.object) == ('reachable', 'no')]
    text = f'{objects} objects, {kinds.count(Kind.LOCATION)} locations'
    return text + (f'; out of reach: {", ".join(far)}' if far else '')


def _model_call(call: ModelCall) -> str:
    number = call.prompt_tokens + call.completion_tokens
    tokens = f'{number} tokens in ' if number else ''
    again = f', sent again {call.retries} times' if call.retries else ''
    return f'{call.role} {call.model}: {tokens}{call.duration_s:.2f} s{again}'
