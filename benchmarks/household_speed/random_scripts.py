"""
Draws scripts for a household at random, so that many of their lines can be done.

A script is a row of habits, such as fetching a cup, with lines that make no sense in between, and
with some lines left out or spoiled. It is drawn from the household as it is in the beginning and
runs on nothing, so that it does not depend on what any simulator makes of it.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from bbllm.worlds.household.vocabulary import Action
from benchmarks.household_speed.random_houses import House

Thing = dict[str, Any]

NONSENSE = 0.25
"""Share of the lines that belong to no habit."""
FOCUS = 12
"""How many things a script is mostly about, so that its lines have to do with each other."""
LETS_GO = ('DROP', 'RELEASE', 'PUTOBJBACK', 'PUTBACK', 'PUTIN', 'PUTON')
SPOILED = 0.04
"""How often a line is left out, is about another thing, or has a wrong name."""


def draw_script(dice: random.Random, house: House, length: int) -> tuple[str, ...]:
    """Draw one script of so many lines, for a house as in VirtualHome's JSON."""
    return tuple(_Writer(dice, house).lines(length))


class _Writer:
    """Draws things that are fit for a purpose, and lines about them."""

    def __init__(self, dice: random.Random, house: House) -> None:
        self.dice = dice
        self.nodes = list({node['id']: node for node in house['nodes']}.values())
        self.focus = dice.sample(self.nodes, min(FOCUS, len(self.nodes)))
        self.highest = max(node['id'] for node in self.nodes)
        self.grabbed: list[Thing] = []
        """What the hands may hold by now, as far as one can know without running anything."""

    def lines(self, length: int) -> list[str]:
        found: list[str] = []
        while len(found) < length:
            if self.dice.random() < NONSENSE:
                found.append(self.nonsense())
                continue
            for word, *things in self.dice.choice(HABITS)(self):
                luck = self.dice.random()
                if luck < SPOILED:
                    continue
                if things and luck < 2 * SPOILED:
                    things = [*things[:-1], self.any()]
                found.append(self.line(word, *things))
        return found[:length]

    def line(self, word: str, *things: Thing) -> str:
        if word == 'GRAB':
            self.grabbed.append(things[0])
        elif word in LETS_GO and things[0] in self.grabbed:
            self.grabbed.remove(things[0])
        # Only the id counts, so that any name will do.
        names = ('Some Thing' if self.dice.random() < SPOILED else thing['class_name']
                 for thing in things)  # fmt: skip
        named = ''.join(f' <{name}> ({thing["id"]})' for name, thing in zip(names, things))
        return f'[{word}]{named}'

    def nonsense(self) -> str:
        action = self.dice.choice(list(Action))
        return self.line(action.value, *(self.any() for _ in range(action.arity)))

    def any(self) -> Thing:
        """Return anything, once in a while something that there is not."""
        luck = self.dice.random()
        if luck < 0.02:
            return {'class_name': 'unicorn', 'id': self.highest + self.dice.randint(1, 9)}
        return self.dice.choice(self.focus if luck < 0.8 else self.nodes)

    def fit(self, *properties: str, names: Sequence[str] = ()) -> Thing:
        """Return something with one of these properties or names, rather from the focus."""

        def fits(node: Thing) -> bool:
            return node['class_name'] in names or any(p in node['properties'] for p in properties)

        places = (self.focus, self.nodes) if self.dice.random() < 0.7 else (self.nodes,)
        for nodes in places:
            found = [node for node in nodes if fits(node)]
            if found:
                return self.dice.choice(found)
        return self.any()

    def pick(self, *words: str) -> str:
        return self.dice.choice(words)


Lines = Iterator[tuple[Any, ...]]
"""Each is a word and the things after it."""


def _fetch(w: _Writer) -> Lines:
    thing, place = w.fit('GRABBABLE', names=('water', 'child')), w.fit('SURFACES', 'CAN_OPEN')
    yield from _free_hands(w, 0.5)
    yield (w.pick('WALK', 'RUN', 'FIND'), thing)
    yield ('GRAB', thing)
    yield (w.pick('WALK', 'FIND'), place)
    if 'CAN_OPEN' in place['properties'] and w.dice.random() < 0.7:
        yield ('OPEN', place)
        yield ('PUTIN', thing, place)
        yield ('CLOSE', place)
    else:
        yield (w.pick('PUTBACK', 'PUTIN', 'PUTBACK'), thing, place)


def _fetch_from_inside(w: _Writer) -> Lines:
    box, thing = w.fit('CAN_OPEN', names=('desk', 'window')), w.fit('GRABBABLE')
    yield from _free_hands(w, 0.5)
    yield ('WALK', box)
    yield (w.pick('SWITCHOFF', 'TOUCH'), box)
    yield ('OPEN', box)
    yield ('FIND', thing)
    yield ('GRAB', thing)
    yield (w.pick('WALK', 'TOUCH'), w.any())
    yield (w.pick('PUTOBJBACK', 'DROP', 'RELEASE', 'PUTOBJBACK'), thing)


def _switch(w: _Writer) -> Lines:
    device = w.fit('HAS_SWITCH', 'HAS_PLUG')
    yield ('FIND', device)
    words = ['SWITCHON', 'SWITCHOFF', 'PLUGIN', 'PLUGOUT', 'SWITCHON', 'TYPE']
    w.dice.shuffle(words)
    for word in words[: w.dice.randint(2, 5)]:
        yield (word, device)


def _sit(w: _Writer) -> Lines:
    seat, seen = w.fit('SITTABLE'), w.fit('LOOKABLE')
    yield ('WALK', seat)
    yield ('SIT', seat)
    yield (w.pick('LOOKAT', 'POINTAT', 'TURNTO'), seen)
    yield ('WATCH', seen)
    yield (w.pick('STANDUP', 'SLEEP', 'WAKEUP', 'STANDUP'),)


def _watch(w: _Writer) -> Lines:
    seen = w.fit('LOOKABLE')
    yield ('FIND', seen)
    yield ('TURNTO', seen)
    yield (w.pick('WATCH', 'LOOKAT', 'POINTAT', 'LOOKAT_SHORT', 'LOOKAT_LONG', 'WATCH'), seen)


def _lie(w: _Writer) -> Lines:
    bed = w.fit('LIEABLE')
    yield ('WALK', bed)
    yield ('LIE', bed)
    yield (w.pick('SLEEP', 'WAKEUP'),)
    yield ('STANDUP',)


def _clean(w: _Writer) -> Lines:
    thing, rag = w.any(), w.fit('GRABBABLE')
    yield from _free_hands(w, 0.5)
    yield ('FIND', rag)
    yield ('GRAB', rag)
    yield ('WALK', thing)
    yield (w.pick('WASH', 'RINSE', 'SCRUB', 'WIPE', 'WIPE'), thing)


def _dress(w: _Writer) -> Lines:
    clothes = w.fit('CLOTHES')
    yield from _free_hands(w)
    yield ('FIND', clothes)
    yield ('GRAB', clothes)
    yield ('PUTON', clothes)
    yield (w.pick('PUTOFF', 'FIND', 'GRAB'), clothes)


def _drink(w: _Writer) -> Lines:
    drink, cup = w.fit('DRINKABLE', 'POURABLE'), w.fit('RECIPIENT', names=('face', 'sponge'))
    yield from _free_hands(w)
    yield ('FIND', drink)
    yield ('GRAB', drink)
    yield (w.pick('FIND', 'WALK'), cup)
    yield ('POUR', drink, cup)
    yield ('DRINK', w.dice.choice((drink, cup)))


def _eat(w: _Writer) -> Lines:
    food, knife = w.fit('EATABLE'), w.fit(names=('knife', 'cutting_knife'))
    yield from _free_hands(w)
    yield ('FIND', knife)
    yield ('GRAB', knife)
    yield ('WALK', food)
    yield (w.pick('CUT', 'CUT', 'EAT'), food)
    yield ('EAT', w.dice.choice((food, w.fit('SURFACES'))))


def _read(w: _Writer) -> Lines:
    book = w.fit('READABLE')
    yield from _free_hands(w)
    yield ('FIND', book)
    yield ('GRAB', book)
    yield ('READ', book)


def _handle(w: _Writer) -> Lines:
    thing = w.dice.choice((w.fit('MOVABLE', names=('button', 'chair', 'curtain')), w.any()))
    yield from _free_hands(w, 0.7)
    yield (w.pick('WALK', 'FIND'), thing)
    yield (w.pick('PUSH', 'PULL', 'MOVE', 'TOUCH'), thing)


def _squeeze(w: _Writer) -> Lines:
    thing = w.fit('CLOTHES', names=('check', 'dish_soap', 'food_lemon', 'rag', 'sponge', 'towel'))
    yield from _free_hands(w)
    yield ('FIND', thing)
    yield ('SQUEEZE', thing)


def _greet(w: _Writer) -> Lines:
    yield ('GREET', w.fit('PERSON'))


def _free_hands(w: _Writer, chance: float = 1.0) -> Lines:
    for thing in tuple(w.grabbed) if w.dice.random() < chance else ():
        yield (w.pick('DROP', 'RELEASE', 'RELEASE', 'PUTOBJBACK'), thing)


HABITS = (
    *(_fetch, _fetch, _fetch, _fetch_from_inside, _fetch_from_inside, _switch, _switch, _sit),
    *(_watch, _watch, _lie, _clean, _clean, _dress, _drink, _drink, _eat, _eat, _eat, _read),
    *(_squeeze, _handle, _handle, _handle, _greet, _free_hands),
)
"""Those that are rarely done to the end are drawn more often."""
