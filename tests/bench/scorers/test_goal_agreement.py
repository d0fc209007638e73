"""
The check of FINISHED beside the judges of the bench, on what both can state.

In houses they agree wherever all is seen, on a table on plus signs.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, permutations
from random import Random

import pytest

from bbllm.core.goals import parse_goal
from bbllm.core.types import Kind, Pose, Scene, SceneObject
from bbllm.scene.relations import build_scene
from bbllm.worlds.household.checks import above
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.houses import list_houses, load_house
from bbllm.worlds.household.vocabulary import HANDS, Property, Relation
from bbllm.worlds.household.world import HouseholdWorld
from bbllm.worlds.scene.goal_check import check_goal
from bbllm.worlds.scene.table_tolerances import DEFAULTS
from bbllm_bench.scorers.judging import judge
from bbllm_bench.suites.goals import PlusSign
from bbllm_bench.suites.house_goals import HouseholdGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.suite import load_suite
from tests.bench.scorers.layouts import PLUS, Spot, objects, pattern, table

CASES = 400
ROUNDS = 3
"""How often each house is laid out anew."""
WORDS = ('open', 'closed', 'on', 'off', 'clean', 'dirty')


def lay_out_anew(graph: Graph, rng: Random) -> None:
    """Put some objects on or into others, and one into a hand."""
    loose = sorted(n for n, x in graph.nodes.items() if Property.GRABBABLE in x.properties)
    places = sorted(n for n, x in graph.nodes.items() if not x.is_room and n != graph.character)
    for n in rng.sample(loose, 12):
        place = rng.choice(places)
        room = graph.room_of(place)
        if place == n or n in above(graph, place) or room is None:
            continue
        for relation in (Relation.ON, Relation.INSIDE):
            graph.remove_from(n, relation)
        graph.add(n, rng.choice((Relation.ON, Relation.INSIDE)), place)
        graph.add(n, Relation.INSIDE, room)
    if graph.character is not None:
        graph.add(graph.character, rng.choice(HANDS), rng.choice(loose))


def random_condition(graph: Graph, rng: Random) -> tuple[dict[str, object], str]:
    """Return a condition as a suite writes it, and in the grammar of goals."""
    nodes = [node for n, node in sorted(graph.nodes.items()) if n != graph.character]
    loose = [node for node in nodes if Property.GRABBABLE in node.properties]
    kind = rng.choice(('on', 'inside', 'inside', 'is', 'held'))
    item = rng.choice(nodes if kind == 'is' else loose).class_name
    there = sum(node.class_name == item for node in nodes)
    negated = rng.random() < 0.3
    count = 1 if negated else rng.randint(1, min(there, 2))
    some = f'{count} of {item}' if count > 1 else item
    stated: dict[str, object] = {'count': count, 'not': negated}
    if kind == 'held':
        return {**stated, 'held': item}, f'{"not " * negated}held({some})'
    second = rng.choice(WORDS)
    if kind != 'is':
        fitting = [n.class_name for n in nodes if n.class_name != item]
        second = rng.choice(sorted(set(fitting)))
    word = {'on': 'on', 'inside': 'in', 'is': 'state'}[kind]
    return {**stated, 'thing': item, kind: second}, f'{"not " * negated}{word}({some}, {second})'


def test_in_a_house_that_is_seen_whole_the_check_agrees_with_the_judge() -> None:
    rng = Random(5)
    met = tried = 0
    for name in (*list_houses(),) * ROUNDS:
        graph = load_house(name).graph.copy()
        lay_out_anew(graph, rng)
        world = HouseholdWorld(graph)
        scene = world.observe()
        for _ in range(20):
            stated, text = random_condition(world.graph, rng)
            goal = HouseholdGoal.model_validate({'kind': 'household', 'all': [stated]})

            finding = check_goal(parse_goal(text, scene), scene, scene)

            assert not finding.unseen
            judged = judge_household(goal, world.graph, frozenset())
            assert finding.met is judged.passed, (name, text, finding.unmet, judged.reason)
            met += finding.met
            tried += 1
    assert tried / 10 < met < tried * 9 / 10


def scene_of(spots: Mapping[str, Spot]) -> Scene:
    items = tuple(objects(spots).values())
    return build_scene(items, None, skills=(), stamp_s=0.0, now_s=0.0)


def met(text: str, scene: Scene) -> bool:
    return check_goal(parse_goal(text, scene), scene, scene).met


CROSS = (0, 1, -1, 1j, -1j)


def random_cross(rng: Random) -> dict[str, Spot]:
    """Return five cubes that are nearly a plus sign, and often one more."""
    turn, noise = rng.uniform(-18, 18), rng.choice((0.0, 0.003, 0.006))
    spots = pattern(CROSS, rng.uniform(0.037, 0.103), turn_deg=turn)
    if rng.random() < 0.4:
        spots['indigo_cube'] = (rng.uniform(0.3, 0.7), rng.uniform(-0.3, 0.1))
    return {
        name: (spot[0] + rng.gauss(0, noise), spot[1] + rng.gauss(0, noise))
        for name, spot in spots.items()
    }


def test_cubes_are_a_plus_sign_for_both_or_for_neither() -> None:
    rng = Random(3)
    passed = 0
    for case in range(CASES):
        spots = random_cross(rng)
        judged = judge(PLUS, table(spots))

        assert met(f'plus(5 of {"|".join(spots)})', scene_of(spots)) is judged.passed, (
            case,
            spots,
            judged.reason,
        )
        passed += judged.passed
    assert CASES / 10 < passed < CASES * 9 / 10


CUBES = ('red_cube', 'green_cube', 'blue_cube', 'yellow_cube')


def random_row(rng: Random) -> dict[str, Spot]:
    """Return four cubes close together, nearly in a row, in any order."""
    names = rng.sample(CUBES, len(CUBES))
    y = -0.15
    spots: dict[str, Spot] = {}
    for name in names:
        spots[name] = (0.5 + rng.uniform(-0.015, 0.015), y)
        y += 0.04 + rng.choice((0.02, 0.03, 0.045, 0.06))
    return spots


def agree(new: str, parts: Sequence[Sequence[str]], *, how_many: str = 'any') -> None:
    """Compare a goal with alternatives, each of which has goals that must all be met."""
    rng = Random(new)
    passed = 0
    for _ in range(CASES):
        scene = scene_of(random_row(rng))
        fitting = sum(all(met(text, scene) for text in each) for each in parts)
        wanted = fitting == int(how_many) if how_many.isdigit() else fitting > 0

        assert met(new, scene) is wanted, (new, scene.objects)
        passed += wanted
    assert CASES / 20 < passed < CASES * 19 / 20


OTHERS = CUBES[1:]
PAIRS = [*combinations(OTHERS, 2)]


@pytest.mark.parametrize(
    'form', ['beside(red_cube, {})', 'gap(red_cube, {}, at most 11 cm)', 'left_of(red_cube, {})']
)
def test_a_number_in_second_place_is_that_many_conditions(form: str) -> None:
    some = '|'.join(OTHERS)

    agree(form.format(f'2 of {some}'), [[form.format(n) for n in pair] for pair in PAIRS])
    exactly = [[form.format(n)] for n in OTHERS]
    agree(form.format(f'exactly 1 of {some}'), exactly, how_many='1')


def test_exactly_so_many_are_no_more() -> None:
    form = 'beside({}, red_cube)'

    agree(
        form.format(f'exactly 1 of {"|".join(OTHERS)}'),
        [[form.format(name)] for name in OTHERS],
        how_many='1',
    )


def test_a_variable_is_the_same_object_in_each_condition() -> None:
    lines = ('beside({x}, red_cube)', 'left_of({x}, {y})', 'not beside({y}, red_cube)')
    some = '|'.join(OTHERS)
    defined = '; '.join([lines[0], *lines[1:]]).format(x='x', y='y')
    text = defined.replace('(x', f'(x={some}', 1).replace('y)', f'y={some})', 1)

    agree(text, [[line.format(x=x, y=y) for line in lines] for x, y in permutations(OTHERS, 2)])


def test_neighbours_of_a_row_have_the_gap_that_each_pair_has() -> None:
    row = [*permutations(CUBES[:3])]

    agree(
        'line(3 of red_cube|green_cube|blue_cube, at most 5 cm)',
        [
            [
                f'line({", ".join(order)})',
                *(f'gap({a}, {b}, at most 5 cm)' for a, b in pairwise(order)),
            ]
            for order in row
        ],
    )


def test_a_position_is_met_as_a_location_there() -> None:
    rng = Random(8)
    limits = DEFAULTS.model_copy(update={'location_m': DEFAULTS.within_m})
    passed = 0
    for _ in range(CASES):
        x, y = rng.uniform(0.48, 0.52), rng.uniform(-0.02, 0.02)
        spot = SceneObject(name='here', kind=Kind.LOCATION, pose=Pose(position_m=(0.5, 0.0, 0.0)))
        items = (*objects({'red_cube': (x, y)}).values(), spot)
        scene = build_scene(items, None, skills=(), stamp_s=0.0, now_s=0.0)
        there = parse_goal('on(red_cube, here)', scene)
        wanted = check_goal(there, scene, scene, limits).met

        assert met('at(red_cube, 0.5 0)', scene) is wanted
        assert met('at(red_cube, 0.5 0 0.02)', scene) is wanted
        assert not met('at(red_cube, 0.5 0 0.06)', scene)
        passed += wanted
    assert CASES / 20 < passed < CASES * 19 / 20


def test_the_suite_tabletop_states_the_tolerances_of_conditions_for_its_cubes() -> None:
    goals = {task.name: task.table_goal for task in load_suite('tabletop').tasks}
    plus = goals['plus_sign']
    assert isinstance(plus, PlusSign)

    assert (plus.pitch_edges, plus.residual_edges) == ((1.0, DEFAULTS.gap), DEFAULTS.residual)
    assert (plus.turn_deg, plus.level_m) == (DEFAULTS.turn_deg, DEFAULTS.level_m)
