"""Where the prompts' templates come from, and how all of them are rendered."""

from __future__ import annotations

import jinja2

from bbllm.core.delimiters import DATA_RULE, as_data


def templates(folder: str = '', *, keep_trailing_newline: bool = False) -> jinja2.Environment:
    """
    Return the templates of a folder of `prompts`; a name that is not given to one is an error.

    All have the sentence `data_rule` and the filter `data` of `core.delimiters`.

    Args:
        folder: Such as `fltrnn`; '' for all, which are then named with their folders.
        keep_trailing_newline: Whether the last line break of a template is part of it.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm.planners', f'prompts/{folder}'.rstrip('/')),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        autoescape=False,  # the output is read by a model, not by a browser
    )
    environment.globals['data_rule'] = DATA_RULE
    environment.filters['data'] = as_data
    return environment


def source(environment: jinja2.Environment, name: str) -> str:
    """Return a file of the templates' folder as it is."""
    assert environment.loader is not None  # `templates` gave it one
    return environment.loader.get_source(environment, name)[0]
