"""The steps of a plan at their turn: read, rehearsed, or asked of a Body."""

import pytest

from bbllm.core.errors import ParseError
from bbllm.core.protocols import Pass
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.llm.embedding.lexical import LexicalEmbedder
from bbllm.planners.common.matching import MatchingBody
from bbllm.planners.common.plan_mapper import PlanMapper
from tests.planners.symbolic_table import SymbolicTabletop

TEXTS = ('pick red_cube', 'place it on blue_cube', 'lift the green one', 'wave', 'pick blue_cube')
STEPS = tuple(PlanStep(i, text) for i, text in enumerate(TEXTS))
LIFT = SkillCall('pick', ('green_cube',))


class WordBody:
    """Maps one step in words, and passes others."""

    name, reads_calls = 'words', True

    def __init__(self) -> None:
        self.asked: list[int] = []

    def map(self, step: PlanStep, scene: Scene) -> SkillCall | Pass:
        self.asked.append(step.index)
        return LIFT if step.index == 2 else Pass('no action waves.')


def table() -> SymbolicTabletop:
    places = {'red_cube': (0.4, 0.1), 'green_cube': (0.4, -0.1), 'blue_cube': (0.48, 0.2)}
    return SymbolicTabletop(places)


def test_steps_that_are_calls_cost_no_request_and_others_are_asked_for_at_their_turn() -> None:
    body, scene = WordBody(), table().observe()
    mapper, paper = PlanMapper(body), PlanMapper(body, reads_calls=False)

    assert [str(mapper.map(step, scene)) for step in STEPS[:3]] == [
        'pick(red_cube)',
        'place(blue_cube)',
        'pick(green_cube)',
    ]
    assert mapper.map(STEPS[3], scene) == Pass('no action waves.')
    assert body.asked == [2, 3]
    assert isinstance(paper.map(STEPS[0], scene), Pass)
    # The ablation maps each step by its words, whatever is asked for.
    assert not PlanMapper(MatchingBody(LexicalEmbedder())).reads_calls


def test_a_rehearsed_call_is_kept_and_checked_against_the_scene_of_its_turn() -> None:
    body, world = WordBody(), table()
    mapper = PlanMapper(body)

    mapper.keep({3: SkillCall('move', ('red_cube', 'blue_cube'))})

    for held in (None, 'green_cube'):
        world.held = held
        with pytest.raises(ParseError, match='red_cube cannot be placed, because'):
            mapper.map(STEPS[3], world.observe())
    world.held = 'red_cube'
    assert str(mapper.map(STEPS[3], world.observe())) == 'place(blue_cube)'
    assert body.asked == []
    mapper.keep({})
    assert isinstance(mapper.map(STEPS[3], world.observe()), Pass)


def test_calls_that_will_follow_are_foreseen_up_to_a_step_in_words() -> None:
    mapper, scene = PlanMapper(WordBody()), table().observe()

    assert [*map(str, mapper.foreseen(STEPS[1:], scene))] == ['place(blue_cube)']
    mapper.keep({2: LIFT, 3: SkillCall('wait', ('1',))})
    assert [*map(str, mapper.foreseen(STEPS[1:], scene))] == [
        'place(blue_cube)',
        'pick(green_cube)',
        'wait(1)',
    ]
