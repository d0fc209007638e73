"""
Reads policy files of SROS 2, as its schema 0.2.0 has them, into names of topics and services.

An action is five names to DDS; they are listed here from rcl's own naming of actions, so that a
policy and a running graph can be compared name by name.
"""

import fnmatch
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from bbllm.core.paths import config_dir

FOLDER = config_dir() / 'sros2'
ITEMS = {
    'topics': ('topic', {'publish', 'subscribe'}),
    'services': ('service', {'reply', 'request'}),
    'actions': ('action', {'execute', 'call'}),
}
"""Of a list: what stands in it, and what may be allowed or denied of that."""
SERVICES = ('send_goal', 'cancel_goal', 'get_result')
TOPICS = ('feedback', 'status')


@dataclass(frozen=True)
class Policy:
    """What one process may do."""

    file: Path
    enclave: str
    namespace: str
    node: str
    rights: dict[str, frozenset[str]]
    """By publish, subscribe, reply, request, execute and call: whole names, and patterns."""

    def names(self) -> dict[str, frozenset[str]]:
        """Return the names of topics and services that it may use, actions taken apart."""
        has, execute, call = self.rights, self.rights['execute'], self.rights['call']
        return {
            'publisher': has['publish'] | _parts(execute, TOPICS),
            'subscriber': has['subscribe'] | _parts(call, TOPICS),
            'service': has['reply'] | _parts(execute, SERVICES),
            'client': has['request'] | _parts(call, SERVICES),
        }


def policies() -> dict[str, Policy]:
    return {path.name.partition('.')[0]: read(path) for path in sorted(FOLDER.iterdir())}


def read(path: Path) -> Policy:
    """Read one file; whatever the schema does not allow, or this project does not use, fails."""
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.attrib) == ('policy', {'version': '0.2.0'}), path
    (enclaves,) = _children(root, {'enclaves'})
    (enclave,) = _children(enclaves, {'enclave'})
    assert set(enclave.attrib) == {'path'}, path
    (profiles,) = _children(enclave, {'profiles'})
    (profile,) = _children(profiles, {'profile'})
    assert set(profile.attrib) == {'ns', 'node'}, path
    rights: dict[str, set[str]] = {right: set() for _, some in ITEMS.values() for right in some}
    for listed in _children(profile, set(ITEMS)):
        item, allowed = ITEMS[listed.tag]
        assert listed.attrib and set(listed.attrib) <= allowed, f'{path}: {listed.attrib}'
        assert set(listed.attrib.values()) == {'ALLOW'}, f'{path}: {listed.attrib}'
        names = [child.text or '' for child in _children(listed, {item})]
        assert names, f'{path}: <{listed.tag}> is empty'
        assert len(set(names)) == len(names), f'{path}: a name stands twice in {names}'
        for right in listed.attrib:
            rights[right] |= {_whole(name, profile) for name in names}
    return Policy(
        file=path,
        enclave=enclave.attrib['path'],
        namespace=profile.attrib['ns'],
        node=profile.attrib['node'],
        rights={right: frozenset(names) for right, names in rights.items()},
    )


def differences(allowed: Iterable[str], used: Iterable[str]) -> dict[str, list[str]]:
    """Tell which names are used but not allowed, and which are allowed for nothing."""
    allowed, used = set(allowed), set(used)
    return {
        'missing': sorted(name for name in used if not _any(name, allowed)),
        'too much': sorted(pattern for pattern in allowed if not fnmatch.filter(used, pattern)),
    }


def _any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _children(parent: ElementTree.Element, tags: set[str]) -> Iterator[ElementTree.Element]:
    for child in parent:
        assert child.tag in tags, f'<{child.tag}> in <{parent.tag}>, where {tags} may be'
        yield child


def _whole(name: str, profile: ElementTree.Element) -> str:
    """Resolve a name as SROS 2 does: /absolute, ~/private, or below the profile's namespace."""
    base = profile.attrib['ns'].rstrip('/')
    if name.startswith('/'):
        return name
    if name.startswith('~/'):
        return f'{base}/{profile.attrib["node"]}{name[1:]}'
    return f'{base}/{name}'


def _parts(actions: Iterable[str], parts: Iterable[str]) -> set[str]:
    return {f'{action}/_action/{part}' for action in actions for part in parts}
