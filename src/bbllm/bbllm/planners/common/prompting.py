"""Prompts: template files, the text of a scene, and the request for a reply."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from textwrap import shorten
from typing import Literal, TypeVar

import jinja2

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import ParseError
from bbllm.core.naming import class_of, instance_name
from bbllm.core.protocols import (
    ChatModel,
    EarlierFailure,
    JsonSchema,
    Message,
    PromptRequest,
    StepFailure,
)
from bbllm.core.text import DATA_RULE, as_data, cut, escape_line, untagged
from bbllm.core.types import Kind, Plan, Scene, Skill, Task
from bbllm.llm.reply_text import without_reasoning
from bbllm.planners.common.failure_memory import relevant
from bbllm.planners.common.scene_graph import (
    CHARACTER,
    HOUSEHOLD,
    SceneGraph,
    classes,
    house_skills,
    is_open,
    meant_by,
    scene_graph,
    sensed_only,
    whereabouts,
)
from bbllm.planners.common.table_text import table_environment


@cache
def templates(package: str, *, keep_trailing_newline: bool = False) -> jinja2.Environment:
    """Return the templates in the folder `prompts` of a package; `core.text` is in all."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, 'prompts'),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        autoescape=False,  # the output is read by a model, not by a browser
    )
    environment.globals['data_rule'] = DATA_RULE
    environment.globals['house_end'] = HOUSE_END
    environment.filters['data'] = as_data
    return environment


def render(package: str, name: str, /, **values: object) -> str:
    return templates(package).get_template(f'{name}.md.j2').render(values).rstrip()


def source(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


T = TypeVar('T')

SYNTAX = '<rob0>[action] <argument>, or <rob0>[action] where it takes none'
HOUSE_SYNTAX = (
    '<char0>[action] <object>, or <char0>[action] <object><place> where it takes two, or '
    '<char0>[action] where it takes none'
)
"""Forms of a call on a table and in a household."""
HOUSE_END = (
    'What no action does, such as to eat, is left out, and all before it is done: what is eaten, '
    'read or used on the body ends in a hand, and what belongs on it lies on it (jam on the '
    'bread, the bread held). Nothing more has to be held. A device has done its work as soon as '
    'it is on; what it made may stay in it.'
)
"""What the end of a task in a household is, for every prompt that asks for its steps."""
EXACT_END = (
    'The task names all that has to be so at the end, and actions that have to be among the '
    'steps. It names objects with their numbers, such as light_1002, and so may steps; the '
    'environment lists them without. The character is you.'
)
"""The same where tasks name single objects and actions, see `Scene.offers_all`."""
BELIEVED = 'Believed, not sensed:'
"""Heading of the open state of a scene."""
REPLY_KEPT = 4000
"""How much of a bad reply a retry repeats [characters]."""
EARLIER_SENTENCE = 200
"""How much of the sentence of an earlier failure a prompt has [characters]."""
REPLY_QUOTED = 200
"""How much of it an error quotes [characters]."""


FeedbackForm = Literal['full', 'none', 'code', 'sentence', 'raw', 'difference', 'picture']
"""What a repair prompt states of why a step failed; see `Prompts.reported`."""


@dataclass(frozen=True)
class Prompts:
    """Renders the prompts, each for the domain of its scene."""

    believed: bool = False
    """Whether the prompts of a Brain include the open state of a scene."""
    reach: bool = True
    """Whether the prompts of a Brain on a table mark what is out of reach."""
    form: FeedbackForm = 'full'
    """What the prompts of a Brain state of why a step failed."""

    def planning(
        self,
        task: Task,
        scene: Scene,
        *,
        picture: str = '',
        memory: Sequence[EarlierFailure] = (),
    ) -> str:
        """
        Return the prompt for a plan.

        *picture* is the sentence on its picture; of *memory* it has what is relevant.
        """
        earlier = '\n'.join(_earlier(each, scene) for each in relevant(memory, task, scene))
        text = self._environment(scene)
        return self._render(
            'planning', scene, task, environment=text, picture=picture, earlier=earlier
        )

    def direct(self, task: Task, scene: Scene) -> str:
        """Return the prompt for a whole program, without steps in plain words before it."""
        text = environment(scene, reach=self.reach)
        return self._render('direct', scene, task, environment=text)

    def feedback(
        self,
        task: Task,
        scene: Scene,
        plan: Plan,
        failure: StepFailure,
        earlier: Sequence[StepFailure],
        *,
        picture: str = '',
        loops_left: int = 0,
        before: Scene | None = None,
    ) -> str:
        """
        Return the prompt for the plan from a failure on.

        *picture* is the sentence on its picture. What was added to the task stands there alone,
        and only then the prompt has how many loops are left after this one, and what differed in
        the scene *before* the task: a person may ask for that again.
        """
        return self._render(
            'feedback',
            scene,
            task,
            environment=self._environment(scene),
            picture=picture,
            plan=str(plan),
            error_step=failure.step.index,
            feedback=one_line(by_class(failure.cause, scene)),
            controller=one_line(failure.controller),
            added=bool(task.added),
            loops_left=loops_left,
            before='\n'.join(self._gone(before, scene)) if task.added else '',
            earlier=[_delimited(item, scene) for item in earlier],
        )

    def shown(self, scene: Scene) -> Scene:
        """Return the part of a scene that the prompts of a Brain contain."""
        scene = scene if self.believed else sensed_only(scene)
        if self.reach:
            return scene
        return replace(scene, facts=tuple(f for f in scene.facts if f.predicate != 'reachable'))

    def reported(self, failure: StepFailure, now: Scene | None = None) -> StepFailure:
        """
        Return a failure with what the form of feedback states of its cause, and no more.

        `none` and `picture` leave the step alone; a picture is attached to the prompt. *now* is
        the scene that `difference` compares with the one before the step. The words of people stay
        in all forms, and so does the cause where no step was tried.
        """
        if self.form == 'full' or not failure.tried:
            return failure
        code = failure.code if failure.outcome is None else failure.outcome.code
        texts: dict[FeedbackForm, str] = {
            'code': 'no code' if code is None else code.name,
            'sentence': failure.cause,
            'raw': failure.controller or 'no text',
            'difference': self._changes(failure.before, now) or 'Nothing has changed.',
        }
        return StepFailure(failure.step, texts.get(self.form, ''), human=failure.human)

    def _changes(self, before: Scene | None, after: Scene | None) -> str:
        """Return which lines of the environment changed between two scenes; '' if none did."""
        gone = [f'before: {line}' for line in self._gone(before, after)]
        new = [f'now: {line}' for line in self._gone(after, before)]
        return '; '.join([*gone, *new])

    def _gone(self, scene: Scene | None, other: Scene | None) -> list[str]:
        """Return the lines of the environment that another scene lacks; none without both."""
        if scene is None or other is None:
            return []
        lines, others = (self._environment(each).split('\n') for each in (scene, other))
        return [line for line in lines if line not in others]

    def _environment(self, scene: Scene) -> str:
        text = environment(scene, reach=self.reach)
        beliefs = believed(scene) if self.believed else ''
        return f'{text}\n\n{BELIEVED}\n{beliefs}' if beliefs else text

    def _render(self, name: str, scene: Scene, task: Task | None = None, **values: object) -> str:
        in_house = scene.domain == HOUSEHOLD
        found = templates('bbllm.planners.common')
        folder = f'{HOUSEHOLD}/' if in_house else ''
        skills = house_skills(scene) if in_house else scene.skills
        common: dict[str, object] = {
            'examples': found.get_template(f'{scene.domain}/{name}_examples.md').render(
                reach=self.reach,
                putin=any(skill.name == 'grab_and_putin' for skill in skills),
            ),
            'objects': classes(scene) if in_house else scene.names,
            'actions': [describe_skill(skill) for skill in skills],
            'syntax': HOUSE_SYNTAX if in_house else SYNTAX,
            'task': task_text(task) if task else '',
            'house_end': EXACT_END if scene.offers_all else HOUSE_END,
        }
        return found.get_template(f'{folder}{name}.md.j2').render(common | values)


WORLD_FORM = re.compile(r'<([^<>]{1,80})> \(([0-9]{1,9})\)')
"""An object in the messages of a household: `<fridge> (305)`."""


def by_class(message: str, scene: Scene, *, places: bool = True) -> str:
    """
    Return a message of a household without ids, which its prompts never contain.

    With `places`, one of several objects of a class is told by its place: `<plate> (in the sink)`.
    """
    if scene.domain != HOUSEHOLD:
        return message
    around = scene_graph(scene)

    def told(found: re.Match[str]) -> str:
        name = instance_name(found[1], int(found[2]))
        where = whereabouts(name, around) if len(meant_by(found[1], scene.names)) > 1 else ''
        return f'<{found[1]}>' + (f' ({where})' if where and places else '')

    return WORLD_FORM.sub(told, message)


def _delimited(failure: StepFailure, scene: Scene) -> str:
    """Return an earlier failure as delimited data."""
    cause = by_class(failure.cause, scene, places=False)  # objects may have moved since
    what = one_line(f'step {failure.step.index} ({failure.step.text}): {cause or "failed"}')
    return as_data(what)


_IDS = re.compile(r'_[0-9]+(?=[,)])')
"""Of the arguments of a call in a house."""


def _earlier(failure: EarlierFailure, scene: Scene) -> str:
    """Return a failure of an earlier episode in one line."""
    call, *worked = (failure.call, *failure.worked)
    if scene.domain == HOUSEHOLD:
        call, *worked = (_IDS.sub('', each) for each in (call, *worked))
    times = f', {failure.times} times' if failure.times > 1 else ''
    sentence = cut(by_class(failure.sentence, scene, places=False), EARLIER_SENTENCE)
    after = f'Worked after it: {", ".join(worked)}' if worked else 'It was not recovered.'
    return one_line(f'{call}{times}: {sentence} {after}')


def describe_skill(skill: Skill) -> str:
    """Return a skill as `pick(object), also called grasp: ...`."""
    also = f', also called {", ".join(skill.aliases)}' if skill.aliases else ''
    summary = f': {skill.summary}' if skill.summary else ''
    return f'{skill.name}({", ".join(skill.params)}){also}{summary}'


def declared(skill: Skill) -> str:
    """Return a skill with its parameters: `putin <obj> <obj>`."""
    kinds = ['<seconds>' if param == 'seconds' else '<obj>' for param in skill.params]
    return ' '.join([skill.name, *kinds])


def environment(scene: Scene, *, reach: bool = True) -> str:
    """
    Return the sensed scene as text: on a table a row per object, then a line per fact.

    `reach` marks what is out of reach on a table; without it a planner learns that from feedback.
    """
    scene = sensed_only(scene)
    if scene.domain == HOUSEHOLD:
        return house_environment(scene)
    return table_environment(scene, reach=reach)


def believed(scene: Scene) -> str:
    """Return the open state of a scene, a line per fact; in a household by class."""
    facts = list(filter(is_open, scene.facts))
    if scene.domain == HOUSEHOLD:
        facts = [
            replace(fact, subject=class_of(fact.subject), object=class_of(fact.object))
            for fact in facts
        ]
    return '\n'.join(dict.fromkeys(map(str, facts)))


EXPECTED_STATES = frozenset({'clean', 'plugged_in'})
"""States that prompts omit."""

_WORDS = {'inside': 'inside', 'on': 'on it'}


def house_environment(scene: Scene) -> str:
    """Return a line on the robot and one for each room, by class; equal ones are counted."""
    around = scene_graph(scene)
    rooms = [item.name for item in scene.objects if item.kind is Kind.LOCATION]
    contents: dict[str, dict[str, list[str]]] = {}
    for name, relation, other in around.placed:
        if other not in rooms and class_of(name) != CHARACTER:
            contents.setdefault(other, {}).setdefault(relation, []).append(name)
    placed = {name for lists in contents.values() for names in lists.values() for name in names}

    def described(name: str, above: frozenset[str] = frozenset()) -> str:
        states = [s for s in around.states.get(name, ()) if s not in EXPECTED_STATES]
        parts = [', '.join(states)] if states else []
        above |= {name}
        for relation, words in _WORDS.items():
            inner = contents.get(name, {}).get(relation, ())
            if texts := [described(n, above) for n in inner if n not in above]:
                parts.append(f'{words}: {_counted(texts, ", ")}')
        return class_of(name) + (f' ({"; ".join(parts)})' if parts else '')

    lines = _about_the_robot(around)
    others = {*rooms, *around.held, *placed}
    loose = [n for n in scene.names if n not in others and class_of(n) != CHARACTER]
    for room in rooms:
        there = [described(name) for name in loose if around.rooms.get(name) == room]
        nothing = 'nothing' if scene.whole else 'nothing seen yet'
        lines.append(f'{class_of(room)}: {_counted(there, "; ") or nothing}')
    if nowhere := [described(name) for name in loose if name not in around.rooms]:
        lines.append(f'elsewhere: {_counted(nowhere, "; ")}')
    return '\n'.join(lines)


def _about_the_robot(around: SceneGraph) -> list[str]:
    me = around.character or ''
    room = around.rooms.get(me)
    where = f'You are in the {class_of(room)}. ' if room else ''
    posture = [state for state in around.states.get(me, ()) if state in ('sitting', 'lying')]
    seats = [class_of(other) for thing, _, other in around.placed if thing == me and other != room]
    resting = f'You are {posture[0]} on the {", ".join(seats)}. ' if posture and seats else ''
    held = _counted(map(class_of, around.held), ', ') or 'nothing'
    lines = [f'{where}{resting}In your hands: {held}.']
    near = sorted({class_of(n) for n in around.reachable.difference(around.held)} - {CHARACTER})
    if near:
        lines.append(f'Close to you: {", ".join(near)}.')
    return lines


def _counted(texts: Iterable[str], between: str) -> str:
    counts = Counter(texts)
    return between.join(f'{n} {text}' if n > 1 else text for text, n in counts.items())


def one_line(text: str) -> str:
    """
    Put text on one line, so that it cannot imitate a label or delimiter of the prompt.

    Characters that are not visible are written as text: a model reads what a person sees.
    """
    return untagged(escape_line(text))


def task_text(task: Task) -> str:
    """Return a task as prompts have it: its line, and a line for each addition."""
    return '\n'.join(map(one_line, (task.instruction, *task.added)))


def ask(
    model: ChatModel,
    prompt: str,
    read: Callable[[str], T],
    *,
    request: PromptRequest | None = None,
    schema: JsonSchema | None = None,
    on_retry: Callable[[str], None] | None = None,
    cancel: CancelToken | None = None,
    images: tuple[bytes, ...] = (),
) -> T:
    """
    Ask a model, and once more with the reason if `read` raises ParseError for its reply.

    `request` is the prompt as data, `images` are its pictures, `schema` is the JSON schema of the
    reply for a model that supports that, and `on_retry` receives the reason for the second
    request. `cancel` ends both.
    `read` gets replies without reasoning. ParseError if the second reply cannot be read either.
    """
    wanted = schema if model.supports_schema else None
    messages = [Message('user', prompt, request, images)]
    while True:
        reply = without_reasoning(model.complete(messages, schema=wanted, cancel=cancel).text)
        try:
            return read(reply)
        except ParseError as error:
            if len(messages) > 1:
                printable = ''.join(char if char.isprintable() else ' ' for char in reply)
                # Feedback to the Brain has this text, so it names no model.
                raise ParseError(
                    f'Neither of two replies can be read. {error} The second was: '
                    f'{shorten(printable, REPLY_QUOTED, placeholder=" ...")!r}'
                ) from error
            if on_retry is not None:
                on_retry(f'A reply of {model.name} cannot be read, so it is asked again. {error}')
            messages += [
                Message('assistant', reply[:REPLY_KEPT]),
                Message('user', f'That reply cannot be used. {error} Please reply again.'),
            ]
