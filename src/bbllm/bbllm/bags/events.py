"""
Events of episodes as the fields of a bbllm_interfaces/EpisodeEvent, without ROS.

Each kind of event has one typed payload. Fields of the same name in record and message are
converted by name; the rest is listed in SPECIAL.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bbllm.bags.definitions import shipped_fields
from bbllm.bags.records import fields_of
from bbllm.bags.templates import header_of, pose_of, stamp_of, xyz
from bbllm.core.events import (
    BeliefsEstimated,
    EpisodeStarted,
    Event,
    EventKind,
    ModelCall,
    PlanMade,
    RepairBegun,
    StepFailed,
    event_text,
)
from bbllm.core.observation import Observed

Fields = dict[str, object]

EVENT = 'bbllm_interfaces/EpisodeEvent'
PAYLOADS: Mapping[EventKind, str] = {
    EventKind.STARTED: 'started',
    EventKind.MODEL_CALL: 'model_call',
    EventKind.PLAN: 'plan',
    EventKind.PLAN_GROWN: 'plan',
    EventKind.ESTIMATED: 'estimated',
    EventKind.SENSED: 'sensed',
    EventKind.REHEARSAL: 'rehearsal',
    EventKind.REPAIR: 'failure',
    EventKind.FAILED: 'failure',
    EventKind.SCENE: 'scene',
    EventKind.GOAL: 'goal',
    EventKind.STEP: 'step',
    EventKind.PASS: 'step',
    EventKind.CALL: 'call',
    EventKind.GROUNDED: 'grounded',
    EventKind.CHECKED: 'checked',
    EventKind.SUB_GOAL: 'sub_goal',
    EventKind.DISCARDED: 'discarded',
    EventKind.OUTCOME: 'outcome',
    EventKind.MODEL_TEXT: 'model_text',
    EventKind.APPROVAL: 'approval',
    EventKind.HUMAN_FEEDBACK: 'remark',
    EventKind.ENDED: 'ended',
}
"""The field of each kind; those that are missing here are only text, in `message`."""
LIMITS = {
    'steps': ('step_limit', 0),
    'model_calls': ('model_call_limit', 0),
    'tokens': ('token_limit', 0),
    'wall_s': ('wall_limit_s', 0.0),
}
"""By field of Limits, the field of EpisodeStart, and what stands there for no limit."""


def event_fields(event: Event, episode_id: str, stamp_s: float) -> Fields:
    """Return the fields of the message of an event; *stamp_s* is on the world's clock [s]."""
    data, head = event.data, header_of(stamp_s, '')
    fields: Fields = {
        'header': head,
        'wall_stamp': stamp_of(event.stamp_s),
        'episode_id': episode_id,
        'kind': event.kind.value,
        'text': event_text(data),
    }
    field = PAYLOADS.get(event.kind)
    if field is None:
        return fields | {'message': data.text}  # type: ignore[union-attr]  # those have it
    message = shipped_fields(EVENT)[field][0]
    write: Callable[[Any, str], Fields] = SPECIAL.get(type(data), fields_of)
    payload = write(data, message)
    if isinstance(data, PlanMade):
        payload |= {'header': head, 'episode_id': episode_id}
    return fields | {field: [payload]}


def _start(data: EpisodeStarted, message: str) -> Fields:
    settings = [
        {'key': key, 'value': json.dumps(value, ensure_ascii=False)}
        for key, value in data.settings.items()
    ]
    limits = {there: getattr(data.limits, here) or zero for here, (there, zero) in LIMITS.items()}
    limits['allow_circles'] = data.limits.allow_circles
    limits['remark_limit'] = data.limits.remarks
    return fields_of(data, message, settings=settings, **limits)


def _model_call(data: ModelCall, message: str) -> Fields:
    """Write a call without the texts of its prompt, which are kept where the journal is."""
    short = tuple(replace(item, text='') for item in data.prompt)
    return fields_of(replace(data, prompt=short), message)


def _plan(data: PlanMade, message: str) -> Fields:
    return fields_of(data.plan, message, start=data.start, revision=data.revision, rest=data.rest)


def _estimate(data: BeliefsEstimated, message: str) -> Fields:
    objects = [
        {'name': name, 'attributes': list(words)} for name, words in data.attributes.items()
    ]
    return {'objects': objects, 'summary': data.summary}


def _observation(seen: Observed, message: str) -> Fields:
    fields: Fields = {
        'objects': [{'name': name, 'pose': pose_of(pose)} for name, pose in seen.blocks.items()]
    }
    if seen.eef is not None and seen.fingers_m is not None:
        fields['has_hand'] = True
        fields['hand'] = {
            'tcp': pose_of(seen.eef),
            'width': float(sum(seen.fingers_m)),
            'has_force': seen.force_n is not None,
            'force': xyz(seen.force_n or (0.0, 0.0, 0.0)),
        }
    return fields


def _failure(data: RepairBegun | StepFailed, message: str) -> Fields:
    return fields_of(data, message, step={'index': data.index, 'text': data.text})


SPECIAL: Mapping[type, Callable[[Any, str], Fields]] = {
    EpisodeStarted: _start,
    ModelCall: _model_call,
    **{kind.record: _plan for kind in (EventKind.PLAN, EventKind.PLAN_GROWN)},
    BeliefsEstimated: _estimate,
    Observed: _observation,
    RepairBegun: _failure,
    StepFailed: _failure,
}
"""What writes the payloads whose fields have other names, by record."""
