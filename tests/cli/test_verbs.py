"""What people type, and what they get."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import bbllm as package
from bbllm.core.tasks import MAX_TASK_CHARACTERS
from bbllm.llm.scripted import ScriptedModel

Command = Callable[..., Result]
Script = Callable[..., None]

TASK = 'put the red cube on location_B'
GIVE_UP = 'cannot: there is no such thing on the table'


def only_object(result: Result) -> dict[str, Any]:
    """Return the one JSON object of stdout; fails where there is more or less."""
    data = json.loads(result.stdout)
    assert isinstance(data, dict)
    return data


def test_version_is_the_package_s(bbllm: Command) -> None:
    assert bbllm('--version').stdout.strip() == f'bbllm {package.__version__}'


def test_no_words_at_all_show_the_verbs(bbllm: Command) -> None:
    result = bbllm()

    assert 'demo' in result.output
    assert 'doctor' in result.output


@pytest.mark.parametrize(
    'verb', ['demo', 'run', 'plan', 'show', 'scenes', 'doctor', 'bench', 'up', 'forget']
)
def test_every_verb_has_a_help_page_with_an_explanation(bbllm: Command, verb: str) -> None:
    result = bbllm(verb, '--help')

    assert result.exit_code == 0
    assert 'Usage: bbllm' in result.output


def test_run_tells_step_by_step_what_happens(bbllm: Command, script: Script) -> None:
    script()

    result = bbllm('run', TASK, '--world', 'tabletop', '--scene', 'plus_sign')

    lines = [line.split(None, 2)[-1] for line in result.stdout.splitlines() if ' s  ' in line]
    assert result.exit_code == 0
    assert 'call      pick(red_cube)' in lines
    assert 'repair    1 at step 2: aqua_cube is out of the workspace of the robot.' in lines
    assert 'ended     FINISHED' in lines


def test_run_with_json_prints_exactly_one_object_and_tells_people_elsewhere(
    bbllm: Command, script: Script
) -> None:
    script()

    result = bbllm('run', TASK, '--world', 'tabletop', '--scene', 'plus_sign', '--json')

    data = only_object(result)
    assert data['ending'] == 'FINISHED'
    assert data['feedback_loops'] == 1
    assert data['steps'] == 5
    assert 'pick(red_cube)' in result.stderr


def test_every_event_is_in_the_journal_that_run_names(bbllm: Command, script: Script) -> None:
    script()

    data = only_object(bbllm('run', TASK, '--world', 'tabletop', '--scene', 'plus_sign', '--json'))

    lines = Path(str(data['journal'])).read_text().splitlines()
    kinds = [json.loads(line)['kind'] for line in lines]
    assert kinds[0] == 'started'
    assert kinds[-1] == 'ended'
    assert 'repair' in kinds


def test_a_planner_that_gives_up_makes_exit_code_1(bbllm: Command, script: Script) -> None:
    script(GIVE_UP)

    result = bbllm('run', TASK, '--world', 'tabletop', '--json')

    assert result.exit_code == 1
    assert only_object(result)['ending'] == 'GAVE_UP'


def test_a_plan_with_a_passed_step_makes_exit_code_1_and_is_counted(
    bbllm: Command, script: Script
) -> None:
    script('0: pick red_cube\n1: place it on location_B\n2: sing a song')
    words = ('run', TASK, '--world', 'tabletop', '--scene', 'plus_sign')

    data = only_object(bbllm(*words, '--json'))
    script('0: pick red_cube\n1: place it on location_B\n2: sing a song')
    told = bbllm(*words)

    assert (data['ending'], data['passed_steps']) == ('PARTLY_DONE', 1)
    assert "2: 'sing a song'" in str(data['message'])
    assert told.exit_code == 1
    assert '2 calls · 1 step passed · 0 repairs' in told.stdout
    assert '2 calls · 1 step passed · 0 repairs' in bbllm('show').stdout


def test_a_missing_rendering_is_a_hint_and_no_failure(bbllm: Command, script: Script) -> None:
    script()

    result = bbllm('run', TASK, '--world', 'tabletop', '--scene', 'plus_sign')

    assert result.exit_code == 0
    assert 'No picture can be drawn of paper' in result.stdout


def test_demo_fails_when_the_cubes_do_not_form_what_was_asked_for(
    bbllm: Command, script: Script
) -> None:
    script('0: pick red_cube\n1: place it on location_B')

    result = bbllm('demo', '--json')

    data = only_object(result)
    assert data['ending'] == 'FINISHED'
    assert data['check']['passed'] is False
    assert result.exit_code == 1


def test_demo_finds_the_plus_sign_that_stands_there(bbllm: Command, script: Script) -> None:
    cubes = ('red', 'blue', 'green', 'yellow', 'orange')
    moves = [f'{c}_cube location_{p}'.split() for c, p in zip(cubes, 'ABCDE', strict=True)]
    steps = [text for cube, place in moves for text in (f'pick {cube}', f'place it on {place}')]
    script('\n'.join(f'{index}: {text}' for index, text in enumerate(steps)))

    result = bbllm('demo')

    assert result.exit_code == 0
    assert 'a plus sign of 5 cubes around green_cube, arms 6.0 cm' in result.stdout


def test_demo_with_another_task_makes_no_check(bbllm: Command, script: Script) -> None:
    script('0: pick red_cube\n1: place it on location_B')

    result = bbllm('demo', TASK, '--json')

    assert result.exit_code == 0
    assert 'check' not in only_object(result)


def test_plan_prints_steps_with_their_calls_and_leaves_no_journal(
    bbllm: Command, script: Script, state: Path
) -> None:
    script('0: pick red_cube\n1: place it on location_B\n2: be glad')

    result = bbllm('plan', TASK)

    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert rows[0] == ['0', 'pick', 'red_cube', 'pick(red_cube)']
    assert rows[2][-5:] == ['call:', 'nothing', 'for', 'the', 'robot']
    assert not state.exists()


def test_plan_with_json_lists_the_calls(bbllm: Command, script: Script) -> None:
    script('0: pick red_cube\n1: place it on location_B')

    data = only_object(bbllm('plan', TASK, '--json'))

    assert [step['call'] for step in data['plan']] == ['pick(red_cube)', 'place(location_B)']


def test_a_plan_that_is_interrupted_in_a_model_call_exits_130(
    bbllm: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_ctrl_c(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    script()
    monkeypatch.setattr(ScriptedModel, 'complete', press_ctrl_c)

    result = bbllm('plan', TASK, '--json')

    assert result.exit_code == 130
    assert only_object(result)['error_kind'] == 'Interrupted'


def test_plan_that_cannot_be_made_says_why(bbllm: Command, script: Script) -> None:
    script(GIVE_UP)

    result = bbllm('plan', TASK)

    assert result.exit_code == 1
    assert 'there is no such thing on the table' in result.stdout


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (('run', '', '--world', 'tabletop'), 'The task is empty'),
        (('run', '   ', '--world', 'tabletop'), 'The task is empty'),
        (('demo', ''), 'The task is empty'),
        (('plan', ''), 'The task is empty'),
        (('run', 'x' * 20_000, '--world', 'tabletop'), f'at most {MAX_TASK_CHARACTERS} are taken'),
        (
            ('run', TASK, '--world', 'tabletop', '--scene', 'plus_sing'),
            "Did you mean 'plus_sign'?",
        ),
        (
            ('run', TASK, '--world', 'tabletop', '--planner', 'brainbody'),
            "Did you mean 'brain_body'?",
        ),
        (('plan', TASK, '--planner', 'brain_bodi'), "Did you mean 'brain_body'?"),
        (('run', TASK, '--world', 'tabletop', '--brain', 'openai'), '$OPENAI_API_KEY is not set'),
        (
            ('run', TASK, '--world', 'tabletop', '--scene', '/nowhere/at_all.yaml'),
            'cannot be read: No such file',
        ),
        (('run', TASK, '--world', 'tabletop', '--replay', '/nowhere/talk.jsonl'), '/nowhere/talk'),
        (('run', TASK, '--world', 'tabletop', '--record', '/proc/x/y'), 'cannot be written'),
        (
            ('plan', TASK, '--planner', 'llm_pop', '--brain', 'offline'),
            'cannot work with `offline`',
        ),
        (
            ('bench', 'tabletop', '--planner', 'llm_pop', '--brain', 'offline'),
            'cannot work with `offline`',
        ),
        (('plan', TASK, '--record', '/'), 'is a folder'),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2_and_starts_nothing(
    bbllm: Command, paper: None, state: Path, words: tuple[str, ...], sentence: str
) -> None:
    result = bbllm(*words)

    assert sentence in result.stderr
    assert result.stderr.count('error:') == 1
    assert 'Traceback' not in result.output
    assert result.exit_code == 2
    assert not state.exists()


@pytest.mark.parametrize(
    'words',
    [
        ('run', '', '--world', 'tabletop', '--json'),
        ('run', TASK, '--world', 'moon', '--json'),
        ('run', '--json'),
        ('show', '--json'),
        ('show', '--no-such-option', '--json'),
    ],
)
def test_an_error_with_json_is_one_object_too(bbllm: Command, words: tuple[str, ...]) -> None:
    result = bbllm(*words)

    assert only_object(result)['error']
    assert result.exit_code == 2


@pytest.mark.parametrize(
    'task', ['把红色方块放在蓝色方块上', 'положи красный кубик на синий', '🟥→🟦']
)
def test_a_task_in_another_script_is_taken_as_it_is(
    bbllm: Command, script: Script, task: str
) -> None:
    script(GIVE_UP)

    data = only_object(bbllm('run', task, '--world', 'tabletop', '--json'))

    assert data['task'] == task
    assert Path(data['pictures'][0]).read_text(encoding='utf-8').count(task) >= 1


def test_a_fault_in_the_program_shows_a_sentence_and_keeps_the_traceback(
    bbllm: Command, script: Script, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    script()
    monkeypatch.setattr('bbllm.cli.support.exit.write_pictures', lambda *args: 1 / 0)

    result = bbllm('run', TASK, '--world', 'tabletop')

    assert result.exit_code == 1
    assert 'ZeroDivisionError' in result.stderr
    assert 'line' not in result.stderr
    (fault,) = (state.parent / 'faults').iterdir()
    assert 'Traceback (most recent call last)' in fault.read_text()


def test_scenes_are_listed_with_what_is_in_them(bbllm: Command) -> None:
    data = only_object(bbllm('scenes', '--json'))

    assert 'aqua_cube' in data['plus_sign']['objects']
    assert 'plus_sign' in bbllm('scenes').stdout


def test_names_are_completed(bbllm: Command) -> None:
    from bbllm.cli.support.options import beginning, planners, scenes

    assert beginning(scenes)('plus') == ['plus_sign']
    assert 'brain_body' in beginning(planners)('')
