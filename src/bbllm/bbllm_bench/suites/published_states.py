"""
Derived states of objects by the rules of ProgPrompt's release, to score its own data.

They follow its `utils_aug_env`: one faucet of the house washes for all its sinks, doors do not
matter, and there are no ovens, pots, dishwashers, toasters or washing by hand. The release
considers only what the person sees, which depends on the order in which Python lists a set of ids;
here the whole house counts.
"""

from collections.abc import Iterable

from bbllm.worlds.household.derived import HEATED, USED, WASHED, Derived
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.script import ScriptLine
from bbllm.worlds.household.vocabulary import Relation, State


def add_published(graph: Graph, seen: Derived, _: ScriptLine | None) -> Derived:
    """Add what the graph shows now; no step counts by itself: a rule of `DerivedStates`."""
    found: set[tuple[int, str]] = set()
    running = [node for node in graph.nodes.values() if State.ON in node.states]
    for device in running:
        inside = graph.sources(device.id, Relation.INSIDE)
        match _class(device):
            case 'wallphone':
                found.add((device.id, USED))
            case 'microwave':
                found.update(_heated(graph, inside))
            case 'stove':
                for pan in _of_class(graph, 'fryingpan'):
                    if graph.has(pan.id, Relation.ON, device.id):
                        found.update(_heated(graph, graph.sources(pan.id, Relation.ON)))
            case 'washingmachine':
                found.update((item, WASHED) for item in inside)
    if any(_class(device) == 'faucet' for device in running):
        for sink in _of_class(graph, 'sink'):
            found.update((n, WASHED) for n in graph.sources(sink.id, Relation.INSIDE))
    return seen | found


def _heated(graph: Graph, items: Iterable[int]) -> Iterable[tuple[int, str]]:
    return ((item, HEATED) for item in items if graph.nodes[item].category == 'Food')


def _class(node: Node) -> str:
    return node.class_name.replace('_', '').lower()


def _of_class(graph: Graph, name: str) -> Iterable[Node]:
    return (node for node in graph.nodes.values() if _class(node) == name)
