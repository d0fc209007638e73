"""Files that people and strangers write: each that cannot be read ends in one sentence."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bbllm.arm.envelope import load_envelope
from bbllm.core.errors import BbllmError
from bbllm.core.paths import config_dir
from bbllm.files import yaml_files
from bbllm.files.yaml_files import (
    DEEPEST,
    MOST_BYTES,
    StrictLoader,
    WordsLoader,
    YamlError,
    parse_yaml,
    yaml_text,
)
from bbllm.llm.config import load_config
from bbllm.scene.scene_file import load_scene
from bbllm_bench.suites.suite import load_suite

Load = Callable[[Path], object]
LOADERS: dict[str, Load] = {
    'scene': load_scene,
    'llm': load_config,
    'safety': load_envelope,
    'suite': load_suite,
}
FIELDS = {'scene': 'objects', 'llm': 'brain', 'safety': 'keep_out', 'suite': 'tasks'}
"""A field of each kind that a text may be the value of."""
kinds = pytest.mark.parametrize('kind', LOADERS)


def nested_aliases() -> str:
    """Return nine levels of nine, 387 million values in a third of a kilobyte."""
    lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for i in range(1, 9):
        lines.append(f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 9)}]')
    return '\n'.join(lines)


def refusal(kind: str, path: Path) -> str:
    """Return the sentence that refuses a file; fails where it is long, or none of ours."""
    with pytest.raises(BbllmError) as caught:
        LOADERS[kind](path)
    sentence = str(caught.value).replace(str(path), 'FILE')
    assert len(sentence) < 2000
    return sentence


def file_of(folder: Path, text: str) -> Path:
    path = folder / 'mine.yaml'
    path.write_text(text)
    return path


@kinds
@pytest.mark.parametrize('place', ['{}: 1', '{}: *a8', '{}: {{model: *a8, name: *a8}}'])
def test_aliases_of_aliases_are_refused_before_they_are_written_out(
    tmp_path: Path, kind: str, place: str
) -> None:
    path = file_of(tmp_path, f'{nested_aliases()}\n{place.format(FIELDS[kind])}')

    message = refusal(kind, path)

    assert 'FILE is not valid YAML in line ' in message
    if kind == 'suite':  # whose tasks share goals and houses
        assert 'there are more than 100,000 values up to here' in message
    else:
        assert message.endswith('in line 2: the alias *a0 repeats a value; write it out.')


@kinds
@pytest.mark.parametrize(
    ('text', 'part'),
    [
        ('9' * 5000, 'in line 1: a number of 5,000 characters'),
        ('0x' + 'f' * 5000, 'in line 1: a number of 5,002 characters'),
        ('1:' + ':'.join(['59'] * 3000), 'in line 1: a number of '),
        ('[' * 1500 + ']' * 1500, f'in line 1: values are nested more than {DEEPEST} deep'),
        ('{a: ' * 3000 + '1' + '}' * 3000, f'values are nested more than {DEEPEST} deep'),
        ('\n' + '- ' * 3000 + '1', f'in line 2: values are nested more than {DEEPEST} deep'),
        ('2001-99-99', 'in line 1: month must be in 1..12'),
        ('!!python/object/apply:os.system [ls]', 'in line 1: the tag '),
        ('!!int no', 'in line 1: the tag tag:yaml.org,2002:int is not read'),
        ('&a [*a]', 'the alias *a '),
    ],
)
def test_what_a_parser_would_break_at_is_refused_with_its_line(
    tmp_path: Path, kind: str, text: str, part: str
) -> None:
    message = refusal(kind, file_of(tmp_path, f'{FIELDS[kind]}: {text}'))

    assert message.startswith('FILE is not valid YAML in line ')
    assert part in message


@kinds
@pytest.mark.parametrize('text', ['x' * 1_000_000, f'[{"x, " * 50_000}]', f'"{"x " * 500_000}"'])
def test_a_value_is_cut_before_it_becomes_the_text_of_an_error(
    tmp_path: Path, kind: str, text: str
) -> None:
    assert 'FILE' in refusal(kind, file_of(tmp_path, f'{FIELDS[kind]}: {text}'))
    assert 'FILE' in refusal(kind, file_of(tmp_path, f'? {text[:2000]}\n: 1'))


@kinds
def test_a_pipe_a_device_and_a_huge_file_are_refused_at_once(tmp_path: Path, kind: str) -> None:
    os.mkfifo(pipe := tmp_path / 'pipe.yaml')
    huge = file_of(tmp_path, '# ' + 'x' * MOST_BYTES)

    assert 'it is a pipe and no regular file' in refusal(kind, pipe)
    assert 'it is a device and no regular file' in refusal(kind, Path('/dev/zero'))
    assert 'it has more than 10 MB, the most that is read' in refusal(kind, huge)


def test_a_scene_of_very_many_objects_is_refused_with_their_number(tmp_path: Path) -> None:
    cube = '- {name: cube_%d, kind: cube, xy: [0.5, 0.1]}\n'
    path = file_of(tmp_path, 'objects:\n' + ''.join(cube % i for i in range(5000)))

    assert 'objects: there are 5,000, and a scene takes at most 500' in refusal('scene', path)


def test_of_very_many_faults_of_a_scene_some_are_named(tmp_path: Path) -> None:
    cube = '- {name: cube_%d, kind: cube, xy: [0.5, 0.1]}\n'
    path = file_of(tmp_path, 'objects:\n' + ''.join(cube % i for i in range(100)))

    with pytest.raises(BbllmError, match=r'overlap.* \(and more\)\.') as caught:
        load_scene(path)

    assert str(caught.value).count('overlap') == 20


def test_every_file_of_the_project_is_within_the_limits() -> None:
    for path in config_dir().rglob('*.yaml'):
        takes_aliases = path.parent.name in ('suites', 'houses')
        parse_yaml(path.read_text(), WordsLoader if takes_aliases else StrictLoader)


def test_aliases_that_a_suite_has_count_as_often_as_they_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = 'a: &a [1, 2]\nb: [*a, *a]\nc: {<<: {d: *a}}'
    monkeypatch.setattr(yaml_files, 'MOST_VALUES', 21)
    assert parse_yaml(text, WordsLoader) == {'a': [1, 2], 'b': [[1, 2]] * 2, 'c': {'d': [1, 2]}}

    monkeypatch.setattr(yaml_files, 'MOST_VALUES', 20)
    with pytest.raises(YamlError, match='more than 20 values'):
        parse_yaml(text, WordsLoader)


def test_what_is_written_can_be_read_again_also_where_a_value_occurs_twice() -> None:
    place = [0.5, 0.1]
    data = {'objects': [{'xy': place}, {'xy': place}]}

    assert parse_yaml(yaml_text(data)) == data
