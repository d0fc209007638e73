"""An episode as plain lines, one event a line, for logs, pipes and grep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TextIO

from bbllm.cli.views.progress import Progress, counts_text, shown
from bbllm.core.events import Event, EventKind, beliefs_text
from bbllm.core.printable import escape_line


class LineView:
    """
    Prints events as they come: the time, a word, the rest.

    The time is that since the start by the clock, or the simulated one where more of it passed.

        12.4 s  repair    1 at step 4: aqua_cube is out of the workspace of the robot.

    Falls silent where it cannot write any more.
    """

    def __init__(self, file: TextIO):
        self._file = file
        self._heard = True
        self.progress = Progress()

    def __call__(self, event: Event) -> None:
        """Take one event in and print what it says to people."""
        self.progress.take(event)
        said = describe(shown(event))
        if event.kind is EventKind.ENDED:
            said.append(('total', counts_text(self.progress, self.progress.robot_s)))
        # One event stays one line, whatever is in its texts.
        time_s = max(self.progress.wall_s, self.progress.robot_s)
        lines = [f'{time_s:7.1f} s  {word:<8}  {escape_line(text)}\n' for word, text in said]
        if self._heard:
            self._print(''.join(lines))

    def _print(self, text: str) -> None:
        try:
            self._file.write(text)
            self._file.flush()
        except OSError:
            # The reader went away or the disk is full; the arm's work goes on, and on record.
            self._heard = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Lines never stand in the way of a question."""
        yield

    def __enter__(self) -> LineView:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return


def describe(event: Event) -> list[tuple[str, str]]:
    """Return an event as (word, text) lines; none for what people need not see."""
    data: Mapping[str, Any] = event.data
    kind = event.kind
    if kind is EventKind.STARTED:
        who = f'planner {data["planner"]}, Brain {data["brain"]}, Body {data["body"]}'
        return [('task', data['task']), ('episode', f'{data["episode_id"]}: {who}')]
    if kind is EventKind.SCENE:
        return [('scene', f'{data["moment"]}: {scene_text(data["scene"])}')]
    if kind is EventKind.PLAN:
        new = list(enumerate(data['steps']))[data['start'] :]
        head = f'{len(new)} steps from step {data["start"]} on'
        return [('plan', head), *(('plan', f'  {index}: {text}') for index, text in new)]
    if kind is EventKind.OUTCOME:
        return [_outcome(data)]
    if kind is EventKind.REPAIR:
        return [('repair', f'{data["loop"]} at step {data["index"]}: {data["cause"]}')]
    if kind is EventKind.ENDED:
        return [('ended', data['ending'] + (f': {data["message"]}' if data['message'] else ''))]
    if kind is EventKind.MODEL_CALL:
        return [('model', _model_call(data))] if data['role'] == 'brain' else []
    return _short(kind, data)


def scene_text(scene: Mapping[str, Any]) -> str:
    """Return how much is in a scene, and what of it is out of reach."""
    kinds = [item['kind'] for item in scene['objects']]
    places = kinds.count('location')
    things = sum(kind not in ('location', 'fixture', 'hand') for kind in kinds)
    far = [
        fact['subject']
        for fact in scene['facts']
        if fact['predicate'] == 'reachable' and fact['object'] == 'no'
    ]
    text = f'{things} objects, {places} locations'
    return text + (f'; out of reach: {", ".join(far)}' if far else '')


def _outcome(data: Mapping[str, Any]) -> tuple[str, str]:
    call = f'{data["call"]["skill"]}({", ".join(data["call"]["args"])})'
    if data['status'] == 'SUCCEEDED':
        return 'ok', f'{call} in {data["duration_s"]:.1f} s'
    # FAILED and REJECTED are the words of the record, so that both views and the journal agree.
    return data['status'].lower(), f'{call} {data["code"]}: {data["message"]}'


def _model_call(data: Mapping[str, Any]) -> str:
    number = data['prompt_tokens'] + data['completion_tokens']
    tokens = f'{number} tokens in ' if number else ''
    again = f', sent again {data["retries"]} times' if data.get('retries') else ''
    return f'{data["role"]} {data["model"]}: {tokens}{data["duration_s"]:.2f} s{again}'


def _short(kind: EventKind, data: Mapping[str, Any]) -> list[tuple[str, str]]:
    if kind is EventKind.STEP:
        return [('step', f'{data["index"]}: {data["text"]}')]
    if kind is EventKind.CALL:
        return [('call', f'{data["skill"]}({", ".join(data["args"])})')]
    if kind is EventKind.PASS:
        return [('pass', f'{data["index"]}: {data["text"]}')]
    if kind is EventKind.GROUNDED:
        chosen = f'{data["policy"]} of {data["among"]}'
        return [('means', f'{data["word"]} is {data["name"]}, {chosen}')]
    if kind is EventKind.CHECKED:
        holds = 'holds' if data['holds'] else 'does not hold'
        return [('check', f'{data["condition"]} {holds}, says the {data["by"]}')]
    if kind is EventKind.SUB_GOAL:
        return [('sub-goal', f'{data["index"] + 1} of {data["of"]}: {data["text"]}')]
    if kind is EventKind.ESTIMATED:
        return [('believes', beliefs_text(data['attributes']))]
    if kind is EventKind.DISCARDED:
        return [('left out', f'{data["text"]!r}: {data["why"]}')]
    if kind is EventKind.FAILED:
        return [('given up', f'step {data["index"]}: {data["cause"]}')]
    if kind is EventKind.HUMAN_FEEDBACK:
        return [('human', data['text'])]
    if kind is EventKind.APPROVAL:
        return [('approval', data['text'])]
    if kind is EventKind.WARNING:
        return [('warning', data['text'])]
    return []
