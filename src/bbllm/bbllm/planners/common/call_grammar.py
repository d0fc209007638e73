"""
The grammar of calls that a Body may reply with: a line or a JSON entry for a step.

A line: `2: <rob0>[pick] <red_cube>`, `2: <rob0>[return_to_base]` or `2: <pass> why`. An entry of
JSON: see `body_schema`. The number of the step may be missing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bbllm.core.arguments import DIRECTIONS, KINDS
from bbllm.core.errors import ParseError
from bbllm.core.observation import lost_names
from bbllm.core.protocols import PASS, JsonSchema, Pass
from bbllm.core.skill_calls import CallError, check_call, plain
from bbllm.core.types import MOVABLE, Code, Scene, Skill, SkillCall
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.scene_graph import squeezed

MAX_LINE = 500
"""Maximum length of a line with an action [characters]."""
MAX_ENUM = 250
"""Servers limit the values that a schema may enumerate; longer lists are checked here."""
MAX_REASON = 200
"""Maximum length of the reason of a pass; the rest is cut [characters]."""
NUMERIC = frozenset({'target', *(name for name, kind in KINDS.items() if kind.numeric)})
"""Parameters that may be numbers."""

_LABEL = re.compile(
    r'^[\s>*_#`-]*(?:action plan|answer|actions?|calls?)[*_` ]*:[*_` ]*', re.IGNORECASE
)
_NUMBER = re.compile(r'(?:step\s+)?(?P<number>\d{1,4})\s*[:.)][\s*_`]*(?=[<\[])', re.IGNORECASE)
_ACTION = re.compile(
    r'(?:<\s*\w+\s*>\s*)?\[(?P<skill>[^\[\]<>]{1,80})\]\s*'
    r'(?P<args>(?:<[^<>]*>[\s,]*)*)(?P<rest>.*)$'
)
_BEFORE = ' \t>*_`-'
"""Markdown that may stand before an action."""
_PASS = re.compile(r'<\s*pass\s*>(?P<reason>[^<\[]*)$', re.IGNORECASE)
_JSON = re.compile(r'\{\s*["}]|\[\s*\{')
MappedStep = SkillCall | Pass | ParseError
"""What an entry of a reply is; an error where it can be read as neither call nor pass."""
_PLACING = ('place', 'put', 'move')
"""Words for which `[word] <object> <target>` means to place the object in the hand."""


@dataclass(frozen=True)
class CallForm:
    """The form of a reply: how the call of a step is written."""

    scene: Scene
    """The scene that the call is for."""
    number: int | None = None
    """Number of the step that the reply is to have a call for; None for one without number."""
    in_json: bool = False

    @property
    def robot(self) -> str:
        return language_of(self.scene).agent

    @property
    def takes_numbers(self) -> bool:
        return any(NUMERIC.intersection(skill.params) for skill in self.scene.skills)

    def write(self, number: int, mapped: SkillCall | Pass) -> str:
        """Return a call or a pass as a reply has it."""
        if not self.in_json:
            if isinstance(mapped, Pass):
                return f'{number}: <pass> {mapped.reason}'.rstrip()
            args = ''.join(f'<{arg}>' for arg in mapped.args)
            return f'{number}: <{self.robot}>[{mapped.skill}] {args}'.rstrip()
        entry: dict[str, object] = {'step': number, 'skill': None, 'args': []}
        numbers: list[float] = []
        if isinstance(mapped, SkillCall):
            literal = [arg for arg in mapped.args if re.match(r'[-+\d.]', arg)]
            names = [arg for arg in mapped.args if arg not in literal]
            entry |= {'skill': mapped.skill, 'args': names}
            numbers = [float(word) for arg in literal for word in arg.split()]
        entry |= {'numbers': numbers} if self.takes_numbers else {}
        return json.dumps(entry | {'reason': mapped.reason if isinstance(mapped, Pass) else ''})

    @property
    def text(self) -> str:
        """The whole form in words, with an action and objects of the scene, for a refusal."""
        number = self.number or 0
        skills = sorted(self.scene.skills, key=lambda skill: abs(len(skill.params) - 1))
        movable = [item.name for item in self.scene.objects if item.kind in MOVABLE]
        names = movable or self.scene.names or ('object',)
        args = tuple(names[i % len(names)] for i in range(len(skills[0].params) if skills else 1))
        call = SkillCall(skills[0].name if skills else 'action', args)
        a_call, a_pass = self.write(number, call), self.write(number, Pass('why'))
        if self.number is None:
            a_call, a_pass = a_call.partition(' ')[2], a_pass.partition(' ')[2]
            return f'Reply with one line such as `{a_call}`, or `{a_pass}`.'
        if self.in_json:
            return (
                f'Reply with JSON, {{"calls": [...]}}, with one entry for step {number}, such as '
                f'{a_call}, or {a_pass} to pass.'
            )
        return f'Reply with one line for step {number}, such as `{a_call}`, or `{a_pass}` to pass.'


def parse_call(text: str, scene: Scene) -> SkillCall | Pass:
    """Parse one line of a program; raise ParseError with what is accepted, also for names."""
    found = parse_reply(text, CallForm(language_of(scene).answer_scene(scene)))
    return found if isinstance(found, Pass) else settled(found, scene)


def parse_reply(text: str, form: CallForm) -> SkillCall | Pass:
    """
    Parse the reply for a step; raise ParseError with the whole form.

    What a call means for the hand is decided later; see `settled`.
    """
    found = list(_entries(text, form))
    if len(found) > 1:
        raise ParseError(f'{len(found)} actions were found, but a step is one.', form.text)
    ((number, mapped),) = found
    if form.number is not None and number not in (None, form.number):
        mapped = ParseError('No call for a step was found.')
    if isinstance(mapped, ParseError):
        raise ParseError(mapped.fault, form.text) from mapped
    return mapped


def settled(call: SkillCall, scene: Scene) -> SkillCall:
    """Return a call as it is to be executed now; raise ParseError with what is accepted."""
    scene = language_of(scene).answer_scene(scene)
    return checked(_one_target(_spelled(call, scene), scene), scene)


def checked(call: SkillCall, scene: Scene) -> SkillCall:
    """Check a call of a Body; raise ParseError with what is accepted."""
    try:
        return check_call(_spelled(call, scene), scene)
    except CallError as error:
        if error.code is Code.OBJECT_LOST:
            return call  # not the Body's fault: the world refuses it, and the Brain learns why
        raise ParseError(str(error)) from error


def skill_named(word: str, scene: Scene) -> Skill | None:
    """Return the skill of that name or alias; in a house the paper's and the world's are one."""
    word = plain(word)
    words = [word, *language_of(scene).synonyms(word)]
    named = (
        skill
        for each in words
        for skill in scene.skills
        if each in (plain(skill.name), *map(plain, skill.aliases))
    )
    return next(named, None)


def named_alike(word: str, scene: Scene) -> str | None:
    """
    Return the only object whose name has the same letters: `garbage can` is `garbagecan`.

    None where there is none, or more than one.
    """
    alike = [name for name in known_names(scene) if squeezed(name) == squeezed(word)]
    return alike[0] if len(alike) == 1 else None


def known_names(scene: Scene) -> tuple[str, ...]:
    """
    Return the names that a call may have.

    With lost objects: a step about one must be refused by the world, so that the Brain learns of
    it. Without its name, the step would be passed, or forced onto another object.
    """
    return (*scene.names, *lost_names(scene))


def _spelled(call: SkillCall, scene: Scene) -> SkillCall:
    """Return a call with the words of the scene where only spaces or the paper's word differ."""
    skill = skill_named(call.skill, scene)
    args = tuple(
        arg if arg in scene.names else named_alike(arg, scene) or arg for arg in call.args
    )
    return SkillCall(skill.name if skill else call.skill, args)


def _entries(text: str, form: CallForm) -> Iterator[tuple[int | None, MappedStep]]:
    """Yield each number with its call or error; raise ParseError if there is no entry."""
    found_json = _JSON.search(text)
    read = _from_json(text[found_json.start() :], form) if found_json else _from_lines(text, form)
    found = list(read)
    if not found:
        raise ParseError(f'No action was found in {text.strip()[:80]!r}.', form.text)
    yield from ((number, _named(mapped, form)) for number, mapped in found)


def _named(mapped: MappedStep, form: CallForm) -> MappedStep:
    """Return the error of a call with names that the scene lacks, else what was read."""
    if not isinstance(mapped, SkillCall) or form.number is None:
        return mapped
    two = _placed_with_its_object(mapped, form.scene)
    try:
        # For the error of the object too, `place(object, target)` is checked as its parts.
        for call in [SkillCall('place', (arg,)) for arg in mapped.args] if two else [mapped]:
            checked(call, form.scene)
    except ParseError as error:
        return error
    return mapped


def read_line(line: str) -> MappedStep:
    """Return what a line without number is; an error if it is neither call nor pass."""
    if passed := _PASS.match(line):
        return _passed(passed['reason'])
    action = _ACTION.match(line)
    if action is None:
        return ParseError(f'{line[:80]!r} is no action.')
    if rest := action['rest'].strip(' \t.;`*_\r'):
        return ParseError(f'{rest[:80]!r} stands after the action.')
    args = tuple(arg.strip() for arg in re.findall(r'<([^<>]*)>', action['args']))
    return SkillCall(action['skill'].strip(), args)


def _passed(reason: str) -> Pass:
    words = ' '.join(reason.split()).strip(' .;:,-*_`')
    return Pass(f'{words[:MAX_REASON]}.') if words else PASS


def _from_lines(text: str, form: CallForm) -> Iterator[tuple[int | None, MappedStep]]:
    for raw in text.splitlines():
        line = _LABEL.sub('', raw)
        if re.match(r'[\s*_]*explanation\b', line, re.IGNORECASE):
            break
        start = line.lstrip(_BEFORE)
        numbered = _NUMBER.match(start)
        number = int(numbered['number']) if numbered else None
        start = start[numbered.end() :] if numbered else start
        if not start.startswith(('<', '[')):
            continue
        if len(line) > MAX_LINE:
            fault = f'A line has {len(line)} characters; an action has at most {MAX_LINE}.'
            yield number, ParseError(fault)
        elif _PASS.match(start) or _ACTION.match(start):
            yield number, read_line(start)


def _from_json(text: str, form: CallForm) -> Iterator[tuple[int | None, MappedStep]]:
    try:
        data, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f'The JSON cannot be read: {error}.', form.text) from error
    if text[end:].lstrip().startswith(('{', '[')):
        raise ParseError('More than one JSON value was found.', form.text)
    listed = data.get('calls', [data]) if isinstance(data, dict) else data
    for entry in listed if isinstance(listed, list) else [listed]:
        if not isinstance(entry, dict):
            yield None, ParseError(f'{str(entry)[:120]!r} is no entry.')
            continue
        number = entry.get('step')
        yield (number if isinstance(number, int) else None), _from_entry(entry)


def _from_entry(entry: Mapping[str, Any]) -> MappedStep:
    skill, args, numbers = entry.get('skill'), entry.get('args', []), entry.get('numbers', [])
    none = skill is None and not args and ('skill' in entry or 'reason' in entry)
    if entry.get('pass') is True or none or plain(str(skill)) in ('pass', '<pass>'):
        return _passed(str(entry.get('reason') or ''))
    lists = isinstance(skill, str) and isinstance(args, list) and isinstance(numbers, list)
    if not lists or not all(isinstance(arg, str | int | float) for arg in args + numbers):
        return ParseError(f'{json.dumps(entry)[:120]!r} does not name a skill and its arguments.')
    literal = (' '.join(str(number) for number in numbers),) if numbers else ()
    return SkillCall(str(skill), tuple(str(arg) for arg in args) + literal)


def _placed_with_its_object(call: SkillCall, scene: Scene) -> bool:
    """Whether a call is `[move] <object> <target>`, where the skill takes the target alone."""
    if plain(call.skill) not in _PLACING or len(call.args) != 2:
        return False
    named = skill_named(call.skill, scene)
    place = skill_named('place', scene)
    return (named is None or len(named.params) != 2) and place is not None


def _one_target(call: SkillCall, scene: Scene) -> SkillCall:
    """
    Turn `[move] <object> <target>`, the paper's form, into `place(target)`.

    To pick the object is a step of the Brain, whose mistake must show.
    """
    if not _placed_with_its_object(call, scene):
        return call
    if scene.held is not None and plain(call.args[0]) == plain(scene.held):
        return SkillCall('place', call.args[1:])
    error = not_held(call.args[0], call.args[1], scene)
    raise ParseError(str(error)) from error


def not_held(name: str, target: str, scene: Scene) -> CallError:
    """Return the error of placing an object that is not in the hand."""
    held = f'{scene.held} is in the hand' if scene.held else 'nothing is in the hand'
    return CallError(
        SkillCall('place', (target,)),
        Code.NOT_HOLDING,
        f'{name[:60]} cannot be placed, because {held}. To pick {name[:60]} is a step of its '
        'own, before it can be placed.',
    )


def body_schema(form: CallForm) -> JsonSchema:
    """
    Return the JSON schema of a Body's reply, in the strict subset that OpenAI documents.

    Every property is required: a pass has the skill null, and its reason.
    """
    scene = form.scene
    arg: dict[str, object] = {'type': 'string'}
    names = known_names(scene)
    if any('direction' in skill.params for skill in scene.skills):
        names = (*names, *DIRECTIONS)
    if 0 < len(names) <= MAX_ENUM:
        arg['enum'] = list(names)
    skills = [*[skill.name for skill in scene.skills], None]
    properties: dict[str, object] = {
        'step': {'type': 'integer', 'enum': [form.number]},
        'skill': {'type': ['string', 'null'], 'enum': skills},
        'args': {'type': 'array', 'items': arg},
    }
    if form.takes_numbers:
        properties['numbers'] = {'type': 'array', 'items': {'type': 'number'}}
    properties['reason'] = {'type': 'string'}
    return _strict({'calls': {'type': 'array', 'items': _strict(properties)}})


def _strict(properties: Mapping[str, object]) -> JsonSchema:
    return {
        'type': 'object',
        'properties': properties,
        'required': list(properties),
        'additionalProperties': False,
    }
