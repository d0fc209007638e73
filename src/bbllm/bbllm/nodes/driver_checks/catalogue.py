"""
The list of all checks, and the page that shows it.

    python -m bbllm.nodes.driver_checks.catalogue docs/driver-checks.md
"""

from __future__ import annotations

import difflib
import fnmatch
import sys
from pathlib import Path

from bbllm.core.errors import ConfigError
from bbllm.nodes.driver_checks import (
    controllers,
    frames,
    hand,
    names,
    ptp,
    rejections,
    settings,
    states,
    stops,
    trajectories,
)
from bbllm.nodes.driver_checks.check import Check, Need, Theme

THEMES: tuple[Theme, ...] = (
    names.ARM,
    names.HAND,
    states.ARM,
    states.HAND,
    states.ROBOT,
    frames.ARM,
    frames.HAND,
    controllers.LISTS,
    controllers.SWITCHES,
    settings.SETTINGS,
    rejections.GOALS,
    trajectories.GOALS,
    ptp.PTP,
    hand.HAND,
    stops.REFLEX,
    stops.USER_STOP,
    stops.IDLE_STOP,
)
"""From looking to stopping: the order in which checks are run."""
CHECKS: tuple[Check, ...] = tuple(check for theme in THEMES for check in theme.checks)
BEGIN = '<!-- begin: python -m bbllm.nodes.driver_checks.catalogue docs/driver-checks.md -->'
END = '<!-- end -->'
NEEDS = {
    Need.NOTHING: 'look',
    Need.MOTION: 'motion',
    Need.HAND: 'hand',
    Need.STOP: 'stop',
}


def select(patterns: tuple[str, ...]) -> tuple[Check, ...]:
    """
    Return the checks whose name fits one of some patterns, all where there are none.

    Raises:
        ConfigError: A pattern fits nothing; says what might have been meant.
    """
    for pattern in patterns:
        names = [check.name for check in CHECKS]
        if not fnmatch.filter(names, pattern):
            close = difflib.get_close_matches(pattern, names)
            meant = f' Did you mean {", ".join(close)}?' if close else ''
            raise ConfigError(
                f'No check fits {pattern!r}.{meant} The list stands in docs/driver-checks.md; '
                "patterns such as '*-rejected' fit several."
            )
    return tuple(
        check
        for check in CHECKS
        if not patterns or any(fnmatch.fnmatch(check.name, pattern) for pattern in patterns)
    )


def tables() -> str:
    """Return the list in Markdown, one table a theme."""
    parts = [f'{len(CHECKS)} checks.']
    for theme in THEMES:
        rows = [f'| `{check.name}` | {check.says} | {check.source} |' for check in theme.checks]
        parts.append(
            f'### {theme.title[0].upper()}{theme.title[1:]} (needs: {NEEDS[theme.need]})\n\n'
            '| check | what it says | source |\n| --- | --- | --- |\n' + '\n'.join(rows)
        )
    return '\n\n'.join(parts)


def with_tables(page: str) -> str:
    """Return a page with the list between its two marks."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f'{before}{BEGIN}\n\n{tables()}\n\n{END}{after}'


def main() -> None:
    """Write the list into a page."""
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text('utf-8')), 'utf-8')


if __name__ == '__main__':
    main()
