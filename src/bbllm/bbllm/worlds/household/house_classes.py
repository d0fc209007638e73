"""What is known of the classes of things: config/house_classes.yaml, and what a house adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import yaml

from bbllm.core.errors import ConfigError
from bbllm.core.paths import config_dir
from bbllm.worlds.household.vocabulary import Property, State, known_word

FOLLOWING: Mapping[Property, State] = {
    Property.CAN_OPEN: State.CLOSED,
    Property.HAS_SWITCH: State.OFF,
    Property.HAS_PLUG: State.PLUGGED_IN,
}
"""How a thing begins that can be opened, switched or plugged."""
PAIRS: tuple[frozenset[State], ...] = (
    frozenset({State.OPEN, State.CLOSED}),
    frozenset({State.ON, State.OFF}),
    frozenset({State.PLUGGED_IN, State.PLUGGED_OUT}),
    frozenset({State.DIRTY, State.CLEAN}),
)
"""States of which a thing has one at most."""


class HouseFileError(ConfigError):
    """A house that cannot be built as it is described."""


@dataclass(frozen=True, slots=True)
class HouseClass:
    """One class of things, rooms or people."""

    name: str
    category: str
    properties: frozenset[Property]
    states: frozenset[State]
    """How one of it begins."""


@cache
def known_classes() -> Mapping[str, HouseClass]:
    """
    Return the classes that come with the project, by name.

    Raises:
        ConfigError: This installation has no configuration.
    """
    path = config_dir() / 'house_classes.yaml'
    return parse_classes(yaml.safe_load(path.read_text('utf-8')), str(path))


def parse_classes(data: object, where: str) -> Mapping[str, HouseClass]:
    """
    Read classes, each `category[, properties[, states]]`, the words in small letters.

    Raises:
        HouseFileError: A word that there is not, or another form; says which class.
    """
    if not isinstance(data, Mapping):
        raise HouseFileError(f'{where} must map names of classes to lines such as `Food, eatable`')
    return {str(name): _read(str(name), line, where) for name, line in data.items()}


def with_states(states: frozenset[State], *more: State) -> frozenset[State]:
    """Return states with some more, which take the place of their opposites."""
    for state in more:
        states = states.difference(*(pair for pair in PAIRS if state in pair)) | {state}
    return states


def _read(name: str, line: object, where: str) -> HouseClass:
    category, *words = [part.strip() for part in str(line).split(',')]
    if not category or len(words) > 2:
        raise HouseFileError(
            f'{where}: {name} is {line!r}, which is not `category[, properties[, states]]`, as in '
            '`Lamps, has_plug has_switch, on`.'
        )
    properties, states = [part.split() for part in (*words, '', '')[:2]]
    try:
        has = frozenset(known_word(Property, word, f'{where}: {name}') for word in properties)
        given = [known_word(State, word, f'{where}: {name}') for word in states]
    except ValueError as error:
        raise HouseFileError(str(error)) from None
    first = frozenset(state for word, state in FOLLOWING.items() if word in has)
    return HouseClass(name, category, has, with_states(first, *given))
