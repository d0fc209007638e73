"""What the graph shows of names, types and qualities of service, and what it should show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from bbllm.nodes.driver_checks.check import CheckFailedError, Evidence, expect, expect_equal
from bbllm.nodes.driver_checks.client import DriverClient


def expect_actions(driver: DriverClient, wanted: dict[str, str]) -> Evidence:
    """Raise CheckFailedError unless all these actions are served, with these types."""
    return _served('action', driver, driver.actions, wanted)


def expect_services(driver: DriverClient, wanted: dict[str, str]) -> Evidence:
    """Raise CheckFailedError unless all these services are served, with these types."""
    return _served('service', driver, driver.services, wanted)


def _served(
    what: str,
    driver: DriverClient,
    look: Callable[[], dict[str, list[str]]],
    wanted: dict[str, str],
) -> Evidence:
    """Wait until all are served, and compare their types."""
    full = {driver.full_name(name): kind for name, kind in wanted.items()}
    found: dict[str, list[str]] = {}

    def all_there() -> bool:
        found.update(look())
        return set(full) <= set(found)

    with suppress(CheckFailedError):  # said at once, with the names
        driver.wait_until(all_there, f'each {what}')
    missing = _listed(set(full) - set(found))
    expect(not missing, f'each {what} to be served', f'none of the name {missing}')
    for name, kind in full.items():
        expect_equal(f'the type of {name}', found[name], [kind])
    return {name: found[name][0] for name in full}


def expect_topic(
    driver: DriverClient,
    topic: str,
    kind: str,
    *,
    reliable: bool | None = None,
    latched: bool | None = None,
) -> dict[str, object]:
    """Compare type and quality of service of all publishers of a topic."""
    seen = ''
    for end in driver.publishers(topic):
        expect_equal(f'the type of {topic}', end.topic_type, kind)
        quality = end.qos_profile
        is_reliable = quality.reliability is ReliabilityPolicy.RELIABLE
        is_latched = quality.durability is DurabilityPolicy.TRANSIENT_LOCAL
        words = ['reliable' if is_reliable else 'best effort']
        words += ['transient local' if is_latched else 'volatile']
        seen = ', '.join(words)
        if reliable is not None:
            wanted = 'reliable' if reliable else 'best effort'
            expect(is_reliable == reliable, f'{topic} to be {wanted}', seen)
        if latched is not None:
            wanted = 'transient local' if latched else 'volatile'
            expect(is_latched == latched, f'{topic} to be {wanted}', seen)
    return {topic: seen}


def _listed(names: Iterable[str]) -> str:
    return ', '.join(sorted(names))
