"""Runs checks one after another; nothing that a driver does ends the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from bbllm.core.errors import BbllmError
from bbllm.nodes.driver_checks.check import Check, Evidence, Need
from bbllm.nodes.driver_checks.recording import plain
from bbllm.nodes.driver_checks.session import Session
from bbllm.ros.rclpy_support.waiting import nothing


class Verdict(str, Enum):
    """What became of a check."""

    PASSED = 'pass'
    FAILED = 'FAIL'
    SKIPPED = 'skipped'


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check and what became of it."""

    name: str
    """The check's."""
    says: str
    theme: str
    source: str
    verdict: Verdict
    reason: str = ''
    """Why it failed or was skipped."""
    evidence: Evidence = field(default_factory=dict)
    """What was seen where it passed."""
    duration_s: float = 0.0
    """Wall time [s]."""


def run_checks(
    checks: Iterable[Check],
    session: Session,
    allowed: frozenset[Need],
    on_finding: Callable[[Finding], None] = lambda _: None,
    look: Callable[[], None] = nothing,
) -> list[Finding]:
    """
    Run checks in their order.

    Args:
        checks: Which.
        session: Against what.
        allowed: What may be done; checks that need something else are skipped.
        on_finding: Told each finding at once.
        look: Called before each check; what it raises ends the run, as where a simulator died.
    """
    findings = []
    for check in checks:
        look()
        finding = run_check(check, session, allowed)
        findings.append(finding)
        on_finding(finding)
    return findings


def run_check(check: Check, session: Session, allowed: frozenset[Need]) -> Finding:
    """Run one check, or say why it is skipped."""
    reason = why_skipped(check, session, allowed)
    if reason:
        return _finding(check, Verdict.SKIPPED, reason=reason)
    recording = session.driver.recording
    recording.check = check.name
    begun_s = time.monotonic()
    verdict, reason = Verdict.PASSED, ''
    evidence: Evidence = {}
    try:
        evidence = plain(dict(check.run(session)))
    except BbllmError as error:
        verdict, reason = Verdict.FAILED, str(error)
    except Exception as error:  # an answer that no check thought of is a wrong one
        verdict, reason = Verdict.FAILED, f'{type(error).__name__}: {error}'
    recording.note(verdict.value, check.name, reason or evidence)
    return _finding(
        check, verdict, reason=reason, evidence=evidence, duration_s=time.monotonic() - begun_s
    )


def why_skipped(check: Check, session: Session, allowed: frozenset[Need]) -> str:
    """Return why a check is not run, empty where it is."""
    if check.hand and not session.driver.gripper:
        return 'there is no hand (--gripper none)'
    if check.need is Need.STOP and session.provoker is None:
        return 'nobody makes the robot stop (--provoke)'
    needs = {check.need} | ({Need.MOTION} if check.need is Need.STOP else set())
    if Need.MOTION in needs - allowed:
        return 'moves the arm or sets the robot (--allow-motion)'
    if Need.HAND in needs - allowed:
        return 'moves the fingers (--allow-hand)'
    return ''


def _finding(
    check: Check,
    verdict: Verdict,
    *,
    reason: str = '',
    evidence: Evidence | None = None,
    duration_s: float = 0.0,
) -> Finding:
    return Finding(
        name=check.name,
        says=check.says,
        theme=check.theme,
        source=check.source,
        verdict=verdict,
        reason=reason,
        evidence=evidence or {},
        duration_s=round(duration_s, 2),
    )
