"""`--bag`: what is recorded by which verb, and what is refused before anything starts."""

import json
from pathlib import Path

import pytest

from bbllm.bags.motion import read_motion
from tests.doubles.terminals import bbllm, end, read_until, start

TASK = 'put the red cube on location_B'
HERE = ('run', TASK, '--world', 'tabletop')
ON_STACK = [
    pytest.param(words, marks=pytest.mark.ros)
    for words in (('run', TASK), ('up', 'sim'), ('demo', '--ros'))
]


@pytest.mark.parametrize('words', [('demo',), HERE, *ON_STACK])
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
        (('demo', '--browser'), 'up sim --browser, also with --bag'),
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


@pytest.mark.slow  # a stack of its own
@pytest.mark.ros
def test_a_stack_and_a_task_on_it_leave_a_bag_each(
    environment: dict[str, str], empty_domain: int, tmp_path: Path
) -> None:
    whole, task = tmp_path / 'whole.mcap', tmp_path / 'task.mcap'
    there = {**environment, 'ROS_DOMAIN_ID': str(empty_domain)}
    stack = start(there, 'up', 'sim', '--speed', '0', '--bag', str(whole))
    try:
        read_until(stack, 'Ctrl-C here ends all nodes')
        ran = bbllm(there, 'run', TASK, '--bag', str(task), '--json')
        assert end(stack) == 0
    finally:
        stack.kill()
        stack.wait()

    assert json.loads(ran.stdout)['bag'] == str(task)
    motions = [read_motion(path) for path in (whole, task)]
    assert all(motion.complete for motion in motions)
    assert motions[0].stamps_s[0] < motions[1].stamps_s[0]
    assert motions[1].stamps_s[-1] < motions[0].stamps_s[-1]
    moved = [motion.poses['red_cube'][-1, :3] for motion in motions]
    assert moved[0] == pytest.approx(moved[1], abs=1e-3)
