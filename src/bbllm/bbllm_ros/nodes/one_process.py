"""
Several nodes in one process, each with its own context, arguments and threads.

`bbllm up sim --one-process` starts it: `one_process --node NAME ARGUMENTS --node NAME ARGUMENTS`.
A process of its own protects each node from the others; here one that crashes ends all.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence

from bbllm.core.errors import UnknownNameError
from bbllm_ros.rclpy_support.stack_node import NodeStart, run_all
from bbllm_ros.stack.stack import NODE, NODES, PERCEPTION

THREADS = {'mujoco_sim': 12, 'franka_direct': 12}
"""Of nodes that need more than the usual number: each goal that runs takes one."""


def starts_of(words: Sequence[str]) -> Iterator[NodeStart]:
    """Read a command line; raises UnknownNameError where there is no such node."""
    begins = [i for i, word in enumerate(words) if word == NODE]
    for begin, end in zip(begins, [*begins[1:], len(words)], strict=True):
        name, *args = words[begin + 1 : end] or ['']
        known = (*NODES, PERCEPTION)
        if name not in known:
            raise UnknownNameError('node', name, known)
        module = importlib.import_module(f'bbllm_ros.nodes.{name}')
        make = getattr(module, name.title().replace('_', ''))
        yield NodeStart(make=make, threads=THREADS.get(name, 8), args=args)


def main() -> None:
    run_all(list(starts_of(sys.argv[1:])))


if __name__ == '__main__':
    main()
