"""Entry points are read once, and again when a package is installed or goes."""

import shutil
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from bbllm.core import plugins
from bbllm.core.plugins import installed

GROUP = 'bbllm.of_this_test'


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[int]]:
    """Count how often the metadata of packages are read; the kept file is one of this test."""
    counted: list[int] = []
    read = metadata.entry_points

    def count() -> object:
        counted.append(1)
        return read()

    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.setattr(metadata, 'entry_points', count)
    monkeypatch.syspath_prepend(str(tmp_path / 'packages'))
    plugins.forget()
    yield counted
    plugins.forget()


@pytest.fixture
def install(tmp_path: Path) -> Callable[[str], Path]:
    def write(name: str) -> Path:
        about = tmp_path / 'packages' / f'{name}-1.0.dist-info'
        about.mkdir(parents=True)
        (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
        (about / 'entry_points.txt').write_text(f'[{GROUP}]\nthe_{name} = string:digits\n')
        return about

    return write


def names() -> list[str]:
    """Return what a process that begins now finds."""
    plugins.forget()
    return [plugin.name for plugin in installed(GROUP)]


def test_packages_are_read_again_only_when_one_comes_or_goes(
    reads: list[int], install: Callable[[str], Path]
) -> None:
    install('one')
    assert names() == ['the_one']
    assert names() == ['the_one']
    assert len(reads) == 1

    other = install('two')
    assert names() == ['the_one', 'the_two']
    shutil.rmtree(other)
    assert names() == ['the_one']
    assert len(reads) == 3


def test_what_was_kept_is_whole(reads: list[int], install: Callable[[str], Path]) -> None:
    install('one')
    names(), names()

    (plugin,) = installed(GROUP)

    assert (plugin.package, plugin.module, plugin.load()) == ('one', 'string', '0123456789')
    assert len(reads) == 1


@pytest.mark.parametrize('content', [b'', b'[]', b'{"folders": 1', b'\xff', b'{"plugins": [[1]]}'])
def test_a_kept_file_that_cannot_be_used_is_written_anew(
    reads: list[int], install: Callable[[str], Path], tmp_path: Path, content: bytes
) -> None:
    install('one')
    names()
    (file,) = (tmp_path / 'cache' / 'bbllm').iterdir()
    file.write_bytes(content)

    assert names() == ['the_one']
    assert names() == ['the_one']
    assert len(reads) == 2


def test_without_a_place_to_keep_it_packages_are_read_each_time(
    reads: list[int],
    install: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / 'file').touch()
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    install('one')

    assert names() == names() == ['the_one']
    assert len(reads) == 2
