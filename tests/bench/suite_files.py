"""Suite files for tests, as plain data."""

from pathlib import Path
from typing import Any

import yaml

from bbllm_bench.suites.suite import Suite, parse_suite

STANDING = {'level_m': 0.01, 'tilt_deg': 18}

GOALS: dict[str, dict[str, Any]] = {
    'color_line': {
        'colors': ['red', 'orange'],
        'straight_m': 0.02,
        'centre': [0.5, 0.0],
        'centre_m': 0.1,
        'gap_m': [0.04, 0.1],
    },
    'triangle': {
        'colors': ['reed', 'crimson'],
        'side': 'left',
        'margin_m': 0.02,
        'edge_m': 0.04,
        'side_edges': [1.5, 6],
        'angle_deg': 25,
        'apart_edges': 2,
    },
    'plus_sign': {
        'edge_m': 0.04,
        'pitch_edges': [1, 2.5],
        'residual_edges': 0.3,
        'turn_deg': 15,
        'level_edges': 0.3,
    },
    'conditions': {'text': 'side(all of cubes, right)'},
}


def goal(kind: str, **changes: object) -> dict[str, object]:
    """A goal with all that its kind needs."""
    return {'kind': kind, **GOALS[kind], **STANDING, **changes}


def task(**changes: object) -> dict[str, object]:
    """A task on a fixed scene; None takes a field away."""
    fields = {
        'name': 'a',
        'instruction': 'Do it.',
        'difficulty': 'easy',
        'least_loops': 0,
        'goal': goal('conditions'),
        'scene': 'plus_sign',
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not None}


def generated(**recipe: object) -> dict[str, object]:
    """A task on generated scenes."""
    cubes = [{'kind': 'cube', 'count': 3}]
    return task(scene=None, generate={'objects': cubes, **recipe})


def suite(*tasks: dict[str, object], path: str = '/x/mine.yaml') -> Suite:
    """A suite as if read from a file."""
    return parse_suite(yaml.safe_dump({'tasks': list(tasks)}), Path(path))
