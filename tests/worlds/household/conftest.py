"""Lets the tests of this folder share a reference, and tells at the end what was compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# pytest's importlib mode puts no test folder on the path.
sys.path.insert(0, str(Path(__file__).parent))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the seeds and how much was compared."""
    reference: Any = sys.modules.get('reference')
    for line in getattr(reference, 'TOLD', ()):
        terminalreporter.write_line(line)
