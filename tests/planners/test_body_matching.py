"""Embedding matching, naive as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ModelUnavailableError, ParseError
from bbllm.core.protocols import Embeddings
from bbllm.core.types import PlanStep, Skill
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.house_actions import MOVES, shown_to_body
from bbllm.planners.common.matching import MatchingBody, Similarity, cosine
from bbllm.worlds.household.world import HouseholdWorld

Tabletop = Callable[..., Any]


class TableEmbedder:
    """Knows some texts by heart and remembers what it was asked."""

    name = 'table'

    def __init__(self, **vectors: tuple[float, float]):
        self._vectors = {text.replace('_', ' '): vector for text, vector in vectors.items()}
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
        self.asked.append(list(texts))
        vectors = tuple(self._vectors.get(text, (0.0, 0.0)) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def mapped(text: str, world: Any) -> str:
    return str(MatchingBody(LexicalEmbedder()).map(PlanStep(0, text), world.observe()))


@pytest.mark.parametrize(
    ('step', 'call'),
    [
        ('pick red_cube', 'pick(red_cube)'),
        ('grasp the green cube', 'pick(green_cube)'),
        ('place it on location_B', 'place(location_B)'),
        ('reach location_C', 'reach(location_C)'),
        ('return to base', 'return_to_base()'),
        ('open the gripper', 'open_gripper()'),
        ('wait 2.5 seconds', 'wait(2.5)'),
        ('wait for a while', 'wait(1)'),
        ('place red_cube at 0.30 -0.20 0.02', 'place(0.3 -0.2 0.02)'),
        ('place red_cube at (0.3, -0.2, 0.02, 90).', 'place(0.3 -0.2 0.02 90)'),
        ('place it at [0.3, -0.2, 0.03, 1.0, 0, 0, 0].', 'place(0.3 -0.2 0.03 1 0 0 0)'),
    ],
)
def test_a_step_that_says_skill_and_object_becomes_that_call(
    busy_table: Tabletop, step: str, call: str
) -> None:
    assert mapped(step, busy_table()) == call


def test_the_objects_of_a_step_cannot_be_told_apart_by_their_places_in_it(
    busy_table: Tabletop,
) -> None:
    # Table 3, first row: which of the two is put onto the other is lost.
    forth = mapped('place red_cube on blue_cube', busy_table())
    back = mapped('place blue_cube on red_cube', busy_table())

    assert forth == back


def test_a_skill_that_is_said_in_other_words_is_missed(busy_table: Tabletop) -> None:
    # Table 3, second row.
    assert mapped('stack it on the blue cube', busy_table()) != 'place(blue_cube)'


@pytest.mark.parametrize(
    ('step', 'call'),
    [
        ('walk to the kitchen', 'walk(kitchen)'),
        ('open the fridge', 'open(fridge)'),
        ('switch on the tv', 'switchon(tv)'),
        ('switch off the tv', 'switchoff(tv)'),
        ('sit on the sofa', 'sit(sofa)'),
        ('put the salmon in the fridge', 'putin(salmon, fridge)'),
    ],
)
def test_in_a_house_what_no_hand_can_take_is_walked_to_opened_and_sat_on(
    step: str, call: str
) -> None:
    scene = shown_to_body(HouseholdWorld('studio').observe())

    assert str(MatchingBody(LexicalEmbedder()).map(PlanStep(0, step), scene)) == call


@pytest.mark.parametrize('step', ['turn left', 'turn right', 'walk one step straight on'])
def test_in_a_house_no_step_becomes_a_move_that_changes_nothing(step: str) -> None:
    scene = shown_to_body(HouseholdWorld('studio').observe())
    assert {*MOVES} <= {skill.name for skill in scene.skills}

    call = MatchingBody(LexicalEmbedder()).map(PlanStep(0, step), scene)

    assert call.skill not in MOVES


@pytest.mark.parametrize('step', ['polish the mug', 'think about it', '...'])
def test_a_step_that_no_skill_does_becomes_a_call_all_the_same(
    busy_table: Tabletop, step: str
) -> None:
    # Table 3, third row: it never passes.
    world = busy_table()

    assert mapped(step, world).partition('(')[0] in {skill.name for skill in world.skills}


def test_the_same_step_always_becomes_the_same_call(busy_table: Tabletop) -> None:
    scene = busy_table().observe()
    steps = [PlanStep(i, text) for i, text in enumerate(['move it over there', '...', 'pick'])]

    def calls(body: MatchingBody) -> list[str]:
        return [str(body.map(step, scene)) for step in steps]

    once = MatchingBody(LexicalEmbedder())
    assert calls(once) == calls(once) == calls(MatchingBody(LexicalEmbedder()))


def test_skill_and_object_are_chosen_separately_by_the_cosine(busy_table: Tabletop) -> None:
    embedder = TableEmbedder(
        do_it=(1.0, 1.0),
        grasp=(5.0, 4.0),
        reach=(0.0, 9.0),
        white_cube=(2.0, 2.0),
        red_cube=(9, 0),
    )

    call = MatchingBody(embedder).map(PlanStep(0, 'do_it'), busy_table().observe())

    assert str(call) == 'pick(white_cube)'


def test_a_thing_to_pick_is_never_a_location_and_a_target_may_be_anything(
    busy_table: Tabletop,
) -> None:
    scene = busy_table().observe()
    body = MatchingBody(
        TableEmbedder(lift=(1, 0), grasp=(1, 0), put=(0, 1), place=(0, 1), location_A=(1, 1))
    )

    assert str(body.map(PlanStep(0, 'lift'), scene)) == f'pick({scene.names[0]})'
    assert str(body.map(PlanStep(0, 'put'), scene)) == 'place(location_A)'


def test_only_what_is_new_is_embedded(busy_table: Tabletop) -> None:
    embedder, world = TableEmbedder(), busy_table()
    body = MatchingBody(embedder)

    for text in ('first', 'second'):
        body.map(PlanStep(0, text), world.observe())

    assert {'first', 'pick', 'grasp', 'red cube', 'location A'} <= {*embedder.asked[0]}
    assert len({*embedder.asked[0]}) == len(embedder.asked[0])
    assert embedder.asked[1:] == [['second']]


def test_bodies_can_share_what_they_learned(busy_table: Tabletop) -> None:
    embedder, scene = TableEmbedder(), busy_table().observe()
    known: dict[str, Sequence[float]] = {}

    for _ in range(2):
        MatchingBody(embedder, known=known).map(PlanStep(0, 'again'), scene)

    assert embedder.asked[1:] == [['again']]


def test_a_wait_that_is_too_long_is_explained(busy_table: Tabletop) -> None:
    with pytest.raises(ParseError, match='at most 60 seconds'):
        mapped('wait 500 seconds', busy_table())


def test_a_scene_without_objects_or_skills_is_refused(busy_table: Tabletop) -> None:
    scene = busy_table().observe()

    for empty in (replace(scene, objects=()), replace(scene, skills=())):
        with pytest.raises(ParseError, match='no skills or no objects'):
            MatchingBody(LexicalEmbedder()).map(PlanStep(0, 'pick'), empty)


def test_skills_of_other_worlds_are_matched_each_parameter_for_itself(
    busy_table: Tabletop,
) -> None:
    scene = replace(
        busy_table().observe(), skills=(Skill('put', ('object', 'target'), 'put one on another'),)
    )
    body = MatchingBody(TableEmbedder(tidy=(1, 0), location_A=(2, 0), red_cube=(1, 1)))

    assert str(body.map(PlanStep(0, 'tidy'), scene)) == 'put(red_cube, location_A)'


@pytest.mark.parametrize(
    ('step', 'call'),
    [
        ('put the apple in the garbagecan', 'putin(apple, garbagecan)'),
        ('put the coffee pot on the coffee table', 'put(coffeepot, coffeetable)'),
        ('put the plate in the sink', 'putin(plate, sink)'),
    ],
)
def test_what_is_put_somewhere_goes_into_something_else_as_the_step_says_it(
    step: str, call: str
) -> None:
    scene = shown_to_body(HouseholdWorld('family_flat').observe())

    assert str(MatchingBody(LexicalEmbedder()).map(PlanStep(0, step), scene)) == call


def test_a_table_is_named_only_where_something_can_be_put(busy_table: Tabletop) -> None:
    skill = Skill('put', ('object', 'target'), 'put one on another')
    scene = replace(busy_table().observe(), skills=(skill,))
    body = MatchingBody(LexicalEmbedder())

    # location_B is said first, and no hand can take it.
    call = body.map(PlanStep(0, 'onto location_B put the red_cube'), scene)

    assert str(call) == 'put(red_cube, location_B)'


def test_an_embedder_that_fails_is_not_hidden(busy_table: Tabletop) -> None:
    class Down:
        name = 'down'

        def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Embeddings:
            raise ModelUnavailableError('It is down.')

    with pytest.raises(ModelUnavailableError):
        MatchingBody(Down()).map(PlanStep(0, 'pick'), busy_table().observe())


@pytest.mark.parametrize(
    ('a', 'b', 'value'),
    [
        ((1.0, 0.0), (3.0, 0.0), 1.0),
        ((1.0, 0.0), (0.0, 2.0), 0.0),
        ((1.0, 1.0), (-2.0, -2.0), -1.0),
        ((0.0, 0.0), (1.0, 0.0), 0.0),
    ],
)
def test_the_cosine_knows_directions_only(
    a: tuple[float, ...], b: tuple[float, ...], value: float
) -> None:
    assert cosine(a, b) == pytest.approx(value)


class Lengths:
    """An embedder that turns a vector by the length of a text; it counts what it is asked."""

    name = 'lengths'

    def __init__(self) -> None:
        self.requests: list[list[str]] = []

    def embed(self, texts: Sequence[str], *, cancel: Any = None) -> Embeddings:
        self.requests.append([*texts])
        vectors = tuple((float(len(text)), 3.0) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def test_each_text_is_embedded_once_and_new_ones_in_one_request() -> None:
    embedder = Lengths()
    nearness = Similarity(embedder)

    nearness.embed(['a', 'bb', 'a'])
    nearness.of('a', ['bb', 'ccc', 'dddd', 'ccc'])
    nearness.ranked('bb', ['a', 'dddd'])

    assert embedder.requests == [['a', 'bb'], ['ccc', 'dddd']]


def test_the_nearest_comes_first_and_of_equals_the_one_that_was_first() -> None:
    nearness = Similarity(Lengths())

    assert nearness.ranked('abc', ['a', 'xyz', 'bb', 'uvw']) == ['xyz', 'uvw', 'bb', 'a']
    assert nearness.of('abc', ['xyz'])['xyz'] > nearness.of('abc', ['a'])['a'] > 0


class Zeros(Lengths):
    """An embedder that knows nothing of a text without letters."""

    def embed(self, texts: Sequence[str], *, cancel: Any = None) -> Embeddings:
        vectors = tuple((3.0, 4.0) if text else (0.0, 0.0) for text in texts)
        return Embeddings(vectors=vectors, model=self.name)


def test_length_says_nothing_and_what_has_no_direction_is_near_to_nothing() -> None:
    near = Similarity(Zeros()).of('a', ['b', ''])

    assert near == {'b': pytest.approx(1.0), '': 0.0}
