"""
Write the table of skills in design/conditions.md anew, from those that every table offers.

    python tools/conditions_table.py

A test compares the page with the table.
"""

from collections.abc import Iterator
from pathlib import Path

from bbllm.core.types import Fact
from bbllm.skills.catalog import CORE
from bbllm.skills.skill import Judge

PAGE = Path(__file__).resolve().parent.parent / 'design' / 'conditions.md'
BEGIN, END = '<!-- begin: tools/conditions_table.py -->\n', '<!-- end -->'
JUDGED = {Judge.SCENE: 'scene', Judge.GEOMETRY: 'geometry', Judge.ARM: 'arm'}


def rewritten(page: str) -> str:
    """Return the page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + '\n' + '\n'.join(lines()) + '\n\n' + END + after


def lines() -> Iterator[str]:
    yield '| skill | has to be so | judged by | code | sentence |'
    yield '|---|---|---|---|---|'
    for row in CORE:
        call = f'`{row.name}({", ".join(row.signature.params)})`'
        for need in row.needs:
            said = f'`{need.sentence}`' if need.sentence else 'with measures'
            code = need.code.name
            yield f'| {call} | {need.means} | {JUDGED[need.judge]} | {code} | {said} |'
        if not row.needs:
            yield f'| {call} | nothing | | | |'
    yield ''
    yield '| skill | removes | adds |'
    yield '|---|---|---|'
    for row in CORE:
        if row.removes or row.adds:
            yield f'| `{row.name}` | {_facts(row.removes)} | {_facts(row.adds)} |'


def _facts(facts: tuple[Fact, ...]) -> str:
    return ', '.join(f'`{fact}`{" (estimated)" if fact.estimated else ""}' for fact in facts)


if __name__ == '__main__':
    PAGE.write_text(rewritten(PAGE.read_text()))
