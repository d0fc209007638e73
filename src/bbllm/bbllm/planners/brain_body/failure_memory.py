"""Which failures of earlier episodes are of use for a task in a scene."""

import re
from collections.abc import Iterable
from dataclasses import replace

from bbllm.core.protocols import EarlierFailure
from bbllm.core.types import Scene, Task
from bbllm.planners.domains.languages import language_of

MOST = 5
"""Failures in a prompt."""
_WORD = re.compile(r'[a-z]+')


def relevant(
    failures: Iterable[EarlierFailure], task: Task, scene: Scene
) -> tuple[EarlierFailure, ...]:
    """
    Return at most MOST failures, the most relevant first.

    They are of skills and kinds of objects that the scene has. Failures of the same skill, kinds
    and error are one, with their number: of those that were recovered, else of all, that of the
    most similar task, the newest of several. The order is by similarity of the task (Jaccard index
    of the words), then by number, then the newest first.
    """
    language = language_of(scene)
    skills = {skill.name for skill in language.skills(scene)}
    kinds = {'', *map(language.kind, scene.objects)}
    groups: dict[tuple[object, ...], list[tuple[float, int, EarlierFailure]]] = {}
    for age, each in enumerate(failures):
        if each.domain == scene.domain and each.skill in skills and {*each.kinds} <= kinds:
            key = (each.skill, each.kinds, each.error)
            found = (_similarity(each.task, task.instruction), age, each)
            groups.setdefault(key, []).append(found)
    shown = []
    for group in groups.values():
        similar, age, best = max(group, key=lambda x: (x[2].worked != (), x[0], x[1]))
        times = sum(each.times for _, _, each in group)
        shown.append((similar, times, age, replace(best, times=times)))
    shown.sort(key=lambda x: x[:3], reverse=True)
    return tuple(each for *_, each in shown[:MOST])


def _similarity(one: str, other: str) -> float:
    first, second = ({*_WORD.findall(text.lower())} for text in (one, other))
    return len(first & second) / len(first | second) if first | second else 0.0
