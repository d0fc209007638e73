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


def test_question_about_a_plan_names_the_model_that_wrote_it_and_says_what_a_stand_in_is() -> None:
    titles = {}
    for brain in ('gpt-4o', 'offline', ''):
        person = Person([YES])
        here = gate(person)
        here.begin_episode('e', brain)
        run(here, 0)
        titles[brain] = person.asked[0].title

    assert titles == {
        'gpt-4o': 'The plan of 3 steps by gpt-4o. May it be done?',
        'offline': 'The plan of 3 steps by offline (a deterministic stand-in, not a language '
        'model). May it be done?',
        '': 'The plan of 3 steps. May it be done?',
    }


def test_model_of_another_episode_is_not_named() -> None:
    person = Person([YES])
    here = gate(person)
    here.begin_episode('f', 'gpt-4o')

    run(here, 0)

    assert person.asked[0].title == 'The plan of 3 steps. May it be done?'
