"""What has to be closed, and is by the end of a `with`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

T = TypeVar('T', bound='Closable')


class Closable(ABC):
    """Base of what holds something that must be given back."""

    @abstractmethod
    def close(self) -> None:
        """Give it back; nothing may be done with it afterwards."""

    def __enter__(self: T) -> T:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
