"""What `expert` says when ProgPrompt asks what is left of a program that has begun."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bbllm.bench.household_expert.lessons import GIVES_UP_AFTER, Surprise, given_up, surprised
from bbllm.bench.household_expert.moves import Said, Standing
from bbllm.bench.household_expert.search import search
from bbllm.bench.household_expert.told import Told
from bbllm.bench.household_expert.wording import program, said
from bbllm.core.errors import ParseError
from bbllm.planners.common.program import Call
from bbllm.planners.prog_prompt.grammar import parse_program
from bbllm.worlds.household.vocabulary import Action

_BEGUN = re.compile(
    r'^The robot has begun with the next function\.[^\n]*\n(.*?)^Now: ', re.MULTILINE | re.DOTALL
)
_TRIED = re.compile(r'^\t(\w+\([^()]*\))  # (done|failed)', re.MULTILINE)


def prog_replan_voice(prompt: str, told: Told) -> str | None:
    """Answer a prompt of `prog_prompt:replan=yes` after its first; see `told.Voice`."""
    begun = _BEGUN.search(prompt)
    if begun is None or not prompt.startswith('from actions import '):
        return None
    household, goal = told.case()
    rooms = {node.class_name for node in household.graph.nodes.values() if node.is_room}
    standing = Standing.beginning(household, sight=told.visibility())
    failures: list[str] = []
    surprises: list[Surprise] = []
    for call, how in _TRIED.findall(begun[1]):
        read = _read(call)
        if how == 'failed':
            failures.append(call)
            surprises += _surprise(standing, read)
            continue
        after = standing.after(read) if read else None
        standing = after or standing  # by its own account it was of no use
    lines = search(
        standing.household,
        goal,
        seen=standing.derived,
        found=standing.found,
        sight=standing.sight,
        # What failed once may have meant another thing of its class, of which it did not think.
        lessons=surprised(item for item in surprises if surprises.count(item) > 1),
    )
    plan = said(lines)
    if not plan:
        return 'done'
    first = program(plan[:1], comments=False, assertions=False, rooms=rooms)
    if failures.count(first) >= GIVES_UP_AFTER:
        return f'cannot: {given_up(first)}'
    if failures and failures[-1] == first and plan[0][1]:
        # By its own account it should have worked; to go there is all that could help.
        plan.insert(0, (Action.WALK, plan[0][1][-1:]))
    functions = prompt[: begun.start()]
    return program(
        plan,
        # What the prompt's own functions have; an ablation leaves it out.
        comments='\t# ' in functions,
        assertions='\tassert(' in functions,
        rooms=rooms,
    )


def _surprise(standing: Standing, read: Said | None) -> Iterator[Surprise]:
    """Yield a call that failed, where it should have worked."""
    line = standing.grounded(read) if read else None
    if line is not None and standing.household.can(line):
        ids = tuple(node_id for _, node_id in line.objects)
        yield Surprise.at(standing.household.graph, line.action, ids)


def _read(text: str) -> Said | None:
    """Read a call that was made; None where it is none of those that are known."""
    try:
        statements = [item for goal in parse_program(text).sub_goals for item in goal.statements]
        (call,) = statements
        assert isinstance(call, Call)
        return Action(call.verb.upper()), call.args
    except (ParseError, ValueError):
        return None
