"""
Runs the original household: the simulator of scripts in the Python package virtualhome 2.3.0.

The package itself cannot be imported: it wants a certain layout of `sys.path`, and the packages
of its Unity part. Four of its modules need neither, so these are loaded from where the package is
installed, under a name of our own. One fault is mended as the authors of ProgPrompt tell their
users to: without that FIND breaks off with a TypeError wherever it has to walk. Nothing else is
changed.
"""

import importlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from bbllm.core.errors import ConfigError
from bbllm.worlds.household.graph import in_set_order

PACKAGE = 'virtualhome'
VERSION = '2.3.0'
FOLDER = 'virtualhome/simulation/evolving_graph'
HOW_TO_GET_IT = 'make extras, or: pip install --no-deps virtualhome==2.3.0'
_NAME = '_bbllm_virtualhome'
BREAKS_OFF = (TypeError, AttributeError, AssertionError)
"""What it raises for scripts that it was not made for."""

GraphData = Mapping[str, list[dict[str, Any]]]
"""A graph as in its JSON files."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the original made of one line."""

    succeeded: bool
    messages: tuple[str, ...] = ()
    """Those of this step alone."""
    broke_off: str = ''
    """Name of the exception that ended the step, empty for none; the graph is as before then."""


class Original:
    """One character in one graph, driven line by line."""

    def __init__(self, graph: GraphData, *, fresh: bool) -> None:
        """
        Read a graph, which is not changed.

        With *fresh* the graph is built anew after each step, as ProgPrompt does; else one state is
        kept for all steps, as the original's own executor does. The ends of edges come in the
        order of a set filled in the order of ids, and not as they were added, so that the first is
        known.

        Raises:
            ConfigError: The package is not here.
        """
        self._parts = load_original()
        self._parts.execution.TimeMeasurement.reset_all()  # it keeps an entry of every effect
        self._fresh = fresh
        self._executor: Any = None
        self._state: Any = None
        self._last: Any = None
        """What the state was built from, where that is known."""
        self._begin(graph)

    def step(self, text: str, index: int = 0) -> Verdict:
        """
        Carry out one line, for example `[PUTIN] <salmon> (328) <fridge> (305)`.

        Raises:
            Exception: The line cannot be parsed; the text is its own.
        """
        line = self._parts.scripts.parse_script_line(text, index)
        before = len(self._executor.info.messages)
        try:
            done, self._state = self._executor.execute_one_step(
                self._parts.scripts.Script([line]), self._state
            )
        except BREAKS_OFF as error:
            return Verdict(False, broke_off=type(error).__name__)
        messages = tuple(self._executor.info.messages[before:])
        if self._fresh:
            self._last = self._state.to_dict()
            self._begin(self._last)
        return Verdict(done, messages)

    def graph_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return the graph as it is now; the order of what is in it means nothing."""
        found: dict[str, list[dict[str, Any]]] = self._last or self._state.to_dict()
        return found

    def _begin(self, data: GraphData) -> None:
        graph = self._parts.environment.EnvironmentGraph(data)
        # Without Unity a class name that is not in the graph has no equivalent.
        self._state = self._parts.ordered_state(graph, {}, instance_selection=True)
        self._executor = self._parts.execution.ScriptExecutor(graph, {})


def why_not_here() -> str:
    """State why the original cannot be run here, and what to do; empty where it can."""
    try:
        found = distribution(PACKAGE)
    except PackageNotFoundError:
        return f'The package {PACKAGE} is not installed here. To get it: {HOW_TO_GET_IT}'
    if found.version != VERSION:
        return (
            f'The package {PACKAGE} is here in version {found.version}, and only {VERSION} is '
            f'known. To get it: {HOW_TO_GET_IT}'
        )
    if not (_folder(found) / 'execution.py').is_file():
        return f'There is no {FOLDER} where {PACKAGE} is installed. Anew: {HOW_TO_GET_IT}'
    return ''


@cache
def load_original() -> SimpleNamespace:
    """
    Load what is needed of the package: its scripts, environment, execution and `ordered_state`.

    Raises:
        ConfigError: It is not installed, or in another version; states how to get it.
    """
    problem = why_not_here()
    if problem:
        raise ConfigError(problem)
    parent = ModuleType(_NAME, 'Stands for the packages around the modules, none of which runs.')
    parent.__path__ = [str(_folder(distribution(PACKAGE)))]
    sys.modules[_NAME] = parent
    scripts, environment, execution = (
        importlib.import_module(f'{_NAME}.{name}')
        for name in ('scripts', 'environment', 'execution')
    )
    _let_find_walk(execution)
    return SimpleNamespace(
        scripts=scripts,
        environment=environment,
        execution=execution,
        ordered_state=_ordered(environment.EnvironmentState),
    )


def _folder(found: Distribution) -> Path:
    return Path(str(found.locate_file(FOLDER)))


def _let_find_walk(execution: Any) -> None:
    """Let the joined actions be called with the two arguments that FIND gives and they lack."""
    joined = execution.JoinedExecutor
    one_after_the_other = joined.execute

    def execute(self: Any, script: Any, state: Any, info: Any, who: int, *_: Any) -> Iterator[Any]:
        return one_after_the_other(self, script, state, info, who)  # type: ignore[no-any-return]  # untyped

    joined.execute = execute


def _ordered(state: Any) -> Any:
    """Return the original's state, with the ends of edges in an order that ids alone decide."""

    class OrderedState(state):  # type: ignore[misc]  # untyped, and known only now
        def get_nodes_from(self, from_node: Any, relation: Any) -> list[Any]:
            ends = {node.id: node for node in super().get_nodes_from(from_node, relation)}
            return [ends[node_id] for node_id in in_set_order(ends.keys())]

        def change_state(self, *args: Any, **options: Any) -> Any:
            # The next state is made by the name of the original class.
            changed = super().change_state(*args, **options)
            changed.__class__ = type(self)
            return changed

    return OrderedState
