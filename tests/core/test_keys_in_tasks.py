"""A key that a person types into a task or a remark goes no further."""

import secrets

import pytest

from bbllm.core import redaction
from bbllm.core.errors import TaskError
from bbllm.core.paths import config_files
from bbllm.core.redaction import key_fault, note_secrets
from bbllm.core.tasks import make_remark, make_task

TAIL = 'T3BlbkFJ9x2Qm7Vd4Lr8Wc1Zs6'
SHAPED = (
    f'sk-{TAIL}',
    f'sk-proj-{TAIL}_{TAIL}',
    f'sk-ant-api03-{TAIL}',
    f'hf_{TAIL}',
    f'ghp_{TAIL}',
    f'github_pat_{TAIL}',
    f'xoxb-{TAIL}',
    f'AIza{TAIL}',
    'AKIAIOSFODNN7EXAMPLE',
    f'Bearer {TAIL[:20]}',
    f'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{TAIL}',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '-----BEGIN OPENSSH PRIVATE KEY-----',
)


@pytest.fixture(autouse=True)
def _nothing_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, '_IN_USE', set())


def refusal(text: str, make: object = make_task) -> str:
    assert callable(make)
    with pytest.raises(TaskError) as refused:
        make(text)
    return str(refused.value)


@pytest.mark.parametrize('key', SHAPED)
@pytest.mark.parametrize('make', [make_task, make_remark], ids=['task', 'remark'])
def test_text_with_the_form_of_a_key_is_refused_and_not_repeated(key: str, make: object) -> None:
    for text in (f'use {key} and put the red cube on B', f'"{key}"', f'{key}\u202e', f'KEY={key}'):
        reported = refusal(text, make)

        assert 'a word with the form of a key' in reported and 'Leave it out' in reported
        assert key not in reported and TAIL not in reported


@pytest.mark.parametrize('value', ['correct horse battery', 'a-token-of-sixteen', 'sk-short-1234'])
def test_value_of_a_secret_of_the_environment_is_refused_whatever_its_form(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    make_task(f'use {value} and stack the cubes')
    monkeypatch.setenv('MY_LAB_TOKEN', value)

    reported = refusal(f'use {value} and stack the cubes')

    assert 'the value of the environment variable MY_LAB_TOKEN' in reported
    assert value not in reported


def test_key_of_a_model_is_refused_whatever_its_variable_is_called() -> None:
    note_secrets(['swordfish', 'short'])

    assert 'in use for a model' in refusal('say swordfish to the cube')
    assert make_task('a short word').instruction == 'a short word'


def test_random_text_of_any_alphabet_is_found() -> None:
    found = [
        key_fault(f'take {make(32)}')
        for make in (secrets.token_urlsafe, secrets.token_hex)
        for _ in range(200)
    ]

    assert found.count('') < len(found) / 10


@pytest.mark.parametrize('folder', ['suites', 'scenes'])
def test_no_shipped_task_or_scene_is_taken_for_a_key(folder: str) -> None:
    files = config_files(f'{folder}/*.yaml').values()

    lines = [line for file in files for line in file.read_text().splitlines()]
    assert len(lines) > 50
    assert [line for line in lines if key_fault(line, {})] == []


@pytest.mark.parametrize(
    'text',
    [
        'pick pk_red_cube_1_of_the_left_side and place it at 0.45 -0.10 0.02',
        'put RedCubeOnTheLeftSideOfTheTable123 on location_B',
        'move object_12_from_table_3_to_shelf_4_and_back_5',
        'use the hf_cup_on_the_shelf_12 and the sk-shaped block',
        'the bearer of the red cube stacks 3 of them',
        'lege den Donaudampfschifffahrtsgesellschaftskapitaen auf B',
        'place it at 0.4512345678901234567890123456789012',
    ],
)
def test_ordinary_words_and_names_of_objects_are_no_keys(text: str) -> None:
    assert make_task(text).instruction == text
