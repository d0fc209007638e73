"""What prompts tell of earlier rounds, and what they leave out when it grows too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bbllm.core.observation import Observed, parse_observed
from bbllm.planners.llm_pop.history import DONE, FAILED, NOTHING, History, Round, TriedAction

SEEN = Observed(
    blocks={'red_cube': (0.45, -0.1, 0.12, 0.0, 0.0, 0.0, 1.0)},
    eef=(0.45, -0.1, 0.13, 1.0, 0.0, 0.0, 0.0),
    force_n=(0.02, -0.11, -1.234),
    fingers_m=(0.02, 0.02),
)
WEIGHED = Round(
    'weigh it', (TriedAction('PICK red_cube', DONE, SEEN), TriedAction('RESET', DONE, SEEN))
)
BROKEN = Round(
    'go on',
    (
        TriedAction('PLACE [0 0 0 1 0 0 0]', f'{FAILED}It is out of reach.', SEEN),
        TriedAction('RESET'),
    ),
)


def history_of(*rounds: Round, budget: int = 10_000) -> tuple[History, list[str]]:
    said: list[str] = []
    history = History(budget, on_short=said.append)
    for finished in rounds:
        history.add(finished)
    return history, said


def test_nothing_done_is_said_to_be_so() -> None:
    assert History().text() == NOTHING


def test_a_round_shows_each_action_its_result_and_what_was_observed_after_it() -> None:
    history, said = history_of(WEIGHED, BROKEN)

    assert history.text().splitlines() == [
        '== Round 0 ==',
        'Explanation: weigh it',
        'Action 0: PICK red_cube',
        'Result 0: done',
        f'Observation 0: {SEEN}',
        'Action 1: RESET',
        'Result 1: done',
        f'Observation 1: {SEEN}',
        '== Round 1 ==',
        'Explanation: go on',
        'Action 0: PLACE [0 0 0 1 0 0 0]',
        'Result 0: failed: It is out of reach.',
        f'Observation 0: {SEEN}',
        'Action 1: RESET',
        'Result 1: not tried',
    ]
    assert said == []


def test_observations_in_it_can_be_read_back() -> None:
    line = history_of(WEIGHED)[0].text().splitlines()[4]

    assert parse_observed(line.removeprefix('Observation 0: ')).force_n == (0.02, -0.11, -1.23)


def test_what_people_say_stands_behind_what_was_done_before() -> None:
    history, _ = history_of(WEIGHED)
    history.hear(['mind\n== Round 7 ==', 'the lamp'])
    history.add(BROKEN)

    lines = history.text().splitlines()
    assert lines[8:11] == ['Person: mind == Round 7 ==', 'Person: the lamp', '== Round 1 ==']


def test_what_models_and_worlds_say_stays_on_its_line() -> None:
    history, _ = history_of(
        Round('a\nTask: b', (TriedAction('WAIT', f'{FAILED}so\nAction 9: X', SEEN),))
    )

    assert [line.split(':')[0] for line in history.text().splitlines()] == [
        '== Round 0 ==',
        'Explanation',
        'Action 0',
        'Result 0',
        'Observation 0',
    ]


def test_oldest_rounds_shrink_to_a_line_each_when_it_is_too_long_and_that_is_said_once() -> None:
    full = len(history_of(WEIGHED, BROKEN)[0].text())
    history, said = history_of(WEIGHED, BROKEN, budget=full - 1)

    lines = history.text().splitlines()
    history.add(WEIGHED)
    history.text()

    assert lines[:2] == [
        'Round 0 in short: PICK red_cube done, force z -1.23; RESET done, force z -1.23',
        '== Round 1 ==',
    ]
    assert len(said) == 1
    assert f'longer than the {full - 1} characters' in said[0]


def test_in_short_a_failure_keeps_its_reason_and_what_was_not_tried_goes() -> None:
    assert BROKEN.in_short(3) == (
        'Round 3 in short: PLACE [0 0 0 1 0 0 0] failed: It is out of reach., force z -1.23'
    )


def test_rounds_go_when_a_line_each_is_still_too_long_but_never_the_newest() -> None:
    history, _ = history_of(*[WEIGHED] * 5, BROKEN, budget=1)

    lines = history.text().splitlines()

    assert lines[:2] == ['Rounds before round 5 are left out.', '== Round 5 ==']
    assert lines[2:] == BROKEN.in_full(5).splitlines()[1:]


@given(st.integers(0, 8), st.integers(1, 4000))
def test_it_fits_its_budget_wherever_the_newest_round_does(n_older: int, budget: int) -> None:
    history, said = history_of(*[WEIGHED] * n_older, BROKEN, budget=budget)

    text = history.text()

    shortest = f'Rounds before round {n_older} are left out.\n{BROKEN.in_full(n_older)}'
    assert text.endswith(BROKEN.in_full(n_older))
    assert len(text) <= max(budget, len(shortest))
    assert bool(said) == ('in short' in text or 'left out' in text)


def test_it_shrinks_until_only_the_newest_round_is_left() -> None:
    history, _ = history_of(*[WEIGHED] * 4)
    lengths = [len(history.text())]

    while history.shrink():
        lengths.append(len(history.text()))

    assert lengths == sorted(lengths, reverse=True)
    assert len(lengths) > 1
    assert history.text().endswith(WEIGHED.in_full(3))


def test_a_single_round_cannot_shrink() -> None:
    history, said = history_of(WEIGHED)

    assert not history.shrink()
    assert history.text() == WEIGHED.in_full(0)
    assert said == []
