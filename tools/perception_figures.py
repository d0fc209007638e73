"""
Measure a stack whose scenes come from pictures: at rest, and in a task.

    python tools/perception_figures.py [STACKS]

Starts `bbllm up sim --sources camera --brain offline --body offline` so many times (3), one after
the other. For each stack it prints the rates that `perception` publishes on /diagnostics and the
processor time of each process while nothing moves, then how `bbllm run 'put the red cube on
location_B'` ended and how long that took.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from camera_figures import drawing_processes as children
from camera_figures import processor_s

NAMESPACE = 'perception_figures'
TASK = 'put the red cube on location_B'
REST_S = 20.0
READY_S = 90.0
RATES = ('table_camera pictures [Hz]', 'table_camera detections [Hz]', 'picture [s]')
BBLLM = (sys.executable, '-m', 'bbllm')


@contextmanager
def stack() -> Iterator[int]:
    """Run a stack; yield the process that started its nodes."""
    words = ('--sources', 'camera', '--brain', 'offline', '--body', 'offline')
    command = (*BBLLM, 'up', 'sim', *words, '--namespace', NAMESPACE)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGINT)


def spin(node: Node, until: Callable[[], bool], what: str, timeout_s: float) -> None:
    until_s = time.monotonic() + timeout_s
    while not until():
        if time.monotonic() > until_s:
            raise SystemExit(f'No {what} within {timeout_s:g} s.')
        rclpy.spin_once(node, timeout_sec=0.1)


def name_of(process: int) -> str:
    """Return what a process runs: the module of a node, or the start of its command line."""
    words = Path(f'/proc/{process}/cmdline').read_text().split('\0')
    nodes = [word for word in words if word.startswith('bbllm_ros.nodes.')]
    return nodes[0] if nodes else ' '.join(words[1:4])


def family(process: int) -> list[int]:
    """Return a process and all that it has started."""
    return [process, *(each for child in children(process) for each in family(child))]


def rest(node: Node, of: int) -> None:
    """Print what a stack does and needs while nothing moves."""
    values: dict[str, list[float]] = {name: [] for name in RATES}

    def take(message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == f'/{NAMESPACE}/perception':
                for item in status.values:
                    if item.key in values:
                        values[item.key].append(float(item.value))

    def detects() -> bool:
        return any(value > 1.0 for value in values[RATES[1]])

    subscription = node.create_subscription(DiagnosticArray, '/diagnostics', take, 10)
    spin(node, detects, 'detections', READY_S)
    for found in values.values():
        found.clear()
    parts = family(of)
    begun_s, before_s = time.monotonic(), [processor_s(part) for part in parts]
    spin(node, lambda: time.monotonic() > begun_s + REST_S, 'end', 2 * REST_S)
    passed_s = time.monotonic() - begun_s
    used = [processor_s(part) - s for part, s in zip(parts, before_s, strict=True)]
    node.destroy_subscription(subscription)
    for name, found in values.items():
        print(f'{name}: {mean(found):.3g}')
    for part, used_s in sorted(zip(parts, used, strict=True), key=lambda item: -item[1]):
        print(f'{used_s / passed_s:.3f} cores: {name_of(part)}')
        if name_of(part).endswith('.perception'):
            pictures = mean(values[RATES[1]]) * passed_s
            print(f'processor time of a picture: {1e3 * used_s / pictures:.0f} ms')


def task() -> None:
    """Print how a task ended, and how long it took."""
    begun_s = time.monotonic()
    command = (*BBLLM, 'run', TASK, '--namespace', NAMESPACE)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    print(f'exit code {done.returncode} after {time.monotonic() - begun_s:.1f} s')
    if done.returncode:
        print(done.stdout + done.stderr)


def main() -> None:
    rclpy.init()
    node = rclpy.create_node('perception_figures')
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        print(f'--- stack {number + 1}; load {os.getloadavg()[0]:.1f}', flush=True)
        with stack() as process:
            rest(node, process)
            task()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
