"""
The grammar of calls that a Body may reply with, as one line or as JSON (see `body_schema`).

A line: `<rob0>[pick] <red_cube>`, `<rob0>[return_to_base]` or `<pass>`.
"""

import json
import re

from bbllm.core.errors import ParseError
from bbllm.core.observation import lost_names
from bbllm.core.protocols import PASS, JsonSchema, Pass
from bbllm.core.skill_calls import CallError, check_call, plain
from bbllm.core.types import Code, Scene, SkillCall

LINE_FORM = (
    'one line such as `<rob0>[pick] <red_cube>`, `<rob0>[return_to_base]` or `<pass>`, '
    'with a skill and objects of the scene'
)
MAX_LINE = 500
"""Maximum length of a line with an action [characters]."""
MAX_ENUM = 250
"""Servers limit the values that a schema may enumerate; longer lists are checked here."""

_LABEL = re.compile(r'^[\s>*_#`-]*(?:action plan|answer|action)[*_` ]*:[*_` ]*', re.IGNORECASE)
_ACTION = re.compile(
    r'(?:<\s*\w+\s*>\s*)?\[(?P<skill>[^\[\]<>]{1,80})\]\s*'
    r'(?P<args>(?:<[^<>]*>[\s,]*)*)(?P<rest>.*)$'
)
_BEFORE = ' \t>*_`-'
"""Markdown that may stand before an action."""
_PASS = re.compile(r'^[\s>*_`-]*<\s*pass\s*>[\s*_`.]*$', re.IGNORECASE)
_PLACING = ('place', 'put', 'move')
"""Words for which `[word] <object> <target>` means to place the object in the hand."""


def parse_call(text: str, scene: Scene) -> SkillCall | Pass:
    """Parse a reply of a Body; raise ParseError with what is accepted, also for names."""
    stripped = _LABEL.sub('', re.sub(r'^\s*```\w*\s*\n?', '', text)).strip()
    call = _from_json(stripped) if stripped.startswith('{') else _from_line(text)
    if call is PASS:
        return PASS
    return checked(_one_target(call, scene), scene)


def checked(call: SkillCall, scene: Scene) -> SkillCall:
    """Check a call of a Body; raise ParseError with what is accepted."""
    try:
        return check_call(call, scene)
    except CallError as error:
        if error.code is Code.OBJECT_LOST:
            return call  # not the Body's fault: the world refuses it, and the Brain learns why
        raise ParseError(str(error)) from error


def _from_line(text: str) -> SkillCall | Pass:
    found: list[SkillCall | Pass] = []
    for raw in text.splitlines():
        line = _LABEL.sub('', raw)
        if re.match(r'[\s*_]*explanation\b', line, re.IGNORECASE):
            break
        start = line.lstrip(_BEFORE)
        if len(line) > MAX_LINE:
            if start.startswith(('<', '[')):
                raise ParseError(
                    f'A line has {len(line)} characters; an action has at most {MAX_LINE}. '
                    f'Answer with {LINE_FORM}.'
                )
        elif _PASS.match(line):
            found.append(PASS)
        elif action := _ACTION.match(start):
            if action['rest'].strip(' \t.;`*_\r'):
                raise ParseError(
                    f'{action["rest"].strip()[:80]!r} stands after the action. Answer with '
                    f'{LINE_FORM}.'
                )
            args = tuple(arg.strip() for arg in re.findall(r'<([^<>]*)>', action['args']))
            found.append(SkillCall(action['skill'].strip(), args))
    if len(found) == 1:
        return found[0]
    if not found:
        raise ParseError(f'No action was found in {text.strip()[:80]!r}. Answer with {LINE_FORM}.')
    raise ParseError(
        f'{len(found)} actions were found, but a step is one. Answer with {LINE_FORM}.'
    )


def _from_json(text: str) -> SkillCall | Pass:
    wanted = 'Answer with {"pass": false, "skill": ..., "args": [...], "numbers": [...]}.'
    try:
        data, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f'The JSON cannot be read: {error}. {wanted}') from error
    if text[end:].lstrip().startswith('{'):
        raise ParseError(f'More than one action was found, but a step is one. {wanted}')
    if data.get('pass') is True or plain(str(data.get('skill'))) in ('pass', '<pass>'):
        return PASS
    skill, args, numbers = data.get('skill'), data.get('args', []), data.get('numbers', [])
    lists = isinstance(skill, str) and isinstance(args, list) and isinstance(numbers, list)
    if not lists or not all(isinstance(arg, str | int | float) for arg in args + numbers):
        raise ParseError(f'{text[:120]!r} does not name a skill and its arguments. {wanted}')
    literal = (' '.join(str(number) for number in numbers),) if numbers else ()
    return SkillCall(skill, tuple(str(arg) for arg in args) + literal)


def _one_target(call: SkillCall, scene: Scene) -> SkillCall:
    """
    Turn `[move] <object> <target>`, the paper's form, into `place(target)`.

    To pick the object is a step of the Brain, whose mistake must show.
    """
    two_are_right = any(
        plain(skill.name) == plain(call.skill) and len(skill.params) == 2 for skill in scene.skills
    )
    if plain(call.skill) not in _PLACING or len(call.args) != 2 or two_are_right:
        return call
    if scene.held is not None and plain(call.args[0]) == plain(scene.held):
        return SkillCall('place', call.args[1:])
    held = f'{scene.held} is in the hand' if scene.held else 'nothing is in the hand'
    thing, target = (arg[:60] for arg in call.args)
    raise ParseError(
        f'{thing} cannot be placed, because {held}. To place what is held write '
        f'`<rob0>[place] <{target}>`; to take {thing} write `<rob0>[pick] <{thing}>`.'
    )


def body_schema(scene: Scene) -> JsonSchema:
    """
    Return the JSON schema of a Body's reply, in the strict subset that OpenAI documents.

    Every property is required: a pass is `"pass": true, "skill": null`.
    """
    skills: list[object] = [skill.name for skill in scene.skills]
    arg: dict[str, object] = {'type': 'string'}
    # Without lost objects, a step about one would be forced onto another.
    names = [*scene.names, *lost_names(scene)]
    if 0 < len(names) <= MAX_ENUM:
        arg['enum'] = names
    properties: dict[str, object] = {
        'pass': {'type': 'boolean', 'description': 'true where no skill does what the step says'},
        'skill': {'type': ['string', 'null'], 'enum': [*skills, None]},
        'args': {'type': 'array', 'items': arg, 'description': 'objects, in order'},
        'numbers': {
            'type': 'array',
            'items': {'type': 'number'},
            'description': 'x y z [m] and yaw [deg] of a target, or x y z qx qy qz qw of the '
            'hand at it, or seconds; else empty',
        },
    }
    return {
        'type': 'object',
        'properties': properties,
        'required': list(properties),
        'additionalProperties': False,
    }
