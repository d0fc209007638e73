"""A bag of what happens on a stack, while a verb uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bbllm.api.session import Bag, RunningStack
from bbllm.bags.bag_file import check_bag
from bbllm.cli.support.session import Ran


class Recording:
    """The bag of a stack, or none."""

    def __init__(self, bag: Path | None) -> None:
        """Raise ConfigError where the bag cannot be begun; nothing is begun yet."""
        if bag is not None:
            check_bag(bag)
        self._path = bag
        self._recorder: Bag | None = None
        self._printed = ''

    @contextmanager
    def of(self, session: RunningStack) -> Iterator[None]:
        """Record what is published on a stack meanwhile, where that is wanted."""
        if self._path is None:
            yield
            return
        with session.record(self._path) as self._recorder:
            yield

    def trouble(self) -> str:
        """Return what is missing in the bag, once."""
        broken = '' if self._recorder is None else self._recorder.broken
        printed, self._printed = self._printed, broken
        return broken if broken != printed else ''

    def add_to(self, ran: Ran) -> Ran:
        """Return an episode with its bag, and what is missing in it."""
        hints = filter(None, (self.trouble(),))
        return replace(ran, bag=self._path, hints=(*ran.hints, *hints))
