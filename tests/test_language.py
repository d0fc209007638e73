"""Docstrings and documents use plain technical English, in which programs are no persons."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORDS = re.compile(
    r'\b(tells?|told|telling|says?|said|saying|things?|holds?|held|nobody|somebody|whoever'
    r'|looks?|looked)\b',
    re.IGNORECASE,
)
"""Words that standard terms replace: reports, states, objects, contains, no process, reads."""
DOCSTRINGS_PER_1000 = 2.0
DOCS_PER_1000 = 2.0
"""Upper bounds, not 0: a gripper holds an object, and pages quote messages and file formats."""


def docstrings() -> Iterator[str]:
    for path in (ROOT / 'src/bbllm/bbllm').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ):
                yield ast.get_docstring(node) or ''


def documents() -> Iterator[str]:
    for path in (ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *(ROOT / 'docs').rglob('*.md')):
        yield path.read_text()


@pytest.mark.parametrize(
    ('texts', 'bound'), [(docstrings, DOCSTRINGS_PER_1000), (documents, DOCS_PER_1000)]
)
def test_words_of_persons_are_rare(texts: Callable[[], Iterator[str]], bound: float) -> None:
    text = '\n'.join(texts())
    found = WORDS.findall(text)

    assert 1000 * len(found) / len(text.split()) <= bound
