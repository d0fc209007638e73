"""The gate before the arm: what a person approves is what a person sees."""

from __future__ import annotations

import pytest
from gates import CALLS, STEPS, YES, Person, gate, nothing, of_plan

from bbllm.core.printable import hidden_fault
from bbllm.core.types import Code, SkillCall, Status

PAINTED = 'throw knife\x1b[1A\x1b[2K\r  1: place red_cube'


@pytest.mark.parametrize('mode', ['plan', 'step', 'risky', 'none'])
@pytest.mark.parametrize(
    ('text', 'named'),
    [
        (PAINTED, 'U+001B'),
        ('pick red_cube\n1: return to base', 'U+000A'),
        ('pick \u202eebuc_der', 'U+202E (RIGHT-TO-LEFT OVERRIDE)'),
        ('pick red\u200b_cube', 'U+200B (ZERO WIDTH SPACE)'),
        ('pick red\u200d_cube', 'U+200D'),
        ('pick \x9b2Jred_cube', 'U+009B'),
    ],
)
def test_a_plan_with_a_character_that_nobody_sees_is_refused_and_names_it(
    mode: str, text: str, named: str
) -> None:
    person = Person([YES])

    refusal = gate(person, mode).permit(CALLS[0], of_plan(0, (STEPS[0], text)), nothing)

    assert refusal is not None
    assert (refusal.status, refusal.code) == (Status.REJECTED, Code.NOT_APPROVED)
    assert 'step 1 of its plan contains the character' in refusal.message
    assert named in refusal.message
    assert hidden_fault(refusal.message) == ''
    assert not person.asked


def test_an_episode_id_with_an_escape_sequence_is_refused() -> None:
    person = Person([YES])

    refusal = gate(person).permit(CALLS[0], of_plan(0, episode='e\x1b[2J'), nothing)

    assert refusal is not None
    assert 'its episode id contains the character U+001B' in refusal.message
    assert not person.asked


def test_plans_in_any_script_are_asked_for() -> None:
    steps = ('plocka röd_kub', '拿起红色方块', 'التقط المكعب الأحمر')
    person = Person([YES, YES])

    gate(person).permit(CALLS[0], of_plan(0, steps), nothing)

    assert person.asked[0].lines == tuple(f'{i}: {text}' for i, text in enumerate(steps))


def test_what_stopped_the_robot_is_asked_about_in_characters_that_are_seen() -> None:
    person = Person([YES])

    gate(person).resume(f'waiting for {SkillCall("pick", (PAINTED,))}', nothing)

    (asked,) = person.asked
    assert hidden_fault(asked.lines[0]) == ''
    assert '\\x1b[1A' in asked.lines[0]
