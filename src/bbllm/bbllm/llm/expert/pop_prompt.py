"""Reads the prompts of LLM-POP, by their labels, and writes replies in its grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bbllm.core.errors import ParseError
from bbllm.core.observation import Observed, Seven, parse_observed
from bbllm.llm.expert.deciding import Decision, Stage
from bbllm.llm.expert.sight import Asked, Deed, Move, Sight, UnreadableError

LABELS = ('[History]', '[Current observation]', '[Evaluation]')
"""Labels behind the examples, each alone on its line; of equal ones the last counts."""

_TABLE = re.compile(r'Table: centre (\S+) (\S+), size (\S+) (\S+), top')
_BLOCK = re.compile(r'Block: (\w+), \w+, [^,]*, size \S+ \S+ (\S+)')
_LINE = re.compile(r'(Action|Result|Observation) (\d+): (.*)')
_SHORT = re.compile(r'Round \d+ in short: (.*)')
_SHORT_DEED = re.compile(
    r'(?P<action>[A-Z]+(?: (?:\w+|\[[^\]]*\]))?) (?P<result>done|failed: .*?)'
    r'(?:, force z (?P<force>-?\d+\.\d+))?$'
)
_VERBS = {'PICK': 'pick', 'PLACE': 'place', 'REACH': 'reach', 'RESET': 'reset', 'WAIT': 'wait'}


def is_pop_prompt(text: str) -> bool:
    """Tell whether a message is one of LLM-POP's prompts."""
    lines = text.splitlines()
    return all(label in lines for label in LABELS[:2])


def read_pop_prompt(text: str) -> Sight:
    """
    Take a prompt apart.

    Raises:
        UnreadableError: A label or a line is missing that is needed.
    """
    parts = _parts(text)
    here = parts['[Current observation]']
    blocks = [found for line in here if (found := _BLOCK.match(line))]
    now = [line.removeprefix('Observation: ') for line in here if line.startswith('Observation: ')]
    if not now or not blocks:
        raise UnreadableError(
            "The prompt has no 'Block:' or no 'Observation:' below '[Current observation]'."
        )
    return Sight(
        asked=Asked.EVALUATE if text.rstrip().endswith('Evaluate:') else Asked.PLAN,
        names=tuple(found[1] for found in blocks),
        now=_observed(now[-1]),
        deeds=tuple(_deeds(parts['[History]'])),
        heights_m=tuple((found[1], float(found[2])) for found in blocks),
        corners=corners_of(here),
    )


def corners_of(lines: Iterable[str]) -> tuple[tuple[float, float], ...]:
    """Return the corners of the tables that lines of a prompt tell of [m]."""
    corners: list[tuple[float, float]] = []
    for found in filter(None, map(_TABLE.match, lines)):
        x, y, along, across = map(float, found.groups())
        corners += [(x + i * along / 2, y + j * across / 2) for i in (1, -1) for j in (1, -1)]
    return tuple(corners)


def write_pop_reply(asked: Asked, decision: Decision) -> str:
    """Write what was decided, as evaluator or as planner."""
    if asked is Asked.EVALUATE:
        return f'{"SUCCESS" if decision.stage is Stage.DONE else "FAIL"}\n{decision.reason}'
    actions = [f'ACTION {_action(move)}' for move in decision.moves] or ['DONE']
    return '\n'.join(['EXPLAIN', decision.reason, 'EXECUTE', *actions])


def _action(move: Move) -> str:
    word = next(word for word, verb in _VERBS.items() if verb == move.verb)
    if move.pose is not None:
        return f'{word} [{" ".join(f"{value:.4f}" for value in move.pose)}]'
    return f'{word} {move.name}'.rstrip()


def _parts(text: str) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    here: list[str] = []
    for line in text.splitlines():
        if line in LABELS:
            here = parts[line] = []
        else:
            here.append(line.strip())
    return parts


def _deeds(lines: Iterable[str]) -> Iterator[Deed]:
    """Yield the actions of all rounds, in full or in short, oldest first."""
    told: dict[str, str] = {}
    for line in (*lines, '== end =='):
        found = _LINE.match(line)
        if (found is None or found[1] == 'Action') and told:
            yield _deed(told)
            told = {}
        if found is not None:
            told[found[1]] = found[3]
        elif short := _SHORT.match(line):
            yield from _short_deeds(short[1])


def _deed(told: dict[str, str]) -> Deed:
    result = told.get('Result', '')
    return Deed(
        move=_move(told.get('Action', '')),
        done=result == 'done',
        tried=result != 'not tried',
        message=result.removeprefix('failed: ') if result != 'done' else '',
        seen=_observed(told['Observation']) if 'Observation' in told else None,
    )


def _short_deeds(text: str) -> Iterator[Deed]:
    # Words of a controller may hold semicolons too; an action begins with a word in capitals.
    for part in re.split(r'; (?=(?:PICK|PLACE|REACH|RESET|WAIT)\b)', text):
        if found := _SHORT_DEED.match(part):
            yield Deed(
                move=_move(found['action']),
                done=found['result'] == 'done',
                message=found['result'].removeprefix('failed: ').removeprefix('done'),
                force_z_n=None if found['force'] is None else float(found['force']),
            )


def _move(text: str) -> Move:
    word, _, rest = text.partition(' ')
    rest = rest.strip()
    verb = _VERBS.get(word.upper(), word.lower())
    if verb == 'pick':
        return Move(verb, rest)
    return Move(verb, pose=_seven(rest.strip('[]').replace(',', ' ').split()))


def _seven(words: Sequence[str]) -> Seven | None:
    try:
        x, y, z, qx, qy, qz, qw = map(float, words)
    except ValueError:
        return None
    return x, y, z, qx, qy, qz, qw


def _observed(line: str) -> Observed:
    try:
        return parse_observed(line)
    except ParseError as error:
        raise UnreadableError(str(error)) from error
