"""
Sentences that a language model makes up for tasks; only those that ask for them are kept.

A sentence is kept if it is whole and new, names nothing that is not there, and if the model,
asked afresh which of all tasks it asks for, names the task that it was made up for.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import jinja2

from bbllm.core.errors import ConfigError
from bbllm.core.protocols import ChatModel, Message
from bbllm_bench.benchmarks.finetuning.kinds import KINDS, Kind
from bbllm_bench.benchmarks.finetuning.tasks import fresh
from bbllm_bench.suites.scene_recipe import CUBE_COLORS, CYLINDER_COLORS

MOST_CHARACTERS = 240
EXAMPLES = 4
"""How many of its own sentences a model is shown for a kind."""
COLORS = frozenset({*CUBE_COLORS, *CYLINDER_COLORS})
ELSEWHERE = frozenset({
    'ball', 'bin', 'bottle', 'bowl', 'box', 'cup', 'cylinder', 'drawer', 'floor', 'location',
    'mug', 'plate', 'shelf', 'sphere', 'tray',
})  # fmt: skip
"""Objects that people and models like to have on tables, and that are on none of these."""
NUMBERS = {'two': 2, 'both': 2, 'three': 3, 'four': 4, 'five': 5, 'six': 6}
_SENTENCE = re.compile(r"[A-Z][A-Za-z ,.!;'-]*[.!]")
_LISTED = re.compile(r'\s*(?:[-*•]|\d{1,3}[.):])\s*')
_SORTED = re.compile(r'^\W*(\d+)\W+(\d+)\W*$', re.MULTILINE)


@dataclass
class Wordings:
    """What a model made up."""

    model: str
    kept: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By the name of a kind."""
    refused: Counter[str] = field(default_factory=Counter)
    """How many lines were not kept, by why."""


def ask_wordings(
    model: ChatModel,
    per_kind: int,
    *,
    kinds: Iterable[Kind] = KINDS,
    on_kind: Callable[[], None] = lambda: None,
) -> Wordings:
    """
    Have a model make up sentences for every kind of task, and sort them; asked twice for each.

    Raises:
        ConfigError: Nothing that it replied can be used.
        ModelError: It did not answer.
    """
    found = Wordings(model.name)
    for kind in kinds:
        known: set[str] = set()
        for sentence in kind.sentences:
            fresh(sentence, kind, known)
        reply = _ask(model, 'paraphrases.md.j2', kind, count=per_kind)
        lines = [_LISTED.sub('', line, count=1).strip(' "\'`*') for line in reply.splitlines()]
        new: list[str] = []
        for line in filter(None, lines):
            fault = fault_of(line, kind) or ('' if fresh(line, kind, known) else 'a duplicate')
            if fault:
                found.refused[fault] += 1
            else:
                new.append(line)
        kept = _asking_for(model, kind, new)
        if len(kept) < len(new):
            found.refused['asks for something else'] += len(new) - len(kept)
        found.kept[kind.name] = kept
        on_kind()
    if not any(found.kept.values()):
        raise ConfigError(
            f'None of the {found.refused.total()} lines of {model.name} is an instruction of '
            'these kinds. Name a language model: --brain MODEL, or leave --brain out.'
        )
    return found


def fault_of(sentence: str, kind: Kind) -> str:
    """Return why a sentence cannot be about the blocks of a kind; '' where it can."""
    words = re.findall(r'[a-z]+', sentence.lower())
    if len(sentence) > MOST_CHARACTERS or len(words) < 3:
        return f'not of 3 words to {MOST_CHARACTERS} characters'
    if not _SENTENCE.fullmatch(sentence):
        return 'no whole sentence'
    if any(word in COLORS for word in words):
        return 'names a colour'
    if any(word.removesuffix('s') in ELSEWHERE or word in ELSEWHERE for word in words):
        return 'names what is not there'
    if any(NUMBERS.get(word, 0) > kind.blocks for word in words):
        return 'counts more blocks than there are'
    return ''


def _asking_for(model: ChatModel, kind: Kind, sentences: Sequence[str]) -> tuple[str, ...]:
    if not sentences:
        return ()
    choices = [other for other in KINDS if other.blocks == kind.blocks]
    tasks = [other.sentences[0] for other in choices]
    reply = _ask(model, 'sorting.md.j2', kind, tasks=tasks, sentences=sentences)
    stated = {int(sentence): int(task) for sentence, task in _SORTED.findall(reply)}
    wanted = choices.index(kind) + 1
    return tuple(text for i, text in enumerate(sentences, start=1) if stated.get(i) == wanted)


def _ask(model: ChatModel, template: str, kind: Kind, **values: object) -> str:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader('bbllm_bench.benchmarks.finetuning', ''),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        autoescape=False,  # the output is read by a model, not by a browser
    )
    own = kind.sentences
    prompt = templates.get_template(template).render(
        blocks='three' if kind.blocks == 3 else 'two',
        examples=own[:: max(1, len(own) // EXAMPLES)][:EXAMPLES],
        **values,
    )
    return model.complete([Message('user', prompt)]).text
