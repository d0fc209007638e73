"""Houses by name or path: those that come with the project, and graph files that people bring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbllm.sim.yaml_files import WordsLoader, YamlFiles
from bbllm.worlds.household.graph import Graph, Node
from bbllm.worlds.household.house_building import FIELDS, build
from bbllm.worlds.household.house_classes import HouseFileError
from bbllm.worlds.household.vocabulary import CHARACTER, Relation

FILES = YamlFiles('house', fields=', '.join(FIELDS), error=HouseFileError, loader=WordsLoader)
GRAPHS = ('init_graph', 'graph')
"""Where a file of programs keeps a graph that is not the whole file: EAI's, and VirtualHome's."""


@dataclass(frozen=True, slots=True)
class House:
    """A household as it is at first; copy its graph before anybody acts in it."""

    name: str
    description: str
    graph: Graph

    @property
    def rooms(self) -> tuple[str, ...]:
        """Classes of the rooms, in the order of their ids."""
        return tuple(
            node.class_name for _, node in sorted(self.graph.nodes.items()) if node.is_room
        )


def list_houses() -> tuple[str, ...]:
    """Return the names of the houses that come with the project."""
    return FILES.names()


def load_house(name_or_path: str | Path) -> House:
    """
    Return a house by its name, by the path of a .yaml file, or of a graph in JSON.

    JSON is what VirtualHome and the Embodied Agent Interface write: nodes and edges, the whole
    file or under `init_graph`. A graph in which nobody is gets a person, in its first room.

    Raises:
        UnknownNameError: There is no house of that name.
        HouseFileError: The file cannot be read or built; says where.
        GraphError: The JSON is no graph; says where.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix == '.json':
        return _from_json(path)
    content, path = FILES.read(name_or_path)
    data = FILES.parse(content, str(path))
    return House(path.stem, str(data.get('description', '')), build(data, str(path)))


def _from_json(path: Path) -> House:
    try:
        data: Any = json.loads(path.read_text('utf-8'))
    except OSError as error:
        raise HouseFileError(f'House file {path} cannot be read: {error.strerror}.') from error
    except (ValueError, RecursionError) as error:  # neither UTF-8 nor JSON, or too deep
        raise HouseFileError(f'{path} is not valid JSON: {error}.') from error
    if isinstance(data, Mapping):
        data = next((data[key] for key in GRAPHS if key in data), data)
    graph = Graph.from_dict(data)
    if graph.character is None:
        _let_somebody_in(graph, path)
    return House(path.stem, f'The graph of {path.name}', graph)


def _let_somebody_in(graph: Graph, path: Path) -> None:
    rooms = sorted(node_id for node_id, node in graph.nodes.items() if node.is_room)
    if not rooms:
        raise HouseFileError(f'{path} has no node of the category Rooms for a person to stand in.')
    person = max(graph.nodes) + 1
    graph.nodes[person] = Node(person, CHARACTER, category='Characters')
    graph.add(person, Relation.INSIDE, rooms[0])
