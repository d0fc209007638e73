"""Lets the tests of this folder share what they make."""

import sys
from pathlib import Path

# pytest's importlib mode puts no test folder on the path.
for folder in ('', 'ledger', 'report', 'scorers', 'inspect_ai', '../doubles', '../planners'):
    sys.path.insert(0, str((Path(__file__).parent / folder).resolve()))
