"""
Draws scripts for a household at random, so that many of their lines can be done.

A script is a row of habits, such as fetching a cup, with lines that make no sense in between, and
with some lines left out or spoiled. It is drawn from the household as it is in the beginning and
runs on nothing, so that it does not depend on what any simulator makes of it.
"""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from bbllm.worlds.household.vocabulary import Action
from tests.worlds.household.random_houses import House

Entity = dict[str, Any]

NONSENSE = 0.25
"""Share of the lines that belong to no habit."""
FOCUS = 12
"""How many objects a script is mostly about, so that its lines have to do with each other."""
SPOILED = 0.04
"""How often a line is left out, is about another object, or has a wrong name."""
FREE_HANDS = 0.6
"""How often all that is in the hands is let go before a habit."""
LET_GO = ('DROP', 'RELEASE', 'RELEASE', 'PUTOBJBACK')
LETS_GO = ('DROP', 'RELEASE', 'PUTOBJBACK', 'PUTBACK', 'PUTIN', 'PUTON')

ROLES: Mapping[str, frozenset[str]] = {
    role: frozenset(words.split())
    for role, words in {
        'portable': 'GRABBABLE water child',
        'surface': 'SURFACES',
        'box': 'CAN_OPEN desk window',
        'device': 'HAS_SWITCH HAS_PLUG',
        'seat': 'SITTABLE',
        'bed': 'LIEABLE',
        'seen': 'LOOKABLE',
        'clothes': 'CLOTHES',
        'drink': 'DRINKABLE POURABLE',
        'cup': 'RECIPIENT face sponge',
        'food': 'EATABLE',
        'knife': 'knife cutting_knife',
        'book': 'READABLE',
        'movable': 'MOVABLE button chair curtain',
        'soft': 'CLOTHES check dish_soap food_lemon rag sponge towel',
        'person': 'PERSON',
    }.items()
}
"""Properties and class names, one of which fits a role; any other role is anything."""

HABITS: Mapping[str, int] = {
    'WALK|RUN|FIND portable; GRAB portable; WALK|FIND surface; '
    'PUTBACK|PUTIN|PUTBACK portable surface': 2,
    'FIND portable; GRAB portable; WALK box; OPEN box; PUTIN portable box; CLOSE box': 1,
    'WALK box; SWITCHOFF|TOUCH box; OPEN box; FIND portable; GRAB portable; '
    'WALK|TOUCH any; PUTOBJBACK|DROP|RELEASE|PUTOBJBACK portable': 2,
    'FIND device; PLUGIN|PLUGOUT device; SWITCHON device; TYPE device; SWITCHOFF device': 1,
    'FIND device; SWITCHOFF device; PLUGOUT device; PLUGIN device; SWITCHON device': 1,
    'WALK seat; SIT seat; LOOKAT|POINTAT|TURNTO seen; WATCH seen; STANDUP|SLEEP|WAKEUP|STANDUP': 1,
    'FIND seen; TURNTO seen; WATCH|LOOKAT|POINTAT|LOOKAT_SHORT|LOOKAT_LONG|WATCH seen': 2,
    'WALK bed; LIE bed; SLEEP|WAKEUP; STANDUP': 1,
    'FIND portable; GRAB portable; WALK any; WASH|RINSE|SCRUB|WIPE|WIPE any': 2,
    'FIND clothes; GRAB clothes; PUTON clothes; PUTOFF|FIND|GRAB clothes': 1,
    'FIND drink; GRAB drink; FIND|WALK cup; POUR drink cup; DRINK cup': 1,
    'FIND drink; GRAB drink; DRINK drink': 1,
    'FIND knife; GRAB knife; WALK food; CUT|CUT|EAT food; EAT food': 3,
    'FIND book; GRAB book; READ book': 1,
    'FIND soft; SQUEEZE soft': 1,
    'WALK|FIND movable; PUSH|PULL|MOVE|TOUCH movable': 2,
    'WALK|FIND any; PUSH|PULL|MOVE|TOUCH any': 1,
    'GREET person': 1,
}
"""
How often each is drawn: those that are rarely done to the end, more often.

A line is a word of several and the roles of objects; a role is the same object in all lines.
"""


def draw_script(dice: random.Random, house: House, length: int) -> tuple[str, ...]:
    """Draw one script of so many lines, for a house as in VirtualHome's JSON."""
    return tuple(_Writer(dice, house).lines(length))


class _Writer:
    """Draws objects that are fit for a purpose, and lines about them."""

    def __init__(self, dice: random.Random, house: House) -> None:
        self.dice = dice
        self.nodes = list({node['id']: node for node in house['nodes']}.values())
        self.focus = dice.sample(self.nodes, min(FOCUS, len(self.nodes)))
        self.highest = max(node['id'] for node in self.nodes)
        self.grabbed: list[Entity] = []
        """What the hands may hold by now, as far as one can know without running anything."""

    def lines(self, length: int) -> list[str]:
        found: list[str] = []
        while len(found) < length:
            if self.dice.random() < NONSENSE:
                action = self.dice.choice(list(Action))
                found.append(self.line(action.value, [self.any() for _ in range(action.arity)]))
                continue
            if self.dice.random() < FREE_HANDS:
                found += [self.line(self.dice.choice(LET_GO), [it]) for it in [*self.grabbed]]
            (habit,) = self.dice.choices([*HABITS], [*HABITS.values()])
            for word, items in self.habit(habit):
                luck = self.dice.random()
                if luck < SPOILED:
                    continue
                if items and luck < 2 * SPOILED:
                    items = [*items[:-1], self.any()]
                found.append(self.line(word, items))
        return found[:length]

    def habit(self, text: str) -> Iterator[tuple[str, list[Entity]]]:
        cast: dict[str, Entity] = {}
        for line in text.split('; '):
            words, *roles = line.split()
            for role in roles:
                if role not in cast:
                    cast[role] = self.fit(role)
            yield self.dice.choice(words.split('|')), [cast[role] for role in roles]

    def line(self, word: str, items: list[Entity]) -> str:
        if word == 'GRAB':
            self.grabbed.append(items[0])
        elif word in LETS_GO and items[0] in self.grabbed:
            self.grabbed.remove(items[0])
        # Only the id counts, so that any name will do.
        names = ('Some Thing' if self.dice.random() < SPOILED else item['class_name']
                 for item in items)  # fmt: skip
        named = ''.join(f' <{name}> ({item["id"]})' for name, item in zip(names, items))
        return f'[{word}]{named}'

    def any(self) -> Entity:
        """Return anything, once in a while something that there is not."""
        luck = self.dice.random()
        if luck < 0.02:
            return {'class_name': 'unicorn', 'id': self.highest + self.dice.randint(1, 9)}
        return self.dice.choice(self.focus if luck < 0.8 else self.nodes)

    def fit(self, role: str) -> Entity:
        """Return something that is fit for a role, rather from the focus."""
        wanted = ROLES.get(role, frozenset())
        places = (self.focus, self.nodes) if self.dice.random() < 0.7 else (self.nodes,)
        for nodes in places:
            found = [
                n for n in nodes if not wanted.isdisjoint((n['class_name'], *n['properties']))
            ]
            if found:
                return self.dice.choice(found)
        return self.any()
