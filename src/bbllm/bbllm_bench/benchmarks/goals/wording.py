"""Says goals of predicates as a person in the house would: `Put two plates in the fridge.`"""

from collections.abc import Iterable, Mapping, Sequence

from bbllm.core.text import listed
from bbllm.planners.common.goal_predicates import PLACING, GoalPredicate, GoalRelation, in_words

NOUNS: Mapping[str, str] = {
    'bathroomcabinet': 'bathroom cabinet',
    'cereal': 'box of cereal',
    'coffeetable': 'coffee table',
    'crackers': 'packet of crackers',
    'cutleryfork': 'fork',
    'cutleryknife': 'knife',
    'dishbowl': 'dish bowl',
    'floorlamp': 'floor lamp',
    'garbagecan': 'garbage can',
    'kitchencabinet': 'kitchen cabinet',
    'kitchencounter': 'kitchen counter',
    'kitchentable': 'kitchen table',
    'lightswitch': 'light switch',
    'milk': 'carton of milk',
    'plushtoy': 'plush toy',
    'poundcake': 'pound cake',
    'remotecontrol': 'remote control',
    'tv': 'TV',
    'waterglass': 'water glass',
    'wineglass': 'wine glass',
}
"""What people call one object of a class, where that is not the name of the class."""
_ENDINGS = (('fe', 'ves'), ('lf', 'lves'), ('s', 'ses'), ('x', 'xes'), ('ch', 'ches'))
"""How nouns end of which a simple s does not make many."""
_STATES: Mapping[GoalRelation, str] = {
    # Also where it is so at the start, since it may not be on the way.
    GoalRelation.CLOSED: 'leave {} closed',
    GoalRelation.OPEN: 'leave {} open',
    GoalRelation.TURNON: 'turn on {}',
    GoalRelation.TURNOFF: 'turn off {}',
    GoalRelation.HOLDS: 'hold {}',
    GoalRelation.SIT: 'sit down on {}',
}


def goal_in_words(predicates: Iterable[GoalPredicate], there: Mapping[str, int]) -> str:
    """
    Return a goal in one sentence or two.

    Of a class that the house has once (*there*) it is said `the` fridge, of others `a` cabinet.
    """
    by_place: dict[tuple[GoalRelation, str], list[str]] = {}
    states: dict[GoalRelation, list[str]] = {}
    for item in predicates:
        items = _things(item.thing, item.count, there)
        if item.relation in PLACING:
            by_place.setdefault((item.relation, item.place), []).append(items)
        else:
            states.setdefault(item.relation, []).append(items)
    puts = [
        f'{listed(items)} {"on" if relation is GoalRelation.ON else "in"} {_place(name, there)}'
        for (relation, name), items in by_place.items()
    ]
    others = [_STATES[word].format(listed(items)) for word, items in states.items()]
    texts = [f'put {_one_by_one(puts)}' if puts else '', listed(others)]
    return ' '.join(_sentence(text) for text in texts if text)


def plural(noun: str) -> str:
    """Return a noun for many: `knives`, `boxes of cereal`."""
    head, of, rest = noun.partition(' of ')
    for ending, many in _ENDINGS:
        if head.endswith(ending):
            return f'{head.removesuffix(ending)}{many}{of}{rest}'
    return f'{head}s{of}{rest}'


def _noun(class_name: str) -> str:
    return NOUNS.get(class_name, class_name.replace('_', ' '))


def _things(class_name: str, count: int, there: Mapping[str, int]) -> str:
    noun = _noun(class_name)
    if count > 1:
        return f'{in_words(count)} {plural(noun)}'
    if there.get(class_name, 0) == 1:
        return f'the {noun}'
    return f'{"an" if noun[0] in "aeiou" else "a"} {noun}'


def _place(class_name: str, there: Mapping[str, int]) -> str:
    noun = _noun(class_name)
    return f'the {noun}' if there.get(class_name, 0) == 1 else f'any of the {plural(noun)}'


def _one_by_one(puts: Sequence[str]) -> str:
    """Join what goes to different places, of which each may have an `and` of its own."""
    return ', and '.join(part for part in (', '.join(puts[:-1]), *puts[-1:]) if part)


def _sentence(text: str) -> str:
    return f'{text[:1].upper()}{text[1:]}.'
