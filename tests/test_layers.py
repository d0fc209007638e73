"""Packages import along declared arrows, rooms what is below them, and ROS stays in its own."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / 'src' / 'bbllm'
ARROWS: dict[str, set[str]] = {
    'bbllm': set(),
    'bbllm_vision': {'bbllm'},
    'bbllm_viewer': {'bbllm'},
    'bbllm_ros': {'bbllm', 'bbllm_vision', 'bbllm_viewer'},
    'bbllm_bench': {'bbllm', 'bbllm_vision', 'bbllm_viewer', 'bbllm_ros'},
}
"""Which other packages the modules of each package import."""
AGAINST: dict[str, set[str]] = {
    'bbllm/__init__.py': {'bbllm_bench'},
    'bbllm/api/backends.py': {'bbllm_ros', 'bbllm_viewer'},
    'bbllm/api/options.py': {'bbllm_bench'},
    'bbllm/api/robot.py': {'bbllm_viewer'},
    'bbllm/cli/checks/cameras.py': {'bbllm_vision'},
    'bbllm/cli/checks/fitness.py': {'bbllm_bench'},
    'bbllm/cli/checks/machine.py': {'bbllm_ros'},
    'bbllm/cli/checks/real_arm.py': {'bbllm_ros'},
    'bbllm/cli/support/browser.py': {'bbllm_viewer'},
    'bbllm/cli/support/demo_browser.py': {'bbllm_viewer'},
    'bbllm/cli/support/demo_nodes.py': {'bbllm_ros'},
    'bbllm/cli/support/discovery.py': {'bbllm_ros'},
    'bbllm/cli/support/plus_check.py': {'bbllm_bench', 'bbllm_viewer'},
    'bbllm/cli/support/recorded_demo.py': {'bbllm_bench'},
    'bbllm/cli/support/recording.py': {'bbllm_ros'},
    'bbllm/cli/support/replay_browser.py': {'bbllm_viewer'},
    'bbllm/cli/support/session.py': {'bbllm_ros'},
    'bbllm/cli/support/watched_episode.py': {'bbllm_bench'},
    'bbllm/cli/views/episode_view.py': {'bbllm_viewer'},
    'bbllm/cli/views/picture_files.py': {'bbllm_bench', 'bbllm_viewer'},
    'bbllm/cli/views/prompt_view.py': {'bbllm_viewer'},
    'bbllm/cli/views/question.py': {'bbllm_ros', 'bbllm_viewer'},
    'bbllm/worlds/tabletop/camera_setup.py': {'bbllm_vision'},
    'bbllm/worlds/tabletop/picture_reading.py': {'bbllm_vision'},
    'bbllm_ros/nodes/task_menu.py': {'bbllm_bench'},
    'bbllm_ros/stack/stack_checks.py': {'bbllm_bench'},
    'bbllm_viewer/commands/show.py': {'bbllm_bench'},
}
"""Files that still import a package that they should not, and which.  It only gets shorter."""
ROOMS = (
    'bbllm/core',
    'bbllm/files',
    'bbllm/telemetry',
    'bbllm/llm',
    'bbllm/llm/openai',
    'bbllm/llm/recording',
    'bbllm/llm/embedding',
    'bbllm/llm/models',
    'bbllm/planners/common',
    'bbllm/planners/common/belief',
    'bbllm/planners/body',
    'bbllm/planners/fltrnn',
    'bbllm/planners/inner_monologue',
    'bbllm/planners/llm_pop',
    'bbllm/planners/prog_prompt',
    'bbllm/planners/brain_body',
    'bbllm/planners/llm_state',
    'bbllm/planners',
    'bbllm/skills',
    'bbllm/scene',
    'bbllm/arm',
    'bbllm/arm/motion',
    'bbllm/arm/safety',
    'bbllm/arm/execution',
    'bbllm/bags',
    'bbllm/sim/controllers',
    'bbllm/sim',
    'bbllm/worlds',
    'bbllm/worlds/household',
    'bbllm/worlds/scene',
    'bbllm/worlds/perception',
    'bbllm/worlds/tabletop',
    'bbllm/api',
    'bbllm/cli/views',
    'bbllm/cli/support',
    'bbllm/cli',
    'bbllm/cli/checks',
    'bbllm/cli/commands',
    'bbllm',
    'bbllm_vision',
    'bbllm_vision/detectors',
    'bbllm_vision/calibration',
    'bbllm_viewer',
    'bbllm_viewer/viz',
    'bbllm_viewer/view3d',
    'bbllm_viewer/video',
    'bbllm_viewer/replay',
    'bbllm_viewer/web',
    'bbllm_viewer/console',
    'bbllm_viewer/commands',
    'bbllm_ros',
    'bbllm_ros/rclpy_support',
    'bbllm_ros/convert',
    'bbllm_ros/parameters',
    'bbllm_ros/rviz',
    'bbllm_ros/sim',
    'bbllm_ros/stack',
    'bbllm_ros/driver',
    'bbllm_ros/calibration',
    'bbllm_ros/planner',
    'bbllm_ros/estimator',
    'bbllm_ros/perception',
    'bbllm_ros/executor',
    'bbllm_ros/nodes',
    'bbllm_ros/mcp',
    'bbllm_ros/commands',
    'bbllm_bench',
    'bbllm_bench/suites',
    'bbllm_bench/safety',
    'bbllm_bench/log',
    'bbllm_bench/ledger',
    'bbllm_bench/optimal',
    'bbllm_bench/oracle',
    'bbllm_bench/scene_sampling',
    'bbllm_bench/metrics',
    'bbllm_bench/oracle/household',
    'bbllm_bench/scorers',
    'bbllm_bench/report',
    'bbllm_bench/fitness',
    'bbllm_bench/runner',
    'bbllm_bench/stack',
    'bbllm_bench/demonstrations',
    'bbllm_bench/compare',
    'bbllm_bench/inspect_ai',
    'bbllm_bench/commands',
)
"""Every folder of modules; each imports of its package its own modules and the rooms above it."""
SHARED_BY_PLANNERS = ('common', 'common/belief', 'body')
ROS = ('rclpy', 'action_msgs', 'ament_index_python', 'bbllm_interfaces', 'launch', 'launch_ros')
FILES = sorted(path for name in ARROWS for path in (SOURCE / name).rglob('*.py'))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the dotted names of all modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f'{path}: relative import'
            names.add(node.module)
            # `from bbllm_ros import nodes` names a room too.
            names.update(f'{node.module}.{alias.name}' for alias in node.names)
    return frozenset(names)


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


def package_of(name: str) -> str:
    """Return the first word of a dotted name."""
    return name.partition('.')[0]


def room_of_name(name: str) -> str | None:
    """Return the room of a dotted name of one of our packages; none for other names."""
    first, *parts = name.split('.')
    if first not in ARROWS:
        return None
    folder = SOURCE / first
    for part in parts:
        if not (folder / part).is_dir():
            break
        folder /= part
    return name_of(folder)


def is_ros(name: str) -> bool:
    """Say whether a module belongs to ROS."""
    top = package_of(name)
    return top in ROS or top.endswith(('_msgs', '_srvs', '_interfaces'))


def test_every_package_has_its_arrows_and_every_folder_of_modules_is_a_room() -> None:
    assert {path.parent.name for path in SOURCE.glob('*/__init__.py')} == {*ARROWS}
    assert {name_of(path.parent) for path in FILES} == {*ROOMS}


def test_packages_import_along_the_arrows() -> None:
    against: dict[str, set[str]] = {}
    for path in FILES:
        package = package_of(name_of(path).replace('/', '.'))
        used = {package_of(name) for name in imports_of(path)} & {*ARROWS}
        if wrong := used - {package} - ARROWS[package]:
            against[name_of(path)] = wrong

    assert against == AGAINST


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_file_imports_of_its_package_only_its_own_room_and_those_above(path: Path) -> None:
    room, names = name_of(path.parent), imports_of(path)
    package, _, inside = room.partition('/')
    rooms = {room_of_name(name) for name in names if package_of(name) == package}

    assert rooms - {package} <= {*ROOMS[: ROOMS.index(room) + 1]}
    assert not {name for name in names if name.startswith('benchmarks')}
    if package != 'bbllm_ros' and room != 'bbllm_bench/stack':
        assert not {name for name in names if is_ros(name)}
    if room.startswith('bbllm/planners/'):
        planners = {other for other in rooms if other and other.startswith('bbllm/planners/')}
        assert planners <= {room, *(f'bbllm/planners/{name}' for name in SHARED_BY_PLANNERS)}
    if room == 'bbllm/core':
        tops = {package_of(name) for name in names}
        assert tops <= {*sys.stdlib_module_names, 'bbllm', 'pydantic', 'pydantic_core'}
    if package == 'bbllm' and inside.partition('/')[0] in ('api', 'cli'):
        # ROS only when it is needed
        assert not {name for name in imports_at_start(path) if package_of(name) == 'bbllm_ros'}
