"""The calls of the stand-in that receives the goal."""

from bbllm.core.types import Fact, Scene
from bbllm_libero.expert import calls_for


def calls(goal: list[tuple[str, ...]], *facts: tuple[str, str, str]) -> list[str]:
    scene = Scene((), (), tuple(Fact(*fact) for fact in facts), 0.0)
    return [str(call) for call in calls_for(goal, scene)]


def test_an_object_is_picked_and_placed() -> None:
    assert calls([('in', 'can', 'basket')]) == ['pick(can)', 'place(basket)']


def test_what_is_there_already_is_left() -> None:
    assert calls([('in', 'can', 'basket')], ('can', 'in', 'basket')) == []


def test_what_is_in_the_hand_is_placed_first() -> None:
    goal = [('in', 'can', 'basket'), ('in', 'box', 'basket')]

    found = calls(goal, ('box', 'held_by', 'hand'))

    assert found == ['place(basket)', 'pick(can)', 'place(basket)']


def test_a_closed_drawer_is_opened_before_and_closed_after() -> None:
    goal = [('in', 'bowl', 'drawer'), ('close', 'drawer')]

    found = calls(goal, ('drawer', 'is', 'closed'))

    assert found == ['open(drawer)', 'pick(bowl)', 'place(drawer)', 'close(drawer)']


def test_a_closed_drawer_is_opened_to_take_something_out() -> None:
    found = calls([('on', 'bowl', 'plate')], ('drawer', 'is', 'closed'), ('bowl', 'in', 'drawer'))

    assert found == ['open(drawer)', 'pick(bowl)', 'place(plate)']


def test_a_drawer_that_is_not_open_is_opened() -> None:
    found = calls([('in', 'bowl', 'drawer')], ('drawer', 'is', 'not_open'))

    assert found == ['open(drawer)', 'pick(bowl)', 'place(drawer)']


def test_nothing_is_opened_for_what_stands_on_it() -> None:
    found = calls(
        [('on', 'bowl', 'plate')], ('bowl', 'on', 'cabinet'), ('cabinet', 'is', 'not_open')
    )

    assert found == ['pick(bowl)', 'place(plate)']


def test_what_no_grasp_is_known_for_is_pushed() -> None:
    scene = Scene((), (), (), 0.0)

    found = calls_for([('on', 'plate', 'region')], scene, {'plate'})

    assert [str(call) for call in found] == ['push(plate, region)']


def test_what_carries_others_is_moved_first() -> None:
    goal = [('on', 'mug', 'plate'), ('on', 'plate', 'stove')]

    assert calls(goal) == ['pick(plate)', 'place(stove)', 'pick(mug)', 'place(plate)']


def test_a_stove_is_turned_on_once() -> None:
    assert calls([('turnon', 'stove')]) == ['turn_on(stove)']
    assert calls([('turnon', 'stove')], ('stove', 'is', 'on')) == []
