"""
One entry: a task whose plan was repaired and then worked, without names and places.

Its texts were written by models, worlds and people. In a prompt they are data.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from bbllm.core.constants import MAX_STEPS
from bbllm.core.events import (
    Ending,
    Episode,
    Event,
    FeedbackReceived,
    PlanMade,
    RepairBegun,
    SceneRecorded,
    hash_of_text,
)
from bbllm.core.naming import class_of
from bbllm.core.records import canonical, to_json
from bbllm.core.redaction import Redactor
from bbllm.core.text import count_of, cut, hidden_fault
from bbllm.core.types import Kind, Outcome, Scene
from bbllm.planners.common.prompting import one_line
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.scene_graph import CHARACTER, scene_graph, whereabouts

VERSION = 1
LONGEST = 400
"""Of each text of an entry [characters]."""
MOST_FAILURES, MOST_OBJECTS = 3, 12
"""Of one entry."""
EXAMPLE_CHARACTERS = (240, 240, 320, 400)
"""Of each part of an entry in a prompt [characters]."""
ROLES = frozenset({Kind.CUBE, Kind.CYLINDER, Kind.LOCATION})
"""Kinds whose objects stand for others of the kind; the name of a banana or a bowl is its kind."""
RELATIONS = ('on', 'in', 'inside', 'held_by')
"""Predicates of a table that a situation has."""
FAR = ('reachable', 'no')
POSITION = '[x y z]'
"""Stands for coordinates."""
_PLACE = re.compile(r'\(?-?\d+\.\d+(?:[ ,]+-?\d+\.\d+){1,6}\)?')
_EXECUTING = re.compile(r' when executing ".*"$')
"""Ends a message of a house with its action, which the step has already."""
_HIDE = Redactor().hide


@dataclass(frozen=True, slots=True)
class Mishap:
    """A step that failed before the plan worked."""

    index: int
    """Of the step in its plan; the steps before it stayed."""
    step: str
    code: str
    """Name of the `Code`; '' where there was none, as for a remark."""
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The case of a bench that an entry was made from."""

    suite: str
    task: str
    trial: int
    seed: int
    """Seed of the run, which is its split: what is learned on it is never shown on it."""
    case: str
    """Fingerprint of the case: the same one may be drawn by another seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A task, its situation, what failed, and the plan that worked."""

    id: str = ''
    version: int = VERSION
    task: str
    """With what was added to it."""
    domain: str
    situation: tuple[str, ...]
    """The objects that the plan is about, by their roles: kind, colour, state and relations."""
    failures: tuple[Mishap, ...]
    """Oldest first."""
    plan: tuple[str, ...]
    """All steps."""
    made_s: float = 0.0
    """Since the epoch [s]."""
    brain: str = ''
    origin: Origin | None = None
    """None for an episode of a person."""

    @property
    def text(self) -> str:
        """The entry as prompts show it, a line for each part; of the plan what was repaired."""
        kept = min((x.index for x in self.failures), default=0)
        failed = (f'{x.step}: {f"{x.code}, " if x.code else ""}{x.cause}' for x in self.failures)
        parts = {
            'Asked': [self.task],
            'Given': self.situation,
            'Failed first': dict.fromkeys(failed),
            f'Worked after {count_of(kept, "step")}' if kept else 'Worked': self.plan[kept:],
        }
        return '\n'.join(
            f'{name}: {cut(one_line("; ".join(part)), length)}'
            for (name, part), length in zip(parts.items(), EXAMPLE_CHARACTERS, strict=True)
        )

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(filter(None, (failure.code for failure in self.failures)))


def fault_of(entry: Entry) -> str:
    """Return why an entry cannot be used, '' if it can."""
    if entry.version != VERSION:
        return f'it has the format {entry.version}, and this version of bbllm reads {VERSION}'
    texts = [entry.task, *entry.situation, *entry.plan]
    texts += [text for x in entry.failures for text in (x.step, x.code, x.cause)]
    for text in texts:
        if len(text) > LONGEST:
            return f'a text has more than {LONGEST} characters: {cut(text, 40)!r}'
        if fault := hidden_fault(text):
            return f'a text has {fault}'
    if not (re.fullmatch(r'[0-9a-f]{16}', entry.id) and entry.task.strip() and entry.plan):
        return 'it has no id of 16 characters, no task, or no plan'
    most = {'failures': MOST_FAILURES, 'situation': MOST_OBJECTS + 1, 'plan': MAX_STEPS}
    many = next((name for name, n in most.items() if len(getattr(entry, name)) > n), '')
    return f'it has more than {most[many]} lines of {many}' if many else ''


def entry_of(episode: Episode, *, met: bool, origin: Origin | None = None) -> Entry | None:
    """
    Return what an episode leaves; None where it did not end well, or nothing was repaired.

    *met* is whether its goal was met: by its own check, or by the judge of a bench.
    """
    data = [event.data for event in episode.events]
    scene = next((item.scene for item in data if isinstance(item, SceneRecorded)), None)
    plans = [item for item in data if isinstance(item, PlanMade)]
    found = mishaps(episode.events)
    if not (met and episode.ending is Ending.FINISHED and scene and plans and found):
        return None
    steps = [step for step in plans[-1].steps if step.strip(' .').lower() != 'done']
    if not 0 < len(steps) <= MAX_STEPS:
        return None
    task = episode.task.instruction
    named = (f'{x.step} {x.cause}' for x in found)
    roles = roles_of(scene, ' ; '.join((task, *steps, *named)))
    remarks = [item.sentence for item in data if isinstance(item, FeedbackReceived)]

    def kept(text: str) -> str:
        return cut(_HIDE(one_line(in_roles(text, scene, roles))), LONGEST - 4)

    entry = Entry(
        task=kept('; '.join((task, *remarks))),
        domain=scene.domain,
        situation=tuple(situation(scene, roles)),
        failures=tuple(
            Mishap(x.index, kept(x.step), x.code, kept(_EXECUTING.sub('', x.cause))) for x in found
        ),
        plan=tuple(map(kept, steps)),
        made_s=round(episode.events[-1].stamp_s, 1),
        brain=episode.brain,
        origin=origin,
    )
    return replace(entry, id=hash_of_text(canonical(to_json(replace(entry, made_s=0.0)))))


def mishaps(events: Iterable[Event]) -> tuple[Mishap, ...]:
    """Return what a plan was repaired for, the first few, oldest first."""
    found, code = list[Mishap](), ''
    for event in events:
        match event.data:
            case Outcome() as outcome:
                code = '' if outcome.succeeded else outcome.code.name
            case RepairBegun() as repair:
                own = repair.code.name if repair.code else '' if repair.remarked else code
                found.append(Mishap(repair.index, repair.text, own, repair.cause))
                code = ''
    return tuple(found[:MOST_FAILURES])


def roles_of(scene: Scene, text: str) -> dict[str, str]:
    """
    Return what the objects that a text names stand for, by their names in the scene.

    On a table that is a kind with a number, also of what lies on them; in a house the class.
    """
    if scene.is_symbolic:
        words = {*re.findall(r'\w+', text.lower())}
        things = (item.name for item in reversed(scene.objects) if item.kind is not Kind.LOCATION)
        named = {class_of(name): name for name in things}
        return {n: c for c, n in named.items() if c.lower() in words and c != CHARACTER}
    found = {item.name: re.search(_spelled(item.name), text) for item in scene.objects}
    order = sorted((hit.start(), name) for name, hit in found.items() if hit)
    names = dict.fromkeys(name for _, name in order)
    names |= dict.fromkeys(
        x.subject for x in scene.facts if x.predicate in RELATIONS and x.object in names
    )
    roles, counts = dict[str, str](), Counter[Kind]()
    for name in names:
        kind = next((item.kind for item in scene.objects if item.name == name), None)
        if kind is Kind.FIXTURE or kind is None or len(roles) == MOST_OBJECTS:
            continue
        counts[kind] += 1
        roles[name] = f'{kind.value} {counts[kind]}' if kind in ROLES else name
    return roles


def in_roles(text: str, scene: Scene, roles: Mapping[str, str]) -> str:
    """Return a text with roles in place of names, and without coordinates."""
    text = _PLACE.sub(POSITION, language_of(scene).message(text, scene, places=False))
    if not roles:
        return text
    names = '|'.join(map(_spelled, sorted(roles, key=len, reverse=True)))
    plain = {name.replace('_', ' '): role for name, role in roles.items()}
    return re.sub(names, lambda found: plain[found[0].replace('_', ' ')], text)


def situation(scene: Scene, roles: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each object that has a role, and how many others a table has."""
    around = scene_graph(scene)
    places = {item.name for item in scene.objects if item.kind is not Kind.FIXTURE} | {'hand'}
    for name, role in [*roles.items()][:MOST_OBJECTS]:
        if scene.is_symbolic:
            words = [*around.states.get(name, ()), whereabouts(name, around)]
        else:
            facts = [fact for fact in scene.facts if fact.subject == name]
            words = [scene.object(name).color]
            words += [
                f'{x.predicate} {roles.get(x.object, x.object)}'
                for x in facts
                if x.predicate in RELATIONS and x.object in places
            ]
            words += ['out of reach' for x in facts if (x.predicate, x.object) == FAR]
            if scene.object(name).kind is Kind.LOCATION:
                words.append('taken' if any(x.object == name for x in scene.facts) else 'empty')
        yield f'{role}: {", ".join(filter(None, words)) or "there"}'
    others = Counter(x.kind for x in scene.objects if x.name not in roles and x.kind in ROLES)
    if others and not scene.is_symbolic:
        yield f'besides: {", ".join(count_of(n, kind.value) for kind, n in others.items())}'


def _spelled(name: str) -> str:
    """Return the pattern of a name, also as people and models write it: `red cube`."""
    return rf'\b{re.escape(name).replace("_", "[_ ]")}\b'
