"""One plain line for people about one event of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bbllm.core.events import Event, EventKind, beliefs_text
from bbllm.core.observation import Observed
from bbllm.core.records import from_json

LONGEST = 300
"""Characters of a model's text that one line shows."""


def event_text(event: Event) -> str:
    """Tell an event in one line."""
    data: Mapping[str, Any] = event.data
    kind = event.kind
    if kind is EventKind.STARTED:
        return f'task: {data["task"]} (planner {data["planner"]}, Brain {data["brain"]})'
    if kind is EventKind.SCENE:
        return f'scene {data["moment"]} with {len(data["scene"]["objects"])} objects'
    if kind is EventKind.PLAN:
        new = data['steps'][data['start'] :]
        start = f' from step {data["start"]} on' if data['start'] else ''
        return f'plan{start}: {" / ".join(new) or "no steps"}'
    if kind is EventKind.OUTCOME:
        return _outcome(data)
    if kind is EventKind.SENSED:
        return f'sensed {from_json(Observed, data)}'
    if kind is EventKind.GROUNDED:
        return f'{data["word"]} is {data["name"]} ({data["policy"]} of {data["among"]})'
    if kind is EventKind.CHECKED:
        return f'{data["condition"]}: {"holds" if data["holds"] else "does not"} ({data["by"]})'
    if kind is EventKind.SUB_GOAL:
        return f'sub-goal {data["index"] + 1} of {data["of"]}: {data["text"]}'
    if kind is EventKind.ESTIMATED:
        return f'believes {beliefs_text(data["attributes"])}'
    if kind is EventKind.DISCARDED:
        return f'left out {data["text"]!r}: {data["why"]}'
    if kind is EventKind.CALL:
        return f'call {data["skill"]}({", ".join(data["args"])})'
    if kind in (EventKind.REPAIR, EventKind.FAILED):
        what = f'repair {data["loop"]}' if kind is EventKind.REPAIR else 'stays failed'
        return f'step {data["index"]} {what}: {data["cause"]}'
    if kind is EventKind.MODEL_CALL:
        tokens = data['prompt_tokens'] + data['completion_tokens']
        return f'{data["role"]} call: {data["model"]}, {tokens} tokens, {data["duration_s"]:.1f} s'
    if kind is EventKind.MODEL_TEXT:
        return f'{data["role"]} says: {" ".join(data["text"].split())[:LONGEST]}'
    if kind is EventKind.ENDED:
        return f'ended {data["ending"]}' + (f': {data["message"]}' if data['message'] else '')
    number = f' {data["index"]}' if 'index' in data else ''
    return f'{kind.value.replace("_", " ")}{number}: {data.get("text", "")}'


def _outcome(data: Mapping[str, Any]) -> str:
    call = f'{data["call"]["skill"]}({", ".join(data["call"]["args"])})'
    status = data['status'].lower()
    return f'{call} {status}' + (f': {data["message"]}' if data['message'] else '')
