"""Finds the running stack for verbs; also imported where there is no ROS, to state that."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bbllm.api.ros_environment import choose_domain, need_ros
from bbllm.api.session import Session
from bbllm.cli.support.options import StackOptions
from bbllm.cli.views.output import Output
from bbllm.core.constants import NAMESPACE
from bbllm.core.errors import LostNodeError

if TYPE_CHECKING:
    from bbllm_ros.stack.client import StackClient

NONE_S = 15.0
"""How long none of the nodes may be seen, wall clock. Programs announce themselves every 3 s, and
on a busy machine an announcement is overheard [s]."""
NO_NODE_S = 3.0
"""The same where no node of this machine runs in this domain yet: one that is started now takes as
long, wall clock [s]."""
SILENT_S = 20.0
"""How long a node that is seen may be silent, wall clock [s]."""
POLL_S = 0.05
COMPLETE_S = 15.0
"""How long the others may then take, on a busy machine or while the stack starts [s]."""
WITHOUT = 'Or do without: add --world tabletop.'


@contextmanager
def found_stack(
    verb: str,
    chosen: StackOptions,
    output: Output,
    nodes: Sequence[str],
    joined: Callable[[StackClient], bool],
    *,
    hint: str = '',
) -> Iterator[StackClient]:
    """
    Find the running stack, wait until some of its nodes are joined, and yield a client of it.

    Args:
        verb: The command, for the error where ROS is missing.
        chosen: Which stack; where nothing is chosen, the only one there is.
        output: Where people read what is waited for, and which stack it is if not the usual one.
        nodes: Any of these, once it is seen, is waited for longer.
        joined: Whether they are joined.
        hint: What else can be done where no stack runs, as a sentence.

    Raises:
        ConfigError: There is no ROS here, or several stacks run, and none was named.
        LostNodeError: None runs, or its nodes are not joined in time; names them.
    """
    need_ros(verb)
    choose_domain(chosen.domain)
    from bbllm_ros.rclpy_support.own_nodes import join_stack
    from bbllm_ros.stack.client import StackClient
    from bbllm_ros.stack.discovery import (
        await_stacks,
        no_stack,
        only_stack,
        stacks_among,
    )

    namespace = chosen.namespace
    own = join_stack(namespace or NAMESPACE)
    try:
        looker = own.join(f'bbllm_client_looks_{os.getpid()}', '/')
        patience_s = NONE_S if stack_may_run(os.environ) else NO_NODE_S
        with _status(output):
            stacks = await_stacks(looker.get_node_names_and_namespaces, namespace, patience_s)
        if not stacks:
            others = stacks_among(looker.get_node_names_and_namespaces())
            raise LostNodeError(f'{no_stack(namespace, patience_s, others)} {hint}'.strip())
        found = only_stack(stacks)
        if namespace is None and not found.usual:
            output.print(f'on {found.robot}, namespace /{found.namespace}', 'dim')
        client = StackClient(found.namespace, own=own)
    except BaseException:
        own.close()
        raise
    with client:
        with _status(output):
            _await_nodes(client, nodes, joined)
        yield client


def _await_nodes(
    client: StackClient, nodes: Sequence[str], joined: Callable[[StackClient], bool]
) -> None:
    from bbllm_ros.stack.discovery import SEE_THERE

    begun_s = time.monotonic()
    while not joined(client):
        seen = set(nodes).intersection(client.node.get_node_names())
        patience_s = SILENT_S if seen else NONE_S
        if time.monotonic() > begun_s + patience_s:
            raise LostNodeError(
                f'The stack under /{client.namespace} does not answer: nothing came from '
                f'{", ".join(nodes)} within {patience_s:g} s. {SEE_THERE}'
            )
        time.sleep(POLL_S)


@contextmanager
def open_stack(
    verb: str, chosen: StackOptions, output: Output, *, hint: str = WITHOUT
) -> Iterator[StackClient]:
    """Yield a client of the running stack once all of it is ready; raises as `found_stack`."""
    need_ros(verb)
    from bbllm_ros.stack.stack import REAL_NODES

    def joined(client: StackClient) -> bool:
        return len(client.missing(REAL_NODES)) < len(REAL_NODES)

    with found_stack(verb, chosen, output, REAL_NODES, joined, hint=hint) as client:
        client.wait_ready(REAL_NODES, COMPLETE_S)
        yield client


@contextmanager
def open_session(
    verb: str,
    chosen: StackOptions,
    output: Output,
    of_task: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[Session]:
    """
    Yield a session with the running stack once all of it is ready; raises as `found_stack`.

    *of_task* goes with each of its tasks, see `EpisodeConfig.of_task`.
    """
    with open_stack(verb, chosen, output) as client:
        from bbllm_ros.stack.session import StackSession

        yield StackSession(client, of_task)


def stack_may_run(environ: Mapping[str, str]) -> bool:
    """Return False where only this machine is searched, and no node of it runs in the domain."""
    from bbllm_ros.rclpy_support.dds_boundary import has_own_profile, wants_network
    from bbllm_ros.rclpy_support.domains import domain_of, nodes_of

    reaches_out = wants_network(environ) or has_own_profile(environ)
    return reaches_out or bool(nodes_of(domain_of(environ)))


def _status(output: Output) -> AbstractContextManager[object]:
    return output.console.status('looking for the stack ...') if output.live else nullcontext()
