"""`--bag`: what is recorded by which verb, and what is refused before anything starts."""

import json
from pathlib import Path

import pytest

from bbllm.bags.motion import read_motion
from tests.doubles.terminals import bbllm

TASK = 'put the red cube on location_B'
HERE = ('run', TASK, '--world', 'tabletop')


@pytest.mark.parametrize('words', [('demo',), HERE])
def test_a_file_that_is_there_is_kept_and_nothing_starts(
    own_environment: dict[str, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    there = tmp_path / 'there.mcap'
    there.write_text('precious')

    refused = bbllm(own_environment, *words, '--bag', str(there))

    assert refused.returncode == 2
    assert 'already, and it is kept' in ' '.join(refused.stderr.split())
    assert there.read_text() == 'precious'
    assert not (tmp_path / 'state').exists(), 'nothing was begun'


@pytest.mark.parametrize(
    ('words', 'text'),
    [
        (('run', 'watch tv', '--house', 'studio'), 'does not have --bag'),
        (('demo', '--browser'), 'leave --ros, --json, --video and --bag out'),
        (('demo', '--ros'), 'leave --ros out'),
        (('run', TASK), '`ros2 bag record` records the topics of a stack'),
    ],
)
def test_a_bag_of_what_has_no_robot_or_another_verb_is_refused(
    own_environment: dict[str, str], tmp_path: Path, words: tuple[str, ...], text: str
) -> None:
    refused = bbllm(own_environment, *words, '--bag', str(tmp_path / 'a.mcap'))

    assert refused.returncode == 2
    assert text in ' '.join(refused.stderr.split())


def test_a_task_in_this_process_leaves_a_bag(
    own_environment: dict[str, str], tmp_path: Path
) -> None:
    bag = tmp_path / 'a.mcap'

    ran = bbllm(own_environment, *HERE, '--bag', str(bag), '--json')

    assert json.loads(ran.stdout)['bag'] == str(bag)
    assert read_motion(bag).complete
