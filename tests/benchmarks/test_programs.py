"""`bbllm bench programs` plays a recorded program in other houses, and answers its assertions."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bbllm.core.errors import ConfigError
from bbllm.core.protocols import Reply
from bbllm.llm.recording.replay import FORMAT, Exchange, RecordedMessage, line_of
from bbllm_bench.benchmarks.recorded.programs import app

SEES_THAT_IT_IS_ON = """	# 1: turn it on
	find('tv')
	switchon('tv')
	assert('tv' is 'switchon')
		else: switchoff('tv')
	# 2: done"""
SEES_NOTHING_AFAR = """	# 1: from where the switch is out of sight
	find('garbagecan')
	assert('toothbrush' is 'clean')
		else: find('lightswitch')
		else: switchoff('lightswitch')
	# 2: done"""
FORGETS_THE_PASTE = """	# 1: take the brush
	find('toothbrush')
	assert('close' to 'toothbrush')
		else: find('bathroomcabinet')
		else: open('bathroomcabinet')
		else: find('toothbrush')
	grab('toothbrush')
	# 2: done"""


def recording(path: Path, *replies: tuple[str, str]) -> str:
    lines = [
        line_of(
            Exchange(
                format=FORMAT,
                role='brain',
                name='m',
                supports_schema=False,
                messages=(RecordedMessage('user', 'a prompt'),),
                stop=(),
                schema_hash='',
                reply=Reply(text=text, model='m'),
                episode=f'{task}-t000-k0',
            )
        )
        for task, text in replies
    ]
    path.write_text(''.join(lines))
    return str(path)


def test_programs_are_played_in_each_house_and_assertions_see_what_is_close(
    tmp_path: Path,
) -> None:
    path = recording(
        tmp_path / 'talk.jsonl',
        ('watch_tv', 'def nothing():'),  # was asked for once more
        ('watch_tv', SEES_THAT_IT_IS_ON),
        ('watch_tv', 'True'),
        ('turn_off_light', SEES_NOTHING_AFAR),
        ('brush_teeth', FORGETS_THE_PASTE),
    )
    ended = CliRunner().invoke(app, [path, '--trials', '3', '--json'], catch_exceptions=False)
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found['passed'] == {'brush_teeth': 0, 'turn_off_light': 3, 'watch_tv': 3}
    assert 'It is not so: toothpaste inside toothbrush or on toothbrush.' in ended.output


@pytest.mark.parametrize('more', [(), ('--planner', 'brain_body')])
def test_a_recording_without_programs_is_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    path = recording(tmp_path / 'talk.jsonl', ('watch_tv', 'True'))
    with pytest.raises(ConfigError, match='program'):
        CliRunner().invoke(app, [path, *more], catch_exceptions=False)
