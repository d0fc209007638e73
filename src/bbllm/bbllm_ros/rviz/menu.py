"""
Menus beside objects: what a person may choose in a scene, and the task of each choice.

A choice becomes a task in plain language, as if the person had typed it, so plans, approvals and
journals are the same for all clients. Choices that the scene excludes are not offered; as the
scene may be wrong, every choice is still checked below.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from bbllm.core.approval import ApprovalRequest
from bbllm.core.types import MOVABLE, Kind, Pose, Scene, SceneObject, SkillCall
from bbllm.skills.motions import refusal

ROBOT = SceneObject(
    name='robot base',
    kind=Kind.CYLINDER,
    pose=Pose(position_m=(0.0, 0.0, 0.075)),
    size_m=(0.34, 0.34, 0.15),
)
"""What the menu beside the robot hangs on; no name of a scene has a space."""
LONGEST = 60
"""Characters of a title."""
MOST_FIRST = 2**30
"""The first number of an entry is at most this; messages carry twice as much."""


class ChoiceKind(Enum):
    """What a choice asks for."""

    TASK = 'task'
    GRANT = 'grant'
    DENY = 'deny'
    STOP = 'stop'


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuChoice:
    """What happens when an entry is chosen."""

    kind: ChoiceKind
    instruction: str = ''
    """Of a task: what is asked for, in plain language."""
    hash: str = ''
    """Of an answer: the request that it names, so that it approves only what was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItem:
    """One line of a menu."""

    title: str
    choice: MenuChoice | None = None
    """None where the line only opens a menu of its own, or only informs."""
    entries: tuple[MenuItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """What can be chosen at one place."""

    item: SceneObject
    """The object that it hangs on."""
    entries: tuple[MenuItem, ...]


def scene_menus(scene: Scene) -> tuple[Menu, ...]:
    """Return a menu for every object and every place."""
    return tuple(
        Menu(item=item, entries=tuple(_entries(scene, item)))
        for item in scene.objects
        if item.kind in MOVABLE or item.kind is Kind.LOCATION
    )


def robot_menu(tasks: Mapping[str, str], waiting: ApprovalRequest | None) -> Menu:
    """Return the menu beside the robot: a waiting request, named tasks, and a way to stop."""
    entries: list[MenuItem] = []
    if waiting is not None:
        for kind, word in ((ChoiceKind.GRANT, 'approve'), (ChoiceKind.DENY, 'deny')):
            title = shortened(f'{word}: {waiting.title}')
            entries.append(MenuItem(title=title, choice=MenuChoice(kind=kind, hash=waiting.hash)))
    listed = tuple(_task(name.replace('_', ' '), reported) for name, reported in tasks.items())
    if listed:
        entries.append(MenuItem(title='tasks', entries=listed))
    entries.append(_task('return to base', 'return to base'))
    entries.append(MenuItem(title='stop', choice=MenuChoice(kind=ChoiceKind.STOP)))
    return Menu(item=ROBOT, entries=tuple(entries))


class Numbers:
    """
    Numbers of entries, which stand for the same choice for ever.

    A menu that was opened before it changed still gives the choices that were read there, and an
    answer to what no longer waits names its request. The numbers begin somewhere else in each
    process: rviz outlives nodes, and a menu from before a restart must not stand for anything
    offered since.
    """

    def __init__(self) -> None:
        self._next = itertools.count(secrets.randbelow(MOST_FIRST) + 1)  # 0 is none of an entry
        self._choices: dict[int, MenuChoice] = {}
        self._numbers: dict[MenuChoice | tuple[str, ...], int] = {}

    def of(self, entry: MenuItem, path: tuple[str, ...]) -> int:
        """Return the number of an entry; *path* names the menus above one without a choice."""
        key = entry.choice or (*path, entry.title)
        if key not in self._numbers:
            number = self._numbers[key] = next(self._next)
            if entry.choice is not None:
                self._choices[number] = entry.choice
        return self._numbers[key]

    def choice(self, number: int) -> MenuChoice | None:
        """Return what a number stands for; None where nothing was ever offered under it."""
        return self._choices.get(number)


def _entries(scene: Scene, item: SceneObject) -> Iterator[MenuItem]:
    """Return what can be done with an object or at a place, or why nothing can."""
    if scene.has(item.name, 'reachable', 'no'):
        yield MenuItem(title='out of reach')
        return
    if item.kind is Kind.LOCATION:
        yield from _at_place(scene, item)
        return
    held = scene.held
    if held is None and not scene.has(item.name, 'is', 'clear'):
        yield MenuItem(title='something stands on it')
        return
    if held is None and (refused := refusal(SkillCall('pick', (item.name,)), scene)):
        yield MenuItem(title=shortened(refused.message))
        return
    if held is None:
        yield _task('pick up', f'pick up {item.name}')
    if held in (None, item.name):
        yield from _group('put on', (_put(item.name, x.name) for x in _targets(scene, item.name)))
    elif item in _targets(scene, held):
        yield _put(held, item.name, f'put {held} on it')
    else:
        yield MenuItem(title=shortened(f'the hand holds {held}'))


def _at_place(scene: Scene, place: SceneObject) -> Iterator[MenuItem]:
    held = scene.held
    if scene.has(place.name, 'occupied_by'):
        yield MenuItem(title='occupied')
    elif held is not None:
        yield _put(held, place.name, f'put {held} here')
    else:
        items = (
            _put(x.name, place.name, x.name)
            for x in scene.objects
            if _free(scene, x) and refusal(SkillCall('pick', (x.name,)), scene) is None
        )
        yield from _group('put here', items)


def _targets(scene: Scene, entity: str) -> list[SceneObject]:
    """List where an object can be put: free places first, then objects with nothing on top."""
    others = [item for item in scene.objects if item.name != entity]
    places = [
        item
        for item in others
        if item.kind is Kind.LOCATION
        and not scene.has(item.name, 'occupied_by')
        and not scene.has(item.name, 'reachable', 'no')
    ]
    return places + [item for item in others if _free(scene, item)]


def _free(scene: Scene, item: SceneObject) -> bool:
    return (
        item.kind in MOVABLE
        and item.name != scene.held
        and scene.has(item.name, 'is', 'clear')
        and not scene.has(item.name, 'reachable', 'no')
    )


def _group(title: str, entries: Iterable[MenuItem]) -> Iterator[MenuItem]:
    """Put entries under one line; none where there are none."""
    listed = tuple(entries)
    if listed:
        yield MenuItem(title=title, entries=listed)


def _put(item: str, target: str, title: str = '') -> MenuItem:
    return _task(title or target, f'put {item} on {target}')


def _task(title: str, instruction: str) -> MenuItem:
    choice = MenuChoice(kind=ChoiceKind.TASK, instruction=instruction)
    return MenuItem(title=shortened(title), choice=choice)


def shortened(text: str, most: int = LONGEST) -> str:
    """Return a text of at most so many characters, whose last shows that it was longer."""
    return text if len(text) <= most else f'{text[: most - 1]}…'
