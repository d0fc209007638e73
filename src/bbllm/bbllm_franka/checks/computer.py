"""
Checks of this computer and its way to a robot: route, round trips, kernel, limits, processors.

They need neither libfranka nor ROS, and connect to nothing but by `ping`. What the system has in
files is read below a *root*.
"""

import ipaddress
import os
import re
import resource
import struct
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bbllm.core.findings import Finding, fail, ok, warn

ROOT = Path('/')
BUDGET_MS = 0.5
"""What libfranka's documentation grants between reading and writing [ms]."""
CYCLE_MS = 1.0
"""The robot's cycle [ms]."""
MOST_LOST = 0.01
"""Share of packets that may be lost before the network counts as unfit."""
RTPRIO = 98
"""thread_priority of the controller manager in the configuration of franka_ros2."""
MEMLOCK_KB = 102_400
"""What Franka's documentation has people set [kB]."""
PERIOD_S = 0.002
"""The shortest that `ping` grants to users [s]."""
COUNT = 500
LATE_S = 5.0
"""How long `ping` may take beyond its packets, wall clock [s]."""
PORTS = (1337, 1338)
"""Of the robot's server and of the hand's (research_interface/robot and gripper)."""
ESTABLISHED = '01'
"""State of a connection in /proc/net/tcp."""


class NoPingError(Exception):
    """Round trips cannot be measured; the text gives the reason."""


class Route(NamedTuple):
    """How packets leave this computer."""

    device: str
    net: ipaddress.IPv4Network
    router: ipaddress.IPv4Address | None
    """None where the net is at the card itself."""


class Client(NamedTuple):
    """A program of this computer that is connected to a robot."""

    port: int
    program: str
    """Name and number of its process, or that it is another user's."""


def check_route(address: str, root: Path = ROOT) -> Finding:
    """Check by which card packets leave for an address, and what else that card serves."""
    robot = ipaddress.IPv4Address(address)
    routes = [*_routes((root / 'proc/net/route').read_text())]
    ways = [route for route in routes if robot in route.net]
    if not ways:
        net = ipaddress.IPv4Network(f'{address}/24', strict=False)
        own = next(host for host in net.hosts() if host != robot)
        return fail(
            'route',
            f'no card of this computer has an address in the net of {address}',
            f'Give the card with the cable to the control an address there, such as {own}/24.',
        )
    device, net, router = max(ways, key=lambda route: route.net.prefixlen)
    card = root / 'sys/class/net' / device
    text = f'{address} by the card {device}'
    cable = 'Wire this computer straight to the control, with a card of its own.'
    if (card / 'wireless').exists():
        return fail('route', f'{text}, which is wireless', cable)
    if _content(card / 'carrier') == '0':
        remedy = "Plug the cable into this card and into the robot's control, not into the arm."
        return fail('route', f'{text}, which has no cable or none that is live', remedy)
    if router is not None:
        return warn('route', f'{text} and the router {router}', cable)
    speed = _content(card / 'speed')
    if speed is not None and int(speed) > 0:
        text += f', {speed} Mbit/s'
    if others := [str(each.net) for each in routes if each.device == device and each.net != net]:
        return warn('route', f'{text}, which serves {", ".join(others)} too', cable)
    return ok('route', f'{text}, which serves nothing else')


def _routes(table: str) -> Iterator[Route]:
    """Read /proc/net/route, whose numbers are hexadecimal in the order of the processor."""
    for line in table.splitlines()[1:]:
        device, net, router, _, _, _, _, mask, *_ = line.split()
        at, by, of = (
            ipaddress.IPv4Address(struct.pack('=I', int(number, 16)))
            for number in (net, router, mask)
        )
        found = ipaddress.IPv4Network(f'{at}/{of}', strict=False)
        yield Route(device, found, by if int(by) else None)


def _content(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:  # not there, or not readable while the card is down
        return None


def measure(host: str, count: int = COUNT) -> tuple[int, list[float]]:
    """
    Let the program `ping` send packets; return how many, and each round trip that ended [ms].

    Raises NoPingError where that cannot be done.

    The robot wants an answer to each of its packets within a millisecond. What `ping` measures is
    less: the way to its control and back, answered by the kernel there.
    """
    try:
        done = subprocess.run(
            ['ping', '-n', '-i', f'{PERIOD_S:g}', '-c', f'{count}', '-W', '1', host],
            capture_output=True,
            text=True,
            timeout=count * PERIOD_S + LATE_S,
            env={**os.environ, 'LC_ALL': 'C'},
        )
    except FileNotFoundError:
        raise NoPingError('there is no program ping: apt install iputils-ping') from None
    except subprocess.TimeoutExpired:
        raise NoPingError(f'ping to {host} hangs') from None
    if (trips := trips_of(done.stdout)) is None:
        raise NoPingError(f'ping: {done.stderr.strip() or "no statistics"}')
    return trips


def trips_of(text: str) -> tuple[int, list[float]] | None:
    """Read what `ping` printed; None where it has not sent anything."""
    sent = re.search(r'^(\d+) packets transmitted', text, re.MULTILINE)
    times_ms = re.findall(r' time=([\d.]+) ms$', text, re.MULTILINE)
    return (int(sent[1]), [*map(float, times_ms)]) if sent else None


def check_network(host: str) -> Finding:
    """Measure round trips to a robot."""
    try:
        return judge_network(host, *measure(host))
    except NoPingError as error:
        return warn('network', f'not measured: {error}')


def judge_network(host: str, sent: int, times_ms: list[float]) -> Finding:
    """Judge round trips by the robot's cycle."""
    lost = sent - len(times_ms)
    if not times_ms:
        return fail(
            'network',
            f'none of {sent} packets to {host} came back',
            f"Check the cable to the robot's control, its power, and its address in Desk under "
            f'Settings > Network; `ping {host}` has to answer.',
        )
    median, p99, most = np.percentile(times_ms, (50, 99, 100))
    jitter = np.abs(np.diff(times_ms)).mean() if len(times_ms) > 1 else 0.0
    text = (
        f'{sent} packets to {host}, one every {PERIOD_S * 1e3:g} ms, {lost} lost; median '
        f'{median:.3f} ms, p99 {p99:.3f}, max {most:.3f} ms, jitter {jitter:.3f} ms'
    )
    if p99 > CYCLE_MS or lost > MOST_LOST * sent:
        remedy = (
            f'More than the {CYCLE_MS:g} ms of a cycle: no switch, no Wi-Fi, a card of its own.'
        )
        return fail('network', text, remedy)
    if p99 > BUDGET_MS or lost or most > CYCLE_MS:
        remedy = (
            f'A program has {BUDGET_MS:g} ms of each cycle: an RT kernel, the governor '
            '`performance`, and nothing else on that card.'
        )
        return warn('network', text, remedy)
    return ok('network', text)


def check_kernel(root: Path = ROOT) -> Finding:
    """Check for a real-time kernel, also as libfranka does: by a file of that kernel."""
    about = root / 'proc/sys/kernel'
    version = f'{_content(about / "osrelease")} {_content(about / "version")}'
    if _content(root / 'sys/kernel/realtime') == '1':
        return ok('kernel', f'real-time: {version}')
    if 'PREEMPT_RT' in version:
        text = f'real-time, without /sys/kernel/realtime, by which libfranka knows it: {version}'
        return warn('kernel', text, 'State --realtime ignore, or boot a kernel with that file.')
    remedy = (
        'Without one packets are lost under load; libfranka then wants --realtime ignore, and '
        'franka_ros2 warns. Ubuntu: pro enable realtime-kernel.'
    )
    return warn('kernel', f'not a real-time kernel: {version}', remedy)


def check_limits() -> Finding:
    """Check whether this user may run before others and lock memory."""
    kinds = (resource.RLIMIT_RTPRIO, resource.RLIMIT_MEMLOCK)
    limits = [resource.getrlimit(kind)[0] for kind in kinds]
    # As a float, no limit is shown as inf.
    priority, memory = (x if x != resource.RLIM_INFINITY else float('inf') for x in limits)
    text = f'rtprio {priority}, memlock {memory / 1024:.0f} kB'
    if priority >= RTPRIO and memory / 1024 >= MEMLOCK_KB:
        return ok('limits', text)
    if os.geteuid() == 0:
        return ok('limits', f'{text}; but root may do without')
    remedy = (
        'In /etc/security/limits.conf: @realtime - rtprio 99 and @realtime - memlock '
        f'{MEMLOCK_KB}; join the group realtime, and log in again.'
    )
    return warn('limits', text, remedy)


def check_governor(root: Path = ROOT) -> Finding:
    """Check whether the processors slow down when they are idle."""
    files = sorted((root / 'sys/devices/system/cpu').glob('cpu[0-9]*/cpufreq/scaling_governor'))
    governors = {content for path in files if (content := _content(path))}
    if not governors:
        return warn('governor', 'cannot be read here (a virtual machine or a container?)')
    text = f'{", ".join(sorted(governors))} on {len(files)} processors'
    if governors == {'performance'}:
        return ok('governor', text)
    return warn('governor', text, 'cpupower frequency-set -g performance')


def clients_of(address: str, root: Path = ROOT) -> list[Client]:
    """
    Return the programs of this computer that are connected to a robot.

    A program of another computer, or in another network namespace such as a container's, is not
    seen.
    """
    robot = int(ipaddress.IPv4Address(address))
    found: dict[str, int] = {}
    for line in (_content(root / 'proc/net/tcp') or '').splitlines()[1:]:
        _, _, remote, state, _, _, _, _, _, inode, *_ = line.split()
        at, _, port = remote.partition(':')
        (other,) = struct.unpack('>I', struct.pack('=I', int(at, 16)))
        if state == ESTABLISHED and other == robot and int(port, 16) in PORTS:
            found[inode] = int(port, 16)
    return [Client(port, _program(inode, root)) for inode, port in found.items()]


def _program(inode: str, root: Path) -> str:
    """Return which process has a socket."""
    for process in (root / 'proc').glob('[0-9]*'):
        with suppress(OSError):  # it has gone, or is another user's
            for file in (process / 'fd').iterdir():
                if str(file.readlink()) == f'socket:[{inode}]':
                    return f'{_content(process / "comm")} (process {process.name})'
    return 'a program of another user'
