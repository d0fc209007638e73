"""Which stacks run in a ROS domain, by the names of the nodes in it. Needs no ROS."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import ConfigError
from bbllm_ros.stack.stack import NODES, PERCEPTION, REAL_NODES, SIMULATOR

SETTLE_S = 0.5
"""How long no node may come or go before a stack counts as found [s]."""
WHOLE_S = 5.0
"""How long nodes of a stack may be missing before it counts as found all the same [s]."""
POLL_S = 0.05
STARTS = (
    '`bbllm up sim` (simulation), or `ros2 launch bbllm franka_real.launch.py '
    'robot_ip:=ADDRESS` (real arm)'
)
SEE_THERE = 'See the terminal or the log of the stack, and start it again.'

Names = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FoundStack:
    """A stack that was started."""

    namespace: str
    simulated: bool
    whole: bool
    """Whether all nodes were seen that every stack has, and one that drives its robot."""

    @property
    def robot(self) -> str:
        return 'the simulation' if self.simulated else 'the real arm'

    @property
    def nodes(self) -> tuple[str, ...]:
        return NODES if self.simulated else REAL_NODES

    @property
    def usual(self) -> bool:
        return self.simulated and self.namespace == NAMESPACE


def stacks_among(names: Names) -> tuple[FoundStack, ...]:
    found: dict[str, set[str]] = {}
    for name, namespace in names:
        found.setdefault(namespace.strip('/'), set()).add(name)
    return tuple(
        FoundStack(
            namespace, SIMULATOR in nodes, nodes.issuperset(REAL_NODES) and _has_driver(nodes)
        )
        for namespace, nodes in sorted(found.items())
        if not nodes.isdisjoint(REAL_NODES)
    )


def _has_driver(nodes: Iterable[str]) -> bool:
    """Return whether a node is none of ours and no client: the simulator, or a real driver's."""
    ours = {*REAL_NODES, PERCEPTION}
    return any(name not in ours and not name.startswith(('bbllm_', '_')) for name in nodes)


def await_stacks(
    names: Callable[[], Names],
    namespace: str | None,
    timeout_s: float,
    *,
    settle_s: float = SETTLE_S,
    whole_s: float = WHOLE_S,
) -> tuple[FoundStack, ...]:
    """
    Return all stacks once one is there and no more nodes appear; none after *timeout_s*.

    Each node is found by itself, on a busy machine seconds after the first one. A simulation
    without its simulator would count as a real arm, and another stack would be missed. So the
    nodes must stay the same for *settle_s*, and may be missing for *whole_s* [s].
    """
    begun_s = changed_s = time.monotonic()
    first_s: float | None = None
    seen: list[tuple[str, str]] = []
    while True:
        now_s = time.monotonic()
        if (there := sorted(names())) != seen:
            seen, changed_s = there, now_s
        found = tuple(
            stack for stack in stacks_among(seen) if namespace in (None, stack.namespace)
        )
        if found:
            first_s = now_s if first_s is None else first_s
            settled = now_s >= changed_s + settle_s and all(stack.whole for stack in found)
            if settled or now_s >= first_s + whole_s:
                return found
        elif now_s >= begun_s + timeout_s:
            return ()
        time.sleep(POLL_S)


def only_stack(found: Sequence[FoundStack]) -> FoundStack:
    """Return the one stack that was found; raises ConfigError where there are several."""
    if len(found) == 1:
        return found[0]
    options = ' or '.join(f'--namespace {stack.namespace}' for stack in found)
    raise ConfigError(f'{_listed(found)} Name the one to use: {options}.')


def no_stack(namespace: str | None, waited_s: float, others: Iterable[FoundStack] = ()) -> str:
    others = tuple(others)
    where = 'here' if namespace is None else f'under /{namespace}'
    nodes = ', '.join(REAL_NODES)
    text = f'No stack runs {where}: none of {nodes} was found within {waited_s:g} s.'
    if others:
        return f'{text} {_listed(others)}'
    return f'{text} Start one in another terminal: {STARTS}.'


def _listed(stacks: Sequence[FoundStack]) -> str:
    each = ', '.join(f'/{stack.namespace} ({stack.robot})' for stack in stacks)
    count = 'One stack runs' if len(stacks) == 1 else f'{len(stacks)} stacks run'
    return f'{count} in this ROS domain: {each}.'
