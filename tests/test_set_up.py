"""What `make setup` does where a machine is in its way, and what it keeps for the next clone."""

import importlib
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
KEY = 'a' * 64


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(ROOT / 'tools')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))


def tool(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.fixture
def clone(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a checkout with a built package, or an empty one."""

    def make(name: str) -> Path:
        root = tmp_path / name
        (root / 'install').mkdir(parents=True)
        return root

    return make


def build(root: Path) -> None:
    """Install a package as colcon would: paths of the checkout in texts, none in libraries."""
    prefix = root / 'install' / 'things'
    (prefix / 'share').mkdir(parents=True)
    (prefix / 'lib' / '__pycache__').mkdir(parents=True)
    (prefix / 'share' / 'things.cmake').write_text(f'set(X "{root}/.venv/include")\n')
    (prefix / 'lib' / 'libthings.so').write_bytes(b'\x7fELF and more')
    (prefix / 'lib' / '__pycache__' / 'x.pyc').write_bytes(b'bytecode')


def cache_of(root: Path) -> object:
    return tool('interface_cache').InterfaceCache(root, root / 'install')


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob('*')
        if path.is_file()
    }


def kept() -> Path:
    """Return the only archive that is kept."""
    (archive,) = tool('interface_cache').cache_folder().iterdir()
    return Path(archive)


def test_second_clone_gets_the_packages_of_the_first_with_its_own_paths(
    clone: Callable[[str], Path],
) -> None:
    first, second = clone('first'), clone('second')
    build(first)
    cache_of(first).save('things', KEY)

    assert not cache_of(second).load('things', 'b' * 64)
    assert cache_of(second).load('things', KEY)

    assert files_below(second / 'install') == {
        'things/share/things.cmake': f'set(X "{second}/.venv/include")\n'.encode(),
        'things/lib/libthings.so': b'\x7fELF and more',
    }
    assert str(first).encode() not in kept().read_bytes()


@pytest.mark.parametrize('harm', ['cut', 'changed', 'empty'])
def test_damaged_archive_is_not_used_and_is_replaced(
    harm: str, clone: Callable[[str], Path]
) -> None:
    first, second = clone('first'), clone('second')
    build(first)
    cache_of(first).save('things', KEY)
    whole = kept().read_bytes()
    data = 30 + len('lib/libthings.so') + 2  # behind the header of the first file
    changed = whole[:data] + bytes([whole[data] ^ 1]) + whole[data + 1 :]
    kept().write_bytes({'cut': whole[:-40], 'changed': changed, 'empty': b''}[harm])

    assert not cache_of(second).load('things', KEY)
    assert not list((second / 'install').iterdir())

    cache_of(first).save('things', KEY)
    assert cache_of(second).load('things', KEY)


def test_archive_that_others_can_write_to_is_not_used(clone: Callable[[str], Path]) -> None:
    first, second = clone('first'), clone('second')
    build(first)
    cache_of(first).save('things', KEY)

    for path in (kept(), kept().parent):
        mode = path.stat().st_mode
        path.chmod(mode | 0o020)
        assert not cache_of(second).load('things', KEY)
        path.chmod(mode)
    assert cache_of(second).load('things', KEY)


def test_archive_of_another_user_is_not_used(
    clone: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = clone('first'), clone('second')
    build(first)
    cache_of(first).save('things', KEY)
    another = os.geteuid() + 1
    monkeypatch.setattr(os, 'geteuid', lambda: another)

    assert not cache_of(second).load('things', KEY)
    with pytest.raises(tool('machine').SetupError, match='written to by other users'):
        cache_of(first).save('things', KEY)


def test_archive_cannot_write_outside_of_its_package(clone: Callable[[str], Path]) -> None:
    second = clone('second')
    folder = tool('interface_cache').cache_folder()
    folder.mkdir(mode=0o700, parents=True)
    archive = folder / f'things-{KEY}.zip'
    with zipfile.ZipFile(archive, 'w') as packed:
        packed.writestr('../../stranger', 'x')
    archive.chmod(0o600)

    assert not cache_of(second).load('things', KEY)
    assert not list(second.rglob('stranger'))


def test_key_follows_sources_dependencies_and_facts_but_not_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interfaces = tool('interfaces')

    def keys(place: str, facts: str = 'gcc 12', text: str = 'float64 x\n') -> dict[str, str]:
        root = tmp_path / place
        for name, needed in (('base_msgs', 'std_msgs'), ('upper_msgs', 'base_msgs')):
            (root / 'compat' / name / 'msg').mkdir(parents=True, exist_ok=True)
            manifest = f'<package><depend>{needed}</depend></package>'
            (root / 'compat' / name / 'package.xml').write_text(manifest)
        (root / 'compat' / 'base_msgs' / 'msg' / 'X.msg').write_text(text)
        monkeypatch.setattr(tool('stamps'), 'ROOT', root)
        return dict(interfaces.keys_of(['upper_msgs'], facts))

    usual = keys('here')
    assert set(usual) == {'base_msgs', 'upper_msgs'}
    assert keys('elsewhere') == usual
    for other in (keys('here', facts='gcc 13'), keys('here', text='float32 x\n')):
        assert not set(other.values()) & set(usual.values())


@pytest.mark.parametrize(
    ('output', 'sentence'),
    [
        ('error: failed to write to file: No space left on device (os error 28)', 'disk is full'),
        ('  Caused by: dns error: failed to lookup address information', 'needs the network'),
        ('ERROR: No matching distribution found for uv==0.13.8', 'needs the network'),
        ('Failed to establish a new connection: [Errno -3] Temporary', 'needs the network'),
        ('THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.', 'lock file names'),
        ('c++: fatal error: Killed signal terminated program cc1plus', 'PARALLEL_LEVEL=1'),
        ('x.c:1: fatal error: Python.h: No such file or directory', 'apt install python3-dev'),
        ('error: Read-only file system (os error 30)', 'cannot be written to'),
    ],
)
def test_known_cause_is_one_sentence_with_its_line(output: str, sentence: str) -> None:
    lines = f'a\nb\n{output}\nc'.encode()
    error = tool('causes').failure_of('uv', 1, lines, Path('/x/setup.log'))

    assert sentence in str(error).splitlines()[0]
    assert str(error).splitlines()[1:] == [f'    {output.strip()}', 'More is in /x/setup.log.']
