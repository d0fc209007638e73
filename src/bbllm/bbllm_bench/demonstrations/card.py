"""The page README.md of a data set: what it has, what planned, and what its columns mean."""

import jinja2

from bbllm_bench.demonstrations.drawing import LOOPS, MODEL, PLANNER, SUITE, DemoSettings
from bbllm_bench.demonstrations.figures import DemoFigures
from bbllm_bench.demonstrations.playing import FPS
from bbllm_bench.report.grid import markdown_of

TABLE_AT = 2
"""Line of a grid's Markdown after its heading, which the page has itself."""


def card_page(settings: DemoSettings, figures: DemoFigures) -> str:
    """Return the page; the same for equal settings, so that whole data sets can be compared."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm_bench.demonstrations', ''),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # the output is Markdown
    )
    return templates.get_template('card.md.j2').render(
        settings=settings,
        figures=figures,
        table='\n'.join(markdown_of(figures.grid())[TABLE_AT:]),
        fps=FPS,
        planner=PLANNER,
        model=MODEL,
        loops=LOOPS,
        suite=SUITE,
    )
