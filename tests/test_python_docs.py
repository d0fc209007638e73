"""docs/python.md: its snippets run in order, and it describes every public name."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import bbllm

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'python.md'
SNIPPETS = re.findall(r'^```python\n(.*?)^```', PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_snippets_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    variables: dict[str, object] = {}
    for snippet in SNIPPETS:
        exec(compile(snippet, PAGE.name, 'exec'), variables)
    printed = capsys.readouterr().out

    assert 'FINISHED 3 calls' in printed
    assert 'SUCCEEDED green_cube' in printed
    assert '-> pick(green_cube)' in printed
    assert 'The plan of 3 steps by offline' in printed
    assert 'Grab parrot FINISHED' in printed
    assert "Did you mean 'brain_body'?" in printed


@pytest.mark.parametrize('name', bbllm.__all__)
def test_page_names_every_public_name(name: str) -> None:
    assert re.search(rf'\b{name}\b', PAGE.read_text())


def test_page_describes_every_option_of_a_robot() -> None:
    options = set(inspect.signature(bbllm.Robot).parameters) - {'world'}

    assert {name for name in options if f'`{name}' not in PAGE.read_text()} == set()
    assert set() == {
        name
        for name in vars(bbllm.Robot)
        if not name.startswith('_') and f'{name}' not in PAGE.read_text()
    }
