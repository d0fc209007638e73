"""What a picture of a household shows, and that nothing in it covers anything else."""

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

import pytest

from bbllm.core.events import EpisodeStarted, Event, SceneRecorded
from bbllm.core.journal import episode_of
from bbllm.core.naming import class_of
from bbllm.core.types import Fact, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.worlds.household.houses import list_houses
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_viewer.viz.floor_plan import CHANGED, PAINTS, PERSON, draw_floor_plan, lay_out
from bbllm_viewer.viz.house import PLAIN, HouseItem, rooms_of
from bbllm_viewer.viz.shapes import Panel, Polygon, Text
from bbllm_viewer.viz.sheet import draw_episode
from bbllm_viewer.viz.svg import to_svg
from bbllm_viewer.viz.table import overlap

NOWHERE = Pose(position_m=(0.0, 0.0, 0.0))


def scene(*reported: str) -> Scene:
    """Return a scene of facts such as `salmon_3 in fridge_2`, with a kitchen_1 and a hall_9."""
    relations = {'in': 'inside', 'on': 'on', 'is': 'is', 'held': 'held_by', 'affords': 'affords'}
    facts, names = [], ['kitchen_1', 'hall_9']
    for text in reported:
        subject, word, entry = text.split()
        facts.append(Fact(subject, relations[word], entry))
        names += [subject, *([entry] if word not in ('is', 'affords') else [])]
    kinds = {'kitchen_1': Kind.LOCATION, 'hall_9': Kind.LOCATION, 'sofa_5': Kind.FIXTURE}
    objects = [SceneObject(name=n, kind=kinds.get(n, Kind.OTHER), pose=NOWHERE) for n in names]
    return Scene(tuple(dict.fromkeys(objects)), (), tuple(facts), 0.0, domain='household')


def all_of(items: Sequence[HouseItem]) -> Iterator[HouseItem]:
    for entry in items:
        yield entry
        yield from all_of((*entry.upon, *entry.within))


def find(rooms: Sequence[HouseItem], name: str, *, ghost: bool = False) -> HouseItem:
    return next(t for t in all_of(rooms) if t.name == name and (t.style == 'ghost') is ghost)


def texts(panel: Panel) -> list[str]:
    return [shape.text for shape in panel.shapes if isinstance(shape, Text)]


def strokes(panel: Panel) -> set[str | None]:
    return {shape.paint.stroke for shape in panel.shapes if isinstance(shape, Polygon)}


def played(house: str) -> tuple[Scene, Scene]:
    """Return a house before and after its salmon, or chicken, went from fridge to microwave."""
    world = HouseholdWorld(house)
    before = world.observe()
    names = {class_of(name): name for name in reversed(before.names)}
    names.setdefault('salmon', names.get('chicken', ''))
    for call in (
        'walk fridge', 'open fridge', 'grab salmon', 'walk microwave', 'open microwave',
        'putin salmon microwave', 'close microwave', 'switchon microwave',
        'walk chair', 'sit chair',
    ):  # fmt: skip
        skill, *classes = call.split()
        outcome = world.execute(SkillCall(skill, tuple(names[word] for word in classes)))
        assert outcome.succeeded, outcome.message
    return before, world.observe()


@pytest.mark.parametrize('house', list_houses())
@pytest.mark.parametrize('changes_only', [False, True])
def test_nothing_of_a_house_is_left_out_but_walls_and_the_like(
    house: str, changes_only: bool
) -> None:
    before, after = played(house)
    shown = all_of(rooms_of(after, before, changes_only=changes_only))

    n = sum(t.count for t in shown if t.style not in ('room', 'ghost'))

    loose = [item for item in after.objects if item.kind is not Kind.LOCATION]
    assert n == sum(class_of(item.name) not in PLAIN for item in loose)


@pytest.mark.parametrize('house', list_houses())
@pytest.mark.parametrize(('width', 'columns'), [(1000.0, 3), (150.0, 1)])
def test_words_stay_inside_their_rooms_and_cover_no_other(
    house: str, width: float, columns: int
) -> None:
    before, after = played(house)
    words, rooms = lay_out(rooms_of(after, before), width, columns)

    assert max(left + wide for (left, _), wide, _ in rooms) <= width + 0.1
    edges = [(w.left, w.middle - 7, w.left + w.width, w.middle + 7) for w in words]
    corners = [(x, y, x + wide, y + high) for (x, y), wide, high in rooms]
    for edge, word in zip(edges, words, strict=True):
        inside = max(overlap(edge, room) for room in corners)
        assert inside == pytest.approx(14 * word.width), word.text
    for boxes in (edges, corners):
        for one, other in itertools.combinations(boxes, 2):
            assert overlap(one, other) < 0.1


def test_what_moved_stands_out_and_leaves_a_ghost() -> None:
    rest = ('fridge_2 in kitchen_1', 'mug_4 in kitchen_1')
    before, after = (scene(f'salmon_3 in {x}', *rest) for x in ('fridge_2', 'kitchen_1'))

    rooms = rooms_of(after, before)
    still = draw_floor_plan(before, 600, before=before)
    panel = draw_floor_plan(after, 600, before=before)

    assert find(rooms, 'salmon_3').moved
    assert find(rooms, 'fridge_2').within == (find(rooms, 'salmon_3', ghost=True),)
    assert not find(rooms, 'mug_4').changed
    assert ['salmon_3' in texts(x) for x in (still, panel)] == [False, True]
    assert [CHANGED in strokes(x) for x in (still, panel)] == [False, True]


def test_a_change_of_state_is_shown_as_from_and_to() -> None:
    before = scene('tv_3 in hall_9', 'tv_3 is off', 'plate_4 in hall_9')
    after = scene('tv_3 in hall_9', 'tv_3 is on', 'plate_4 in hall_9', 'plate_4 is washed')

    rooms = rooms_of(after, before)

    assert find(rooms, 'tv_3').state == 'off → on'
    assert find(rooms, 'tv_3').lit
    assert find(rooms, 'plate_4').state == 'washed'
    panel = draw_floor_plan(after, 600, before=before)
    fills = [s.paint.fill for s in panel.shapes if isinstance(s, Polygon)]
    assert PAINTS['changed'].fill in fills


def test_what_is_held_is_shown_with_the_person_and_the_person_on_its_seat() -> None:
    person_s = ('character_7 in hall_9', 'character_7 on sofa_5', 'character_7 is sitting')
    mug_s = ('sofa_5 in hall_9', 'mug_4 held character_7', 'mug_4 in hall_9')
    rooms = rooms_of(scene(*person_s, *mug_s))

    person = find(rooms, 'character_7')
    assert (person.style, person.text, person.state) == ('person', 'person', 'sitting')
    assert [entry.name for entry in person.upon] == ['mug_4']
    assert find(rooms, 'sofa_5').upon == (person,)
    panel = draw_floor_plan(scene('character_7 in hall_9'), 600)
    assert PERSON in [s.paint.fill for s in panel.shapes if isinstance(s, Polygon)]


def test_equal_objects_are_counted_and_those_that_differ_are_not() -> None:
    plates = [f'plate_{n} in kitchen_1' for n in (11, 12, 13, 14)]

    (kitchen, _) = rooms_of(scene(*plates, 'plate_14 is dirty'))

    assert [(t.text, t.state) for t in kitchen.within] == [('plate ×3', ''), ('plate', 'dirty')]


def test_where_only_changes_are_wanted_the_rest_is_counted_in_its_place() -> None:
    rest = ('milk_4 in fridge_2', 'fridge_2 in kitchen_1', 'pot_6 in hall_9')
    before, after = (scene(f'salmon_3 in {x}', *rest) for x in ('fridge_2', 'kitchen_1'))

    rooms = rooms_of(after, before, changes_only=True)

    assert [entry.text for entry in find(rooms, 'fridge_2').within] == ['salmon', '+ 1']
    assert [entry.text for entry in find(rooms, 'hall_9').within] == ['1 thing']


def test_a_sheet_is_xml_with_one_plan_and_words_around_it() -> None:
    before, after = played('studio')
    start = EpisodeStarted(episode_id='e1', task='heat <salmon>', planner='p', brain='b', body='c')
    data = (start, SceneRecorded('before', before), SceneRecorded('after', after))
    page = draw_episode(episode_of([Event(0.0, each) for each in data]))
    alone = draw_episode(episode_of([Event(0.0, each) for each in data[:2]]))

    root = ET.fromstring(to_svg(page))
    svg = '{http://www.w3.org/2000/svg}'
    written = {''.join(t.itertext()) for t in root.iter(f'{svg}text')}
    expected = {'heat <salmon>', 'INTERRUPTED', 'kitchen', 'closed, off → on', 'where it was'}
    assert expected <= written
    assert not {'where it was', 'off → on'} & {s.text for s in alone.shapes if isinstance(s, Text)}
