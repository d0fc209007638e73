"""Fills the templates of pages, in which every text from outside is escaped."""

from functools import cache

import jinja2

from bbllm_bench.report import words


def render_page(template: str, **values: object) -> str:
    """Return a template of this package with *values*; macros that it imports see them too."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm_bench.report', 'templates'),
        # Always on: texts of models and of people come through here.
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=words.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=words)
    return environment
