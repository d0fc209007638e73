"""The packaging files agree with the files they speak of."""

import ast
import configparser
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points, requires
from pathlib import Path
from typing import Any

import pytest

import bbllm
from bbllm_fci.library import FRANKA_SIM
from tests.worlds.household.original_virtualhome import VERSION

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'src' / 'bbllm'
REQUIREMENTS = ROOT / 'requirements'
INTERFACES = ROOT / 'src' / 'bbllm_interfaces'
COMPAT = sorted(path.parent for path in (ROOT / 'compat').glob('*/package.xml'))
OURS = sorted(path.parent.name for path in PACKAGE.glob('bbllm*/__init__.py'))
DIRECT_LIBRARIES = ('pylibfranka', 'panda_py', 'frankx', 'franky', 'fr3py', 'franka')
SOURCES = sorted([*PACKAGE.glob('bbllm*/**/*.py'), *(ROOT / 'launch').glob('*.py')])
LIBRARIES = {
    'mcap_ros2': 'mcap-ros2-support',
    'PIL': 'pillow',
    'cv2': 'opencv-python-headless',
    'yaml': 'pyyaml',
}
"""Modules that are called other than their library."""
COMES_WITH = {
    'anyio': 'openai',
    'h11': 'uvicorn',
    'lz4': 'mcap',
    'markupsafe': 'jinja2',
    'pydantic-core': 'pydantic',
    'typing-extensions': 'pydantic',
    'zstandard': 'mcap',
}
"""Modules that a declared library brings, since it is built on them."""
WITHOUT_WHAT_THEY_NEED = {'franka-sim'}
"""Libraries that `make extras` installs alone: what they ask for is not for this environment."""
OF_OTHER_ENVIRONMENTS = {PACKAGE / 'bbllm_libero' / 'worker': {'libero'}}
"""Folders whose code runs in an environment of its own, and what only that has."""
SHELLS = [shell for shell in ('bash', 'dash', 'sh', 'zsh') if shutil.which(shell)]


def entry_points_of(group: str) -> list[tuple[str, str]]:
    setup = configparser.ConfigParser()
    setup.read(PACKAGE / 'setup.cfg')
    lines = setup['options.entry_points'][group].strip().splitlines()
    return [
        (name.strip(), target.strip()) for name, _, target in (x.partition('=') for x in lines)
    ]


def required() -> set[str]:
    """Return the libraries that setup.cfg names, those of the extras included."""
    setup = configparser.ConfigParser()
    setup.read(PACKAGE / 'setup.cfg')
    lists = [setup['options']['install_requires'], *setup['options.extras_require'].values()]
    return set(re.findall(r'^([\w-]+)', '\n'.join(lists), re.MULTILINE))


def exec_depends() -> set[str]:
    root = ElementTree.parse(PACKAGE / 'package.xml').getroot()
    return {str(depend.text) for depend in root.findall('exec_depend')}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported_by(paths: Iterable[Path]) -> set[str]:
    """Return the top-level modules that files import, wherever in them."""
    imported: set[str] = set()
    for node in (node for path in paths for node in ast.walk(parsed(path))):
        if isinstance(node, ast.Import):
            imported.update(alias.name.partition('.')[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported.add((node.module or '').partition('.')[0])
    return imported


NODES = [name for name, _ in entry_points_of('console_scripts') if name != 'bbllm']


@pytest.fixture
def setup_env(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script of the set-up as a module."""
    monkeypatch.syspath_prepend(ROOT / 'tools')
    return importlib.import_module('setup_env')


def run_in(shell: str, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a bare environment, as from a new terminal."""
    env = {'PATH': os.defpath, 'HOME': os.environ.get('HOME', '/'), **variables}
    return subprocess.run([shell, '-c', script], env=env, capture_output=True, text=True)


def test_entry_points_load_and_are_those_of_setup_cfg() -> None:
    groups = ('planners', 'pictures', 'stacks')
    listed = [point for group in groups for point in entry_points_of(f'bbllm.{group}')]
    installed = {
        (point.name, point.value)
        for group in groups
        for point in entry_points(group=f'bbllm.{group}')
    }

    assert installed == set(listed)
    with_ros = importlib.util.find_spec('rclpy') is not None
    for module, _, attribute in (target.partition(':') for _, target in listed):
        if not with_ros and module.startswith('bbllm_ros'):
            continue
        assert hasattr(importlib.import_module(module), attribute)
    scripts = dict(entry_points_of('console_scripts'))
    assert {scripts[name] for name in NODES} == {f'bbllm_ros.nodes.{name}:main' for name in NODES}


@pytest.mark.parametrize('path', [PACKAGE, INTERFACES, *COMPAT], ids=lambda path: path.name)
def test_package_xml_is_valid(path: Path) -> None:
    # colcon builds a package whose package.xml is invalid as something else, without a word.
    catkin_pkg = pytest.importorskip('catkin_pkg.package', reason='comes with ROS')
    package = catkin_pkg.parse_package(str(path))

    assert package.name == path.name
    assert package.get_build_type() == ('ament_python' if path == PACKAGE else 'ament_cmake')


def test_arm_is_reached_through_two_drivers_only() -> None:
    # Another client of the robot's control would take it from them, and go round approval.
    direct = PACKAGE / 'bbllm_franka'
    imported = imported_by(path for path in SOURCES if direct not in path.parents)

    assert {'rclpy', 'franka_msgs'} <= imported
    assert not imported & set(DIRECT_LIBRARIES)
    assert imported_by(direct.glob('*.py')) & set(DIRECT_LIBRARIES) == {'pylibfranka'}


def test_every_import_is_a_declared_dependency() -> None:
    imported = imported_by(SOURCES)
    libraries = {LIBRARIES.get(name, name) for name in imported}
    for name, parent in COMES_WITH.items():
        assert any(name in line.lower().replace('_', '-') for line in requires(parent) or [])
    known = {*sys.stdlib_module_names, *COMES_WITH, *exec_depends(), *required(), *OURS}
    known |= WITHOUT_WHAT_THEY_NEED
    for folder, elsewhere in OF_OTHER_ENVIRONMENTS.items():
        here = imported_by(path for path in SOURCES if folder not in path.parents)
        assert not here & elsewhere
        known |= elsewhere

    assert {'rclpy', 'action_msgs', 'franka_msgs', 'mujoco', 'pyyaml'} <= libraries
    assert {name.replace('_', '-') for name in libraries} <= {x.replace('_', '-') for x in known}


def test_versions_agree() -> None:
    for path in (PACKAGE, INTERFACES):
        root = ElementTree.parse(path / 'package.xml').getroot()
        assert root.findtext('version') == bbllm.__version__


def test_every_config_file_is_installed_and_every_file_beside_the_modules() -> None:
    patterns = re.findall(r"glob\('(config/[^']+)'\)", (PACKAGE / 'setup.py').read_text())
    installed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    assert installed == {path for path in (PACKAGE / 'config').rglob('*') if path.is_file()}

    setup = configparser.ConfigParser()
    setup.read(PACKAGE / 'setup.cfg')
    patterns = [part.strip() for part in setup['options.package_data']['*'].split(',')]
    for source in (PACKAGE / name for name in OURS):
        installed = {path for pattern in patterns for path in source.glob(pattern)}
        files = {path for path in source.rglob('*') if path.is_file()}
        hidden = {path for path in files if '/.' in str(path.relative_to(source.parent))}
        modules = {path for path in files if path.suffix in ('.py', '.pyc')}

        assert source / 'py.typed' in files
        assert files - modules - hidden <= installed


@pytest.mark.parametrize('path', sorted(REQUIREMENTS.glob('*.txt')), ids=lambda p: p.name)
def test_locked_packages_have_a_version_and_hashes_and_no_host(path: Path) -> None:
    text = path.read_text()
    # One block for each package; its hashes stand on indented lines.
    blocks = re.findall(r'^[^\s#].*?(?=^\S|\Z)', text, re.MULTILINE | re.DOTALL)

    assert blocks
    assert all('==' in block and '--hash=sha256:' in block for block in blocks)
    assert '://' not in text


@pytest.mark.parametrize('whole', ['lock.txt', 'system.txt'])
def test_demo_installs_what_bbllm_needs_in_the_versions_of_the_whole_lock(whole: str) -> None:
    demo = _pins(REQUIREMENTS / f'demo-{whole}')
    names = {name for name, _, _ in demo}
    setup = configparser.ConfigParser()
    setup.read(PACKAGE / 'setup.cfg')
    needed = set(re.findall(r'^([\w-]+)', setup['options']['install_requires'], re.MULTILINE))

    # Not the markers: the whole lock may have a package for another system too.
    pinned = {pin[:2] for pin in _pins(REQUIREMENTS / whole)}
    assert {pin[:2] for pin in demo} <= pinned
    # Ubuntu's numpy stays as it is.
    assert needed - names == ({'numpy'} if whole == 'system.txt' else set())
    # Neither ROS nor what tests and linters need.
    assert not {name for name in names if name.startswith('ros-')} | names & {'pytest', 'mypy'}


@pytest.mark.slow  # colcon builds the package
def test_colcon_installs_executables_and_configuration(tmp_path: Path) -> None:
    if not shutil.which('colcon'):
        pytest.skip('colcon is not installed here (make setup brings it)')
    build = ['colcon', '--log-base', f'{tmp_path}/log', 'build', '--base-paths', str(PACKAGE)]
    places = ['--build-base', f'{tmp_path}/build', '--install-base', f'{tmp_path}/install']
    run = subprocess.run([*build, *places], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr

    prefix = tmp_path / 'install' / 'bbllm'
    executables = {path.name for path in (prefix / 'lib' / 'bbllm').iterdir()}
    kinds = ('*.yaml', '*.xz')
    files = [path for kind in kinds for path in (ROOT / 'config').rglob(kind)]
    config = {path.relative_to(ROOT / 'config') for path in files}
    assert executables == {'bbllm', *NODES}
    assert {
        path for path in config if not (prefix / 'share/bbllm/config' / path).exists()
    } == set()
    assert (prefix / 'share/ament_index/resource_index/packages/bbllm').exists()
    assert (prefix / 'bin' / 'bbllm').exists()


@pytest.mark.parametrize('shell', SHELLS)
def test_activate_puts_bbllm_in_the_shell_from_any_folder(shell: str) -> None:
    run = run_in(shell, f'cd / && . {ROOT}/activate && command -v bbllm && echo "$BBLLM_ROOT"')

    assert run.stdout.splitlines() == [f'{ROOT}/.venv/bin/bbllm', str(ROOT)], run.stderr


def _pins(file: Path) -> set[tuple[str, str, str]]:
    """Return name, version and marker of every package of a lock file."""
    found = re.findall(r'^([a-z][\w.-]*)==([\w.]+)([^\\\n]*)', file.read_text(), re.MULTILINE)
    return {(name, version, marker.strip()) for name, version, marker in found}


def test_extras_are_bounded_alike_for_make_and_change_no_version() -> None:
    setup = configparser.ConfigParser()
    setup.read(PACKAGE / 'setup.cfg')
    offered = setup['options.extras_require']
    lines = (REQUIREMENTS / 'extras.in').read_text().splitlines()
    installed = {line.replace(' ', '') for line in lines if line and not line.startswith('#')}
    extras = _pins(REQUIREMENTS / 'extras.txt')
    names = {name for name, _, _ in extras}

    chosen = (
        'browser_tests',
        'console',
        'franka',
        'lerobot',
        'mcp',
        'onnx',
        'pddl',
        'video',
        'voice',
    )
    wanted = (offered[name] for name in chosen)
    assert {*''.join(wanted).replace(' ', '').split()} == installed
    # Ubuntu's ROS messages are built for Ubuntu's numpy.
    assert not {'numpy', 'setuptools'} & names
    for other in ('lock.txt', 'system.txt'):
        # Not the markers: the lock may have a package for another system alone.
        pinned = {(name, version) for name, version, _ in _pins(REQUIREMENTS / other)}
        shared = names & {name for name, _ in pinned}
        assert pinned and {pin[:2] for pin in extras if pin[0] in shared} <= pinned, other
    # The original household in the version that its driver knows.
    assert _pins(REQUIREMENTS / 'virtualhome.txt') == {('virtualhome', VERSION, '')}
    # The server in the version that is extended.
    assert _pins(REQUIREMENTS / 'franka_sim.txt') == {('franka-sim', FRANKA_SIM, '')}


@pytest.fixture
def fresh(setup_env: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let set-ups begin with nothing and do nothing; return the stamps that they leave."""
    stamps: dict[str, str] = {}
    for stage in (
        'make_venv',
        'install_bbllm',
        'install_ros',
        'build_interfaces',
        'build_addons',
        'install_nodes',
        '_install',
    ):
        monkeypatch.setattr(setup_env.Setup, stage, lambda *_: None)
    monkeypatch.setattr(setup_env, 'read_state', dict)
    monkeypatch.setattr(setup_env, 'write_state', lambda _, now: stamps.update(now))
    return stamps


def test_demo_is_set_up_without_a_compiler_and_ros_needs_one(
    setup_env: Any, fresh: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('CXX', 'no-such-compiler')

    setup_env.Setup(need_header=False).run(setup_env.DEMO)
    assert set(fresh) == {*setup_env.DEMO}

    with pytest.raises(setup_env.SetupError, match=r'no no-such-compiler found.*g\+\+'):
        setup_env.Setup(need_header=False).run((*setup_env.DEMO, *setup_env.WITH_ROS))
    assert set(fresh) == {*setup_env.DEMO}
