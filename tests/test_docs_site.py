"""The files around the docs site fit each other, and their links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / 'docs').rglob('*.md'))
TEXTS = [
    *PAGES,
    *(
        ROOT / name
        for name in ('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md')
    ),
]


def load_hook() -> object:
    spec = importlib.util.spec_from_file_location('docs_links', ROOT / 'tools' / 'docs_links.py')
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('path', TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r'^```.*?^```|`[^`\n]*`', '', path.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r'\]\((?!\w+:|#)([^)\s#]+)', text)

    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_page_of_the_navigation_exists() -> None:
    pages = re.findall(r'([\w/-]+\.md)$', (ROOT / 'mkdocs.yml').read_text(), re.MULTILINE)

    assert len(pages) > 20
    assert [page for page in pages if not (ROOT / 'docs' / page).exists()] == []


def test_reference_names_what_there_is() -> None:
    reference = (ROOT / 'docs' / 'reference.md').read_text()
    for name in re.findall(r'^::: (\S+)', reference, re.MULTILINE):
        file = ROOT / 'src' / 'bbllm' / (name.replace('.', '/') + '.py')
        module, _, attribute = name.rpartition('.')
        inside = ROOT / 'src' / 'bbllm' / (module.replace('.', '/') + '.py')
        assert file.exists() or re.search(rf'^(class|def) {attribute}\b', inside.read_text(), re.M)


def test_links_out_of_the_docs_become_names_of_files() -> None:
    hook = load_hook()
    page = SimpleNamespace(file=SimpleNamespace(src_uri='design/approval.md'))
    text = '[a](../../config/llm.yaml) [`ros.md`](../ros.md) [c](https://x.org) [d](../gone.md)'
    rewritten = hook.on_page_markdown(text, page, {'docs_dir': str(ROOT / 'docs')})  # type: ignore[attr-defined]

    assert rewritten == (
        'a (`config/llm.yaml`) [`ros.md`](../ros.md) [c](https://x.org) [d](../gone.md)'
    )
