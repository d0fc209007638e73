"""Each layer imports only those below it, and ROS stays in its own."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / 'src' / 'bbllm' / 'bbllm'
ROOMS = (
    'core',
    'files',
    'telemetry',
    'llm',
    'llm/openai',
    'llm/recording',
    'llm/embedding',
    'llm/models',
    'planners/common',
    'planners/common/belief',
    'planners/body',
    'planners/fltrnn',
    'planners/inner_monologue',
    'planners/llm_pop',
    'planners/prog_prompt',
    'planners/brain_body',
    'planners/llm_state',
    'planners',
    'skills',
    'arm',
    'arm/motion',
    'arm/safety',
    'arm/execution',
    'bags',
    'vision',
    'sim/controllers',
    'sim',
    'worlds',
    'worlds/household',
    'worlds/scene',
    'worlds/perception',
    'vision/detectors',
    'calibration',
    'worlds/tabletop',
    'viz',
    'view3d',
    'video',
    'replay',
    'bench',
    'bench/suites',
    'bench/safety',
    'bench/log',
    'bench/ledger',
    'bench/optimal',
    'bench/oracle',
    'bench/scene_sampling',
    'bench/metrics',
    'bench/oracle/household',
    'bench/scorers',
    'bench/report',
    'bench/fitness',
    'bench/runner',
    'bench/demonstrations',
    'bench/compare',
    'bench/inspect_ai',
    'ros',
    'ros/rclpy_support',
    'ros/convert',
    'ros/parameters',
    'ros/rviz',
    'ros/sim',
    'ros/stack',
    'ros/bench',
    'ros/driver',
    'ros/calibration',
    'ros/planner',
    'ros/estimator',
    'ros/perception',
    'ros/executor',
    'ros/nodes',
    'api',
    'cli/views',
    'web',
    'mcp',
    'console',
    'cli/support',
    'cli',
    'cli/checks',
    'cli/calibrate',
    'cli/commands',
)
"""Every folder of modules; each imports only its own modules and those of the rooms above it."""
ROS = ('rclpy', 'action_msgs', 'ament_index_python', 'bbllm_interfaces', 'launch', 'launch_ros')
FILES = sorted(PACKAGE.rglob('*.py'))


def imports_of(path: Path) -> set[str]:
    """Return the dotted names of all modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f'{path}: relative import'
            names.add(node.module)
            # `from bbllm import nodes` names a layer too.
            names.update(f'{node.module}.{alias.name}' for alias in node.names)
    return names


def imports_at_start(path: Path) -> set[str]:
    """Return what importing the file imports at once, leaving out imports inside functions."""
    tree = ast.parse(path.read_text())
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def room_of(path: Path) -> str:
    """Return the room of a file: its folder; the package's own files are above all rooms."""
    return path.parent.relative_to(PACKAGE).as_posix()


def layer_of(path: Path) -> str:
    """Return the first folder of a file's room; the package's own files are on top."""
    return room_of(path).partition('/')[0] if path.parent != PACKAGE else 'cli'


def room_of_name(name: str) -> str | None:
    """Return the room of a dotted name of this package; none for other names."""
    parts = name.split('.')
    if parts[0] != 'bbllm':
        return None
    folder = PACKAGE
    for part in parts[1:]:
        if not (folder / part).is_dir():
            break
        folder /= part
    return None if folder == PACKAGE else folder.relative_to(PACKAGE).as_posix()


def is_ros(name: str) -> bool:
    """Say whether a module belongs to ROS."""
    top = name.partition('.')[0]
    return top in ROS or top.endswith(('_msgs', '_srvs', '_interfaces'))


def test_every_folder_is_a_room_of_the_list() -> None:
    assert {room_of(path) for path in FILES if path.parent != PACKAGE} == set(ROOMS)


SHARED_BY_PLANNERS = ('planners/common', 'planners/common/belief', 'planners/body')


@pytest.mark.parametrize('path', FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_file_imports_only_its_own_room_and_those_above(path: Path) -> None:
    room, layer, names = room_of(path), layer_of(path), imports_of(path)
    allowed = ROOMS if path.parent == PACKAGE else ROOMS[: ROOMS.index(room) + 1]
    used = {room_of_name(name) for name in names} - {None}

    assert used <= set(allowed)
    assert not {name for name in names if name.startswith('benchmarks')}
    if layer != 'ros':
        assert not {name for name in names if is_ros(name)}
    if room.startswith('planners/'):
        planners = {other for other in used if other and other.startswith('planners/')}
        assert planners <= {room, *SHARED_BY_PLANNERS}
    if layer == 'core':
        tops = {name.partition('.')[0] for name in names}
        assert tops <= {*sys.stdlib_module_names, 'bbllm', 'pydantic', 'pydantic_core'}
    if layer in ('api', 'cli'):  # ROS only when it is needed
        assert not {name for name in imports_at_start(path) if name.startswith('bbllm.ros')}
