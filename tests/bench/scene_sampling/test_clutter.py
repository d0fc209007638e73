"""The search for the fewest objects that have to leave a heap."""

import itertools

import pytest

from bbllm_bench.scene_sampling.clutter import fewest_removed
from bbllm_bench.scene_sampling.placement import NoRoomError

BLOCKED_BY = {
    'target': ({'x'}, {'y', 'z'}),
    'other': ({'z', 'v'},),
    'x': ({'target'},),
    'y': (set(),),
    'z': ({'w'},),
    'w': (set(),),
    'v': ({'u'},),
    'u': (set(),),
}
"""What has to be gone before an object can be taken, in one way or another."""


def removable(name: str, gone: frozenset[str]) -> bool:
    return any(way <= gone for way in BLOCKED_BY[name])


def can_go_in_some_order(names: set[str]) -> bool:
    gone = frozenset[str]()
    while more := {name for name in names - gone if removable(name, gone)}:
        gone |= more
    return gone == names


@pytest.mark.parametrize('targets', [{'target'}, {'other'}, {'target', 'other'}, {'x'}])
def test_no_smaller_set_can_leave(targets: set[str]) -> None:
    way = fewest_removed(BLOCKED_BY, targets, removable)

    assert targets <= {*way}
    assert all(removable(name, frozenset(way[:i])) for i, name in enumerate(way))
    for n in range(len(way)):
        for names in itertools.combinations(BLOCKED_BY, n):
            assert not (targets <= {*names} and can_go_in_some_order({*names}))


def test_what_blocks_itself_can_never_leave() -> None:
    with pytest.raises(NoRoomError, match='never'):
        fewest_removed(['a', 'b'], {'a'}, lambda name, gone: {'a': 'b', 'b': 'a'}[name] in gone)
