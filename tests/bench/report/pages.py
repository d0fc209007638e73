"""A page as a tree, read by a parser that forgives no tag that is left open."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder

VOID = {'meta', 'br', 'link', 'img', 'input', 'hr'}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = TreeBuilder()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f'<{tag}> has an attribute twice: {names}'
        self.builder.start(tag, {name: value or '' for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)
        else:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or '' for name, value in attrs})
        self.builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f'</{tag}> closes {self.open[-3:]}'
        self.open.pop()
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.builder.data(data)


class Page:
    """A report as tests look at it."""

    def __init__(self, path: Path):
        self.source = path.read_text(encoding='utf-8')
        reader = _Reader()
        reader.feed(self.source)
        reader.close()
        assert reader.open == [], f'left open: {reader.open}'
        self.root = reader.builder.close()

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """Return all elements of a tag; `class_` names one class of several."""
        return [item for item in self.root.iter(tag) if _fits(item, attributes)]

    def one(self, tag: str, **attributes: str) -> Element:
        """Return the only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, f'{len(found)} of <{tag}> {attributes}'
        return found[0]

    def elements(self) -> Iterator[Element]:
        """Return all elements."""
        return self.root.iter()

    @property
    def text(self) -> str:
        """All that a reader sees, spaces as one."""
        body = self.one('main')
        return text_of(body)


def text_of(item: Element) -> str:
    """Return the text in an element, spaces as one."""
    return ' '.join(''.join(item.itertext()).split())


def rows_of(table: Element) -> list[list[str]]:
    """Return the texts of the cells of a table's body."""
    body = table.find('tbody')
    assert body is not None
    return [[text_of(cell) for cell in row] for row in body]


def figure_of(cell: Element) -> float | None:
    """Return the exact figure in an element; None where it shows none."""
    data = next(cell.iter('data'), None)
    return None if data is None else float(data.get('value', ''))


def _fits(item: Element, attributes: dict[str, str]) -> bool:
    for name, value in attributes.items():
        if name == 'class_':
            if value not in item.get('class', '').split():
                return False
        elif item.get(name.replace('_', '-')) != value:
            return False
    return True
