"""
The prompts of ProgPrompt: one that is a program to go on with, one that asks about an assertion.

Source: Singh et al., ProgPrompt, section III-B and figure 2: the import line, the list of objects,
example programs, and the task as the head of a function. The words are our own, and so are the
lines that tell a chat model, which completes nothing, to reply with the body of that function.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bbllm import Scene, Skill, Task
from bbllm.planning import (
    CHARACTER,
    HOUSE_END,
    Policy,
    beside,
    class_of,
    declared,
    further_skills,
    language_of,
    meaning_text,
    meant_by,
    one_line,
    scene_graph,
    source,
    squeezed,
    templates,
)
from bbllm_planners.prog_prompt.grammar import parse_program
from bbllm_planners.prog_prompt.program import HANDS, Program, ProgramCondition, TriedCall, written

STATE_WORDS = {
    **dict.fromkeys(('switchon', 'switchedon', 'turnedon'), 'on'),
    **dict.fromkeys(('switchoff', 'switchedoff', 'turnedoff'), 'off'),
    **{'opened': 'open', 'pluggedin': 'plugged_in', 'pluggedout': 'plugged_out'},
}
"""Names of states in programs and in scenes."""

LISTED = frozenset({'open', 'closed', 'on', 'off'})
"""States that a house lists for each object that has them."""


def is_listed(condition: ProgramCondition, scene: Scene) -> bool:
    """Return whether the facts of a scene decide a condition: it is of a kind that they list."""
    around = scene_graph(scene)
    if condition.relation == 'close':
        return around.character is not None  # a table lists no closeness
    if condition.relation != 'is':
        return True
    listed = {*LISTED, *(state for states in around.states.values() for state in states)}
    return squeezed(_state(condition)) in map(squeezed, listed)


def is_true(condition: ProgramCondition, scene: Scene, found: str | None) -> bool:
    """
    Return whether a condition is true by the facts of a scene.

    A word means any object of its class. For a state it means the object `found`, which the
    program last went to, else the close objects of the class, else all of them.
    """
    return _is_so(condition, scene, found) is not condition.negated


def _is_so(condition: ProgramCondition, scene: Scene, found: str | None) -> bool:
    around = scene_graph(scene)
    names = meant_by(condition.subject, scene.names)
    if condition.relation == 'close':
        return any(name in around.reachable or name in around.held for name in names)
    if condition.relation == 'is':
        wanted = _state(condition)
        near = [name for name in names if name in around.close]
        considered = [found] if found in names else near or names
        states = [state for name in considered for state in around.states.get(name or '', ())]
        return any(squeezed(state) == squeezed(wanted) for state in states)
    if squeezed(condition.object) in (HANDS, 'hand'):
        return any(name in around.held for name in names)
    others = meant_by(condition.object, scene.names)
    wanted = 'inside' if condition.relation == 'in' else 'on'
    return any(
        relation == wanted and item in names and other in others
        for item, relation, other in around.placed
    )


def _state(condition: ProgramCondition) -> str:
    word = squeezed(condition.object)
    return STATE_WORDS.get(word, word)


def state_text(condition: ProgramCondition, scene: Scene) -> str:
    """Return the close and held objects of a condition for a prompt, by class."""
    around = scene_graph(scene)
    reachable = around.reachable
    seen = [n for n in scene.names if n in reachable and class_of(n) != CHARACTER]
    about = {squeezed(word) for word in condition.words}

    def relevant(*names: str) -> bool:
        return any({squeezed(name), squeezed(class_of(name))} & about for name in names)

    items = []
    for name in filter(relevant, seen):
        states = ' and '.join(around.states.get(name, ()))
        items.append(class_of(name) + (f' is {states}' if states else ''))
    shown = {*seen, *around.held}
    items += [
        f'{class_of(item)} {relation} {class_of(other)}'
        for item, relation, other in around.placed
        if item in shown and other in shown and relevant(item, other)
    ]
    held = ', '.join(dict.fromkeys(map(class_of, filter(relevant, around.held))))
    have = f' You have: {held}.' if held else ''
    return f'You see: {", ".join(dict.fromkeys(items)) or "nothing of this"}.{have}'


TEMPLATES = templates('bbllm_planners.prog_prompt')
GRAB_AND_PUTIN = 'grab_and_putin'
HOUSEHOLD_SKILLS = (
    *('walk', 'run', 'grab', 'switchon', 'switchoff', 'open', 'close', 'lookat', 'sit'),
    *('standup', 'find', 'turnto', 'drink', 'pointat', 'watch', 'putin', 'putback'),
)
IMPORTED: Mapping[str, Sequence[str]] = {'household': HOUSEHOLD_SKILLS}
"""Actions that the published program imports and the simulator supports, by domain."""
INSTRUCTIONS = (
    'Write the body of the next function: what the robot does for the task in its name, in the',
    'form of the functions above. Call only what is imported, and name only what is in objects.',
    'Before each part stands a comment, `# 1: what it is for`. A part makes at most ten calls.',
    'What has to hold is asserted; if it does not, all `else:` lines below it are run in order.',
)
"""For a chat model. An ablation omits the lines about the parts that it omits."""
OF_HOUSES = (
    '{names_mean}',
    'One is enough where the task does not say how many.',
    '`find` walks to an object, `putin` puts what is held into something open or without a door,',
    '`putback` on top of something. There are two hands; `grab` and `open` need a free one. Who',
    'sits has to `standup` before walking on.',
    f'{HOUSE_END} This is no reason for `cannot: `.',
    '`find` also goes to what is inside something closed: it is not close until that is opened.',
    'So assert that it is close; `else:` lines open each container it may be in, and find it.',
    "States to assert are 'opened', 'closed', 'switchon' and 'switchoff'. An assertion sees only",
    'what is close or in a hand, so `find` an object just before its state is asserted.',
)
OF_DOMAINS: Mapping[str, Sequence[str]] = {'household': OF_HOUSES}
"""The same, by domain."""
PARTLY_SEEN = (
    'objects has what was seen so far. There may be more in other rooms and closed containers:'
)
"""Of a household that is not all in sight; what follows says how to name it."""
NO_REASON = 'That something is not listed yet is no reason for `cannot: `.'
REPLY = (
    'Reply with the lines of the body alone: no loops, no branches, no variables. Where the robot',
    'cannot do what is asked, reply with the one line `cannot: ` and why.',
)
"""The form of the reply."""


@dataclass(frozen=True)
class ProgPrompts:
    """Renders both prompts; example programs may have comments, and feedback: assertions."""

    n_examples: int = 3
    comments: bool = True
    feedback: bool = True
    grounding: Policy = Policy.NEAREST
    """How one of several objects of a class is chosen."""
    replan: bool = False
    """Whether the model is asked again after each program, and sees where objects are."""

    def plan(self, task: Task, scene: Scene, tried: Sequence[TriedCall] | None = None) -> str:
        """Return the prompt for a program, or for the rest of one after the calls `tried`."""
        listed = f'objects = {list(language_of(scene).names(scene))}'
        return TEMPLATES.get_template('plan.md.j2').render(
            imports=f'from actions import {", ".join(map(declared, offered(scene)))}',
            # On a table the list is part of each function, so that it can change between them.
            objects=listed if scene.is_symbolic else '',
            local_objects='' if scene.is_symbolic else listed,
            examples='\n\n'.join(self.examples(scene)),
            instructions=self._instructions(scene),
            beside=beside(task),
            begun=tried is not None,
            tried=[f'\t{written(item.call)}  # {_how(item)}' for item in tried or ()],
            situation=language_of(scene).surroundings(scene) if self.replan else '',
            header=header_of(task.instruction),
        )

    def _instructions(self, scene: Scene) -> list[str]:
        names_mean = meaning_text(self.grounding)
        of_domain = OF_DOMAINS.get(scene.domain, ())
        lines = [*INSTRUCTIONS, *(line.format(names_mean=names_mean) for line in of_domain)]
        if not scene.whole:
            again = 'go there or open them, and you are asked again with what is seen then.'
            once = 'a name that is not listed means what is seen once the robot got there.'
            lines += [PARTLY_SEEN, again if self.replan else once, NO_REASON]
        lines.append(f'A call that fails {"ends the program" if self.replan else "is skipped"}.')
        return self._kept([*lines, *REPLY], asserted=not moves_to_containers(scene))

    def examples(self, scene: Scene) -> list[str]:
        """Return the example programs with skills of the world only, as the prompt shows them."""
        known = {skill.name for skill in offered(scene)}
        known |= set() if moves_to_containers(scene) else {skill.name for skill in scene.skills}
        programs = [
            item for item in self._sources(scene) if verbs_of(parse_program(item)) <= known
        ]
        return ['\n'.join(self._kept(item.split('\n'))) for item in programs[: self.n_examples]]

    def check(self, condition: ProgramCondition, scene: Scene) -> str:
        return TEMPLATES.get_template('check.md.j2').render(
            state=one_line(state_text(condition, scene)), condition=str(condition)
        )

    def _sources(self, scene: Scene) -> list[str]:
        text = source(TEMPLATES, f'{language_of(scene).name}.md')
        return [f'def {item.strip()}' for item in re.split(r'^def ', text, flags=re.M)[1:]]

    def _kept(self, lines: Sequence[str], *, asserted: bool = True) -> list[str]:
        """Omit lines as the published ablations do."""
        return [
            line
            for line in lines
            if (self.comments or '# ' not in line)
            and ((self.feedback and asserted) or not ('assert' in line or 'else' in line))
        ]


def _how(item: TriedCall) -> str:
    # As in LLM-State's histories, a failure in the world has no reason; an unknown name has one.
    detail = one_line(item.cause) if item.code is not None else item.meant
    return ('failed' if item.cause else 'done') + (f': {detail}' if detail else '')


def offered(scene: Scene) -> list[Skill]:
    """
    Return the skills to import: all of a table, or the published ones of a household.

    On a table with containers, only the skill that moves objects there (section IV-B).
    """
    by_name = {skill.name: skill for skill in scene.skills}
    if moves_to_containers(scene):
        return [by_name[GRAB_AND_PUTIN]]
    own = IMPORTED.get(scene.domain, ())
    chosen = [by_name[name] for name in own if name in by_name]
    return [*chosen, *further_skills(scene, own)] or list(scene.skills)


def moves_to_containers(scene: Scene) -> bool:
    """Whether the task is to put objects into containers; such programs have no assertions."""
    return any(skill.name == GRAB_AND_PUTIN for skill in scene.skills)


def header_of(instruction: str) -> str:
    """Return a task as the name of a function: `microwave salmon` as `microwave_salmon`."""
    name = '_'.join(re.findall(r'\w+', instruction)) or 'task'
    return name if not name[0].isdigit() else f'task_{name}'


def verbs_of(program: Program) -> set[str]:
    return {call.skill for call in (*program.calls, *program.recoveries)}
