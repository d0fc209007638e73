"""
The prompts: template files, and what of a scene goes into them.

Labels such as `Objects in the scene:` or `Task:` at the start of a line are part of the contract:
models find their way by them. So text from outside (task, feedback) is put on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TypeVar

import jinja2

from bbllm.core.delimiters import DATA_RULE, as_data, untagged
from bbllm.core.errors import ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.missing_objects import lost_names
from bbllm.core.protocols import ChatModel, JsonSchema, Message, PromptRequest, StepFailure
from bbllm.core.types import Code, Kind, Plan, PlanStep, Scene, SceneObject, Skill, Task
from bbllm.planners.common.house_actions import house_skills
from bbllm.planners.common.house_environment import house_environment
from bbllm.planners.common.open_facts import is_open, sensed_only
from bbllm.planners.common.scene_graph import HOUSEHOLD, classes


def templates(package: str, *, keep_trailing_newline: bool = False) -> jinja2.Environment:
    """
    Return the templates in the folder `prompts` of a package; an undefined name is an error.

    All have the sentence `data_rule` and the filter `data` of `core.delimiters`.

    Args:
        package: Its dotted name.
        keep_trailing_newline: Whether the last line break of a template is part of it.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, 'prompts'),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        autoescape=False,  # the output is read by a model, not by a browser
    )
    environment.globals['data_rule'] = DATA_RULE
    environment.filters['data'] = as_data
    return environment


def source(environment: jinja2.Environment, name: str) -> str:
    """Return a file of the templates' folder as it is."""
    assert environment.loader is not None  # `templates` gave it one
    return environment.loader.get_source(environment, name)[0]


T = TypeVar('T')

SYNTAX = '<rob0>[action] <argument>, or <rob0>[action] where it takes none, or <pass>'
"""How the Body is told to write a call."""
DIRECT_SYNTAX = '<rob0>[action] <argument>, or <rob0>[action] where it takes none'
"""How the only model of Base-LLM is told to write one."""
HOUSE_DIRECT_SYNTAX = (
    '<char0>[action] <object>, or <char0>[action] <object><place> where it takes two, or '
    '<char0>[action] where it takes none'
)
HOUSE_SYNTAX = f'{HOUSE_DIRECT_SYNTAX}, or <pass>'
"""How both are told to write one in a household."""
REACH_PREDICATES = frozenset({'reachable', 'unreachable', 'out_of_reach'})
"""Facts that are left out: as in the paper, the Brain learns what it can reach from feedback."""
DIRECTIONS = frozenset({'left_of', 'right_of', 'in_front_of', 'behind', 'near'})
"""Facts that only repeat what the positions say, once for each pair of objects."""
LEFT_OUT = REACH_PREDICATES | DIRECTIONS
"""What no prompt tells of a scene."""
BELIEVED = 'Believed, not sensed:'
"""What stands before the open state of a scene."""
REPLY_KEPT = 4000
"""How much of a bad reply is shown to the model again [characters]."""
REPLY_QUOTED = 200
"""How much of it people are shown [characters]."""


@dataclass(frozen=True, slots=True)
class PlanFailure:
    """Why a plan has to go on differently, for the feedback prompt."""

    step: PlanStep
    """The step that failed, or that was about to run when a person spoke."""
    cause: str
    """One sentence."""
    controller: str = ''
    """The controller's own text, where there was one."""
    human: tuple[str, ...] = ()
    """What people said, oldest first."""
    tried: bool = True
    """Whether the step was tried, or is only about to be."""
    code: Code | None = None
    """What is wrong with its call, where that was refused before the world heard of it."""

    def __str__(self) -> str:
        return one_line(f'{self._what}{self._said}')

    @property
    def as_data(self) -> StepFailure:
        """The same for a request."""
        return StepFailure(
            step=self.step.text, cause=self.cause, human=self.human, tried=self.tried
        )

    @property
    def delimited(self) -> str:
        """The same for a prompt: data, and beside it what a person said."""
        return f'{as_data(one_line(self._what))} {one_line(self._said)}'.rstrip()

    @property
    def _what(self) -> str:
        return f'step {self.step.index} ({self.step.text}): {self.cause}'

    @property
    def _said(self) -> str:
        said = [text for text in self.human if text not in self.cause]
        return ''.join(f' A person said: {text}' for text in said)


class Prompts:
    """Renders the prompts, each for the kind of its scene."""

    def __init__(self, *, believed: bool = False) -> None:
        """
        Load the templates and the examples.

        Args:
            believed: Whether the prompts of a Brain tell the open state of a scene, too.
        """
        self._believed = believed
        self._templates = templates('bbllm.planners.common')

    def planning(self, task: Task, scene: Scene) -> str:
        """Write the prompt for a first plan."""
        return self._render(
            'planning',
            scene,
            environment=self._environment(scene),
            task=one_line(task.instruction),
        )

    def direct(self, task: Task, scene: Scene) -> str:
        """Write the prompt for a whole program, without steps in plain words before it."""
        return self._render(
            'direct',
            scene,
            syntax=HOUSE_DIRECT_SYNTAX if scene.domain == HOUSEHOLD else DIRECT_SYNTAX,
            environment=environment(scene),
            task=one_line(task.instruction),
        )

    def execution(self, step: PlanStep, scene: Scene) -> str:
        """Write the prompt for one step's call."""
        return self._render(
            'execution',
            scene,
            syntax=HOUSE_SYNTAX if scene.domain == HOUSEHOLD else SYNTAX,
            step=one_line(step.text),
            # A step about a lost thing shall be refused, so that the Brain hears of it. To a Body
            # that does not know the name it would be one to pass over.
            objects=(*scene.names, *lost_names(scene)),
        )

    def feedback(
        self,
        task: Task,
        scene: Scene,
        plan: Plan,
        failure: PlanFailure,
        earlier: Sequence[PlanFailure],
    ) -> str:
        """Write the prompt for how a plan goes on after a failure."""
        return self._render(
            'feedback',
            scene,
            environment=self._environment(scene),
            task=one_line(task.instruction),
            plan=str(plan),
            error_step=failure.step.index,
            feedback=one_line(failure.cause),
            controller=one_line(failure.controller),
            human=[one_line(text) for text in failure.human],
            earlier=[item.delimited for item in earlier],
        )

    def shown(self, scene: Scene) -> Scene:
        """Return what of a scene the prompts of a Brain show."""
        return scene if self._believed else sensed_only(scene)

    def _environment(self, scene: Scene) -> str:
        text = environment(scene)
        told = believed(scene) if self._believed else ''
        return f'{text}\n\n{BELIEVED}\n{told}' if told else text

    def _render(self, name: str, scene: Scene, **values: object) -> str:
        in_house = scene.domain == HOUSEHOLD
        folder = f'{HOUSEHOLD}/' if in_house else ''
        template = self._templates.get_template(f'{folder}{name}.md.j2')
        # A Body is shown a scene of its own; a Brain is to plan with what that can do.
        skills = house_skills(scene) if in_house and name != 'execution' else scene.skills
        common: dict[str, object] = {
            'examples': source(self._templates, f'{scene.domain}/{name}_examples.md').strip(),
            'objects': classes(scene) if in_house else scene.names,
            'actions': [describe_skill(skill) for skill in skills],
        }
        return template.render(common | values)


def describe_skill(skill: Skill) -> str:
    """Write a skill as `pick(object), also called grasp: ...`."""
    also = f', also called {", ".join(skill.aliases)}' if skill.aliases else ''
    summary = f': {skill.summary}' if skill.summary else ''
    return f'{skill.name}({", ".join(skill.params)}){also}{summary}'


def declared(skill: Skill) -> str:
    """Write a skill and what it takes: `putin <obj> <obj>`."""
    kinds = ['<seconds>' if param == 'seconds' else '<obj>' for param in skill.params]
    return ' '.join([skill.name, *kinds])


def environment(scene: Scene) -> str:
    """
    Write what is where, compactly: on a table a line per object, then a line per fact.

    What is only believed is told by `believed`, to whom it is to be told at all.
    """
    scene = sensed_only(scene)
    if scene.domain == HOUSEHOLD:
        return house_environment(scene)
    lines = ['Each object: name, kind, colour, x y z of its centre, size [m]. x points away from']
    lines += ['the arm, y to its left, z up; the table top is z = 0.']
    lines += [_object_line(item) for item in scene.objects]
    lines += [str(fact) for fact in scene.facts if fact.predicate not in LEFT_OUT]
    return '\n'.join(lines)


def believed(scene: Scene) -> str:
    """Write the open state of a scene, a line per fact; in a household by class, as all else."""
    facts = [fact for fact in scene.facts if is_open(fact)]
    if scene.domain == HOUSEHOLD:
        facts = [
            replace(fact, subject=class_of(fact.subject), object=class_of(fact.object))
            for fact in facts
        ]
    return '\n'.join(dict.fromkeys(str(fact) for fact in facts))


def _object_line(item: SceneObject) -> str:
    words = [item.name, item.kind.value]
    if item.color:
        words.append(item.color)
    words += [f'{value:.3f}' for value in item.pose.position_m]
    if item.kind is not Kind.LOCATION and any(item.size_m):
        words.append('size ' + ' x '.join(f'{value:.3g}' for value in item.size_m))
    return ' '.join(words)


def one_line(text: str) -> str:
    """Put text on one line, so that it can pass for no label or delimiter of the prompt."""
    return untagged(' '.join(text.split()))


def quoted(reply: str) -> str:
    """Return the beginning of a reply in one line that can be printed."""
    line = ''.join(char if char.isprintable() else ' ' for char in reply)
    return repr(shorten(line, REPLY_QUOTED, placeholder=' ...'))


def ask(
    model: ChatModel,
    prompt: str,
    read: Callable[[str], T],
    *,
    request: PromptRequest | None = None,
    schema: JsonSchema | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> T:
    """
    Ask a model, and once more with the reason if its reply cannot be read.

    Args:
        model: Who is asked.
        prompt: What it is asked.
        read: Turns the reply into a value, or raises ParseError.
        request: What the prompt asks for, as data.
        schema: What the reply must obey, where the model supports that.
        on_retry: Told why the model is asked once more.

    Raises:
        ParseError: The second reply could not be read either; names the model.
        ModelError: No reply.
    """
    wanted = schema if model.supports_schema else None
    messages = [Message('user', prompt, request)]
    reply = model.complete(messages, schema=wanted).text
    try:
        return read(reply)
    except ParseError as error:
        if on_retry is not None:
            on_retry(f'A reply of {model.name} cannot be read, so it is asked again. {error}')
        messages += [
            Message('assistant', reply[:REPLY_KEPT]),
            Message('user', f'That reply cannot be used. {error} Please reply again.'),
        ]
    second = model.complete(messages, schema=wanted).text
    try:
        return read(second)
    except ParseError as error:
        raise ParseError(
            f'{model.name} was asked twice, and neither reply can be read. {error} '
            f'It said: {quoted(second)}'
        ) from error
