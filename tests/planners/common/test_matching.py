"""Embedding matching, naive as in the paper."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError
from bbllm.core.protocols import Embeddings
from bbllm.core.types import PlanStep
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.domains.household.actions import shown_to_body
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_planners.similarity import Similarity
from tests.planners.symbolic_table import busy_table


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
def test_a_step_with_skill_and_object_becomes_that_call(step: str, call: str) -> None:
    assert mapped(step, busy_table()) == call


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


@pytest.mark.parametrize('step', ['polish the mug', 'think about it', '...'])
def test_a_step_that_no_skill_does_becomes_a_call_all_the_same(step: str) -> None:
    # Table 3, third row: it never passes.
    world = busy_table()

    assert mapped(step, world).partition('(')[0] in {skill.name for skill in world.skills}


def test_skill_and_object_are_chosen_separately_by_the_cosine() -> None:
    embedder = TableEmbedder(
        do_it=(1.0, 1.0),
        grasp=(5.0, 4.0),
        reach=(0.0, 9.0),
        white_cube=(2.0, 2.0),
        red_cube=(9, 0),
    )

    call = MatchingBody(embedder).map(PlanStep(0, 'do_it'), busy_table().observe())

    assert str(call) == 'pick(white_cube)'


def test_an_object_to_pick_is_never_a_location_and_a_target_may_be_anything() -> None:
    scene = busy_table().observe()
    body = MatchingBody(
        TableEmbedder(lift=(1, 0), grasp=(1, 0), put=(0, 1), place=(0, 1), location_A=(1, 1))
    )

    assert str(body.map(PlanStep(0, 'lift'), scene)) == f'pick({scene.names[0]})'
    assert str(body.map(PlanStep(0, 'put'), scene)) == 'place(location_A)'


def test_only_what_is_new_is_embedded() -> None:
    embedder, world = TableEmbedder(), busy_table()
    body = MatchingBody(embedder)

    for text in ('first', 'second'):
        body.map(PlanStep(0, text), world.observe())

    assert {'first', 'pick', 'grasp', 'red cube', 'location A'} <= {*embedder.asked[0]}
    assert len({*embedder.asked[0]}) == len(embedder.asked[0])
    assert embedder.asked[1:] == [['second']]


def test_a_scene_without_objects_or_skills_is_refused() -> None:
    scene = busy_table().observe()

    for empty in (replace(scene, objects=()), replace(scene, skills=())):
        with pytest.raises(ParseError, match='no skills or no objects'):
            MatchingBody(LexicalEmbedder()).map(PlanStep(0, 'pick'), empty)


def test_similarity_embeds_each_text_once_and_ranks_equals_as_they_came() -> None:
    embedder = TableEmbedder(abc=(3, 3), a=(1, 3), xyz=(3, 3), bb=(2, 3), uvw=(3, 3))
    nearness = Similarity(embedder)

    nearness.embed(['abc', 'a', 'abc'])

    assert nearness.ranked('abc', ['a', 'xyz', 'bb', 'uvw']) == ['xyz', 'uvw', 'bb', 'a']
    assert nearness.of('abc', ['xyz'])['xyz'] > nearness.of('abc', ['a'])['a'] > 0
    assert embedder.asked == [['abc', 'a'], ['xyz', 'bb', 'uvw']]


def test_numbers_without_end_hold_no_step_up() -> None:
    step = f'place it at {" ".join(["1" * 80] * 6)}'  # six, where a pose has three, four or seven

    with pytest.raises(ParseError, match='is no pose'):
        mapped(step, busy_table())
