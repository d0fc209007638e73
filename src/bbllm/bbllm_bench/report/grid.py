"""Tables of figures as data, for a terminal and for Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table; cells may have two lines, a figure and its interval."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sums: tuple[tuple[str, ...], ...] = ()
    """Rows below a line."""
    caption: str = ''


def grid_of(
    title: str,
    rows: Sequence[Mapping[str, str]],
    sums: Sequence[Mapping[str, str]] = (),
    notes: Mapping[str, str] | None = None,
) -> Grid:
    """
    Return a table of rows by column; a column without any text is left out.

    Of *notes*, the caption has those about columns that are shown.
    """
    found = [*rows, *sums]
    names = dict.fromkeys(name for row in found for name in row)
    header = [name for name in names if any(row.get(name) for row in found)]
    return Grid(
        title=title,
        header=tuple(header),
        rows=tuple(tuple(row.get(name, '') for name in header) for row in rows),
        sums=tuple(tuple(row.get(name, '') for name in header) for row in sums),
        caption='\n'.join(text for name, text in (notes or {}).items() if name in header and text),
    )


def print_grid(grid: Grid, console: Console) -> None:
    """Print a table at its own width: where it is cut to a narrow one, no figure is left."""
    table = Table(
        title=grid.title,
        title_justify='left',
        caption=grid.caption or None,
        caption_justify='left',
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for index, name in enumerate(grid.header):
        table.add_column(name, justify='right' if index else 'left', no_wrap=True)
    for row in grid.rows:
        table.add_row(*row)
    table.add_section()
    for row in grid.sums:
        table.add_row(*row, style='bold')
    table.width = table.__rich_measure__(console, console.options.update(max_width=999)).maximum
    console.print(table, crop=False, soft_wrap=True)


def markdown_of(grid: Grid) -> list[str]:
    """Return a table as lines of Markdown, under a heading."""
    rule = [':--', *('--:' for _ in grid.header[1:])]
    lines = [_line(row) for row in (grid.header, rule, *grid.rows, *grid.sums)]
    return [f'## {grid.title}', '', *lines, *(['', grid.caption] if grid.caption else [])]


def _line(cells: Sequence[str]) -> str:
    return f'| {" | ".join(cell.replace(chr(10), "<br>") for cell in cells)} |'
