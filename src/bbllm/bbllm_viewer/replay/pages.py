"""The files of which pages with a replay consist."""

from importlib.resources import files


def static(name: str) -> str:
    """Return a file that pages contain: `replay.js`, `replay.css` or `embedded.js`."""
    return files('bbllm_viewer.replay').joinpath(f'static/{name}').read_text('utf-8')
