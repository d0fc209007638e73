"""What the doctor sees of a running stack: its nodes, and the quality of service of its topics."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from bbllm.cli.checks.findings import Finding, Level
from bbllm.core.errors import BbllmError
from bbllm.core.namespaces import NAMESPACE

if TYPE_CHECKING:
    from bbllm.ros.stack.client import StackClient
    from bbllm.ros.stack.discovery import FoundStack

FIRST_S = 5.0
"""How long the first stack may take to be found, wall clock [s]."""
OTHERS_S = 10.0
"""How long the others may take where one was found, wall clock [s]."""


def look_at_stack(namespace: str | None = None) -> list[Finding]:
    """
    Return what is found of the stacks in this domain; a stack is no need of the demo.

    Args:
        namespace: That of the only stack to look at; None for all.
    """
    from bbllm.ros.stack.client import StackClient, join_stack
    from bbllm.ros.stack.discovery import SEE_THERE, await_stacks, namespace_of_keys

    try:
        namespace = namespace or namespace_of_keys()
        with join_stack(namespace or NAMESPACE) as own:
            looker = own.join(f'bbllm_doctor_looks_{os.getpid()}', '/')
            stacks = await_stacks(looker.get_node_names_and_namespaces, namespace, FIRST_S)
        if not stacks:
            where = 'here' if namespace is None else f'under /{namespace}'
            text = f'none runs {where}; `bbllm up sim` starts a simulated one'
            return [Finding('stack', Level.OK, text)]
        findings = []
        for stack in stacks:
            with StackClient(stack.namespace, name='bbllm_doctor') as client:
                findings += _look(client, stack)
        return findings
    except BbllmError as error:
        return [Finding('stack', Level.WARN, str(error), SEE_THERE)]


def _look(client: StackClient, stack: FoundStack) -> list[Finding]:
    from bbllm.ros.stack.discovery import SEE_THERE

    begun_s = time.monotonic()
    missing = client.missing(stack.nodes)
    while missing and time.monotonic() - begun_s < OTHERS_S:
        time.sleep(0.1)
        missing = client.missing(stack.nodes)
    where = f'under /{stack.namespace}, {stack.robot}'
    if missing:
        text = f'not all of it runs {where}; missing: {", ".join(missing)}'
        return [Finding('stack', Level.WARN, text, SEE_THERE)]
    findings = [Finding('stack', Level.OK, f'runs {where}: {", ".join(stack.nodes)}')]
    for topic, _ in sorted(client.node.get_topic_names_and_types()):
        if topic.startswith((f'/{stack.namespace}/', '/tf')):
            findings.extend(_look_at_topic(client.node, topic))
    return findings


def _look_at_topic(node: Any, topic: str) -> list[Finding]:
    givers = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    takers = [info.qos_profile for info in node.get_subscriptions_info_by_topic(topic)]
    if not givers:
        return []
    kinds = ' / '.join(sorted({quality(qos) for qos in givers}))
    text = f'{topic}: {kinds}; {len(givers)} publish, {len(takers)} listen'
    clashes = sorted(
        {clash for give in givers for take in takers if (clash := clash_of(give, take))}
    )
    if clashes:
        return [Finding('qos', Level.WARN, f'{text}; {"; ".join(clashes)}', 'Messages are lost.')]
    return [Finding('qos', Level.OK, text)]


def quality(qos: Any) -> str:
    """Return reliability and durability in two words."""
    return f'{qos.reliability.name.lower()}, {qos.durability.name.lower()}'


def clash_of(give: Any, take: Any) -> str:
    """Return why a subscriber gets nothing of a publisher; empty where it gets all."""
    if take.reliability.name == 'RELIABLE' and give.reliability.name == 'BEST_EFFORT':
        return 'a subscriber wants reliable messages, the publisher sends best effort'
    if take.durability.name == 'TRANSIENT_LOCAL' and give.durability.name == 'VOLATILE':
        return 'a subscriber wants latched messages, the publisher keeps none'
    return ''
