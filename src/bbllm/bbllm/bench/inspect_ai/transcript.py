"""What the log viewer of inspect_ai shows of an episode, beside the calls of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bbllm.core.events import Event, EventKind, beliefs_text


def entry_of(event: Event) -> tuple[str, str] | None:
    """
    Return title and text (markdown) of an event.

    None for what the viewer shows by itself (what models were asked and said), for what only
    pictures need, and for calls, which their outcomes repeat.
    """
    data: Mapping[str, Any] = event.data
    kind = event.kind
    if kind is EventKind.PLAN:
        return 'plan', _plan(data['steps'], data['start'])
    if kind is EventKind.STEP:
        return 'step', f'{data["index"]}: {data["text"]}'
    if kind is EventKind.PASS:
        return 'pass', f'No skill does what step {data["index"]} says: {data["text"]}'
    if kind is EventKind.GROUNDED:
        return 'grounded', f'{data["word"]} is {data["name"]} ({data["policy"]}, {data["among"]})'
    if kind is EventKind.CHECKED:
        holds = 'holds' if data['holds'] else 'does not hold'
        return 'check', f'`{data["condition"]}` {holds}, says the {data["by"]}'
    if kind is EventKind.SUB_GOAL:
        return 'sub-goal', f'{data["index"] + 1} of {data["of"]}: {data["text"]}'
    if kind is EventKind.ESTIMATED:
        return 'belief', beliefs_text(data['attributes'])
    if kind is EventKind.DISCARDED:
        return 'left out', f'`{data["text"]}`: {data["why"]}'
    if kind is EventKind.OUTCOME:
        return 'outcome', _outcome(data)
    if kind is EventKind.REPAIR:
        return 'feedback', f'Loop {data["loop"]}, at step {data["index"]}: {data["cause"]}'
    if kind is EventKind.FAILED:
        return 'failed', f'Step {data["index"]} stays failed: {data["cause"]}'
    if kind is EventKind.WARNING:
        return 'warning', str(data['text'])
    if kind is EventKind.ENDED:
        return 'ending', f'**{data["ending"]}** {data["message"]}'.strip()
    return None


def _plan(steps: list[str], start: int) -> str:
    new = f'New from step {start}.\n\n' if start else ''
    return new + '\n'.join(f'{index}. {text}' for index, text in enumerate(steps))


def _outcome(data: Mapping[str, Any]) -> str:
    made = data['call']
    call = f'`{made["skill"]}({", ".join(made["args"])})`'
    if data['status'] == 'SUCCEEDED':
        return f'{call} succeeded in {data["duration_s"]:.1f} s'
    return f'{call} **{data["status"]}** {data["code"]}: {data["message"]}'
