"""
Where messages may go: this machine only, unless it is opened to the network by name.

A profile of Fast DDS keeps a process to loopback sockets and shared memory. rmw_fastrtps adds
other transports to it for the discovery range LOCALHOST, and none for SYSTEM_DEFAULT. The
environment chooses both, so all that is decided here is an environment. Importing this module
needs no ROS. What it protects from: docs/security.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir

NETWORK = 'BBLLM_NETWORK'
"""The variable that opens a stack, or a client, to the network; true or false."""
PROFILE = 'bbllm_loopback.xml'
"""The file of the profile; `activate` chooses it, too, and any file of this name is ours."""
FILE = 'FASTRTPS_DEFAULT_PROFILES_FILE'
"""Names the profile to Fast DDS 2.14."""
SKIP = 'SKIP_DEFAULT_XML_FILE'
"""Keeps Fast DDS from the file DEFAULT_FASTRTPS_PROFILES.xml of whatever folder it runs in."""
RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
OLD_RANGE = 'ROS_LOCALHOST_ONLY'
"""What `RANGE` replaces; where it is 1, LOCALHOST is the range whatever else is set."""
RMW = 'RMW_IMPLEMENTATION'
FAST_DDS = 'rmw_fastrtps_cpp'
"""The middleware where none is chosen; only those that begin with rmw_fastrtps read profiles."""
DECIDED = (FILE, SKIP, RANGE, OLD_RANGE)
"""What is decided here; `NETWORK` is only read."""


def profile_file() -> Path:
    """Return the profile that keeps a process on this machine."""
    return config_dir() / 'dds' / PROFILE


def wants_network(environ: Mapping[str, str]) -> bool:
    """
    Return whether an environment is open to the network.

    Raises:
        ConfigError: It is neither true nor false.
    """
    value = environ.get(NETWORK) or 'false'
    if value not in ('true', 'false'):
        raise ConfigError(f'{NETWORK} is {value[:40]!r}: set it to true or to false.')
    return value == 'true'


def has_own_profile(environ: Mapping[str, str]) -> bool:
    """Return whether another profile was chosen, which then decides alone."""
    return Path(environ.get(FILE, '')).name not in ('', PROFILE)


def bounded(environ: Mapping[str, str]) -> dict[str, str]:
    """
    Return an environment whose processes stay on this machine, or use the network.

    Args:
        environ: Their other variables; `NETWORK` in it decides.

    Raises:
        ConfigError: `NETWORK` is neither true nor false.
    """
    env = dict(environ)
    is_open = wants_network(env)
    if has_own_profile(env):
        return env
    if env.pop(FILE, ''):  # ours, from a process that this one was started by
        env.pop(SKIP, None)
        if env.get(RANGE) == 'SYSTEM_DEFAULT':
            del env[RANGE]
    if is_open:
        env.setdefault(RANGE, 'SUBNET')
    elif (env.get(RMW) or FAST_DDS).startswith('rmw_fastrtps'):
        env |= {FILE: str(profile_file()), SKIP: '1', RANGE: 'SYSTEM_DEFAULT'}
        env.pop(OLD_RANGE, None)
    else:
        env.setdefault(RANGE, 'LOCALHOST')
    return env


def bound_process(environ: Mapping[str, str] | None = None) -> None:
    """
    Keep this process, and those that it starts, within its boundary.

    Only before its first node: Fast DDS reads its profile once.

    Args:
        environ: What decides instead of the process's own environment.
    """
    # rcl and Fast DDS read these from the process; there is no other way to give them.
    env = bounded(os.environ if environ is None else environ)
    for name in DECIDED:
        if name in env:
            os.environ[name] = env[name]
        else:
            os.environ.pop(name, None)
