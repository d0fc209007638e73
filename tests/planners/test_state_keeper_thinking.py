"""What is heard, lost and forgotten while an estimator of the open state thinks."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from keepers import PATIENCE_S, Kept, outcome, until
from made_scenes import made_scene

from bbllm.core.types import Code, Outcome, Scene
from bbllm.planners.common.open_state import OpenState


class Slow:
    """An estimator that thinks each time until it is released."""

    def __init__(self) -> None:
        self.thinks, self.released = threading.Semaphore(0), threading.Semaphore(0)

    def estimate(self, state: OpenState, history: Sequence[Outcome], scene: Scene) -> OpenState:
        self.thinks.release()
        assert self.released.acquire(timeout=PATIENCE_S)
        return state.with_attributes('red_cube', (f'tried_{len(history)}_times',))


Thinking = tuple[Slow, Kept]


@pytest.fixture
def thinking() -> Thinking:
    """Give a keeper whose estimator thinks of a first outcome, and that estimator."""
    slow = Slow()
    kept = Kept(lambda _: slow)
    kept.facts()
    kept.keeper.hear(outcome('red_cube'))
    assert slow.thinks.acquire(timeout=PATIENCE_S)
    return slow, kept


def test_scenes_are_told_while_an_estimator_thinks(thinking: Thinking) -> None:
    slow, kept = thinking

    assert kept.facts() == []
    slow.released.release()

    kept.wait_for('(red_cube is tried_1_times)')


def test_what_was_thought_of_before_all_was_forgotten_is_not_believed(thinking: Thinking) -> None:
    slow, kept = thinking

    kept.keeper.forget()
    for _ in range(2):
        kept.keeper.hear(outcome('red_cube'))
    slow.released.release()

    assert slow.thinks.acquire(timeout=PATIENCE_S)  # of the two that came later
    assert kept.facts() == []
    slow.released.release()
    kept.wait_for('(red_cube is tried_2_times)')


def test_what_is_lost_while_an_estimator_thinks_is_forgotten_also_when_found_again(
    thinking: Thinking,
) -> None:
    slow, kept = thinking
    slow.released.release()
    kept.wait_for('(red_cube is tried_1_times)')
    kept.keeper.hear(outcome('red_cube'))
    assert slow.thinks.acquire(timeout=PATIENCE_S)

    kept.facts(made_scene('blue_cube', 'red_cube is lost', domain='tabletop'))

    assert kept.facts() == []
    kept.keeper.hear(outcome('blue_cube', Code.GRASP_FAILED))
    slow.released.release()
    assert slow.thinks.acquire(timeout=PATIENCE_S)  # what it thought before is told by now
    assert kept.facts() == []
    slow.released.release()


def test_what_is_heard_before_all_is_forgotten_is_not_thought_of_afterwards() -> None:
    slow = Slow()
    kept = Kept(lambda _: slow)
    kept.keeper.hear(outcome('red_cube'))
    until(kept.keeper._news.empty, lambda: 'one who waits for a scene')
    kept.keeper.forget()
    kept.keeper.hear(outcome('red_cube'))

    kept.facts()

    assert slow.thinks.acquire(timeout=PATIENCE_S)
    slow.released.release()
    kept.wait_for('(red_cube is tried_1_times)')
