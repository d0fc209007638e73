"""A call whose preconditions are not met is refused by name, and nothing moves."""

import numpy as np
import pytest

from bbllm.core.types import Code, Status
from bbllm_libero.panda import JointInfo, SiteInfo
from bbllm_libero.skills import SKILLS
from tests.libero.skills.still_panda import Part, StillPanda

BOX: tuple[Part, ...] = (((0.0, 0.0, 0.04), (0.03, 0.025, 0.04)),)
WIDE: tuple[Part, ...] = (((0.0, 0.0, 0.04), (0.06, 0.06, 0.04)),)
DRAWERS = ('top', 'bottom')


def _site(name: str, parent: str, joints: tuple[str, ...] = ()) -> SiteInfo:
    return SiteInfo(name=name, parent=parent, half_size_m=np.full(3, 0.05), joints=joints)


def _drawer(name: str) -> JointInfo:
    return JointInfo(
        name=name,
        owner='cabinet_1',
        body='cabinet_1',
        kind='slide',
        axis=np.array([0.0, 1.0, 0.0]),
        anchor_m=np.zeros(3),
        range=(-0.16, 0.01),
        ranges={'open': (-0.16, -0.14), 'close': (0.0, 0.005)},
    )


PANDA = StillPanda(
    {
        'box_1': ((0.5, 0.0, 0.0), BOX),
        'wide_1': ((0.5, 0.2, 0.0), WIDE),
        'far_1': ((1.5, 0.0, 0.0), BOX),
        'cabinet_1': ((0.5, -0.4, 0.0), WIDE),
    },
    fixtures=('cabinet_1',),
    sites={
        f'cabinet_1_{name}_region': (
            (0.5, -0.4, 0.05),
            _site(f'cabinet_1_{name}_region', 'cabinet_1', (f'{name}_level',)),
        )
        for name in DRAWERS
    },
    joints={f'{name}_level': (0.0, _drawer(f'{name}_level')) for name in DRAWERS},
)


@pytest.mark.parametrize(
    ('call', 'held', 'code', 'said'),
    [
        ('pick nothing_1', None, Code.UNKNOWN_OBJECT, 'box_1'),
        ('pick cabinet_1', None, Code.NOT_GRASPABLE, 'box_1'),
        ('pick wide_1', None, Code.NOT_GRASPABLE, 'No grasp is known for a wide'),
        ('pick far_1', None, Code.NO_CLEARANCE, 'out of reach'),
        ('pick box_1', 'far_1', Code.ALREADY_HOLDING, 'place it first'),
        ('pick box_1', 'box_1', Code.ALREADY_HOLDING, 'in the hand already'),
        ('place box_1', None, Code.NOT_HOLDING, 'pick an object first'),
        ('place box_1', 'box_1', Code.BAD_ARGUMENTS, 'on itself'),
        ('place nowhere', 'box_1', Code.UNKNOWN_OBJECT, 'cabinet_1_top_region'),
        ('place cabinet_1', 'box_1', Code.BAD_ARGUMENTS, 'cabinet_1_top_region'),
        ('open box_1', None, Code.PRECONDITION, 'cabinet_1_top_region'),
        ('open cabinet_1', None, Code.BAD_ARGUMENTS, 'cabinet_1_bottom_region'),
        ('open cabinet_1_top_region', 'box_1', Code.ALREADY_HOLDING, 'place that first'),
        ('close nothing_1', None, Code.UNKNOWN_OBJECT, 'cabinet_1_top_region'),
        ('turn_on cabinet_1', None, Code.PRECONDITION, 'nor can anything else here'),
        ('turn_off box_1', None, Code.PRECONDITION, 'nor can anything else here'),
        ('push far_1 box_1', None, Code.NO_CLEARANCE, 'nor is it hollow'),
        ('push cabinet_1 box_1', None, Code.NOT_GRASPABLE, 'box_1'),
        ('push wide_1 nowhere', None, Code.UNKNOWN_OBJECT, 'nowhere'),
        ('push wide_1 box_1', 'box_1', Code.ALREADY_HOLDING, 'place that first'),
    ],
)
def test_a_call_is_refused_with_what_would_work(
    call: str, held: str | None, code: Code, said: str
) -> None:
    name, *args = call.split()
    (skill,) = (skill for skill in SKILLS if skill.signature.name == name)

    result = skill.run(PANDA, tuple(args), held)

    assert (result.status, result.code) == (Status.REJECTED, code)
    assert said in result.message
    assert result.held == held


def test_a_drawer_that_is_closed_already_is_left_alone() -> None:
    (close,) = (skill for skill in SKILLS if skill.signature.name == 'close')
    joints = {'top_level': (0.002, _drawer('top_level'))}
    site = _site('cabinet_1_top_region', 'cabinet_1', ('top_level',))
    panda = StillPanda(
        {'cabinet_1': ((0.5, -0.4, 0.0), WIDE)},
        fixtures=('cabinet_1',),
        sites={'cabinet_1_top_region': ((0.5, -0.4, 0.05), site)},
        joints=joints,
    )

    assert close.run(panda, ('cabinet_1_top_region',), None).status is Status.SUCCEEDED
