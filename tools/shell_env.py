"""
Write what `activate` sources, and let ROS find an editable bbllm.

Python 3.8 on, standard library only.
"""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'src' / 'bbllm'
INTERFACES = ROOT / 'src' / 'bbllm_interfaces'
CONFORMANCE = ROOT / 'src' / 'franka_driver_conformance'
COMPAT = ('control_msgs', 'controller_manager_msgs', 'franka_msgs', 'tf2_msgs')
"""Stand-ins in `compat` that the nodes need, where the machine has not the packages themselves."""
ADDONS = ('moveit_msgs', 'object_recognition_msgs', 'vision_msgs')
"""Stand-ins for what nodes can do without: `make extras` builds them."""
VENV = ROOT / '.venv'
INSTALL = ROOT / 'install'
ENV_FILE = VENV / 'bbllm-env.sh'


def write_env_file_without_ros() -> None:
    """Write a shell script that sets nothing: the environment itself is enough for bbllm."""
    ENV_FILE.write_text('# Written by tools/shell_env.py for ../activate: without ROS.\n')


def write_env_file(system_ros: str | None) -> None:
    """Write the variables as a shell script; much quicker than colcon's own, which asks Python."""
    names = sorted((INTERFACES.name, *COMPAT, *ADDONS))
    built = [INSTALL / name for name in names if (INSTALL / name).is_dir()]
    libraries = [prefix / 'lib' for prefix in built]
    modules = [path for prefix in built for path in prefix.glob('l*/**/*-packages')]
    lines = [
        '# Written by tools/shell_env.py for ../activate.',
        f'export BBLLM_ROS={"system" if system_ros else "pypi"}',
    ]
    if system_ros:
        # What `ros2 launch` and `colcon build --symlink-install` start uses the system's Python.
        modules += VENV.glob('lib/python3*/site-packages')
        lines.append(f'bbllm_source_ros {shlex.quote(system_ros)}')
    else:
        libraries += [VENV / 'lib', *sorted(VENV.glob('lib/python3*/site-packages/ros_*.libs'))]
        # The wheels start every Python twice to set the library path, if this is not set.
        lines.append('export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1')
        lines.append('export RMW_IMPLEMENTATION="${RMW_IMPLEMENTATION:-rmw_fastrtps_cpp}"')
    for variable, paths in (
        ('AMENT_PREFIX_PATH', [*built, VENV]),
        ('CMAKE_PREFIX_PATH', [*built, VENV]),
        ('LD_LIBRARY_PATH', libraries),
        ('PYTHONPATH', modules),
    ):
        value = os.pathsep.join(str(path) for path in paths)
        lines.append(f'bbllm_prepend {variable} {shlex.quote(value)}')
    ENV_FILE.write_text('\n'.join(lines) + '\n')


def link_into_index() -> None:
    """Let `ros2 run` and `ros2 launch` find bbllm in the environment as in a colcon install."""
    index = VENV / 'share' / 'ament_index' / 'resource_index' / 'packages' / 'bbllm'
    index.parent.mkdir(parents=True, exist_ok=True)
    index.touch()
    share = VENV / 'share' / 'bbllm'
    shutil.rmtree(share, ignore_errors=True)
    _link(share / 'config', ROOT / 'config')
    _link(share / 'package.xml', PACKAGE / 'package.xml')
    for file in launch_files():  # one by one, because `ros2 launch` looks into no linked folder
        _link(share / 'launch' / file.name, file)
    setup = configparser.ConfigParser()
    setup.read(PACKAGE / 'setup.cfg')
    for line in setup['options.entry_points']['console_scripts'].strip().splitlines():
        name = line.partition('=')[0].strip()
        _link(VENV / 'lib' / 'bbllm' / name, VENV / 'bin' / name)


def launch_files() -> list[Path]:
    """List the launch files."""
    return sorted(ROOT.glob('launch/*.launch.py'))


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    path.symlink_to(target)
