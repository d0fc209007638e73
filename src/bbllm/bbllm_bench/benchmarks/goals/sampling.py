"""
Draws goals of predicates for the suite `household_goals`, and proves the least steps of each.

After the splits that FLTRNN is measured on (goals like those of the demonstrations, new houses,
new tasks), with words, houses and counts of our own. Every tenth goal in a kitchen is a long one,
where one is found. A goal that contradicts itself or its house, that holds at the start, that was
drawn before, whose least number of steps is not proven within the effort, or that shall be long
and is not, is drawn anew; how often that was so is counted.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bbllm.worlds.household.constraints import Constraint
from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household
from bbllm_bench.benchmarks.goals.wording import goal_in_words
from bbllm_bench.optimal.least_steps import EFFORT, Least, least_steps
from bbllm_bench.optimal.relaxed_house import NotProvenError
from bbllm_bench.scene_sampling.household import NoStartError, draw_start, start_dice
from bbllm_bench.scene_sampling.placement import Dice
from bbllm_bench.suites.house_goals import HouseCondition, HouseholdGoal
from bbllm_bench.suites.house_predicates import clashing, predicates_of
from bbllm_bench.suites.house_suite import read_houses

SUITE = 'household_goals'
CONSTRAINTS = (Constraint(puts_only_on='furniture'),)
THINGS = (1, 11)
"""How many objects one goal has moved."""
MOST_OF_A_CLASS = 3
"""What goals of FLTRNN count up to."""
STATES = (0, 2)
"""How many conditions on states a goal has."""
TRIES = 200
"""How often one goal is drawn anew before it counts as impossible."""
LONG_EACH = 10
"""Of so many goals of a split the last one is long."""
LONG_NAMES = (9, 14)
LONG_STEPS = 36
"""What a long goal takes at least; above that are FLTRNN's last two bins."""
LONG_TRIES = 60
"""How often a long one is tried before any other will do."""
LONG_EFFORT = 1500
"""Situations that the proof of a long goal may look at: most that succeed need fewer, and to try
another goal is quicker than to go on."""


_OBJECT = re.compile(r'<\w+> \(\d+\)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One part of the suite: where it is played, and of what its goals speak."""

    name: str
    houses: tuple[str, ...]
    things: tuple[str, ...]
    inside: tuple[str, ...]
    on: tuple[str, ...]
    states: tuple[tuple[str, str], ...]
    """Classes and what they are to be."""
    held: tuple[str, ...] = ()
    has_long: bool = True
    """Whether every tenth goal is a long one. No proof of a long goal comes to an end where things
    and places are all over the house."""


OLD_HOUSES = ('family_flat', 'old_house', 'studio')
NEW_HOUSES = ('cottage', 'townhouse', 'shared_flat')
_KITCHEN = Split(
    name='in_distribution',
    houses=OLD_HOUSES,
    things=(
        *('chicken', 'cupcake', 'pancake', 'poundcake', 'milk', 'plate', 'waterglass'),
        *('wineglass', 'cutleryfork'),
    ),
    inside=('fridge', 'microwave', 'stove', 'dishwasher'),
    on=('kitchentable', 'sink'),
    states=(
        *(('fridge', 'closed'), ('microwave', 'closed'), ('stove', 'closed')),
        *(('dishwasher', 'closed'), ('microwave', 'on'), ('stove', 'on'), ('dishwasher', 'on')),
    ),
)
SPLITS: Mapping[str, Split] = {
    'in_distribution': _KITCHEN,
    'new_houses': Split(
        name='new_houses',
        houses=NEW_HOUSES,
        things=_KITCHEN.things,
        inside=_KITCHEN.inside,
        on=_KITCHEN.on,
        states=_KITCHEN.states,
    ),
    'new_tasks': Split(
        name='new_tasks',
        houses=OLD_HOUSES,
        things=(
            *('apple', 'book', 'magazine', 'mug', 'dishbowl', 'pillow', 'plum', 'lime'),
            *('crackers', 'cereal', 'remotecontrol', 'towel', 'cutleryknife', 'plushtoy'),
        ),
        inside=('garbagecan', 'kitchencabinet', 'closet', 'bathroomcabinet', 'nightstand'),
        on=('desk', 'coffeetable', 'bed', 'sofa', 'bookshelf', 'kitchencounter'),
        states=(
            *(('tv', 'on'), ('computer', 'on'), ('lightswitch', 'off'), ('closet', 'open')),
            *(('kitchencabinet', 'closed'), ('garbagecan', 'closed'), ('floorlamp', 'on')),
        ),
        held=('apple', 'book', 'magazine', 'mug', 'remotecontrol', 'towel'),
        has_long=False,
    ),
}
"""The kitchen's words are those of FLTRNN's goals; the new tasks share none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A goal whose least number of steps is proven."""

    name: str
    split: str
    house: str
    start_seed: int
    goal: HouseholdGoal
    least: Least
    search_s: float
    """How long its proof took [s]."""

    @property
    def sentence(self) -> str:
        return goal_in_words(predicates_of(self.goal) or (), _there(_graph(self.house)))


@dataclass(slots=True)
class Drawing:
    """What drawing goals came to."""

    found: list[Sampled] = field(default_factory=list)
    drawn_anew: Counter[str] = field(default_factory=Counter)
    """Why, and how often."""
    lost_s: list[float] = field(default_factory=list)
    """Durations of searches that came to nothing: no proof, or too few steps [s]."""


def sample(
    n_each: int, seed: int, reported: Callable[[Drawing], None] = lambda drawing: None
) -> Drawing:
    """
    Draw so many goals for each split; the same ones for the same arguments.

    Raises:
        NotProvenError: No goal of a split could be found in many tries.
    """
    drawing = Drawing()
    known: set[str] = set()
    for split in SPLITS.values():
        for number in range(n_each):
            drawing.found.append(_one(split, number, seed, known, drawing))
            reported(drawing)
    return drawing


def start_of(house: str, name: str, start_seed: int, goal: HouseholdGoal) -> Household:
    """Return the household that a task of the suite begins with, as its file is read."""
    dice = start_dice(SUITE, name, start_seed)
    graph = draw_start(_graph(house), goal, (), dice)
    # What is written into a case and read from it again has no other order.
    return Household(Graph.from_dict(graph.to_dict()), constraints=CONSTRAINTS)


def _one(split: Split, number: int, seed: int, known: set[str], drawing: Drawing) -> Sampled:
    name = f'{split.name}_{number:03d}'
    house = split.houses[number % len(split.houses)]
    graph = _graph(house)
    dice = Dice(f'{SUITE}/{seed}/{name}')
    start_seed = dice.number((0, 9999))
    shall_be_long = split.has_long and number % LONG_EACH == LONG_EACH - 1
    for n_tries in range(TRIES):
        long = shall_be_long and n_tries < LONG_TRIES
        goal = _draw(split, graph, dice, LONG_NAMES if long else THINGS)
        text = f'{house}: {goal and [str(each) for each in goal.all]}'
        if goal is None or text in known or clashing(goal, graph):
            drawing.drawn_anew['drawn before, contradictory or too little'] += 1
            continue
        began_s = time.perf_counter()
        try:
            least = _proven(house, name, start_seed, goal, long)
        except NotProvenError as error:
            drawing.drawn_anew[_OBJECT.sub('a thing', str(error).rpartition(': ')[2])] += 1
            drawing.lost_s.append(time.perf_counter() - began_s)
            continue
        known.add(text)
        return Sampled(
            name=name,
            split=split.name,
            house=house,
            start_seed=start_seed,
            goal=goal,
            least=least,
            search_s=time.perf_counter() - began_s,
        )
    raise NotProvenError(f'no goal for {name} in {house} was found in {TRIES} tries')


def _proven(house: str, name: str, start_seed: int, goal: HouseholdGoal, long: bool) -> Least:
    try:
        household = start_of(house, name, start_seed, goal)
    except NoStartError:
        raise NotProvenError('it holds at the start') from None
    least = least_steps(household, goal, effort=LONG_EFFORT if long else EFFORT)
    if long and len(least.lines) < LONG_STEPS:
        raise NotProvenError(f'fewer than {LONG_STEPS} steps')
    return least


def _graph(house: str) -> Graph:
    return read_houses((house,), Path())[0].graph


def _there(graph: Graph) -> Counter[str]:
    return Counter(node.class_name for node in graph.nodes.values())


def _draw(split: Split, graph: Graph, dice: Dice, items: tuple[int, int]) -> HouseholdGoal | None:
    """Draw a goal; None where too little came of it, or where it wants too much of a class."""
    there = _there(graph)
    conditions = list(_placings(split, there, dice, items))
    held = [name for name in split.held if there[name]]
    if held and dice.number((0, 3)) == 0:
        conditions.append(HouseCondition(held=dice.shuffled(held)[0]))
    states = [pair for pair in dice.shuffled(list(split.states)) if there[pair[0]]]
    for name, word in states[: dice.number(STATES)]:
        count = dice.number((1, min(there[name], MOST_OF_A_CLASS)))
        conditions.append(HouseCondition.model_validate(
            {'thing': name, 'is': word, 'count': count}
        ))  # fmt: skip
    wanted: Counter[str] = Counter()
    for each in conditions:
        if not each.is_:
            wanted[each.thing or each.held or ''] += each.count
    if not conditions or any(n > there[name] for name, n in wanted.items()):
        return None
    try:
        return HouseholdGoal(kind='household', all=tuple(conditions))
    except ValueError:  # a condition twice
        return None


def _placings(
    split: Split, there: Mapping[str, int], dice: Dice, items: tuple[int, int]
) -> Iterator[HouseCondition]:
    places = [('inside', name) for name in split.inside if there.get(name)]
    places += [('on', name) for name in split.on if there.get(name)]
    left = dice.number(items)
    for name in dice.shuffled([item for item in split.things if there.get(item)]):
        if left <= 0:
            return
        count = dice.number((1, min(left, there[name], MOST_OF_A_CLASS)))
        relation, place = dice.shuffled(places)[0]
        yield HouseCondition.model_validate({'thing': name, relation: place, 'count': count})
        left -= count
