"""One line of a journal, checked against what readers rely on before they read it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from bbllm.core.events import Event, EventKind, ModelCall
from bbllm.core.observation import Observed
from bbllm.core.records import build, from_json, to_json
from bbllm.core.types import Outcome, Scene

TEXTS = tuple[str, ...]
NEEDED: Mapping[EventKind, Mapping[str, Any]] = {
    EventKind.STARTED: dict.fromkeys(('episode_id', 'task', 'planner', 'brain', 'body'), str),
    EventKind.SCENE: {'moment': str, 'scene': Scene},
    EventKind.PLAN: {'steps': TEXTS, 'start': int},
    EventKind.STEP: {'index': int, 'text': str},
    EventKind.CALL: {'skill': str, 'args': TEXTS},
    EventKind.PASS: {'index': int, 'text': str},
    EventKind.GROUNDED: {'word': str, 'name': str, 'policy': str, 'among': int},
    EventKind.CHECKED: {'condition': str, 'holds': bool, 'by': str},
    EventKind.SUB_GOAL: {'index': int, 'of': int, 'text': str},
    EventKind.ESTIMATED: {'attributes': Mapping[str, TEXTS]},
    EventKind.DISCARDED: {'text': str, 'why': str},
    EventKind.REPAIR: {'index': int, 'cause': str, 'loop': int},
    EventKind.FAILED: {'index': int, 'cause': str},
    EventKind.MODEL_TEXT: {'role': str, 'text': str},
    EventKind.HUMAN_FEEDBACK: {'text': str},
    EventKind.APPROVAL: {'granted': bool, 'text': str},
    EventKind.WARNING: {'text': str},
    EventKind.ENDED: {'ending': str, 'message': str},
}
"""What `data` must hold, by kind of event; more may be there, and is kept as it is."""
RECORDS: Mapping[EventKind, type] = {
    EventKind.OUTCOME: Outcome,
    EventKind.SENSED: Observed,
    EventKind.MODEL_CALL: ModelCall,
}
"""Where `data` as a whole is a record."""


class UnknownKindError(ValueError):
    """An event of a kind that this version does not know, in a line that is whole otherwise."""

    def __init__(self, event: Event):
        super().__init__(event.data['text'])
        self.event = event
        """What stands for it: a warning that quotes it."""


def read_line(line: str) -> Event:
    """
    Return the event of a line, with the defaults of what an older version did not write.

    Raises:
        UnknownKindError: A later version may have written it.
        ValueError: It is no event; the text names what is wrong.
    """
    try:
        read = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError('lists or objects are nested too deeply.') from None
    if '\\u' in line:
        read = _mended(read)
    if isinstance(read, Mapping) and read.get('kind') not in list(EventKind):
        _refuse_kind(read)
    event = from_json(Event, read)
    whole = RECORDS.get(event.kind)
    if whole is not None:
        known = to_json(build(whole, event.data, event.kind.value))
    else:
        known = {
            name: to_json(build(kind, event.data.get(name), f'{event.kind.value}.{name}'))
            for name, kind in NEEDED[event.kind].items()
        }
    return Event(event.kind, event.stamp_s, {**event.data, **known})


def _refuse(constant: str) -> float:
    raise ValueError(f'{constant} is no number that an event may hold.')


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


def _refuse_kind(read: Mapping[str, Any]) -> None:
    kind = read.get('kind')
    if isinstance(kind, str) and isinstance(read.get('data'), Mapping):
        stamp_s = build(float, read.get('stamp_s'), 'Event.stamp_s')
        text = f'This version does not know events of kind {kind!r}: {json.dumps(read["data"])}'
        raise UnknownKindError(Event(EventKind.WARNING, stamp_s, {'text': text}))


def _mended(value: Any) -> Any:
    """Return JSON values without halves of characters, which could not be printed or written."""
    if isinstance(value, str):
        return value.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace')
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
