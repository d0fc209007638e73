"""Another package adds a skill by an entry point, and cannot break those that are there."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bbllm.arm.envelope import SafetyEnvelope
from bbllm.core.plugins import forget, installed
from bbllm.core.skill_calls import plain
from bbllm.core.types import Code, SkillCall, Status
from bbllm.scene.scene_file import ObjectSpec, SceneFile
from bbllm.skills.catalog import GROUP, arm_skills, load_skills, own_skills, skills_for
from bbllm.skills.step_words import fault_of_phrase
from bbllm.worlds.tabletop.tabletop import TabletopWorld

NOD = """
from bbllm.core.types import Skill
from bbllm.skills import ArmSkill, Glide, Grip, Handling, Motion, MoveAbove

def plan(call, scene, hand):
    x, y, z = scene.object(call.args[0]).pose.position_m
    grip = Grip(position_m=(x, y, z + 0.15), yaw_rad=0.0, opening_m=hand.width_m, side_room_m=0.0)
    down = Glide('nodding', (0.0, 0.0, -0.05))
    up = Glide('nodding', (0.0, 0.0, 0.05))
    return Motion((MoveAbove((grip,), 0.05, call.args[0]), down, up))

NOD = ArmSkill(
    signature=Skill('nod', ('object',), 'nod over an object', ('greet',)),
    plan=plan,
    handling=lambda call: Handling(),
    words=('nod', 'bow'),
    forms=('nod at {}',),
)
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return what installs a package with one module and an entry point, for one test."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(package: str, code: str, target: str = 'NOD', name: str = 'nod') -> None:
        monkeypatch.delitem(sys.modules, package, raising=False)
        about = tmp_path / f'{package}-1.0.dist-info'
        about.mkdir()
        (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
        (about / 'entry_points.txt').write_text(f'[{GROUP}]\n{name} = {package}:{target}\n')
        (tmp_path / f'{package}.py').write_text(code)
        forget()
        arm_skills.cache_clear()

    yield write
    forget()
    arm_skills.cache_clear()


def faults() -> tuple[str, ...]:
    return load_skills(installed(GROUP))[1]


def test_a_skill_of_another_package_is_offered_last_and_moves_the_arm(install: Install) -> None:
    install('nodding', NOD)
    cube = ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.1))

    assert faults() == ()
    assert skills_for(())[-1].name == 'nod'
    activities: list[str] = []
    world = TabletopWorld(SceneFile(objects=(cube,)))
    world.set_activity_callback(activities.append)
    outcome = world.execute(SkillCall('greet', ('red cube',)))

    assert outcome.succeeded, outcome.message
    assert activities.count('nodding') == 2


def test_its_motions_obey_the_envelope(install: Install) -> None:
    near = "'nodding', touching=('red_cube',), shift_m=("
    install(
        'nodding',
        NOD.replace('-0.05', '-0.12').replace('hand.width_m', '0.0').replace("'nodding', (", near),
    )
    scene = SceneFile(objects=(ObjectSpec(name='red_cube', kind='cube', xy=(0.45, 0.1)),))
    call = SkillCall('nod', ('red_cube',))
    bound = TabletopWorld(scene, safety=SafetyEnvelope().stricter(['touch the red_cube']))

    refused = bound.execute(call)

    assert TabletopWorld(scene).execute(call).succeeded
    assert (refused.status, refused.code) == (Status.REJECTED, Code.UNSAFE)
    assert "the constraint 'never touch red_cube' forbids nodding" in refused.message


@pytest.mark.parametrize(
    ('code', 'wording'),
    [
        ('import no_such_module', 'cannot be imported (ModuleNotFoundError'),
        ('raise SystemError("no luck")', 'cannot be imported (SystemError: no luck)'),
        ('', "has no attribute 'NOD'"),
        ('NOD = 3', 'it is int and no ArmSkill'),
        (
            NOD.replace("'nod', (", "'pick', ("),
            "'pick' is a name or a word of the skill pick already",
        ),
        (
            NOD.replace("'greet'", "'grasp'"),
            "'grasp' is a name or a word of the skill pick already",
        ),
        (
            NOD.replace("'bow'", "'let go'"),
            "'let_go' is a name or a word of the skill open_gripper",
        ),
        (NOD.replace("'bow'", "'on the'"), "'on_the' cannot stand for it: most steps have it"),
        (NOD.replace("'bow'", "'cube'"), "'cube' cannot stand for it: most steps have it"),
        (NOD.replace("'greet'", "'it'"), "'it' cannot stand for it: most steps have it"),
        (NOD.replace("'bow'", "'...'"), "'...' cannot stand for it: it has no letters"),
        (NOD.replace("'bow'", "'leave alone'"), "a step with 'leave' may forbid what it names"),
        (NOD.replace("'nod', (", "'Nod it', ("), 'is no word in lower case'),
        (NOD.replace('    plan=plan,\n', ''), 'it needs either `plan` or `halves`'),
        (NOD.replace('nod at {}', 'nod at'), 'has not the 1 blanks'),
    ],
)
def test_a_skill_that_cannot_be_used_is_left_out_with_the_reason(
    install: Install, caplog: pytest.LogCaptureFixture, code: str, wording: str
) -> None:
    install('nodding', code)

    assert set(arm_skills()) == {skill.name for skill in own_skills()}
    (warning,) = [record.getMessage() for record in caplog.records]
    assert wording in warning
    assert 'nodding:NOD of nodding' in warning
    assert 'docs/writing-a-skill.md' in warning


def test_one_that_states_that_it_moves_nothing_moves_nothing(install: Install) -> None:
    install('nodding', NOD.replace('    words=', '    moves=False, words='))
    world = TabletopWorld(
        SceneFile(objects=(ObjectSpec(name='cube', kind='cube', xy=(0.45, 0.1)),))
    )

    outcome = world.execute(SkillCall('nod', ('cube',)))

    assert outcome.status is Status.REJECTED
    assert outcome.message == 'nod would move, and states that it does not.'


@pytest.mark.parametrize(
    ('was', 'instead', 'wording'),
    [
        ('0.15', '1 / 0', 'ZeroDivisionError: division by zero (nodding.py, line 7).'),
        ('0.15', '{}["x" * 4000]', 'xxxx ... (nodding.py, line 7).'),
        ('return Motion', 'Motion', 'it returned NoneType, and has to return a Motion or a Reje'),
        ('Motion((MoveAbove((grip,), 0.05, call.args[0]), down, up))', 'Motion(())', 'is empty'),
        ('down, up))', 'down, None))', 'NoneType is no segment, such as'),
        ('hand.width_m', '0.12', 'opening_m=0.12 of a Grip is no opening of the hand, which are'),
    ],
)
def test_one_that_cannot_plan_a_call_is_named_and_moves_nothing(
    install: Install, was: str, instead: str, wording: str
) -> None:
    install('nodding', NOD.replace(was, instead))
    cube = ObjectSpec(name='cube', kind='cube', xy=(0.45, 0.1))
    activities: list[str] = []
    world = TabletopWorld(SceneFile(objects=(cube,)))
    world.set_activity_callback(activities.append)

    outcome = world.execute(SkillCall('nod', ('cube',)))

    assert (outcome.status, outcome.code) == (Status.REJECTED, Code.INTERNAL)
    assert 'The skill nod (nodding:plan) could not plan nod(cube): ' in outcome.message
    assert wording in outcome.message
    assert activities == []


def test_what_blocks_a_glide_from_within_the_hand_is_named_with_what_allows_it(
    install: Install,
) -> None:
    close = "CloseOn('cube', 0.04, 0.08)"
    install(
        'nodding',
        NOD.replace('+ 0.15', '').replace('hand.width_m', '0.06').replace('0.0)\n', '0.01)\n', 1)
        .replace('5, call.args[0])', "5, 'cube', ('cube',))").replace('down, up', f'{close}, up')
        .replace('import ArmSkill', 'import ArmSkill, CloseOn'),
    )  # fmt: skip
    cube = ObjectSpec(name='cube', kind='cube', xy=(0.45, 0.1))

    outcome = TabletopWorld(SceneFile(objects=(cube,))).execute(SkillCall('nod', ('cube',)))

    assert outcome.status is Status.REJECTED
    assert outcome.message == (
        'no free way for nodding was found: cube is in the way: it is in the hand then, and has '
        "to be in touching=('cube',) of the Glide."
    )


def test_no_phrase_of_the_own_skills_is_refused() -> None:
    for skill in own_skills():
        for phrase in (skill.name, *skill.signature.aliases, *skill.words):
            assert fault_of_phrase(plain(phrase)) == ''


def test_of_two_skills_of_one_name_neither_is_taken(install: Install) -> None:
    install('nodding', NOD)
    install('bowing', NOD)

    assert set(arm_skills()) == {skill.name for skill in own_skills()}
    assert len(faults()) == 2
    assert all('2 packages bring a skill named nod' in fault for fault in faults())


def test_one_that_fails_leaves_the_others(install: Install) -> None:
    install('nodding', NOD)
    install('broken', 'import no_such_module', name='broken')

    assert [*arm_skills()][-1] == 'nod'
    assert len(faults()) == 1
