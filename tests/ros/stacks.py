"""Stacks of real processes for tests, and waits for what happens in them."""

from __future__ import annotations

import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from bbllm_interfaces.srv import InjectFault
from controller_manager_msgs.srv import LoadController, SwitchController, UnloadController
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from bbllm.core.errors import SceneError
from bbllm.core.events import Event, EventKind
from bbllm_ros.rclpy_support.calls import ServiceCall
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.stack.client import StackClient, TaskResult
from bbllm_ros.stack.stack import (
    NODES,
    REAL_NODES,
    Stack,
    StackConfig,
)
from tests.doubles.fork_server import serve_module

PATIENCE_S = 60.0
DRIVER = 'franka_driver'
REAL_LIKE = (*REAL_NODES, DRIVER)
"""The nodes of a real arm, with the simulator in the driver's place under another name."""
SHOWN_LINES = 40
SHOWN_CALLS = 6
SENT_ONCE = (ChangeState, InjectFault, LoadController, SwitchController, UnloadController)
"""Services that may not be asked the same twice; with nothing filled in they change nothing."""
live: list[Stack] = []
"""The stacks that run now."""


@dataclass
class Running:
    stack: Stack
    client: StackClient
    events: list[Event] = field(default_factory=list)
    ready_s: float = 0.0
    services: dict[str, ServiceCall] = field(default_factory=dict)
    begun: list[Background] = field(default_factory=list)
    """The tasks that tests have begun beside themselves."""

    def run(self, task: str, **options: Any) -> TaskResult:
        return self.client.run_task(task, on_event=self.events.append, **options)

    def ask(self, kind: Any, name: str, /, **fields: Any) -> Any:
        if name not in self.services:
            first = kind.Request() if kind in SENT_ONCE else None
            client = self.client
            self.services[name] = ServiceCall(
                client.node, kind, name, 'of the test', client.group, first=first
            )
        return self.services[name].run(kind.Request(**fields), PATIENCE_S)

    def scene_error(self) -> str:
        """Return why there is no scene; empty where there is one."""
        try:
            self.client.scene()
        except SceneError as error:
            return str(error)
        return ''

    def in_scene(self, name: str) -> bool:
        """Return whether there is a scene that has an object."""
        try:
            return name in self.client.scene().names
        except SceneError:
            return False

    def scene_error_with(self, text: str) -> str:
        """Wait for an error of the scene that contains a text, and return it."""
        errors: list[str] = []

        def found() -> bool:
            errors.append(self.scene_error())
            return text in errors[-1]

        until(found, f'error of the scene with {text!r}')
        return errors[-1]

    def begin(self, task: str, **options: Any) -> Background:
        self.events.clear()
        self.begun.append(Background(lambda: self.run(task, **options)))
        return self.begun[-1]

    def wait_for(self, kind: EventKind, count: int = 1) -> Event:
        """Wait until so many events of a kind were heard; return the last of them."""

        def found() -> list[Event]:
            return [event for event in self.events if event.kind is kind]

        until(lambda: len(found()) >= count, f'{count} events {kind.value}')
        return found()[count - 1]


def inject(running: Running, fault: str, *, clear: bool = False) -> None:
    """Let something go wrong at the simulated robot, or take it back."""
    reply = running.ask(InjectFault, 'sim/inject_fault', fault=fault, clear=clear)
    assert reply.success, reply.message


def set_parameter(running: Running, node: str, name: str, value: float | str) -> str:
    """Set a parameter of a node; return why it was refused, or nothing."""
    message = Parameter(name, value=value).to_parameter_msg()
    reply = running.ask(SetParameters, f'{node}/set_parameters', parameters=[message])
    (result,) = reply.results
    return '' if result.successful else result.reason


@contextmanager
def real_time(running: Running) -> Iterator[None]:
    """Let simulated time pass as on the clock, so that what runs lasts while a test acts."""
    assert set_parameter(running, 'mujoco_sim', 'speed', 1.0) == ''
    try:
        yield
    finally:
        until(lambda: not set_parameter(running, 'mujoco_sim', 'speed', 0.0), 'arm at rest')


class Background:
    """One call in a thread; `result` raises what it raised."""

    def __init__(self, call: Callable[[], Any]):
        self._call = call
        self._outcome: list[Any] = []
        self._error: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def result(self, timeout_s: float = PATIENCE_S) -> Any:
        self._thread.join(timeout_s)
        assert not self._thread.is_alive(), f'still running after {timeout_s} s'
        if self._error:
            raise self._error[0]
        return self._outcome[0]

    def _run(self) -> None:
        try:
            self._outcome.append(self._call())
        except BaseException as error:  # raised again for the test that asks for the result
            self._error.append(error)


def until(condition: Callable[[], Any], what: str, timeout_s: float = PATIENCE_S) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f'there was no {what} within {timeout_s} s'
        time.sleep(0.01)


@contextmanager
def started(
    nodes: tuple[str, ...] = NODES,
    environ: dict[str, str] | None = None,
    params: dict[str, dict[str, Value]] | None = None,
    speed: float = 0.0,
    namespace: str = '',
) -> Iterator[Running]:
    """
    Start a stack and wait until it is ready.

    Plans are not rehearsed unless *params* ask for it, as that takes seconds of processor time.
    """
    begun_s = time.monotonic()
    given = dict(params or {})
    for node in ('mujoco_sim', DRIVER):
        given[node] = {'speed': speed, **given.get(node, {})}
    given['brain_planner'] = {'rehearse': 0, **given.get('brain_planner', {})}
    config = StackConfig(
        nodes=nodes,
        executables={DRIVER: 'mujoco_sim'},
        params=given,
        namespace=namespace,
        environ=environ or {},
        start=serve_module,
    )
    with Stack(config) as stack, stack.wait_ready(timeout_s=PATIENCE_S) as client:
        ready_s = time.monotonic() - begun_s
        print(f'\n{len(nodes)} nodes were ready after {ready_s:.1f} s')
        live.append(stack)
        try:
            yield Running(stack, client, ready_s=ready_s)
        except BaseException:
            # Where a test has a stack within it, that has gone before the failure is reported.
            print_all()
            raise
        finally:
            live.remove(stack)


def udp_addresses(pid: int) -> set[str]:
    own: set[str] = set()
    for handle in Path(f'/proc/{pid}/fd').iterdir():
        match = re.fullmatch(r'socket:\[(\d+)\]', str(handle.readlink()))
        own |= {match[1]} if match else set()
    found = set()
    for table in ('udp', 'udp6'):
        rows = Path(f'/proc/{pid}/net/{table}').read_text().splitlines()[1:]
        bound = [row.split()[1].partition(':')[0] for row in rows if row.split()[9] in own]
        found |= {str(ip_address(_bytes(text))) for text in bound}
    return found


def _bytes(text: str) -> bytes:
    """Read an address of /proc/net: each word of it is written with its last byte first."""
    return b''.join(bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8))


def process_alive(pid: int) -> bool:
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state != 'Z'


def log_of(stack: Stack, node: str) -> str:
    return stack.log_file(node).read_text()


def last_words() -> Iterator[tuple[str, str]]:
    for stack in live:
        for node in stack.processes:
            lines = log_of(stack, node).splitlines()
            yield node, '\n'.join(lines[-SHOWN_LINES:])


def print_all() -> None:
    for node, words in last_words():
        print(f'--- printed by {node}\n{words}')
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        calls = ''.join(traceback.format_stack(frame)[-SHOWN_CALLS:])
        print(f'--- thread {names.get(ident)}\n{calls}')
