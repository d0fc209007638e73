"""The Body's part of `offline`: one step in plain words becomes one line of program."""

from __future__ import annotations

import re

from bbllm.llm.offline import words as w
from bbllm.llm.offline.phrases import Context, RefusalError, noun_phrase, read_target
from bbllm.llm.offline.sight import Sight
from bbllm.llm.offline.tokens import tokenize

PASS = '<pass>'
GRAB_AND_PUTIN = 'grab_and_putin'
MAX_CHARACTERS = 500
"""A longer step is none that a plan may have [characters]."""
_TAKING = w.PICK | {'take', 'get'}
_SYNONYMS = {
    'pick': _TAKING,
    'place': w.PUT | w.STACK,
    'reach': w.REACH | {'go'},
}


def answer_body(sight: Sight) -> str:
    """Answer an execution prompt."""
    if len(sight.step or '') > MAX_CHARACTERS:
        return PASS
    tokens = [token for token in tokenize(sight.step or '', sight) if token != ';']
    while tokens and (tokens[0] in w.LEADING or tokens[0] in w.ANYWHERE):
        tokens.pop(0)
    if not tokens:
        return PASS
    context = Context(sight)
    try:
        if GRAB_AND_PUTIN in sight.actions and (pair := _grab_and_put(tokens, context)):
            return f'<rob0>[{GRAB_AND_PUTIN}] <{pair[0]}><{pair[1]}>'
        skill, argument = _call(tokens, context)
    except RefusalError:
        return PASS
    if skill not in sight.actions:
        return PASS
    return f'<rob0>[{skill}]' + (f' <{argument}>' if argument else '')


def _grab_and_put(tokens: list[str], context: Context) -> tuple[str, str] | None:
    """Read `grab the pear and put it in the bowl`; None where it is something else."""
    for i, token in enumerate(tokens[:-1]):
        if token == 'and' and tokens[0] in _TAKING and tokens[i + 1] in w.PUT:
            items = noun_phrase(tokens[1:i], context)
            target = _target(tokens[i + 2 :], context)
            return (items[0].names[0], target) if items and target else None
    return None


def _call(tokens: list[str], context: Context) -> tuple[str, str]:
    """Return a skill and its argument; a skill of no name where none does it."""
    verb = tokens[0]
    rest = [token for token in tokens[1:] if token not in w.ANYWHERE]
    text = ' '.join(tokens)
    if re.match(r'(return|go|move|come|home|return_to_base)\b.*\b(base|home|started?)$', text):
        return 'return_to_base', ''
    if verb in ('home', 'return_to_base'):
        return 'return_to_base', ''
    if verb in w.WAIT or text.startswith('hold on'):
        seconds = [w.NUMBERS.get(token, token) for token in rest if _numeric(token)]
        return ('wait', str(seconds[0])) if seconds else ('wait', '1')
    hand = {'gripper', 'hand', 'fingers', 'open_gripper', 'close_gripper'}
    if verb in ('open', 'close', 'open_gripper', 'close_gripper') and hand & {*tokens}:
        return ('open_gripper' if verb.startswith('open') else 'close_gripper'), ''
    if verb == 'release' or tokens[:2] == ['let', 'go']:
        return 'open_gripper', ''
    hovers = {'arm', 'hand', 'gripper'} & {*rest[:2]} or {'above', 'over'} & {*rest}
    if verb in _SYNONYMS['reach'] or (verb == 'move' and hovers):
        return 'reach', _target(rest, context)
    takes = verb in ('take', 'get') and 'from' in rest
    if verb in _SYNONYMS['place'] and not takes and (argument := _target(rest, context)):
        return 'place', argument
    if verb in _SYNONYMS['pick']:
        return _pick(rest, context)
    return '', ''


def _pick(rest: list[str], context: Context) -> tuple[str, str]:
    items = noun_phrase(_before_preposition(rest), context)
    if items is None:
        return '', ''
    return 'pick', items[0].names[0]


def _before_preposition(rest: list[str]) -> list[str]:
    """Leave out where a thing is to be picked from: that it is there is all the same."""
    for i, token in enumerate(rest):
        if token in ('from', 'on', 'at', 'in') and i:
            return rest[:i]
    return rest


def _target(rest: list[str], context: Context) -> str:
    """Find the target in `red_cube on top of blue_cube`; empty where there is none."""
    problem: RefusalError | None = None
    for i in range(len(rest) - 1, -1, -1):
        if rest[i] not in w.PREPOSITIONS:
            continue
        try:
            target = read_target(rest[i:], context)
        except RefusalError as error:
            problem = problem or error
            continue
        if target is not None and target.kind == 'pose':
            return target.pose
        if target is not None and target.spots:
            return target.spots[0].names[0]
    if problem is not None:
        raise problem
    return ''


def _numeric(token: str) -> bool:
    return token in w.NUMBERS or token.replace('.', '', 1).isdecimal()
