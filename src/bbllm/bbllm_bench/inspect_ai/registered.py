"""Names under which inspect_ai lists what this folder has."""

from collections.abc import Callable
from typing import TypeVar

Made = TypeVar('Made', bound=Callable[..., object])


def as_bbllm(function: Made) -> Made:
    """
    Have inspect_ai list a function as `bbllm/NAME`.

    It takes the first word of the function's module and checks whether that is installed, so that
    users would have to type the name of the import package, and not that of the distribution. A
    file that is named by its path has no such word, and its tasks have no package in their names.
    """
    if function.__module__.startswith('bbllm_bench.'):
        function.__module__ = 'bbllm'
    return function
