"""
Writes docs/options.md: every option of an episode with its flag, keyword, parameter and bounds.

    python tools/options_page.py

It is made from `bbllm.api.config`; a test compares it.
"""

import enum
from pathlib import Path

from bbllm.api.config import EpisodeConfig
from bbllm.api.settings import HERE, surface_of
from bbllm.cli.support.requests import spelled
from bbllm_ros.parameters.node_params import NODE_PARAMS

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'options.md'
HEAD = """# Options

<!-- Made by tools/options_page.py from src/bbllm/bbllm/api/config.py -->

Each option is declared once. Verbs have it as the flag, `Robot(...)` and `run_episode` as the
keyword, nodes and launch files as the parameter of the same name. `bbllm VERB --help-all` lists
the flags of a verb.

| keyword and parameter | flag | default | worlds | nodes | meaning |
| --- | --- | --- | --- | --- | --- |
"""
WORLDS = {'sim': 'table', 'household': 'house', 'given': 'own', 'ros': 'stack'}


def row(name: str) -> str:
    item = EpisodeConfig.model_fields[name]
    shown, default = surface_of(item), item.default
    value = default.value if isinstance(default, enum.Enum) else default
    written = '' if value in (None, '', ()) else f'`{value}`'
    worlds = (
        'all here'
        if shown.worlds == HERE
        else ', '.join(word for kind, word in WORLDS.items() if kind in shown.worlds)
    )
    nodes = ', '.join(
        node
        for node, record in NODE_PARAMS.items()
        if name in record.model_fields
        and record.model_fields[name].description == item.description
    )
    bounds = '' if shown.low is None else f' {shown.low:g} to {shown.high:g}.'
    text = f'{item.description}{bounds}'.replace('|', '\\|')
    cells = (f'`{name}`', f'`{spelled(EpisodeConfig)(name)}`', written, worlds, nodes, text)
    return f'| {" | ".join(cells)} |'


def page() -> str:
    return HEAD + '\n'.join(map(row, EpisodeConfig.model_fields)) + '\n'


if __name__ == '__main__':
    PAGE.write_text(page())
