"""Run the checks: pytest with the plugin and the tests of this package."""

import sys
from pathlib import Path

import pytest

CHECKS = Path(__file__).parent / 'checks'
# Also where the package is only on PYTHONPATH, without its entry point.
PLUGIN = ('-p', 'franka_driver_conformance.plugin')


def main() -> int:
    """Run pytest on the checks and return its exit code."""
    return int(pytest.main([*PLUGIN, str(CHECKS), '--verbose', '--tb=short', *sys.argv[1:]]))


if __name__ == '__main__':
    sys.exit(main())
