"""Help as a plain list in two tiers: `-h` has the common options, `--help-all` all of them."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

COMMON = {
    *('--world', '--browser', '--planners', '--approval', '--recorded', '--list'),
    *('--prompts', '--html', '--failures', '--allow-motion', '--allow-hand'),
    *('--compare', '--tasks', '--trials', '--out', '--suite', '--real', '--json'),
    *('--sim', '--k'),
}
"""What most calls of a verb with many options need; the others are behind `--help-all`. Settings
with `common` are added where a verb has them."""
LISTED: dict[str, Callable[[], Iterable[str]]] = {}
"""What the whole help lists for an option, by its flag."""
FEW = 12
"""Options up to this number are all shown."""
EXAMPLES = 4
"""How many examples the short help has."""
COLUMN = 24
"""Where what an option is for begins; a longer one has a line of its own."""
WIDEST = 100
HELP_NAMES = ('-h', '--help')
ALL = '--help-all'
EXAMPLES_HEAD = 'Examples'
SENTENCE = re.compile(r'(?<=\.)\s|;\s')
"""Where the first sentence of a text ends, which the short help has of each option."""
NO_BRACES = str.maketrans('', '', '{}')
"""Some versions of typer write an argument in braces."""


class PlainCommand(TyperCommand):
    """A command whose help is a plain list, in two tiers where it has many options."""

    def __init__(self, name: str | None, **settings: Any):
        settings['context_settings'] = {
            'help_option_names': [*HELP_NAMES],
            **(settings.get('context_settings') or {}),
        }
        super().__init__(name, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the whole help where it is asked for, whatever else is missing."""
        if ALL in args[: args.index('--') if '--' in args else None]:
            typer.echo(self.text(ctx, everything=True), nl=False)
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the short help."""
        formatter.write(self.text(ctx, everything=False))

    def text(self, ctx: Any, *, everything: bool) -> str:
        """Return the help: usage, summary, arguments and options, and examples."""
        summary, rest, examples = _parts(self.help or '')
        params = [x for x in self.params if not getattr(x, 'hidden', False)]
        few = everything or len(params) <= FEW
        common = [x for x in params if few or not _is_option(x) or COMMON.intersection(x.opts)]
        pieces = ' '.join(self.collect_usage_pieces(ctx)).translate(NO_BRACES)
        lines = [f'Usage: {ctx.command_path} {pieces}'.rstrip(), '']
        lines += [*_wrapped(summary), '']
        if few:
            lines += [line for part in rest for line in (*_wrapped(part), '')]
        for title, chosen in _grouped(common, by_panel=everything):
            rows = [x.get_help_record(ctx) or (x.name, '') for x in chosen]
            if everything:
                rows = [(names, _with_words(names, text)) for names, text in rows]
            if not few:
                rows = [(names, SENTENCE.split(text, maxsplit=1)[0]) for names, text in rows]
            lines += [f'{title}:', *(line for row in rows for line in _row(*row)), '']
        rows = [(', '.join(HELP_NAMES), 'Print this list.')]
        if not few:
            n = sum(map(_is_option, params))
            rows.append((ALL, f'Print all {n} options, and all that the verb does.'))
        lines += [*(line for row in rows for line in _row(*row)), '']
        shown = examples if few else examples[:EXAMPLES]
        if shown:
            lines += [f'{EXAMPLES_HEAD}:', *(f'  {line}' for line in shown), '']
        return '\n'.join(lines).rstrip() + '\n'


def _with_words(names: str, text: str) -> str:
    """Return the text of an option with all words that it takes, where they are known."""
    words = next((LISTED[name] for name in names.split() if name in LISTED), None)
    return f'{text} There are {", ".join(words())}.' if words else text


def _parts(text: str) -> tuple[str, list[str], list[str]]:
    """Return the summary of a docstring, its other paragraphs, and its examples."""
    body, *below = re.split(rf'\n\s*{EXAMPLES_HEAD}:?[ ]*\n', text, maxsplit=1)
    first, *others = re.split(r'\n\s*\n', body.strip())
    return first, others, [x.strip() for x in ''.join(below).splitlines() if x.strip()]


def _is_option(param: Any) -> bool:
    return bool(param.param_type_name == 'option')


def _grouped(params: Sequence[Any], *, by_panel: bool) -> Iterator[tuple[str, list[Any]]]:
    """Yield arguments, then options: all together, or by their panels."""
    if arguments := [x for x in params if not _is_option(x)]:
        yield 'Arguments', arguments
    panels: dict[str, list[Any]] = {}
    for param in filter(_is_option, params):
        panel = getattr(param, 'rich_help_panel', None) if by_panel else None
        panels.setdefault(panel or 'Options', []).append(param)
    yield from sorted(panels.items(), key=lambda item: item[0] != 'Options')


def _row(names: str, text: str) -> list[str]:
    """Return the lines of a parameter: its names, and what it is for beside or below them."""
    room = ' ' * COLUMN
    lines = [f'{room}{line}' for line in _wrapped(text, width() - COLUMN)] or [room]
    head = f'  {names}'
    if len(head) < COLUMN - 1:
        return [head.ljust(COLUMN) + lines[0].lstrip(), *lines[1:]]
    return [head, *lines]


def _wrapped(text: str, columns: int | None = None) -> list[str]:
    return textwrap.wrap(' '.join(text.split()), columns or width(), break_on_hyphens=False)


def width() -> int:
    """Return how wide help is written [columns]."""
    return max(50, min(WIDEST, shutil.get_terminal_size().columns) - 1)
