"""Plans and decisions in the format that a request declares."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.goals import parse_goal
from bbllm.core.protocols import PromptRequest, Situation, ToolCall
from bbllm.core.skill_calls import is_pose_like
from bbllm.core.types import Outcome, Scene, Skill
from bbllm.llm.tool_text import text_of_call
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.oracle.hidden_search import BlockAction, decide
from bbllm_bench.suites.benchmark import BenchmarkGoal, load_benchmark
from bbllm_bench.suites.goals import Conditions, Layout

ACTION = 'grab_and_putin'
"""The skill that puts an object into a container."""


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One step of a plan."""

    skill: str
    args: tuple[str, ...]
    words: str
    """The step in plain words."""

    def bracketed(self, robot: str) -> str:
        """Return the call as Base-LLM and Bodies write it."""
        return f'<{robot}>[{self.skill}] {"".join(f"<{name}>" for name in self.args)}'.rstrip()


def numbered(texts: Sequence[str], start: int = 0) -> str:
    """Return numbered lines with the line that ends a plan."""
    return '\n'.join(f'{start + i}: {text}' for i, text in enumerate([*texts, 'Done']))


def repaired(explanation: str, texts: Sequence[str], start: int) -> str:
    """Return a plan that goes on after a failure, as brain_body takes it."""
    return f'Explanation: {explanation}\nNew plan:\n{numbered(texts, start)}'


def plan_reply(request: PromptRequest, lines: Sequence[PlanLine], robot: str) -> str:
    """Return a plan as the reply to any request for one: steps, calls or a program."""
    texts = [line.words for line in lines]
    match request.kind:
        case 'repair':
            return repaired(f'{len(texts)} steps are left.', texts, request.start)
        case 'calls':
            return numbered([line.bracketed(robot) for line in lines])
        case 'tool_call':
            return tool_call(lines, request.scene.skills if request.scene else ())
        case 'program' | 'rest' | 'code':
            written = []
            for i, line in enumerate(lines):  # a part for each way; it asserts nothing
                written += [f'# {line.words}'] if i == 0 or line.skill in (ACTION, 'walk') else []
                written.append(f'{line.skill}({", ".join(map(repr, line.args))})')
            nothing = '# nothing is left to do' if request.kind == 'program' else 'done'
            return '\n'.join(written) or nothing
    return numbered(texts)


def tool_call(lines: Sequence[PlanLine], skills: Sequence[Skill]) -> str:
    """Return the first of the calls that are left as a call of a tool, or that all is done."""
    if not lines:
        return text_of_call(ToolCall('done', json.dumps({'report': 'All is done.'})))
    line = lines[0]
    params = next((skill.params for skill in skills if skill.name == line.skill), ())
    if len(params) != len(line.args):  # no such tool, or one with other arguments
        params = tuple(f'argument{i}' for i in range(len(line.args)))
    return text_of_call(
        ToolCall(line.skill, json.dumps(dict(zip(params, line.args, strict=True))))
    )


# --- goals with hidden properties: blocks -----------------------------------------------------


def pop_reply(request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief) -> str:
    """Return a verdict of LLM-POP's evaluator, or actions of its planner."""
    decision = decide(scene, situation.events(), brief)
    if request.kind in ('tool_call', 'code'):
        return plan_reply(request, [_block_line(each) for each in decision.actions], 'rob0')
    if request.kind == 'evaluate':
        return f'{"SUCCESS" if decision.stage == "done" else "FAIL"}\n{decision.reason}'
    actions = [f'ACTION {_pop_action(action)}' for action in decision.actions] or ['DONE']
    return '\n'.join(['EXPLAIN', decision.reason, 'EXECUTE', *actions])


def _block_line(action: BlockAction) -> PlanLine:
    pose = () if action.pose is None else (' '.join(f'{value:.4f}' for value in action.pose),)
    args = pose or ((action.name,) if action.name else ())
    return PlanLine(action.verb, args, f'{action.verb} {" ".join(args)}'.rstrip())


def _pop_action(action: BlockAction) -> str:
    word = 'RESET' if action.verb == 'return_to_base' else action.verb.upper()
    if action.pose is not None:
        return f'{word} [{" ".join(f"{value:.4f}" for value in action.pose)}]'
    return f'{word} {action.name}'.rstrip()


# --- goals of containers ----------------------------------------------------------------------


def container_reply(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return a plan for what is not where it belongs yet, what is in the hand first."""
    if request.kind == 'check':
        return _asserted(request, scene)
    assert isinstance(brief.goal, Conditions)  # see BY_GOAL
    wanted = parse_goal(brief.goal.texts[0], scene).conditions
    left = [
        (c.subjects[0].names[0], c.place.names[0]) for c in wanted if c.place and not c.negated
    ]
    there = {(f.subject, f.object) for f in scene.facts if f.predicate in ('in', 'on')}
    left = sorted((p for p in left if p not in there), key=lambda p: p[0] != scene.held)
    words_of = 'grab the {} and put it in the {}'
    lines = [PlanLine(ACTION, pair, words_of.format(*pair)) for pair in left]
    return plan_reply(request, lines, 'rob0')


def _asserted(request: PromptRequest, scene: Scene) -> str:
    """Return whether a fact is of the two objects that an assertion names."""
    words = {*request.text.replace("'", ' ').replace('"', ' ').split()}
    return str(any({fact.subject, fact.object} <= words for fact in scene.facts))


# --- puzzles ----------------------------------------------------------------------------------


def puzzle_reply(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return the moves that are left of those that search found."""
    outcomes = (e.data for e in situation.events() if isinstance(e.data, Outcome))
    done = sum(one.succeeded and one.call.skill == 'place' for one in outcomes)
    lines: list[PlanLine] = []
    for name, target in brief.solution[done:]:
        if name != scene.held:
            lines.append(PlanLine('pick', (name,), f'pick {name}'))
        word = 'at' if is_pose_like(target) else 'on'
        lines.append(PlanLine('place', (target,), f'place {name} {word} {target}'))
    return plan_reply(request, lines, 'rob0')


def goal_reply(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return the goal of a puzzle, or of conditions, for a planner that finds the moves."""
    goal = brief.goal
    if isinstance(goal, Conditions):
        return '\n'.join(goal.texts[0].split(';'))
    assert isinstance(goal, Layout)  # see BY_GOAL
    lines = [f'on({above}, {below})' for above, below in goal.on.items()]
    lines += [f'unchanged({name})' for name in dict.fromkeys((*goal.still, *goal.untouched))]
    if goal.tallest is not None:
        lines.append(f'always tallest({goal.tallest})')
    if goal.on_places:
        kinds = {scene.object(name).kind.value for name in goal.on if name in scene.names}
        lines.append(f'always only_on({"|".join(["locations", *(f"{k}s" for k in kinds)])})')
    return '\n'.join(lines)


def final_places(lines: Sequence[PlanLine], scene: Scene) -> str:
    """Return where the objects of a plan are at its end, as conditions for a classical planner."""
    held, places = scene.held, dict[str, str]()
    for line in lines:
        if line.skill == 'pick':
            held = line.args[0]
            places.pop(held, None)
        elif line.skill == 'place' and held is not None:
            places[held], held = line.args[0], None
        elif line.skill == ACTION:
            places[line.args[0]] = line.args[1]
    found = [
        f'at({name}, {" ".join(target.split()[:2])})'
        if is_pose_like(target)
        else f'on({name}, {target})'
        for name, target in places.items()
    ]
    found += [f'held({held})'] if held else []
    return '\n'.join(found) or 'cannot: nothing is left to be moved.'


# --- goals of benchmarks of others ------------------------------------------------------------


def benchmark_reply(
    request: PromptRequest, scene: Scene, situation: Situation, brief: GoalBrief
) -> str:
    """Return a plan of the calls that its benchmark lists for a goal."""
    if request.kind == 'check':
        return _asserted(request, scene)
    assert isinstance(brief.goal, BenchmarkGoal)  # see BY_GOAL
    lines: list[PlanLine] = []
    held = scene.held
    outcomes = [e.data for e in situation.events() if isinstance(e.data, Outcome)]
    for call in load_benchmark(brief.goal.benchmark).calls(brief.goal, scene, outcomes):
        words = f'{call.skill.replace("_", " ")} {" ".join(call.args)}'
        if call.skill == 'pick':
            held = call.args[0]
        elif call.skill == 'place':
            words = f'place {held} at {call.args[0]}'
        lines.append(PlanLine(call.skill, call.args, words))
    return plan_reply(request, lines, 'rob0')


BASELINES = ('agent', 'code_policy')
"""Planners of no paper's own on tables, which the others are compared with."""
ON_BLOCKS = {
    'llm_pop': pop_reply,
    'llm_pop_no_evaluator': pop_reply,
    'agent': pop_reply,
}
"""Planners that ask for what is hidden, by name."""
CLASSICAL = 'pddl'
"""The planner that is told the goal alone."""
INTO_CONTAINERS = {
    **dict.fromkeys(
        ('prog_prompt', 'lang_prompt', 'brain_body', 'base_llm', *BASELINES), container_reply
    ),
    CLASSICAL: goal_reply,
}
"""Planners that the suites of containers are played with, by name."""
BY_GOAL = {
    'conditions': INTO_CONTAINERS,
    'benchmark': dict.fromkeys(
        ('prog_prompt', 'lang_prompt', 'brain_body', 'base_llm', *BASELINES), benchmark_reply
    ),
    'layout': {
        **dict.fromkeys(('brain_body', 'base_llm', *BASELINES), puzzle_reply),
        CLASSICAL: goal_reply,
    },
}
"""Planners by name, for goals that hide nothing."""
