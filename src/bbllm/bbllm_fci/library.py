"""Finds franka-sim, whose protocol server is used here, and states what is installed."""

from importlib.metadata import PackageNotFoundError, version

from bbllm.core.errors import ConfigError

FRANKA_SIM = '1.1.7'
"""The version whose server is extended here; another one may have other insides."""
INSTALL = f'pip install --no-deps franka-sim=={FRANKA_SIM}'
"""Without what the package asks for: old numpy and MuJoCo, of which its server uses nothing."""


def need_franka_sim() -> None:
    """Raise ConfigError unless franka-sim is installed in the version of `FRANKA_SIM`."""
    try:
        found = version('franka-sim')
    except PackageNotFoundError:
        found = ''
    if found != FRANKA_SIM:
        has = f'has franka-sim {found}' if found else 'has no franka-sim'
        raise ConfigError(
            f'bbllm up fci serves the protocol with franka-sim {FRANKA_SIM}; this environment '
            f'{has}. Install it with: {INSTALL} (in a clone: make extras).'
        )
