"""What the doctor sees of a running stack: its nodes, and the quality of service of its topics."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from bbllm.cli.findings import Finding, Level
from bbllm.core.errors import BbllmError

if TYPE_CHECKING:
    from bbllm.nodes.client import StackClient

FIRST_S = 5.0
"""How long the first node may take to be found, wall clock [s]."""
OTHERS_S = 10.0
"""How long the others may take where one was found, wall clock [s]."""
NOT_OURS = ('/rosout', '/parameter_events')


def look_at_stack() -> list[Finding]:
    """Return what is found of a stack in this domain; a stack is no need of the demo."""
    from bbllm.nodes.client import StackClient

    try:
        with StackClient(name='bbllm_doctor') as client:
            return _look(client)
    except BbllmError as error:
        return [Finding('stack', Level.WARN, str(error), 'bbllm up sim')]


def _look(client: StackClient) -> list[Finding]:
    from bbllm.nodes.stack import NODES

    begun_s = time.monotonic()
    missing = client.missing()
    while missing:
        patience_s = FIRST_S if len(missing) == len(NODES) else OTHERS_S
        if time.monotonic() - begun_s > patience_s:
            break
        time.sleep(0.1)
        missing = client.missing()
    if len(missing) == len(NODES):
        return [Finding('stack', Level.OK, 'none runs here; `bbllm up sim` starts one')]
    if missing:
        text = f'not all of it runs; missing: {", ".join(missing)}'
        return [Finding('stack', Level.WARN, text, 'End it and start it again: bbllm up sim')]
    findings = [Finding('stack', Level.OK, f'runs: {", ".join(NODES)}')]
    for topic, _ in sorted(client.node.get_topic_names_and_types()):
        if topic not in NOT_OURS:
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
