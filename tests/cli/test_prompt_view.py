"""What `bbllm show --prompts` prints of the calls of models."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core.events import EpisodeStarted, Event, ModelCall, ModelReplied, PromptText
from bbllm.core.journal import JournalWriter
from bbllm.core.paths import episodes_dir

Command = Callable[..., Result]
RULES = 'Rules.\none\ntwo\nthree'
START = EpisodeStarted(episode_id='e1', task='t', planner='p', brain='m', body='m')


def write(*talk: tuple[str, str, str], error: str = '') -> Path:
    """Write the journal of an episode from role, prompt and reply of each call."""
    with JournalWriter(episodes_dir(), 'e1') as journal:
        journal(Event(0.0, START))
        for role, prompt, reply in talk:
            sent = (PromptText.of('user', prompt), PromptText.of('schema', '{"type": "object"}'))
            call = ModelCall(role=role, model='m', prompt=sent, error=error, prompt_chars=1)
            journal(Event(1.0, call))
            if reply:
                journal(Event(2.0, ModelReplied(role, reply)))
    return journal.path


def test_lines_of_the_most_similar_earlier_prompt_of_the_role_are_left_out(
    bbllm: Command,
) -> None:
    other = 'Others.\nnothing\nin\ncommon'
    write(
        ('brain', f'{RULES}\nred', '0: a'),
        ('brain', other, 'none'),
        ('body', f'{RULES}\nblue', 'b'),
        ('brain', f'{RULES}\nblue', '0: c'),
    )

    calls = re.split(r'\ncall \d of 4: ', bbllm('show', '--prompts').stdout)[1:]

    assert all('(' not in call.split('\n', 1)[1] for call in calls[:3])
    assert calls[3] == (
        'brain m, 0.00 s\n    (5 lines as in call 1)\n  + blue\n'
        '  --- schema\n    {"type": "object"}\n  --- reply\n    0: c\n'
    )
    alone = bbllm('show', '--call', '4').stdout
    assert ('Rules.' in alone, 'blue' in alone, 'red' in alone) == (True, True, False)


def test_json_has_each_call_whole(bbllm: Command) -> None:
    write(('brain', RULES, '0: a'), ('body', RULES, ''), error='ModelError: no')

    data = json.loads(bbllm('show', '--prompts', '--json').stdout)

    assert data['episode_id'] == 'e1'
    first, second = data['calls']
    assert first['messages'] == [{'role': 'user', 'content': RULES}]
    assert (first['call'], first['role'], first['reply']) == (1, 'brain', '0: a')
    assert (second['schema'], second['error']) == ('{"type": "object"}', 'ModelError: no')
    assert len(json.loads(bbllm('show', '--call', '2', '--json').stdout)['calls']) == 1


@pytest.mark.parametrize('option', [('--prompts',), ('--call', '1')])
def test_where_the_prompts_are_gone_a_note_and_the_replies_are_shown(
    bbllm: Command, option: tuple[str, ...]
) -> None:
    write(('brain', RULES, '0: a')).with_suffix('.prompts').unlink()

    shown = bbllm('show', *option).stdout

    assert '2 of 2 messages of the prompt are not in' in shown
    assert '0: a' in shown


def test_a_call_that_is_not_there_is_refused_with_those_that_are(bbllm: Command) -> None:
    write(('brain', RULES, '0: a'))

    refused = bbllm('show', '--call', '2')

    assert (refused.exit_code, 'has calls 1 to 1' in refused.stderr) == (2, True)


def test_no_text_steers_the_terminal_or_imitates_another_part(bbllm: Command) -> None:
    write(('brain', 'a\x1b[2J\u202eb\r\n--- reply', '\x07[bold]x[/bold]\ncall 2 of 2: fake'))

    shown = bbllm('show', '--prompts').stdout

    assert not re.search('[\x00-\x09\x0b-\x1f\x7f\u202e]', shown)
    assert '[bold]x[/bold]' in shown
    assert re.findall('^(?:  ---|call).*', shown, re.M) == [
        'call 1 of 1: brain m, 0.00 s',
        '  --- user',
        '  --- schema',
        '  --- reply',
    ]


def test_a_picture_is_a_line_and_its_tokens_are_counted(bbllm: Command) -> None:
    png = PromptText.of_picture(b'\x89PNG\r\n\x1a\n' + bytes(1992))
    call = ModelCall(
        role='brain',
        model='m',
        prompt=(PromptText.of('user', 'Look.'), png),
        prompt_tokens=900,
        completion_tokens=5,
        image_tokens=765,
        prompt_chars=5,
    )
    with JournalWriter(episodes_dir(), 'e1') as journal:
        journal(Event(0.0, START))
        journal(Event(1.0, call))

    printed = bbllm('show', '--prompts').stdout

    assert '900 (765 of pictures) + 5 tokens' in printed
    assert f'[picture {png.hash}: PNG, 2 kB; --html FILE shows it]' in printed
    data = json.loads(bbllm('show', '--prompts', '--json').stdout)
    assert data['image_tokens'] == 765
    assert data['calls'][0]['messages'][0]['pictures'] == [{'hash': png.hash}]
