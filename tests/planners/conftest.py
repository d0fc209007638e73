"""Tests of planners import what they share from this folder."""

import sys
from pathlib import Path

# pytest's importlib mode puts no test folder on the path.
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / 'llm'))
