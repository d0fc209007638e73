"""Options of a planner, spelled as on the command line."""

from typing import Any

from bbllm.core.registry import load_planner


def chosen(planner: str, **options: str) -> Any:
    """Return the options of a planner, some of them chosen: `chosen("fltrnn", demos="fixed")`."""
    words = ','.join(f'{key}={value}' for key, value in options.items())
    return load_planner(f'{planner}:{words}' if words else planner).options
