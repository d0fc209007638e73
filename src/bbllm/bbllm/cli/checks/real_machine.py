"""Checks of this machine for `bbllm doctor --real`: network, kernel, limits, packages."""

import os
import platform
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bbllm.cli.checks.machine import Finding, fail, ok, warn
from bbllm.core.errors import BbllmError

BUDGET_MS = 0.5
"""What libfranka's documentation grants between reading and writing [ms]."""
CYCLE_MS = 1.0
"""The robot's cycle [ms]."""
RTPRIO = 98
"""thread_priority of the controller manager in the driver's configuration."""
MEMLOCK_KB = 102_400
"""What Franka's documentation has people set [kB]."""
MESSAGES = ('franka_msgs', 'control_msgs', 'controller_manager_msgs')
DRIVER = (
    'franka_bringup',
    'franka_hardware',
    'franka_gripper',
    'franka_robot_state_broadcaster',
    'controller_manager',
    'joint_trajectory_controller',
    'joint_state_broadcaster',
)
DOCS = 'docs/real-arm.md'
PERIOD_S = 0.002
"""The shortest that `ping` grants to users [s]."""
COUNT = 500
LATE_S = 5.0
"""How long `ping` may take beyond its packets, wall clock [s]."""


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """What came back of the packets."""

    sent: int
    times_ms: tuple[float, ...]
    """Round trip of each that came back [ms]."""

    @property
    def lost(self) -> int:
        return self.sent - len(self.times_ms)

    def at(self, percent: float) -> float:
        """Return the time below which so many percent of the round trips stay [ms]."""
        return float(np.percentile(self.times_ms, percent))


def measure(
    host: str, count: int = COUNT, on_progress: Callable[[str], None] = lambda doing: None
) -> RoundTrips | str:
    """
    Let the program `ping` send packets, and wait; returns why that cannot be done.

    The robot wants an answer to each of its packets within a millisecond. What `ping` measures is
    less: the way to its control and back, answered by the kernel there. The driver's own cycle,
    under load and with real-time priority, shows itself only in control_command_success_rate.
    """
    on_progress(f'sending {count} packets to {host}')
    try:
        done = subprocess.run(
            ['ping', '-n', '-i', f'{PERIOD_S:g}', '-c', f'{count}', '-W', '1', host],
            capture_output=True,
            text=True,
            timeout=count * PERIOD_S + LATE_S,
            env={**os.environ, 'LC_ALL': 'C'},
        )
    except FileNotFoundError:
        return 'there is no program ping: apt install iputils-ping'
    except subprocess.TimeoutExpired:
        return f'ping to {host} hangs'
    return trips_of(done.stdout) or f'ping: {done.stderr.strip() or "no statistics"}'


def trips_of(text: str) -> RoundTrips | None:
    """Read what `ping` printed; None where it has not sent anything."""
    sent = re.search(r'^(\d+) packets transmitted', text, re.MULTILINE)
    times_ms = re.findall(r' time=([\d.]+) ms$', text, re.MULTILINE)
    return RoundTrips(int(sent[1]), tuple(map(float, times_ms))) if sent else None


def check_network(robot_ip: str, on_progress: Callable[[str], None]) -> Iterator[Finding]:
    yield judge_network(robot_ip, measure(robot_ip, on_progress=on_progress))
    yield ok(
        'cycle',
        "the driver's own cycle cannot be measured from here; the robot counts its losses in "
        'control_command_success_rate (below) while a controller runs',
    )


def judge_network(robot_ip: str, trips: RoundTrips | str) -> Finding:
    cable = (
        f'Wire this machine straight to the control at {robot_ip}, with an address in its net; '
        '--robot-ip says where it is.'
    )
    if isinstance(trips, str):
        return fail('network', trips, cable)
    if not trips.times_ms:
        return fail('network', f'none of {trips.sent} packets to {robot_ip} came back', cable)
    p99, most = trips.at(99), trips.at(100)
    text = (
        f'{trips.sent} packets to {robot_ip}, one every {PERIOD_S * 1e3:g} ms, {trips.lost} lost; '
        f'median {trips.at(50):.3f} ms, p99 {p99:.3f}, max {most:.3f} ms'
    )
    if p99 > CYCLE_MS or trips.lost > 0.01 * trips.sent:
        remedy = (
            f'More than the {CYCLE_MS:g} ms of a cycle: no switch, no Wi-Fi, a card of its own.'
        )
        return fail('network', text, remedy)
    if p99 > BUDGET_MS or trips.lost or most > CYCLE_MS:
        remedy = (
            f'The driver has {BUDGET_MS:g} ms of each cycle: an RT kernel, the governor '
            '`performance`, and nothing else on that card.'
        )
        return warn('network', text, remedy)
    return ok('network', text)


def check_kernel() -> Finding:
    version = f'{platform.release()} {platform.version()}'
    flag = Path('/sys/kernel/realtime')
    try:
        realtime = flag.read_text().strip() == '1'
    except OSError:
        realtime = False
    if realtime or 'PREEMPT_RT' in version:
        return ok('kernel', f'real-time: {version}')
    remedy = (
        'The driver runs without (it warns), and loses packets under load. '
        'Ubuntu: pro enable realtime-kernel.'
    )
    return warn('kernel', f'not a real-time kernel: {version}', remedy)


def check_limits() -> Finding:
    priority, _ = resource.getrlimit(resource.RLIMIT_RTPRIO)
    memory, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    endless = resource.RLIM_INFINITY
    rtprio = 'unlimited' if priority == endless else f'{priority}'
    memlock = 'unlimited' if memory == endless else f'{memory // 1024} kB'
    text = f'rtprio {rtprio}, memlock {memlock}'
    if (priority == endless or priority >= RTPRIO) and (
        memory == endless or memory // 1024 >= MEMLOCK_KB
    ):
        return ok('limits', text)
    if os.geteuid() == 0:
        return ok('limits', f'{text}; but root may do without')
    remedy = (
        'In /etc/security/limits.conf: @realtime - rtprio 99 and @realtime - memlock '
        f'{MEMLOCK_KB}; join the group realtime, and log in again.'
    )
    return warn('limits', text, remedy)


def check_governor(root: Path = Path('/sys/devices/system/cpu')) -> Finding:
    """Check whether the processors slow down when they are idle."""
    files = sorted(root.glob('cpu[0-9]*/cpufreq/scaling_governor'))
    try:
        governors = {path.read_text().strip() for path in files}
    except OSError:
        governors = set()
    if not governors:
        return warn('governor', 'cannot be read here (a virtual machine or a container?)')
    text = f'{", ".join(sorted(governors))} on {len(files)} processors'
    if governors == {'performance'}:
        return ok('governor', text)
    return warn('governor', text, 'cpupower frequency-set -g performance')


def check_messages(prefixes: list[Path] | None = None) -> Iterator[Finding]:
    from bbllm.ros.parameters.real_arguments import package_of

    found = {name: package_of(name, prefixes) for name in MESSAGES}
    missing = [name for name, about in found.items() if about is None]
    if missing:
        yield fail('messages', f'missing: {", ".join(missing)}', 'make setup')
    own = [name for name, about in found.items() if about and 'bbllm' in about[1]]
    others = [f'{name} {about[0]}' for name, about in found.items() if about and name not in own]
    if others:
        yield ok('messages', f"the driver's own: {', '.join(others)}")
    if own:
        text = f'stand-ins of bbllm, field by field the same: {", ".join(own)}'
        if package_of('franka_bringup', prefixes) is not None:
            yield warn('messages', text, 'With the driver sourced: make clean, make setup.')
        else:
            yield ok('messages', text)


def check_driver_packages(prefixes: list[Path] | None = None) -> Finding:
    from bbllm.ros.parameters.real_arguments import package_of

    found = {name: package_of(name, prefixes) for name in DRIVER}
    missing = [name for name, about in found.items() if about is None]
    there = [f'{name} {about[0]}' for name, about in found.items() if about]
    if not missing:
        library = package_of('libfranka', prefixes)
        more = f', libfranka {library[0]}' if library else ''
        return ok('driver', f'installed: {", ".join(there)}{more}')
    remedy = f'Needed where the driver is started, see {DOCS}; it may run in a container.'
    return warn('driver', f'not in this shell: {", ".join(missing)}', remedy)


def check_safety(name: str = '') -> Finding:
    from bbllm.arm.envelope import load_envelope

    try:
        rules = load_envelope(name)
    except BbllmError as error:
        return fail('safety', str(error), 'Mend the file; see config/safety.yaml.')
    force = rules.contact_force
    contacts = 'contacts as the robot is set'
    if force is not None:
        contacts = f'stops at {force.max_n:g} N from outside'
    text = (
        f'{name or "config/safety.yaml"}: tool {rules.tcp_speed.max_m_s:g} m/s, joints '
        f'{rules.joint_speed.max_share * 100:g} %, grip {rules.grip_force.max_n:g} N, '
        f'{contacts}, {len(rules.keep_out)} keep-out boxes, '
        f'table at {rules.table_height.top_m:g} m'
    )
    fast = rules.tcp_speed.max_m_s > 0.25
    return ok('safety', text, 'For first days: safety:=safety_slow (0.25 m/s).' if fast else '')
