"""`bbllm experience`: what is remembered, for people."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from bbllm.core.paths import state_dir
from bbllm.planners.common.experience.store import ExperienceFile, experience_path
from tests.planners.common.test_experience import made

Command = Callable[..., Result]


def test_entries_are_listed_shown_and_forgotten(bbllm: Command) -> None:
    assert 'has no entry' in bbllm('experience').stdout
    file = ExperienceFile(experience_path())
    file.add([made(1, task='stack \x1b[31mall'), made(0xABC << 52)])

    listed = bbllm('experience', 'list')
    shown = bbllm('experience', 'show', 'abc')
    unclear = bbllm('experience', 'show', '')
    gone = json.loads(bbllm('experience', 'forget', 'abc', '--json').stdout)

    assert listed.exit_code == 2 and 'U+001B' in listed.stdout and '\x1b' not in listed.stdout
    assert 'OCCUPIED' in listed.stdout
    assert made(0xABC << 52).text in shown.stdout
    assert unclear.exit_code == 2
    assert gone['id'].startswith('abc')
    assert file.read()[0] == ()
    assert len(file.read()[1]) == 1
    assert experience_path().parent == state_dir()


@pytest.mark.parametrize(
    ('change', 'task', 'message'),
    [
        ('s/put cube 1/lay cube 1/', 'lay cube 1 on location 1', ''),
        ('s/"version": 1/"version": 3/', made().task, 'the format 3'),
        ('s/0000/1111/', made().task, 'its id'),
        ('s/{//', made().task, 'stays as it was'),
    ],
)
def test_an_edited_entry_is_checked(
    bbllm: Command, monkeypatch: pytest.MonkeyPatch, change: str, task: str, message: str
) -> None:
    file = ExperienceFile(experience_path())
    file.add([made(0xABC)])
    monkeypatch.setenv('VISUAL', f"sed -i '{change}'")

    result = bbllm('experience', 'edit', made(0xABC).id)

    assert message in result.output
    assert result.exit_code == (2 if message else 0)
    assert [entry.task for entry in file.read()[0]] == [task]
    if message:
        draft = Path(result.output.split('The edited text is in ')[1].strip().rstrip('.'))
        draft.unlink()
