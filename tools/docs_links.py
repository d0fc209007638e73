"""A hook of mkdocs: the site is complete, without links out of docs/ and files of other hosts."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

LINK = re.compile(r'(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)]*)?\)')
FOREIGN = re.compile(
    r'<(?:script|link|img|iframe)\b[^>]*\s(?:src|href)=["\']?((?:https?:)?//[^\s"\'>]+)'
)
log = logging.getLogger('mkdocs.hooks.docs_links')


def on_page_markdown(markdown: str, page: Any, config: Any, **rest: object) -> str:
    """Return a page without links that leave docs/; one to a file that is missing stays."""
    docs = Path(config['docs_dir']).resolve()
    folder = (docs / page.file.src_uri).parent

    def rewrite(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        is_page = target.is_relative_to(docs) and target.is_file()
        if is_page or not target.exists():
            return found[0]
        name = found[1].strip('`')
        path = target.relative_to(docs.parent).as_posix()
        return f'`{path}`' if path.endswith(name) else f'{name} (`{path}`)'

    return LINK.sub(rewrite, markdown)


def on_post_page(output: str, page: Any, config: Any, **rest: object) -> None:
    """Warn, which fails a strict build, of each file that a page loads from another host."""
    for address in FOREIGN.findall(output):
        log.warning('%s loads %s: keep a copy in docs/.', page.file.src_uri, address)
