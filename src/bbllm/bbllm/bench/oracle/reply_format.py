"""What each planner on the table takes as a reply: one short function per planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bbllm.bench.oracle.goal_brief import GoalBrief
from bbllm.bench.oracle.hidden_search import BlockAction, decide
from bbllm.core.protocols import PromptRequest, Situation
from bbllm.core.types import Scene

ACTION = 'grab_and_putin'
"""The skill that puts an object into a container."""
Reply = Callable[[PromptRequest, Scene, Situation, GoalBrief], str]
Pairs = Sequence[tuple[str, str]]


def numbered(texts: Sequence[str], start: int = 0) -> str:
    """Return numbered lines with the line that ends a plan."""
    return '\n'.join(f'{start + i}: {text}' for i, text in enumerate([*texts, 'Done']))


def repaired(explanation: str, texts: Sequence[str], start: int) -> str:
    """Return a plan that goes on after a failure, as brain_body takes it."""
    return f'Explanation: {explanation}\nNew plan:\n{numbered(texts, start)}'


# --- goals with hidden properties: blocks -----------------------------------------------------


def llm_pop(request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief) -> str:
    """Return a verdict of the evaluator, or actions of the planner."""
    decision = decide(scene, situation.events(), brief)
    if request.kind == 'evaluate':
        return f'{"SUCCESS" if decision.stage == "done" else "FAIL"}\n{decision.reason}'
    actions = [f'ACTION {_pop_action(action)}' for action in decision.actions] or ['DONE']
    return '\n'.join(['EXPLAIN', decision.reason, 'EXECUTE', *actions])


def ft_pop(request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief) -> str:
    """Return an answer to one of the questions of FT-CoT and FT-Vanilla."""
    decision = decide(scene, situation.events(), brief)
    if request.kind == 'enough':
        answer = 'No' if decision.stage == 'gather' else 'Yes'
        return f'EXPLAIN: {answer}. {decision.reason}\nACTION: <nooutput>'
    calls = ', '.join(map(_ft_call, decision.actions))
    return f'EXPLAIN: {decision.reason}\nACTION: {f"[{calls}]" if calls else "<nooutput>"}'


def _pop_action(action: BlockAction) -> str:
    word = 'RESET' if action.verb == 'return_to_base' else action.verb.upper()
    if action.pose is not None:
        return f'{word} [{" ".join(f"{value:.4f}" for value in action.pose)}]'
    return f'{word} {action.name}'.rstrip()


def _ft_call(action: BlockAction) -> str:
    arguments = [f"'{action.name}'"] if action.name else []
    if action.pose is not None:
        for values in (action.pose[:3], action.pose[3:]):
            arguments.append(f'[{", ".join(f"{value:.4f}" for value in values)}]')
    return f'{action.verb}({", ".join(arguments)})'


# --- goals of containers ----------------------------------------------------------------------


def prog_prompt(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return a program with a part for each object."""
    if request.kind == 'check':
        words = {*request.text.replace("'", ' ').replace('"', ' ').split()}
        return str(any({fact.subject, fact.object} <= words for fact in scene.facts))
    left = list(brief.inside.items()) if request.kind == 'program' else _left(scene, brief)
    lines = []
    for i, (thing, container) in enumerate(left, 1):
        if 'comments=no' not in situation.planner:
            lines.append(f'# {i}: put the {thing} in the {container}')
        lines.append(f'{ACTION}({thing!r}, {container!r})')
    return '\n'.join(lines) or 'done'


def lang_prompt(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return all steps in plain words, or the next one."""
    steps = _texts(list(brief.inside.items()))
    if request.kind == 'next_step':
        return f'{request.start}: {[*steps, "Done"][min(request.start, len(steps))]}'
    return numbered(steps)


def brain_body(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return a plan in plain words for what is left to do."""
    left = _left(scene, brief)
    if request.kind != 'repair':
        return numbered(_texts(left))
    explanation = f'{len(left)} of {len(brief.inside)} objects are not where they belong.'
    return repaired(explanation, _texts(left), request.start)


def base_llm(request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief) -> str:
    """Return calls."""
    left = _left(scene, brief)
    return numbered([f'<rob0>[{ACTION}] <{thing}><{container}>' for thing, container in left])


def _left(scene: Scene, brief: GoalBrief) -> Pairs:
    """Return what is not where it belongs yet, what is in the hand first."""
    there = {(f.subject, f.object) for f in scene.facts if f.predicate in ('in', 'on')}
    left = [pair for pair in brief.inside.items() if pair not in there]
    return sorted(left, key=lambda pair: pair[0] != scene.held)


def _texts(pairs: Pairs) -> list[str]:
    return [f'grab the {thing} and put it in the {container}' for thing, container in pairs]


ON_BLOCKS: Mapping[str, Reply] = {
    'llm_pop': llm_pop,
    'llm_pop_no_evaluator': llm_pop,
    'ft_cot': ft_pop,
    'ft_vanilla': ft_pop,
}
"""Planners that ask for what is hidden, by name."""
INTO_CONTAINERS: Mapping[str, Reply] = {
    'prog_prompt': prog_prompt,
    'lang_prompt': lang_prompt,
    'huang': lang_prompt,
    'brain_body': brain_body,
    'base_llm': base_llm,
}
"""Planners that the suites of containers are played with, by name."""
