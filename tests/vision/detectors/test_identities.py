"""Names of objects that look alike."""

from bbllm.core.types import Pose
from bbllm.scene.catalogue import Catalogue
from bbllm.scene.detections import Detection
from bbllm.skills.shapes import Vector
from bbllm_vision.detectors.identities import Identities
from tests.vision.drawn_tables import cube

HERE = Pose(position_m=(0.0, 0.0, 0.0))
"""The camera is in the world's origin: detections are in the world frame."""
LEFT, RIGHT, MIDDLE = (0.5, 0.2, 0.02), (0.5, -0.2, 0.02), (0.5, 0.0, 0.02)


def identities() -> Identities:
    items = [cube(name, 0, 0, color='red') for name in ('one', 'two')]
    return Identities(Catalogue.of_objects([*items, cube('blue_cube', 0, 0, color='blue')]))


def seen(*places: Vector, name: str = 'one', confidence: float = 1.0) -> list[Detection]:
    quat = (0.0, 0.0, 0.0, 1.0)
    return [
        Detection(name=name, position_m=place, quat_xyzw=quat, confidence=confidence)
        for place in places
    ]


def names_at(found: tuple[Detection, ...]) -> dict[Vector, str]:
    return {item.position_m: item.name for item in found}


def test_the_first_names_go_from_left_to_right() -> None:
    for places in ((LEFT, RIGHT), (RIGHT, LEFT)):
        found = identities().named(seen(*places), HERE)

        assert names_at(found) == {LEFT: 'one', RIGHT: 'two'}


def test_names_stay_in_whatever_order_detections_come() -> None:
    names = identities()
    names.named(seen(LEFT, RIGHT), HERE)
    shaken = ((0.503, 0.199, 0.02), (0.498, -0.203, 0.02))

    found = names.named(seen(shaken[1], shaken[0]), HERE)

    assert names_at(found) == {shaken[0]: 'one', shaken[1]: 'two'}


def test_two_do_not_swap_while_one_is_hidden() -> None:
    names = identities()
    names.named(seen(LEFT, RIGHT), HERE)

    for _ in range(30):
        assert names_at(names.named(seen(RIGHT), HERE, hidden=lambda p: p[1] > 0.1)) == {
            RIGHT: 'two'
        }
    assert names_at(names.named(seen(LEFT, RIGHT), HERE)) == {LEFT: 'one', RIGHT: 'two'}


def test_one_that_has_moved_is_not_the_hidden_one() -> None:
    names = identities()
    names.named(seen(LEFT, RIGHT), HERE)

    found = names.named(seen(MIDDLE), HERE, hidden=lambda p: p[1] > 0.1)

    assert names_at(found) == {MIDDLE: 'two'}


def test_the_hand_carries_a_name_to_another_place() -> None:
    names = identities()
    names.named(seen(LEFT, RIGHT), HERE)
    names.named(seen(RIGHT), HERE, held='one')

    found = names.named(seen((0.502, 0.0, 0.02), RIGHT), HERE, known={'one': MIDDLE})

    assert names_at(found) == {(0.502, 0.0, 0.02): 'one', RIGHT: 'two'}


def test_one_in_the_hand_does_not_lend_its_name() -> None:
    names = identities()
    names.named(seen(LEFT, RIGHT), HERE)

    assert names_at(names.named(seen(MIDDLE), HERE, held='one')) == {MIDDLE: 'two'}


def test_there_are_no_more_names_than_objects() -> None:
    names = identities()
    places = [*seen(MIDDLE, confidence=0.6), *seen(LEFT, RIGHT)]

    assert names_at(names.named(places, HERE)) == {LEFT: 'one', RIGHT: 'two'}


def test_other_classes_keep_their_names() -> None:
    found = identities().named(
        [*seen(LEFT, name='blue_cube'), *seen(RIGHT, name='a_stranger')], HERE
    )

    assert names_at(found) == {LEFT: 'blue_cube', RIGHT: 'a_stranger'}


def test_the_pose_of_the_camera_counts() -> None:
    names = identities()
    names.named(seen(LEFT, RIGHT), HERE)
    aside = Pose(position_m=(0.0, 0.4, 0.0))

    # What was on the left is 0.4 m further to the right, seen from there.
    found = names.named(seen((0.5, -0.2, 0.02), (0.5, -0.6, 0.02)), aside)

    assert [item.name for item in found] == ['one', 'two']
