"""Plans of houses as replies, and what LLM-State wants to know of the house."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set

from bbllm.core.naming import class_of, instance_name
from bbllm.core.types import Scene, SkillCall
from bbllm.planners.domains.household.low_level import as_planned
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.observation_text import ShortNames
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Action
from bbllm_bench.oracle.household.house_copy import HouseCopy
from bbllm_bench.oracle.reply_format import PlanLine
from bbllm_bench.oracle.reply_format import tool_call as one_call
from bbllm_planners.fltrnn.grammar import shown_call
from bbllm_planners.llm_state.grammar import ADD, REASON, UPDATE
from bbllm_planners.llm_state.prompting import PLAN_LIMIT

PUT = 'put'
"""The name of `putback` in the list of actions of BrainBody-LLM."""
PUTBACK = Action.PUTBACK.skill
"""Its name elsewhere."""
STEPS: Mapping[Action, str] = {
    **{action: ' '.join([action.skill, *['the {}'] * action.arity]) for action in Action},
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
"""The words of a step for each action."""


def plan_line(
    line: ScriptLine, *, putback: str = PUTBACK, single: Set[str] = frozenset()
) -> PlanLine:
    """Return a line in classes, as most planners write it; objects of *single* by their names."""
    classes = tuple(
        instance_name(name, number) if name in single else name for name, number in line.objects
    )
    skill = putback if line.action is Action.PUTBACK else line.action.skill
    return PlanLine(skill, classes, STEPS[line.action].format(*classes))


def call_of_step(step: str, scene: Scene | None) -> str:
    """Write the call of one of our own steps as a Body does; `<pass>` for any other step."""
    for action, text in STEPS.items():
        if found := re.fullmatch(text.replace('{}', r'(\S+)'), step.strip().rstrip('.')):
            put = scene is None or any(skill.name == PUT for skill in scene.skills)
            skill = PUT if put and action is Action.PUTBACK else action.skill
            return PlanLine(skill, found.groups(), step).bracketed('char0')
    return '<pass>'


def low_level_plan(lines: Sequence[ScriptLine], names: ShortNames) -> str:
    calls = _low_level_calls(lines[: PLAN_LIMIT - 1], names)
    numbers = [f'{i}. {call}' for i, call in enumerate(calls, 1)]
    return '\n'.join(['Low-level Action Plan:', *(numbers or ['done'])])


def next_action(lines: Sequence[ScriptLine], names: ShortNames) -> str:
    """Write a thought and an action of Inner Monologue."""
    if not lines:
        return 'All is done.\nRobot action: done'
    return f'This comes next.\nRobot action: {_low_level_calls(lines[:1], names)[0]}'


def tool_call(lines: Sequence[ScriptLine], names: ShortNames, scene: Scene | None) -> str:
    """Write the next action as a call of a tool."""
    actions = language_of(scene).low_level_actions(scene) if scene else ()
    calls = (as_planned(call_of(line), names) for line in lines[:1])
    return one_call([PlanLine(call.skill, call.args, '') for call in calls], actions)


def code(lines: Sequence[ScriptLine], names: ShortNames) -> str:
    """Write a program of calls alone."""
    calls = (as_planned(call_of(line), names) for line in lines)
    written = [f'{call.skill}({", ".join(map(repr, call.args))})' for call in calls]
    return '\n'.join(written) or 'done'


def function_body(lines: Iterable[ScriptLine]) -> str:
    """Write a plan of FLTRNN and its baselines."""
    calls = [f'    {shown_call(call_of(line))}' for line in lines]
    return '\n'.join([*calls, '    # done'])


def attention(classes: Set[str], house: HouseCopy, names: ShortNames) -> str:
    """Name what is seen of some classes, for LLM-State; it counts as touched then."""
    seen = [name for name in house.observe().names if class_of(name) in classes]
    new = [name for name in seen if name not in house.touched]
    house.touched.update(dict.fromkeys(new))
    return '\n'.join(f'{ADD}("{names.short(name)}")' for name in new) or 'none'


def estimate(functions: str, house: HouseCopy, names: ShortNames) -> str:
    """Write LLM-State's summary and attributes of objects, as far as they are asked for."""
    lines = []
    if REASON in functions:
        n_failed = sum(house.failed.values())
        lines.append(f'{REASON}("{house.n_succeeded} actions succeeded and {n_failed} failed.")')
    if UPDATE in functions:
        scene = house.observe()
        for name in house.touched:
            if words := language_of(scene).attributes(name, scene, names):
                lines.append(f'{UPDATE}("{names.short(name)}", "{" | ".join(words)}")')
    return '\n'.join(lines) or 'none'


def call_of(line: ScriptLine) -> SkillCall:
    """Return a line as a call of the world."""
    return SkillCall(line.action.skill, tuple(instance_name(*item) for item in line.objects))


def _low_level_calls(lines: Iterable[ScriptLine], names: ShortNames) -> list[str]:
    return [str(as_planned(call_of(line), names)) for line in lines]
