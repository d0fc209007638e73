"""
The grammar of a reply of Inner Monologue: a thought and one action.

    Robot thought: The salmon may be in the fridge.
    Robot action: open(fridge1)

The action is a call as in low-level plans, `done`, or `cannot: <reason>`. A reply may continue
where the prompt ends, with a thought without its label. Lines behind the action are discarded:
the model only imagines its result.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm import Skill, SkillCall, errors, events
from bbllm.planning import is_done_line, one_line, reason_of
from bbllm_planners.low_level_plan import MAX_LINE, more_lines, read_call

THOUGHT_KEPT = 500
"""Maximum length of a thought; the rest is cut [characters]."""
MAX_THOUGHT = 2000
"""Maximum length of a line; the rest is ignored [characters]."""
EXTRA_LISTED = 10
"""How many of the lines behind an action are reported one by one; the others share one line."""

_LABELLED = re.compile(
    r'[\s>*_`-]*(?:robot\s+)?(?P<label>thought|action)[*_`\s]*:[*_`\s]*(?P<text>.*)', re.IGNORECASE
)
_RESULT = re.compile(r'[\s>*_`-]*(?:scene|human|program\s\w+|success)[*_`\s]*:', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NextStep:
    """A parsed reply."""

    thought: str
    call: SkillCall | events.LineDiscarded | None
    """None if the task is done; a rejected line is no valid action."""
    extra: tuple[str, ...] = ()
    """Discarded lines behind the action; the last may stand for many."""


def parse_next(text: str, actions: Sequence[Skill]) -> NextStep:
    """Parse a reply; raise GaveUpError for `cannot: <reason>`, ParseError without an action."""
    thought, cannot = '', ''
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for i, whole in enumerate(lines):
        line = whole[:MAX_THOUGHT]  # so that no pattern is slow
        found = _LABELLED.fullmatch(line)
        if _RESULT.match(line):
            break  # the world and people report results, not the model
        if found is None or found['label'].lower() == 'thought':
            cannot = cannot or (found is None and reason_of(line)) or ''
            words = found['text'] if found else line
            thought = f'{thought} {words}'.strip()[:MAX_THOUGHT]
            continue
        action = found['text'][:MAX_LINE].strip().rstrip('`*').strip()
        extra = _listed(lines[i + 1 :])
        kept = one_line(thought)[:THOUGHT_KEPT]
        if len(found['text']) > MAX_LINE:
            why = f'It has more than {MAX_LINE} characters.'
            return NextStep(kept, events.LineDiscarded(action, why), extra)
        if reason := reason_of(action):
            raise errors.GaveUpError(reason)
        if is_done_line(action):
            return NextStep(kept, None, extra)
        return NextStep(kept, read_call(action.strip('`* '), actions), extra)
    if cannot:  # before an action such a line is a thought
        raise errors.GaveUpError(cannot)
    raise errors.ParseError(
        f'No action was found in {text.strip()[:80]!r}. Reply with two lines, `Robot thought: ` '
        'and `Robot action: `; the action is one call, or `done`, or `cannot: ` and why.'
    )


def _listed(lines: Sequence[str]) -> tuple[str, ...]:
    n_more = len(lines) - EXTRA_LISTED
    more = [more_lines(n_more)] if n_more > 0 else []
    return (*(line[:MAX_LINE] for line in lines[:EXTRA_LISTED]), *more)
