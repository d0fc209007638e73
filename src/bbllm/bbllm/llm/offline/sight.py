"""What `offline` sees: the parts of a prompt, found by their labels and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bbllm.llm.offline.words import COLORS, KIND_NOUNS

Point = tuple[float, float, float]

LABELS = (
    'Objects in the scene:',
    'Available actions:',
    'Environment:',
    'Believed, not sensed:',
    'Task:',
    'Step:',
    'Action Plan:',
    'Step-by-step plan:',
    'Program:',
    'Earlier plan:',
    'Error step:',
    'Feedback:',
    'Controller:',
    'Human feedback:',
    'Earlier feedback:',
    'New plan:',
    'Explanation:',
)
_EXAMPLES_END = re.compile(r'^End of the examples\.', re.MULTILINE)
"""Only where a line begins: what comes from outside, such as a task, never begins one."""

_THING = re.compile(r'(\S+) ([a-z]+)(?: ([a-z_ ]+?))?((?: -?\d+\.\d+){3})(?: size ([\d.x ]+))?$')
_FACT = re.compile(r'\((\S+) (\S+) (\S+)\)$')
_STEP = re.compile(r'(\d+): (.+)$')


class UnreadableError(Exception):
    """A prompt without the labels that are needed."""


@dataclass(frozen=True)
class Thing:
    """One object as the prompt describes it."""

    name: str
    kind: str
    color: str = ''
    at: Point | None = None
    """Centre [m]; None where the prompt does not tell."""
    height: float = 0.04
    """Extent along z [m]."""

    @property
    def words(self) -> frozenset[str]:
        """The words of its name, in lower case."""
        return frozenset(self.name.lower().split('_'))

    @property
    def movable(self) -> bool:
        """Whether a hand could take it at all."""
        return self.kind not in ('location', 'fixture', 'hand')


@dataclass(frozen=True)
class Sight:
    """A prompt, taken apart."""

    things: tuple[Thing, ...]
    actions: tuple[str, ...]
    facts: tuple[tuple[str, str, str], ...] = ()
    believed: tuple[tuple[str, str, str], ...] = ()
    """Facts that were not sensed, but follow from what was tried before."""
    task: str = ''
    step: str | None = None
    """The step that a Body is to turn into a call; None in a Brain's prompt."""
    direct: bool = False
    """Whether the plan is to be calls at once, with no Body after it."""
    plan: tuple[str, ...] = ()
    """The earlier plan; empty where there was none yet."""
    error_step: int | None = None
    """Number of the step that failed; None where nothing did yet."""
    feedback: str = ''
    human: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    def thing(self, name: str) -> Thing | None:
        """Return the thing of that name."""
        return next((item for item in self.things if item.name == name), None)

    @property
    def held(self) -> str | None:
        """Name of what is in the hand."""
        return next((s for s, predicate, _ in self.facts if predicate == 'held_by'), None)


def is_prompt(text: str) -> bool:
    """Tell whether a message is one of the prompts with examples."""
    return _EXAMPLES_END.search(text) is not None


def read_prompt(text: str) -> Sight:
    """
    Take a prompt apart.

    Raises:
        UnreadableError: It is none of the prompts that this stand-in was made for.
    """
    parts = _parts(_EXAMPLES_END.split(text)[-1])
    if 'Objects in the scene:' not in parts or not {'Task:', 'Step:'} & parts.keys():
        raise UnreadableError(
            "The prompt has no 'Objects in the scene:' with a 'Task:' or a 'Step:'; "
            'the offline model reads only the prompts of bbllm.'
        )
    environment = parts.get('Environment:', [])
    seen = {item.name: item for item in map(_thing, environment) if item is not None}
    names = [name.strip() for name in ' '.join(parts['Objects in the scene:']).split(',')]
    error = ' '.join(parts.get('Error step:', []))
    return Sight(
        things=tuple(seen.get(name) or thing_from_name(name) for name in names if name),
        actions=tuple(
            line[2:].split('(')[0].strip()
            for line in parts.get('Available actions:', [])
            if line.startswith('- ') and '(' in line
        ),
        facts=_facts(environment),
        believed=_facts(parts.get('Believed, not sensed:', [])),
        task=' '.join(parts.get('Task:', [])),
        step=' '.join(parts['Step:']) if 'Step:' in parts else None,
        direct='Program:' in parts,
        plan=tuple(
            step[2] for line in parts.get('Earlier plan:', []) if (step := _STEP.match(line))
        ),
        error_step=int(error) if error.isdecimal() else None,
        feedback=' '.join(parts.get('Feedback:', [])),
        human=_listed(' '.join(parts.get('Human feedback:', [])).split(' | ')),
        earlier=_listed([line.removeprefix('- ') for line in parts.get('Earlier feedback:', [])]),
    )


def _facts(lines: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    return tuple((fact[1], fact[2], fact[3]) for line in lines if (fact := _FACT.match(line)))


def _parts(text: str) -> dict[str, list[str]]:
    """Sort lines under the labels they follow; the last of several equal labels wins."""
    parts: dict[str, list[str]] = {}
    here: list[str] = []
    for line in text.splitlines():
        label = next((label for label in LABELS if line.startswith(label)), None)
        if label is not None:
            here = parts[label] = []
            line = line[len(label) :]
        if line.strip():
            here.append(line.strip())
    return parts


def _listed(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if line and line != 'none')


def _thing(line: str) -> Thing | None:
    found = _THING.match(line)
    if found is None:
        return None
    name, kind, color, numbers, size = found.groups()
    x, y, z = (float(number) for number in numbers.split())
    height = float(size.split('x')[2]) if size and size.count('x') == 2 else 0.04
    return Thing(name, kind, color or _color(name), (x, y, z), height)


def thing_from_name(name: str) -> Thing:
    """Guess kind and colour from a name alone, as a Body has to."""
    kinds = [KIND_NOUNS[word] for word in name.lower().split('_') if word in KIND_NOUNS]
    kind = kinds[0] if kinds else ('fixture' if name == 'table' else 'other')
    return Thing(name, kind, _color(name))


def _color(name: str) -> str:
    return next((word for word in name.lower().split('_') if word in COLORS), '')
