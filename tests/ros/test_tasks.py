"""Tasks given to the whole stack: five processes over DDS."""

from __future__ import annotations

import pytest
from stacks import Running, until

from bbllm.core.errors import UnknownNameError
from bbllm.core.events import Ending, EventKind
from bbllm.core.journal import read_episode, summarize
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Code, SkillCall, Status
from bbllm.ros.stack.client import StackClient

pytestmark = pytest.mark.ros


def test_stack_shows_a_scene_with_relations_and_skills(running: Running) -> None:
    scene = running.client.scene()

    assert {'red_cube', 'location_B', 'table'} <= set(scene.names)
    assert scene.has('red_cube', 'on')
    assert scene.has('hand', 'is', 'empty')
    assert {'pick', 'place', 'return_to_base'} <= {skill.name for skill in scene.skills}


def test_task_of_the_readme_is_carried_out(running: Running) -> None:
    running.events.clear()

    result = running.run('put the red cube on location_B')

    assert result.ending is Ending.FINISHED
    assert running.client.scene().has('red_cube', 'on', 'location_B')
    kinds = [event.kind for event in running.events]
    assert kinds[0] is EventKind.STARTED
    assert kinds[-1] is EventKind.ENDED
    assert {EventKind.PLAN, EventKind.STEP, EventKind.CALL, EventKind.OUTCOME} <= set(kinds)
    assert result.steps == kinds.count(EventKind.OUTCOME)
    assert result.model_calls == kinds.count(EventKind.MODEL_CALL)
    assert result.robot_s > 0


def test_journal_tells_the_same_as_result_and_feedback(running: Running) -> None:
    running.events.clear()

    result = running.run('put the blue cube on location_A', episode_id='told-thrice')

    episode = read_episode(episodes_dir() / 'told-thrice.jsonl')
    # What is heard makes the same journal, whole scenes and every number included.
    assert list(episode.events) == running.events
    sums = summarize(episode)
    assert sums['ending'] == result.ending.name
    for name in ('steps', 'model_calls', 'feedback_loops', 'prompt_tokens'):
        assert sums[name] == getattr(result, name)


def test_id_of_an_episode_is_never_given_twice(running: Running) -> None:
    running.run('what a nice day', episode_id='once')
    first = (episodes_dir() / 'once.jsonl').read_bytes()

    result = running.run('put the red cube on location_B', episode_id='once')

    assert result.refused
    assert "There is an episode 'once' already" in result.message
    assert (episodes_dir() / 'once.jsonl').read_bytes() == first


@pytest.mark.parametrize(
    ('task', 'says'),
    [
        ('', 'The task is empty'),
        ('   ', 'The task is empty'),
        ('pick ' * 4000, 'at most 2000 are taken'),
        ('pick\x07', 'U+0007 (control character)'),
    ],
    ids=['empty', 'blank', '20000 characters', 'bell'],
)
def test_task_that_cannot_be_taken_is_refused_with_the_reason(
    running: Running, task: str, says: str
) -> None:
    result = running.run(task)

    assert result.refused
    assert says in result.message
    assert result.ending is not Ending.FINISHED


def test_task_in_another_script_ends_in_words(running: Running) -> None:
    result = running.run('赤い立方体を置いてください')

    assert result.ending in (Ending.GAVE_UP, Ending.MODEL_FAILED)
    assert result.message


def test_second_task_is_refused_with_the_name_of_the_first(running: Running) -> None:
    with StackClient(name='other') as other:
        until(lambda: not other.missing(('brain_planner',)), 'discovery')
        running.events.clear()
        # A task that does not end by itself before the second one has come.
        first = running.begin('wait for 60 seconds', episode_id='the-first')
        running.wait_for(EventKind.CALL)

        result = other.run_task('put the blue cube on location_C')
        running.client.cancel()

    assert result.refused
    assert 'the-first' in result.message
    assert (first.result().episode_id, first.result().ending) == ('the-first', Ending.CANCELLED)


def test_call_of_a_thing_that_is_not_there_is_rejected_with_the_nearest(running: Running) -> None:
    outcome = running.client.execute(SkillCall('pick', ('red_cub',)))

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.UNKNOWN_OBJECT)
    assert 'red_cube' in outcome.message


def test_what_people_say_without_a_task_is_on_the_log(running: Running) -> None:
    running.client.say('anybody there?')

    log = running.stack.log_file('brain_planner')
    until(lambda: 'nobody heard' in log.read_text(), 'warning in the log')


def test_scene_does_not_know_what_is_not_there(running: Running) -> None:
    with pytest.raises(UnknownNameError, match='red_cube'):
        running.client.scene().object('red_kube')
