"""Whether ROS 2 can be had, asked before anything of `nodes` is imported."""

import importlib.util
import os

from bbllm.core.errors import ConfigError

PACKAGES = {
    'rclpy': 'ROS 2 is not in this shell',
    'bbllm_interfaces': 'the interfaces of bbllm are not built, or not in this shell',
}


def missing_ros() -> str:
    """Return what of ROS is missing, in words; empty where nothing is."""
    for package, text in PACKAGES.items():
        if importlib.util.find_spec(package) is None:
            return text
    return ''


def need_ros(verb: str) -> None:
    """
    Make sure that a verb can use the graph.

    Raises:
        ConfigError: ROS is missing; with what to type.
    """
    missing = missing_ros()
    if missing:
        raise ConfigError(
            f'`{verb}` needs ROS 2, but {missing}. In the folder of the project type: make setup '
            '(once; it takes about 3 minutes), then . ./activate. Without ROS: bbllm demo, or '
            'bbllm run --world tabletop.'
        )


def choose_domain(domain: int | None) -> None:
    """Make all that this process does with ROS happen in a domain; None leaves it as it is."""
    if domain is not None:
        # The environment is where rcl, and every process that is started, look for it.
        os.environ['ROS_DOMAIN_ID'] = str(domain)
