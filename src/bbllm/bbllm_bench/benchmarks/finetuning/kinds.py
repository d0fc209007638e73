"""
What tasks can be made of: goals, what is not visible of the blocks, and sentences that ask for it.

A pattern is a sentence with alternatives in braces, `{Put|Set} one # on the other.`, where # is a
word for a block. Every one that it stands for asks for the same goal. Tags as in LLM-POP, appendix
A.3: <weight> where weights differ, <move> where some may be fixed, <three> for a third block.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from bbllm_bench.suites.goals import Needs

NOUNS = ('block', 'cube')
"""Words that # stands for."""

_CLOSE: Mapping[str, object] = {'still_m': 0.01, 'level_m': 0.01, 'tilt_deg': 18}
"""Tolerances as in config/suites/partial.yaml."""
_TOWER: Mapping[str, object] = {'kind': 'tower', 'near_m': 0.02, 'order': 'any', **_CLOSE}
_CORNERS: Mapping[str, object] = {'kind': 'corners', 'corner_m': 0.08, 'which': 'all', **_CLOSE}
_HOLD: Mapping[str, object] = {
    'kind': 'hold', 'which': 'heaviest', 'raised_m': 0.05, 'level_m': 0.01, 'tilt_deg': 18,
}  # fmt: skip

_ONE_OF_TWO = (
    '{One of the two #s is fixed to the table.|One of the #s cannot be moved.'
    '|The table holds one of the two #s fast.}'
)
_ONE_OF_THREE = (
    '{One of the three #s is fixed to the table.|Of the three #s, one cannot be moved.'
    '|The table holds one of the three #s fast.}'
)
_DIFFER = '{The #s differ in weight.|No two #s weigh the same.}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One goal that can be asked for."""

    name: str
    goal: Mapping[str, object]
    patterns: tuple[str, ...]
    blocks: int = 2
    needs: Needs = 'none'
    differ: bool = False
    """Whether the blocks' weights are told apart by hand."""
    fixed: int = 0
    """How many blocks are fixed to the table."""

    @property
    def tags(self) -> tuple[str, ...]:
        """What is assumed of the blocks."""
        found = {'<weight>': self.differ, '<move>': self.fixed > 0, '<three>': self.blocks == 3}
        return tuple(tag for tag, holds in found.items() if holds)

    @property
    def starred(self) -> bool:
        return self.needs != 'none'

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that its patterns stand for."""
        found = (text for pattern in self.patterns for text in expand(pattern))
        return tuple(dict.fromkeys(found))


def expand(pattern: str) -> list[str]:
    parts = [part.split('|') for part in pattern.replace('}', '{').split('{')]
    whole = [''.join(choice) for choice in product(*parts)]
    return [text.replace('#', noun) for noun in NOUNS for text in whole]


_STACK = (
    '{Stack|Pile up} the {two |}#s{|, one on top of the other}.',
    '{Put|Set|Place} one # on{| top of} the other.',
    '{Build|Make} a {tower|pile} of the two #s.',
)
_TO_CORNERS = (
    '{Move|Bring|Take} {each|every} # to a corner of the table, {each to a different one'
    '|no two to the same one}.',
    '{Put|Set|Place} {the|all} #s at {different corners of the table|corners of the table, one at '
    'each}.',
)
_KEEP = '{ and keep it in the hand| and hold it up| and do not put it down}'

KINDS = (
    Kind(
        name='stack',
        goal={**_TOWER, 'height': 2},
        patterns=_STACK,
    ),
    Kind(
        name='stack_unlike',
        goal={**_TOWER, 'height': 2},
        patterns=tuple(f'{_DIFFER} {pattern}' for pattern in _STACK),
        differ=True,
    ),
    Kind(
        name='corners',
        goal=_CORNERS,
        patterns=_TO_CORNERS,
    ),
    Kind(
        name='hold_heavier',
        goal=_HOLD,
        patterns=('{Pick up|Lift|Take} the heavier {#|of the two #s}' + _KEEP + '.',),
        needs='weights',
        differ=True,
    ),
    Kind(
        name='lighter_on_heavier',
        goal={**_TOWER, 'height': 2, 'order': 'lighter_up'},
        patterns=(
            '{Stack|Put|Set|Place} the lighter # on{| top of} the heavier one.',
            '{Build|Make} a tower of the {two |}#s with the heavier one {at the bottom|below}.',
            '{Find out which # is heavier, and|Weigh both #s, then} put the lighter one on the '
            'heavier one.',
        ),
        needs='weights',
        differ=True,
    ),
    Kind(
        name='movable_to_corner',
        goal={**_CORNERS, 'which': 'movable'},
        patterns=(
            _ONE_OF_TWO + ' {Put|Set|Leave} the {movable one|other} at a corner of the table.',
            _ONE_OF_TWO + ' {Bring|Move|Take} the one that can be moved to a corner of the table.',
        ),
        needs='movable',
        fixed=1,
    ),
    Kind(
        name='movable_on_fixed',
        goal={**_TOWER, 'height': 2, 'order': 'on_fixed'},
        patterns=(
            _ONE_OF_TWO + ' {Find the movable one and put it|Put the other|Stack the one that '
            'moves} on top of the one that does not move.',
            _ONE_OF_TWO + ' {Build|Make} a tower of both.',
        ),
        needs='movable',
        fixed=1,
    ),
    Kind(
        name='tower_of_three',
        goal={**_TOWER, 'height': 3},
        patterns=(
            '{Stack|Pile up} {the three|all three} #s{| into one tower}.',
            '{Build|Make} {a tower|one pile} of {the|all} three #s.',
        ),
        blocks=3,
    ),
    Kind(
        name='two_of_three',
        goal={**_TOWER, 'height': 2},
        patterns=(
            '{Stack|Pile up} two of the three #s{| and leave the third one where it is}.',
            '{Put|Set|Place} any of the three #s on another one.',
        ),
        blocks=3,
    ),
    Kind(
        name='three_corners',
        goal=_CORNERS,
        patterns=_TO_CORNERS,
        blocks=3,
    ),
    Kind(
        name='hold_heaviest',
        goal=_HOLD,
        patterns=('{Pick up|Lift|Take} the heaviest {#|of the three #s}' + _KEEP + '.',),
        blocks=3,
        needs='weights',
        differ=True,
    ),
    Kind(
        name='tower_by_weight',
        goal={**_TOWER, 'height': 3, 'order': 'lighter_up'},
        patterns=(
            '{Stack|Pile up} the three #s{| into one tower}, the heaviest at the bottom and the '
            'lightest on top.',
            '{Sort the three #s by weight in one tower|Build a tower of the three #s}, so that '
            '{every one is lighter than the one below|nothing stands on a lighter one}.',
        ),
        blocks=3,
        needs='weights',
        differ=True,
    ),
    Kind(
        name='movables_to_corners',
        goal={**_CORNERS, 'which': 'movable'},
        patterns=(
            _ONE_OF_THREE + ' {Put|Set|Leave} each of the others at a corner of the table, {not '
            'both at the same one|at two different ones}.',
            _ONE_OF_THREE + ' {Bring|Move|Take} those that can be moved to different corners of '
            'the table.',
        ),
        blocks=3,
        needs='movable',
        fixed=1,
    ),
    Kind(
        name='tower_on_fixed',
        goal={**_TOWER, 'height': 3, 'order': 'on_fixed'},
        patterns=(
            _ONE_OF_THREE + ' {Stack|Pile up} the other two on it.',
            _ONE_OF_THREE + ' {Build|Make} a tower of all three.',
        ),
        blocks=3,
        needs='movable',
        fixed=1,
    ),
)  # fmt: skip
