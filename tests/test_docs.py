"""The pages of the docs: their links, their snippets, and the commands that they name."""

import importlib.util
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / 'docs').rglob('*.md')) + sorted((ROOT / 'design').glob('*.md'))
BESIDE = ('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md')
TEXTS = [*PAGES, *(ROOT / name for name in BESIDE)]


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('path', TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r'^```.*?^```|`[^`\n]*`', '', path.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r'\]\((?!\w+:|#)([^)\s#]+)', text)

    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_page_of_the_navigation_exists_and_the_reference_names_what_there_is() -> None:
    pages = re.findall(r'([\w/-]+\.md)$', (ROOT / 'mkdocs.yml').read_text(), re.MULTILINE)
    assert len(pages) > 20
    assert [page for page in pages if not (ROOT / 'docs' / page).exists()] == []

    reference = (ROOT / 'docs' / 'reference.md').read_text()
    for name in re.findall(r'^::: (\S+)', reference, re.MULTILINE):
        file = ROOT / 'src' / 'bbllm' / (name.replace('.', '/') + '.py')
        module, _, attribute = name.rpartition('.')
        inside = ROOT / 'src' / 'bbllm' / (module.replace('.', '/') + '.py')
        assert file.exists() or re.search(rf'^(class|def) {attribute}\b', inside.read_text(), re.M)


def test_table_of_conditions_is_that_of_the_code() -> None:
    tool = load(ROOT / 'tools' / 'conditions_table.py')
    page = tool.PAGE.read_text()

    assert tool.rewritten(page) == page, 'Run python tools/conditions_table.py.'


def test_page_of_options_is_that_of_the_code() -> None:
    pytest.importorskip('bbllm_ros.parameters.node_params')
    tool = load(ROOT / 'tools' / 'options_page.py')

    assert tool.page() == tool.PAGE.read_text(), 'Run python tools/options_page.py.'


PYTHON_PAGE = ROOT / 'docs' / 'python.md'
SNIPPETS = re.findall(
    r'^```python\n(.*?)^```', PYTHON_PAGE.read_text(), flags=re.DOTALL | re.MULTILINE
)


def test_snippets_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    variables: dict[str, object] = {}
    for snippet in SNIPPETS:
        exec(compile(snippet, PYTHON_PAGE.name, 'exec'), variables)
    printed = capsys.readouterr().out

    for text in (
        *('FINISHED 3 calls', 'SUCCEEDED green_cube', '-> pick(green_cube)'),
        *('The plan of 3 steps by offline', 'Grab parrot FINISHED', "Did you mean 'brain_body'?"),
    ):
        assert text in printed


ARM_PAGES = [
    ROOT / 'docs' / name for name in ('real-arm.md', 'first-day-on-hardware.md', 'calibration.md')
]


def commands_of(path: Path, *words: str) -> list[list[str]]:
    """Return the commands of a page, in blocks or in a line, that begin with some words."""
    text = path.read_text().replace('\\\n', ' ')  # a line that goes on in the next
    blocks = re.findall(r'^```\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(
        r'`([^`\n]+)`', re.sub(r'^```.*?^```', '', text, flags=re.MULTILINE | re.DOTALL)
    )
    parts = [part for line in lines for part in line.partition(' #')[0].split('&&')]
    split = [shlex.split(part) for part in parts if part.strip().startswith(words[0])]
    return [command for command in split if command[: len(words)] == list(words)]


COMMAND_PAGES = [
    *ARM_PAGES,
    *(ROOT / 'docs' / name for name in ('safety.md', 'results.md', 'tutorials/camera.md')),
]


@cache
def options_of(*verb: str) -> frozenset[str]:
    """Return the options of a verb, which has to exist."""
    from typer.testing import CliRunner

    from bbllm.cli.main import app

    listed = CliRunner().invoke(app, [*verb, '--help-all'], env={'COLUMNS': '200'})
    assert listed.exit_code == 0, listed.output
    return frozenset(re.findall(r'--[a-z0-9-]+', listed.output))


@pytest.mark.parametrize('path', COMMAND_PAGES, ids=lambda path: path.name)
def test_commands_of_bbllm_have_the_options_they_are_given(path: Path) -> None:
    # `bbllm` alone is the namespace.
    found = [words for _, *words in commands_of(path, 'bbllm') if words]
    assert found
    for words in found:
        verb = words[: 2 if words[0] in ('bench', 'calibrate') else 1]
        given = {word for word in words[len(verb) :] if word.startswith('--')}
        assert given <= options_of(*verb), verb
