"""The replay inside the page of an episode: what is shown when, and the scripts that show it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from bbllm.core.events import Episode
from bbllm.core.text import json_text
from bbllm_viewer.replay.pages import static

SHOWN = ('activity', 'beliefs', 'counts', 'ending', 'running', 'sub_goals')
"""Values that the replay shows; the page has the others as they were at the end."""


@dataclass(frozen=True, slots=True)
class EmbeddedReplay:
    """What a page with a replay contains."""

    record: Markup
    """JSON in which nothing can be read as markup."""
    note: str
    """What is missing of the motion; '' for nothing."""
    script: Markup
    rules: Markup

    @property
    def policy(self) -> str:
        """The source of scripts by which a page runs this one and no other."""
        digest = hashlib.sha256(self.script.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


def embedded_replay(episode: Episode, journal: Path) -> EmbeddedReplay:
    """Return the replay of an episode: without a motion on record, of plan and conversation."""
    # They import mujoco, which most reports and all help texts need not wait for.
    from bbllm_viewer.replay.recording import recording_of
    from bbllm_viewer.view3d.drawn_scene import script

    record = recording_of(episode, journal)
    values = record['values']
    assert isinstance(values, dict)
    part = {
        **record,
        'values': {name: history for name, history in values.items() if name in SHOWN},
    }
    texts = (script(), static('replay.js'), static('embedded.js'))
    return EmbeddedReplay(
        # No bracket of a tag or a comment: JSON means the same with it escaped.
        record=Markup(json_text(part).replace('<', r'\u003c').replace('>', r'\u003e')),
        note=str(record['note']),
        script=Markup('\n'.join(texts)),
        rules=Markup(static('replay.css')),
    )
