"""Whatever stands in a text from outside, no control sequence of it reaches the terminal."""

import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import Result

from bbllm.cli.support.verb_group import _report
from bbllm.cli.views.output import Output
from bbllm.cli.views.plain_view import LineView
from bbllm.cli.views.question import show
from bbllm.cli.views.rich_view import LiveView, print_progress
from bbllm.core.approval import ApprovalRequest, RequestKind
from bbllm.core.events import (
    ApprovalAnswered,
    BeliefsEstimated,
    Ending,
    EpisodeEnded,
    Event,
    FeedbackReceived,
    PlanMade,
    StepBegun,
    WarningRaised,
)
from bbllm.core.journal import JournalWriter
from bbllm.core.paths import episodes_dir
from bbllm.core.progress import Progress
from bbllm.core.records import to_json
from bbllm.core.text import escape_line
from bbllm.core.types import Code, Outcome, SkillCall, Status
from tests.cli.event_examples import STARTED, event

TEXTS = 2_000
COLOURED_TEXTS = 400
BATCH = 100
"""So many texts are in one question, episode or table."""
HASH = re.compile('plan [0-9a-f]{12}')
"""The name of a question, which follows from its words."""
CONTROL = re.compile(
    '[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]'
)
"""All of C0 but the line break, DEL, C1, and what turns the direction of a line."""
OF_RICH = re.compile(r'\x1b\[[0-9;]*m')
"""Colours, which rich may emit."""
PIECES = (
    *('\x1b[2J', '\x1b[1A\x1b[2K\r', '\x1b]0;title\x07', '\x1b]8;;http://x\x1b\\'),
    *('\x1b[31m', '\x1bc', '\x1b[?25l'),
    *('\x9b2J', '\x9d0;t\x9c', '\x85', '\x08\x08\x08', '\r', '\x07', '\x00', '\x7f', '\x1b'),
    *('\u202e', '\u202a', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c', '\u2028', '\u2029'),
    *('\u200b', '\u200d', '\u200c', '\ufeff', '\xad', '\u3164', '\ufe0f', '\ud83d', '\U000e0061'),
    *('[bold]', '[/]', '[/bold]', '[link=http://x]', '[red on red]', '\\[', ':boom:'),
    *('\n', '\n  1: place red_cube', '\t', '      ', '\x0b', '\x0c', '\x1c'),
    *('pick ', 'red_cube', 'röd', '红色方块', 'مكعب', '👩\u200d🚀', '❤\ufe0f', 'x' * 90),
)  # fmt: skip


def hostile_texts(count: int, seed: int = 0) -> list[str]:
    """Return texts of up to eight pieces, with now and then a character of any kind."""
    dice = random.Random(seed)
    return [
        ''.join(
            chr(dice.randrange(0x110000)) if dice.random() < 0.1 else dice.choice(PIECES)
            for _ in range(dice.randint(1, 8))
        )
        + '.'
        for _ in range(count)
    ]


Command = Callable[..., Result]
View = Callable[[Sequence[str]], None]


def question(texts: Sequence[str]) -> None:
    request = ApprovalRequest(
        kind=RequestKind.PLAN,
        title=texts[0],
        steps=tuple(texts),
        never=tuple(texts),
        rest=texts[2],
        goal=tuple(texts),
        rehearsal=tuple(texts),
        reason=texts[1],
        episode_id=texts[2],
        since_s=time.time(),
    )
    show(request, Output())


def events_of(texts: Sequence[str]) -> list[Event]:
    """Return an episode in which every text from outside is hostile."""
    events = [
        event(replace(STARTED.data, task=texts[0], brain=texts[1])),
        event(PlanMade(steps=tuple(texts), start=0)),
    ]
    for i, text in enumerate(texts):
        call = SkillCall('pick', (text,))
        events += [
            event(StepBegun(index=i, text=text)),
            event(call),
            event(Outcome(call=call, status=Status.FAILED, code=Code.GRASP_FAILED, message=text)),
            event(FeedbackReceived(text=text)),
            event(WarningRaised(text=text)),
            event(ApprovalAnswered(text=text, granted=True)),
            event(BeliefsEstimated(attributes={text: (text,)}, summary=text)),
        ]
    return [*events, event(EpisodeEnded(ending=Ending.GAVE_UP, message=texts[0], error=''))]


def lines(texts: Sequence[str]) -> None:
    view = LineView(sys.stdout)
    for each in events_of(texts):
        view(each)


def live(texts: Sequence[str]) -> None:
    console = Output().console
    view = LiveView(console)
    for each in events_of(texts):
        view(each)
    console.print(view)


def shown(texts: Sequence[str]) -> None:
    progress = Progress()
    for each in events_of(texts):
        progress.take(each)
    print_progress(Output().console, progress)


def shown_text(texts: Sequence[str]) -> None:
    output = Output()
    table = Table(title=escape_line(texts[0]))
    table.add_column('task')
    table.add_column('why')
    for text in texts:
        output.print(' '.join(text.split()), 'bold')
        output.print_line(' '.join(text.split()))
        output.print_path('journal', Path(' '.join(text.split())))
        table.add_row(' '.join(text.split()), Text(escape_line(text)))
    output.console.print(table)


def refused(texts: Sequence[str]) -> None:
    for text in texts:
        _report(SimpleNamespace(meta={'bbllm.json': False}), ' '.join(text.split()), 'ConfigError')


@pytest.mark.parametrize('view', [question, lines, live, shown, shown_text, refused])
@pytest.mark.parametrize('colour', [False, True])
def test_no_text_steers_the_terminal(
    view: View, colour: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COLUMNS', '100')
    monkeypatch.setenv('TERM', 'xterm-256color' if colour else 'dumb')
    monkeypatch.setattr(time, 'time', lambda: 1e9)
    if colour:
        monkeypatch.setenv('FORCE_COLOR', '1')
    else:
        monkeypatch.delenv('FORCE_COLOR', raising=False)
    texts = hostile_texts(COLOURED_TEXTS, seed=1) if colour else hostile_texts(TEXTS)

    for i in range(0, len(texts), BATCH):
        batch = texts[i : i + BATCH]
        view(batch)
        printed = ''.join(capsys.readouterr())
        assert CONTROL.search(OF_RICH.sub('', printed) if colour else printed) is None
        if colour:  # so that a colour of the text's own does not pass for one of rich's
            view([escape_line(text) for text in batch])
            again = ''.join(capsys.readouterr())
            assert HASH.sub('', printed) == HASH.sub('', again)


def test_the_journal_views_show_hidden_characters_and_stay_json(bbllm: Command) -> None:
    events = events_of(hostile_texts(BATCH))
    with JournalWriter(episodes_dir(), 'hostile') as journal:
        for each in events:
            journal(each)
    raw = episodes_dir() / 'raw.jsonl'  # as earlier versions and other programs wrote it
    records = [{'kind': e.kind.value, 'stamp_s': 0.0, 'data': to_json(e.data)} for e in events]
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    raw.write_text('\n'.join(lines) + '\n', encoding='utf-8', errors='replace')

    for words in ('--events', '--json', '--no-draw'):
        for name in ('hostile', 'raw'):
            result = bbllm('show', name, words)
            assert result.exit_code == 0, result.output
            assert CONTROL.search(result.output) is None
            if words != '--no-draw':
                assert all(json.loads(line) for line in result.output.splitlines())
    listed = bbllm('show', '--list')
    assert CONTROL.search(listed.output) is None
    assert len(listed.output.splitlines()) == 2
