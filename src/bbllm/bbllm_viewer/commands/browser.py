"""The page in a browser: its options, and how a verb serves it until Ctrl-C."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bbllm.cli.support.requests import flag, option
from bbllm.cli.support.supervision import interrupts
from bbllm.cli.views.output import Output
from bbllm.core.errors import ConfigError
from bbllm.core.plugins import how_to_install

if TYPE_CHECKING:
    from bbllm_viewer.console.desk import Desk

POLL_S = 0.1
BROWSER = 'Browser'
PACKAGES = ('starlette', 'uvicorn')


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Where the page is served."""

    panel: ClassVar[str] = BROWSER
    port: int | None = option('Port of the page; any that is free by default.', min=1, max=65535)
    host: str | None = option(
        'Serve other machines too, at this name or address of this one; needs TLS.',
    )
    tls_cert: Path | None = option('Certificate of that name, a PEM file.')
    tls_key: Path | None = option('Its private key, a PEM file.')


@dataclass(frozen=True, kw_only=True)
class BrowserOptions:
    """Whether there is a page, and where."""

    panel: ClassVar[str] = BROWSER
    browser: bool = flag('Serve a page that shows the robot and directs it (docs/console.md).')
    page: PageOptions


def missing_packages() -> list[str]:
    """Return the names of the packages that serve the page and are not installed."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def check_packages(verb: str) -> None:
    """Raise ConfigError where what serves the page is not installed."""
    if missing := missing_packages():
        raise ConfigError(f'`{verb}` needs {" and ".join(missing)}; {how_to_install("console")}.')


@contextmanager
def served(desk: Desk, options: PageOptions, output: Output) -> Iterator[str]:
    """
    Serve the page of a desk, print its address and yield it.

    Raises ConfigError where it cannot be served.
    """
    from bbllm_viewer.console.server import PageServer
    from bbllm_viewer.web.server import LOOPBACK, Address

    address = Address(
        host=options.host or LOOPBACK,
        port=options.port or 0,
        tls_cert=options.tls_cert,
        tls_key=options.tls_key,
    )
    with PageServer(desk, address) as server:
        output.print('Open this page in a browser; who has its address can direct the robot:')
        output.print_line(f'  {server.url}')
        yield server.url


def until_interrupted(tend: Callable[[], object] = lambda: None) -> None:
    """Wait for Ctrl-C; *tend* is called again and again, and may raise."""
    with interrupts() as counter:
        while not counter.count:
            tend()
            time.sleep(POLL_S)
