"""Which episode runs, as the gate before the arm hears it."""

from __future__ import annotations

from gates import YES, Person, gate, run


def test_episode_runs_until_it_ends_and_that_of_another_changes_nothing() -> None:
    here = gate(Person([]))
    here.begin_episode('e')

    here.end_episode('f')
    assert here.running == 'e'
    assert 'e' not in here.ended

    here.end_episode('e')
    assert here.running == ''
    assert 'e' in here.ended


def test_episode_that_begins_ends_the_one_before_and_what_was_approved_in_it() -> None:
    here = gate(Person([YES]))
    here.begin_episode('e')
    assert run(here, 0) is None

    here.begin_episode('f')

    assert here.running == 'f'
    assert 'e' in here.ended
    refusal = run(here, 1)
    assert refusal is not None
    assert refusal.message.endswith('was not tried: its episode has ended.')


def test_episode_that_is_told_of_twice_goes_on() -> None:
    here = gate(Person([]))

    here.begin_episode('e')
    here.begin_episode('e')

    assert here.running == 'e'
    assert 'e' not in here.ended
