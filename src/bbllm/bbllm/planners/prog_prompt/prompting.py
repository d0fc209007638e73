"""
The prompts of ProgPrompt: one that is a program to go on with, one that asks about an assertion.

Source: Singh et al., ProgPrompt, section III-B and figure 2: the import line, the list of objects,
example programs, and the task as the head of a function. The words are our own, and so are the
lines that tell a chat model, which completes nothing, to reply with the body of that function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bbllm.core.errors import ParseError
from bbllm.core.instance_names import class_of
from bbllm.core.types import Scene, Skill, Task
from bbllm.planners.common.program import HANDS, Assertion, Call, Program, ProgramCondition
from bbllm.planners.common.prompting import declared, one_line, source, templates
from bbllm.planners.common.scene_graph import (
    CHARACTER,
    HOUSEHOLD,
    SceneGraph,
    classes,
    meant_by,
    scene_graph,
    squeezed,
)
from bbllm.planners.prog_prompt.grammar import parse_program
from bbllm.planners.prog_prompt.interpreter import TriedCall

STATE_WORDS = {
    'opened': 'open',
    'switchon': 'on',
    'switchedon': 'on',
    'turnedon': 'on',
    'switchoff': 'off',
    'switchedoff': 'off',
    'turnedoff': 'off',
    'pluggedin': 'plugged_in',
    'pluggedout': 'plugged_out',
}
"""What a program may call a state, and what a scene calls it."""


def holds(condition: ProgramCondition, scene: Scene, found: str | None) -> bool:
    """
    Return whether a condition holds by the facts of a scene; what no fact says does not hold.

    A word means any thing of its class. Only of a state it is that of what was found last, where
    the word fits that; else of what is close, where some of the class is; else of any.

    Args:
        condition: What is asserted.
        scene: As it is now.
        found: What the program has gone to last.
    """
    around = scene_graph(scene)
    names = meant_by(condition.subject, scene.names)
    return _is_so(condition, scene, around, names, found) is not condition.negated


def _is_so(
    condition: ProgramCondition,
    scene: Scene,
    around: SceneGraph,
    names: list[str],
    found: str | None,
) -> bool:
    if condition.relation == 'close':
        return any(name in around.close or name in around.held for name in names)
    if condition.relation == 'is':
        state = squeezed(condition.object)
        wanted = STATE_WORDS.get(state, state)
        near = [name for name in names if name in around.close]
        looked_at = [found] if found in names else near or names
        states = [state for name in looked_at for state in around.states.get(name or '', ())]
        return any(squeezed(state) == squeezed(wanted) for state in states)
    if squeezed(condition.object) in (HANDS, 'hand'):
        return any(name in around.held for name in names)
    others = meant_by(condition.object, scene.names)
    wanted = 'inside' if condition.relation == 'in' else 'on'
    return any(
        relation == wanted and thing in names and other in others
        for thing, relation, other in around.placed
    )


def state_text(condition: ProgramCondition, scene: Scene) -> str:
    """
    Write what a model is told of the state: what is close and what is held, by its class.

    Only what is about the things of the condition is told. Things inside something closed are
    not seen.
    """
    around = scene_graph(scene)
    hidden = around.hidden
    seen = [name for name in scene.names if name in around.close and name not in hidden]
    seen = [name for name in seen if class_of(name) != CHARACTER]
    about = {squeezed(word) for word in condition.words}

    def told(*names: str) -> bool:
        return any({squeezed(name), squeezed(class_of(name))} & about for name in names)

    items = [_with_states(name, around) for name in seen if told(name)]
    shown = {*seen, *around.held}
    items += [
        f'{class_of(thing)} {relation} {class_of(other)}'
        for thing, relation, other in around.placed
        if thing in shown and other in shown and told(thing, other)
    ]
    held = [class_of(name) for name in around.held if told(name)]
    have = f' You have: {", ".join(_once(held))}.' if held else ''
    return f'You see: {", ".join(_once(items)) or "nothing of this"}.{have}'


def _with_states(name: str, around: SceneGraph) -> str:
    states = around.states.get(name, ())
    return class_of(name) + (f' is {" and ".join(states)}' if states else '')


def _once(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def parse_verdict(text: str) -> bool:
    """
    Read what a model says of an assertion.

    Raises:
        ParseError: It is neither `True` nor `False`.
    """
    words = text.replace('`', ' ').replace('*', ' ').split()
    word = words[0].strip('.,:;!').lower() if words else ''
    if word not in ('true', 'false'):
        raise ParseError(f'{text.strip()[:80]!r} is no verdict. Answer with True or False alone.')
    return word == 'true'


GRAB_AND_PUTIN = 'grab_and_putin'
HOUSEHOLD_SKILLS = (
    *('walk', 'run', 'grab', 'switchon', 'switchoff', 'open', 'close', 'lookat', 'sit'),
    *('standup', 'find', 'turnto', 'drink', 'pointat', 'watch', 'putin', 'putback'),
)
"""What the published program imports of a household's actions and the simulator knows."""
INSTRUCTIONS = (
    'Write the body of the next function: what the robot does for the task in its name, in the',
    'form of the functions above. Call only what is imported, and name only what is in objects.',
    'Before each part stands a comment, `# 1: what it is for`.',
    'What has to hold is asserted, with `else:` lines below for what to do if it does not.',
    'Reply with the lines of the body alone: no loops, no branches, no variables. Where the robot',
    'cannot do what is asked, reply with the one line `cannot: ` and why.',
)
"""For a chat model. An ablation leaves out those that speak of what it leaves out."""


class ProgPrompts:
    """Renders both prompts."""

    def __init__(self, *, examples: int = 3, comments: bool = True, feedback: bool = True):
        """
        Load the templates.

        Args:
            examples: How many example programs are shown, where there are so many.
            comments: Whether there are comments in them.
            feedback: Whether there are assertions and recoveries in them.
        """
        self._n_examples = examples
        self._comments = comments
        self._feedback = feedback
        self._templates = templates('bbllm.planners.prog_prompt')

    def plan(self, task: Task, scene: Scene, tried: Sequence[TriedCall] | None = None) -> str:
        """
        Write the prompt that a program goes on with.

        Args:
            task: What is to be done.
            scene: What is there.
            tried: The calls so far, where the program has begun; None where it has not.
        """
        house = scene.domain == HOUSEHOLD
        listed = f'objects = {classes(scene) if house else list(scene.names)}'
        return self._templates.get_template('plan.md.j2').render(
            imports=f'from actions import {", ".join(map(declared, offered(scene)))}',
            # On a table the list belongs to each function, so that it can change between them.
            objects=listed if house else '',
            local_objects='' if house else listed,
            examples='\n\n'.join(self.examples(scene)),
            instructions=self._kept(INSTRUCTIONS, asserted=not moves_to_containers(scene)),
            begun=tried is not None,
            tried=[f'\t{item.call}  # {_how(item)}' for item in tried or ()],
            situation=one_line(situation_of(scene)),
            header=header_of(task.instruction),
        )

    def examples(self, scene: Scene) -> list[str]:
        """Return the example programs that only call what the world can do, as they are shown."""
        known = {skill.name for skill in offered(scene)}
        known |= set() if moves_to_containers(scene) else {skill.name for skill in scene.skills}
        programs = [
            item for item in self._sources(scene) if verbs_of(parse_program(item)) <= known
        ]
        return ['\n'.join(self._kept(item.split('\n'))) for item in programs[: self._n_examples]]

    def check(self, condition: ProgramCondition, scene: Scene) -> str:
        """Write the prompt that asks whether a condition holds."""
        return self._templates.get_template('check.md.j2').render(
            state=one_line(state_text(condition, scene)), condition=str(condition)
        )

    def _sources(self, scene: Scene) -> list[str]:
        text = source(self._templates, f'{scene.domain}.md')
        return [f'def {item.strip()}' for item in re.split(r'^def ', text, flags=re.M)[1:]]

    def _kept(self, lines: Sequence[str], *, asserted: bool = True) -> list[str]:
        """Leave lines out as the published ablations do."""
        return [
            line
            for line in lines
            if (self._comments or '# ' not in line)
            and ((self._feedback and asserted) or not ('assert' in line or 'else' in line))
        ]


def _how(item: TriedCall) -> str:
    if item.failed is None:
        return 'done'
    # Of what the world forbids no more is told, as in LLM-State's histories; but a name that
    # there is not is a slip of the pen.
    return 'failed' if item.failed.code is None else f'failed: {one_line(item.failed.cause)}'


def situation_of(scene: Scene) -> str:
    """Write what is held; in a household by its class, and what is close, too."""
    around = scene_graph(scene)
    if scene.domain != HOUSEHOLD:
        return f'In the hand: {", ".join(around.held) or "nothing"}.'
    told = around.close.difference(around.held, around.hidden)
    close = dict.fromkeys(class_of(name) for name in scene.names if name in told)
    close.pop(CHARACTER, None)
    held = ', '.join(map(class_of, around.held)) or 'nothing'
    return f'In the hands: {held}. Close: {", ".join(close) or "nothing"}.'


def offered(scene: Scene) -> list[Skill]:
    """
    Return the skills that are imported: all of a table's, of a household's the published.

    Of a table with containers, only the one that moves things there (section IV-B).
    """
    by_name = {skill.name: skill for skill in scene.skills}
    if moves_to_containers(scene):
        return [by_name[GRAB_AND_PUTIN]]
    chosen = [by_name[name] for name in HOUSEHOLD_SKILLS if name in by_name]
    return chosen if scene.domain == HOUSEHOLD and chosen else list(scene.skills)


def moves_to_containers(scene: Scene) -> bool:
    """Whether it is a table on which things are put into containers; nothing is asserted."""
    return any(skill.name == GRAB_AND_PUTIN for skill in scene.skills)


def header_of(instruction: str) -> str:
    """Write a task as the name of a function: `microwave salmon` as `microwave_salmon`."""
    name = '_'.join(re.findall(r'\w+', instruction)) or 'task'
    return name if not name[0].isdigit() else f'task_{name}'


def verbs_of(program: Program) -> set[str]:
    """Return all that a program calls, in recoveries too."""
    verbs = set()
    for goal in program.sub_goals:
        for item in goal.statements:
            calls: Sequence[Call] = item.recoveries if isinstance(item, Assertion) else (item,)
            verbs |= {call.verb for call in calls}
    return verbs
