"""The language of docs, docstrings, names and messages: no program is described as a person."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    *(ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md')),
    *sorted((ROOT / 'docs').rglob('*.md')),
    *sorted((ROOT / 'design').glob('*.md')),
]
WORDS = re.compile(
    r'\b(tells?|told|telling|says?|said|saying|things?|holds?|held|nobody|somebody|whoever'
    r'|looks?|looked)\b',
    re.IGNORECASE,
)
"""Words that standard terms replace: reports, states, objects, contains, no process, reads."""
NAME_WORDS = {
    *('tell', 'tells', 'told', 'telling', 'teller', 'say', 'says', 'said', 'saying'),
    *('thing', 'things', 'look', 'looks', 'looked', 'looking', 'hear', 'hears', 'heard'),
    'hearing',
}
"""The same as parts of names: a planner receives, a model states, a camera observes."""
MOST_IN_MESSAGES, MOST_IN_NAMES = 4.5, 1.0
"""In a thousand words or names."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PACKAGES = sorted((ROOT / 'src/bbllm').glob('bbllm*/**/*.py'))
TESTS = sorted((ROOT / 'tests').rglob('*.py'))


def trees(paths: list[Path]) -> list[ast.Module]:
    return [ast.parse(path.read_text()) for path in paths]


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED):
            yield ast.get_docstring(node) or ''


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of help, errors and logs: strings of four words or more."""
    statements = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # docstrings, also those of fields
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in statements and len(text.split()) > 3:
            yield text


def names(tree: ast.Module) -> Iterator[str]:
    """Yield each name that is bound: of functions, classes, arguments and variables."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


def speaks(name: str) -> bool:
    parts = re.sub(r'([a-z])([A-Z])', r'\1_\2', name).lower().split('_')
    return not NAME_WORDS.isdisjoint(parts)


def rate(texts: list[str]) -> float:
    """Return how many of a thousand words are among `WORDS`."""
    text = '\n'.join(texts)
    return 1000 * len(WORDS.findall(text)) / len(text.split())


def test_docstrings_and_documents_speak_of_no_program_as_of_a_person() -> None:
    # Not 0: a gripper holds an object, and pages quote messages and file formats.
    assert rate(list(chain.from_iterable(map(docstrings, trees(PACKAGES))))) <= 1.8
    assert rate([path.read_text() for path in DOCUMENTS]) <= 1.8


def test_help_and_errors_speak_of_no_program_as_of_a_person() -> None:
    # Not 0: VirtualHome's messages and the instructions of suites are quoted. Wanted: 2.
    assert rate(list(chain.from_iterable(map(messages, trees(PACKAGES))))) <= MOST_IN_MESSAGES


@pytest.mark.parametrize('paths', [PACKAGES, TESTS], ids=['packages', 'tests'])
def test_names_speak_of_no_program_as_of_a_person(paths: list[Path]) -> None:
    bound = list(chain.from_iterable(map(names, trees(paths))))

    assert 1000 * sum(map(speaks, bound)) / len(bound) <= MOST_IN_NAMES
