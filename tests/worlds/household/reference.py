"""Runs the household and the original one side by side, and says where they first disagree."""

import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bbllm.worlds.household.graph import Graph
from bbllm.worlds.household.household import Household, Mode, StepResult
from bbllm.worlds.household.script import ScriptLine, parse_line
from tests.drawn import full
from tests.worlds.household.original_virtualhome import Original, Verdict
from tests.worlds.household.random_houses import House, draw_house
from tests.worlds.household.random_scripts import draw_script

SEED_VARIABLE, STEPS_VARIABLE = 'BBLLM_HOUSEHOLD_SEED', 'BBLLM_HOUSEHOLD_STEPS'
DRAWN = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().randrange(10**6, 10**9))
"""The first seed that is not fixed."""
FIXED = range(64)
"""Seeds of every run, half of its steps; what the scripts do is asked of these alone."""
LINES = 40
"""Length of a script."""
Edge = tuple[int, str, int]
USES_ROOMS = ('WALK', 'RUN', 'FIND', 'GRAB', 'DROP', 'RELEASE', 'WATCH')


@dataclass(frozen=True)
class Frozen:
    """A graph without the order of what is in it."""

    nodes: dict[int, tuple[Any, ...]]
    edges: frozenset[Edge]


@dataclass(frozen=True)
class Disagreement:
    """Where the two part."""

    line: int
    about: str
    original: str
    ours: str


@dataclass
class Run:
    """What came of one script."""

    done: Counter[str] = field(default_factory=Counter)
    """Lines per action that both carried out."""
    tried: Counter[str] = field(default_factory=Counter)
    """Lines per action that both were given."""
    left_out: int = 0
    """Lines that were given to neither, because the original would not end."""
    disagreement: Disagreement | None = None

    @property
    def steps(self) -> int:
        return self.tried.total()


@dataclass(frozen=True)
class Case:
    """A household and a script that both are given."""

    seed: int
    mode: Mode
    house: House
    script: tuple[str, ...]


def draw_case(seed: int, mode: Mode) -> Case:
    """Draw a house and a script."""
    dice = random.Random(seed)
    house = draw_house(
        dice, round(20 + 100 * dice.random() ** 2), odd=dice.choice((0.0, 0.1, 0.1, 0.2))
    )
    return Case(seed, mode, house, draw_script(dice, house, LINES))


def seeds() -> Iterator[int]:
    """Yield the seeds of this run: those from the variable on, else the fixed ones first."""
    if SEED_VARIABLE not in os.environ:
        yield from FIXED
    yield from range(DRAWN, DRAWN + 10**6)


def steps_wanted() -> int:
    return int(os.environ.get(STEPS_VARIABLE) or (5000 if full() else 1000))


def run_beside(case: Case) -> Run:
    """Give both each line, and stop where they first disagree."""
    fresh = case.mode is Mode.FRESH
    original = Original(case.house, fresh=fresh)
    ours = Household(Graph.from_dict(case.house, strict=False), mode=case.mode)
    run, before = Run(), freeze(original.graph_dict())
    for number, text in enumerate(case.script, start=1):
        index = 0 if fresh else number  # as ProgPrompt, and as the original's own executor
        line = parse_line(text, index)
        if never_ends(line, before):
            run.left_out += 1
            continue
        verdict = original.step(text, index)
        result = ours.step(line)
        now = before if verdict.broke_off else freeze(original.graph_dict())
        found = _compare(verdict, result) or _compare_graphs(now, freeze(ours.graph.to_dict()))
        if found:
            run.disagreement = Disagreement(number, *found)
            return run
        run.tried[line.action.value] += 1
        run.done[line.action.value] += verdict.succeeded
        before = now
    return run


def describe(case: Case, run: Run) -> str:
    """Return what a person needs to look into a disagreement."""
    found = run.disagreement
    assert found is not None
    return '\n'.join(
        [
            f'{case.mode.value}, seed {case.seed}, {len(case.house["nodes"])} nodes',
            f'again: {SEED_VARIABLE}={case.seed} {STEPS_VARIABLE}=1 python -m pytest '
            f'tests/worlds/household -k {case.mode.value}',
            *(f'  {text}' for text in case.script[: found.line]),
            f'line {found.line}, {found.about}:',
            f'  original: {found.original}',
            f'  ours:     {found.ours}',
        ]
    )


def freeze(graph: Mapping[str, list[dict[str, Any]]]) -> Frozen:
    nodes = {
        node['id']: (
            node['class_name'],
            node['category'],
            node['prefab_name'],
            frozenset(node['properties']),
            frozenset(node['states']),
            str(node['bounding_box']),
        )
        for node in graph['nodes']
    }
    edges = [(e['from_id'], e['relation_type'], e['to_id']) for e in graph['edges']]
    frozen = Frozen(nodes, frozenset(edges))
    assert (len(nodes), len(frozen.edges)) == (len(graph['nodes']), len(edges)), 'doubles'
    return frozen


def never_ends(line: ScriptLine, graph: Frozen) -> bool:
    """Return whether the original would look for a room along a ring of INSIDE."""
    if line.action.value not in USES_ROOMS:
        return False
    inside: dict[int, set[int]] = {}
    for start, relation, end in graph.edges:
        if relation == 'INSIDE':
            inside.setdefault(start, set()).add(end)

    def leads_round(node_id: int, passed: frozenset[int]) -> bool:
        return node_id in passed or any(
            leads_round(end, passed | {node_id}) for end in inside.get(node_id, ())
        )

    person = min(node_id for node_id, node in graph.nodes.items() if node[0] == 'character')
    ids = (person, *(node_id for _, node_id in line.objects))
    return any(leads_round(node_id, frozenset()) for node_id in ids)


def _compare(verdict: Verdict, result: StepResult) -> tuple[str, str, str] | None:
    if verdict.broke_off or result.broken == 'unsupported':
        if (verdict.broke_off != '') == (result.broken == 'unsupported' and not result.succeeded):
            return None
        return 'breaking off', str(verdict), str(result)
    if verdict.succeeded != result.succeeded or result.succeeded != (result.broken == ''):
        return 'success', str(verdict), str(result)
    if verdict.messages != result.messages:
        return 'messages', str(verdict.messages), str(result.messages)
    return None


def _compare_graphs(original: Frozen, ours: Frozen) -> tuple[str, str, str] | None:
    if original == ours:
        return None
    about = {
        node_id: (original.nodes.get(node_id), ours.nodes.get(node_id))
        for node_id in original.nodes.keys() | ours.nodes.keys()
        if original.nodes.get(node_id) != ours.nodes.get(node_id)
    }
    texts = [
        f'nodes {[pair[side] for pair in about.values()]} edges {sorted(mine - others)}'
        for side, mine, others in (
            (0, original.edges, ours.edges),
            (1, ours.edges, original.edges),
        )
    ]
    return f'the graph, which has alone (nodes {sorted(about)})', texts[0], texts[1]
