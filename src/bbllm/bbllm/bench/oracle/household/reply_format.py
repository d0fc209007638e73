"""Plans as the replies of each planner: steps in words, calls in brackets, programs, lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bbllm.bench.oracle.reply_format import numbered
from bbllm.core.naming import instance_name
from bbllm.core.types import Scene, SkillCall
from bbllm.planners.common.low_level_plan import as_planned
from bbllm.planners.common.short_names import ShortNames
from bbllm.planners.fltrnn.grammar import shown
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action

PUT = 'put'
"""The name of `putback` in the list of actions of BrainBody-LLM."""
STEPS: Mapping[Action, str] = {
    Action.WALK: 'walk to the {}',
    Action.GRAB: 'grab the {}',
    Action.OPEN: 'open the {}',
    Action.CLOSE: 'close the {}',
    Action.PUTIN: 'put the {} in the {}',
    Action.PUTBACK: 'put the {} on the {}',
    Action.SWITCHON: 'switch on the {}',
    Action.SWITCHOFF: 'switch off the {}',
    Action.SIT: 'sit on the {}',
    Action.STANDUP: 'stand up',
}
"""The words of a step for each action that plans contain."""
_STEP_FORMS = {action: re.compile(text.replace('{}', r'(\S+)')) for action, text in STEPS.items()}


def steps(lines: Iterable[ScriptLine]) -> list[str]:
    """Return a step in words for each line."""
    return [STEPS[line.action].format(*_classes(line)) for line in lines]


def repair(lines: Iterable[ScriptLine], start: int) -> str:
    """Write the rest of a plan from a step on."""
    return (
        f'Explanation: the steps before step {start} are done.\n'
        f'New plan:\n{numbered(steps(lines), start)}'
    )


def calls_in_brackets(lines: Iterable[ScriptLine]) -> str:
    """Write a program of Base-LLM."""
    return numbered([_bracketed(line.action, _classes(line)) for line in lines])


def call_of_step(step: str, scene: Scene | None) -> str:
    """Write the call of one of our own steps as a Body does; `<pass>` for any other step."""
    for action, form in _STEP_FORMS.items():
        if found := form.fullmatch(step.strip().rstrip('.')):
            put = scene is None or any(skill.name == PUT for skill in scene.skills)
            return _bracketed(action, found.groups(), PUT if put else action.skill)
    return '<pass>'


def program(lines: Sequence[ScriptLine]) -> str:
    """
    Write a program of ProgPrompt, a part for each way.

    It asserts nothing: the plan is right as far as the oracle's knowledge goes.
    """
    written = []
    for i, line in enumerate(lines):
        if i == 0 or line.action is Action.WALK:
            written.append(f'# {STEPS[line.action].format(*_classes(line))}')
        written.append(f'{line.action.skill}({", ".join(map(repr, _classes(line)))})')
    return '\n'.join(written) or '# nothing is left to do'


def low_level_plan(lines: Iterable[ScriptLine], names: ShortNames) -> str:
    """Write a plan of LLM-State's policy."""
    calls = [f'{i}. {call}' for i, call in enumerate(low_level_calls(lines, names), 1)]
    return '\n'.join(['Low-level Action Plan:', *(calls or ['done'])])


def next_action(lines: Iterable[ScriptLine], names: ShortNames) -> str:
    """Write a thought and an action of Inner Monologue."""
    call = next(iter(low_level_calls(lines, names)), 'done')
    thought = 'All is done.' if call == 'done' else 'This comes next.'
    return f'{thought}\nRobot action: {call}'


def low_level_calls(lines: Iterable[ScriptLine], names: ShortNames) -> list[str]:
    """Return lines as calls on objects with short names."""
    return [str(as_planned(call_of(line), names, in_house=True)) for line in lines]


def function_body(lines: Iterable[ScriptLine]) -> str:
    """Write a plan of FLTRNN and its baselines."""
    calls = [
        f'    {line.action.skill}({", ".join(repr(shown(name)) for name in call_of(line).args)})'
        for line in lines
    ]
    return '\n'.join([*calls, '    # done'])


def call_of(line: ScriptLine) -> SkillCall:
    """Return a line as a call of the world."""
    return SkillCall(line.action.skill, tuple(instance_name(*item) for item in line.objects))


def _classes(line: ScriptLine) -> tuple[str, ...]:
    return tuple(name for name, _ in line.objects)


def _bracketed(action: Action, classes: Iterable[str], putback: str = PUT) -> str:
    word = putback if action is Action.PUTBACK else action.skill
    return f'<char0>[{word}] {"".join(f"<{name}>" for name in classes)}'.rstrip()
