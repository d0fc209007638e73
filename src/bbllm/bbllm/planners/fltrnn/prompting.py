"""
The prompts of FLTRNN and of its two baselines.

Source: Zhang et al., FLTRNN, listings 1, 2, 7 and 8, completed by the published program: the parts
and their order. The words are our own, and so are the instructions on the reply, which a chat
model needs because it does not complete text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.core.text import as_data
from bbllm.core.types import Scene
from bbllm.planners.common.goal_predicates import (
    GoalPredicate,
    goal_sentence,
    goal_text,
    parse_goal,
)
from bbllm.planners.common.prompting import declared, one_line, render
from bbllm.planners.common.scene_graph import classes
from bbllm.planners.fltrnn.demonstrations import Demonstration
from bbllm.planners.fltrnn.memory_graph import ARITY

PACKAGE = 'bbllm.planners.fltrnn'
SPLIT = 'Split the goal of a task in a household into sub-goals, as the examples do.'
CELL = 'Write what a robot in a household does for one sub-goal, as the body of a function.'
WHOLE = 'Write what a robot in a household does for a whole task, as the body of a function.'
REASON = 'List the sub-tasks of a task in a household, as the examples do.'
ACT = 'Write what a robot in a household does for one sub-task, as the body of a function.'
"""First line of each prompt."""
MEMORY = '# Where the key things are, and how: '
GOAL = '# The goal: '
"""Beginnings of the two lines above each function."""
RULES = (
    'What is inside something closed can be taken only after that was opened; to use what is in '
    'another room, walk there first. Things of one class differ by their id.',
    'Only one thing may be held at a time, and what is open already must not be opened again.',
    'An appliance is switched on only while its door is closed.',
)
"""The paper's instructions, and as a third line a rule that its examples follow."""
REPLY = (
    'Write the body of the last function below, in the form of those before it: calls of what is '
    'imported, one a line, with things that are told of and their ids, and `# done` at the end.'
)
THINK = (
    'Before each part write `# Sub-goal thought: ...`, what it is for, and `# Rule thought: ...`, '
    'which rule its calls have to obey and how.'
)
NO_LOOPS = (
    'No loops, no branches. If it cannot be done, reply with the one line `cannot: ` and why.'
)


@dataclass(frozen=True, slots=True)
class ShortTerm:
    """The short-term memory: the part of a prompt for one sub-goal."""

    sub_goal: str
    memory: str
    """Places and states of its objects."""
    demonstrations: Sequence[Demonstration]
    tried: str = ''
    """Why an earlier plan did not reach it; '' without one."""


@dataclass(frozen=True)
class FLTRNNPrompts:
    """Renders the prompts, with or without the chain of thought on rules, and a long memory."""

    rule_thoughts: bool = True
    long_memory: bool = True

    def split(self, goal: str, scene: Scene) -> str:
        """Return the prompt that asks for the sub-goals of a goal."""
        predicates = parse_goal(goal, classes(scene))
        return render(
            PACKAGE,
            'split',
            opening=SPLIT,
            goal=_goal_line(goal, predicates),
            words=goal_sentence(predicates) if predicates else '',
            classes=classes(scene),
            whole=scene.whole,
        )

    def cell(
        self, scene: Scene, goal: str, completed: Sequence[str], short_term: ShortTerm
    ) -> str:
        """Return the prompt of a cell; goal and completed sub-goals are the long-term memory."""
        return self._plan(CELL, scene, short_term, goal, completed, long=self.long_memory)

    def whole(self, scene: Scene, short_term: ShortTerm) -> str:
        return self._plan(WHOLE, scene, short_term)

    def reason(self, goal: str, scene: Scene) -> str:
        """Return the prompt of the reasoner of planning-reasoning."""
        predicates = parse_goal(goal, classes(scene))
        return render(PACKAGE, 'reason', opening=REASON, goal=_goal_line(goal, predicates))

    def act(self, scene: Scene, short_term: ShortTerm) -> str:
        return self._plan(ACT, scene, short_term)

    def _plan(
        self,
        opening: str,
        scene: Scene,
        short: ShortTerm,
        goal: str = '',
        completed: Sequence[str] = (),
        *,
        long: bool = False,
    ) -> str:
        instructions = [REPLY, *([THINK] if self.rule_thoughts else []), NO_LOOPS]
        if opening != CELL:
            # The baselines have no memory; their rules stand before the examples.
            opening = '\n'.join([opening, *RULES])
        examples = [
            {
                'goal': item.goal,
                'memory': item.memory,
                'body': item.lines(rule_thoughts=self.rule_thoughts),
            }
            # In a fixed order, so that prompts with common examples have a common beginning.
            for item in sorted(short.demonstrations, key=lambda item: item.goal)
        ]
        return render(
            PACKAGE,
            'plan',
            opening=opening,
            imports=imports(scene),
            long_memory=long,
            rules=RULES,
            goal=one_line(goal),
            completed=completed,
            examples=examples,
            instructions='\n'.join(instructions),
            tried=one_line(short.tried),
            memory=short.memory,
            sub_goal=one_line(short.sub_goal),
            example_head=_head,
        )


def imports(scene: Scene) -> str:
    there = {skill.name: skill for skill in scene.skills}
    return 'from actions import ' + ', '.join(
        declared(there[name]) for name in ARITY if name in there
    )


def _head(memory: str, goal: str, *, delimited: bool = False) -> str:
    known = f'{MEMORY}{memory}'
    known = as_data(known, comment='# ') if delimited else known
    return f'{known}\n{GOAL}{goal}\ndef task():'


def _goal_line(goal: str, predicates: Sequence[GoalPredicate] | None) -> str:
    return goal_text(predicates) if predicates else one_line(goal)
