"""
The life of a node's process: configure, activate, spin, come to rest, end.

Each node is a managed node (https://design.ros2.org/articles/node_lifecycle.html): `configure`
builds what it needs, `activate` begins to serve, `deactivate` brings it to rest and stops serving,
`cleanup` forgets the configuration. With `autostart` (the default) the process takes itself to
active; otherwise a lifecycle manager does. SIGINT and SIGTERM are waited for instead of handled by
rclpy, so that a node can still reach the others when it ends: an arm that moves is stopped before
its executor is gone.
"""

import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy._rclpy_pybind11 import InvalidHandle, RCLError
from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.text import escape_hidden
from bbllm_ros.rclpy_support.dds_boundary import bound_process
from bbllm_ros.rclpy_support.diagnostics import Diagnostics, PlainLogger
from bbllm_ros.rclpy_support.domains import domain_of, lock_name
from bbllm_ros.rclpy_support.entities import destroy_since, entities_of, leave_graph, steady_timer
from bbllm_ros.rclpy_support.executor import PoolExecutor
from bbllm_ros.rclpy_support.heartbeat import Heartbeat, listen
from bbllm_ros.rclpy_support.liveness import PERIOD_S
from bbllm_ros.rclpy_support.params import NodeParams, Parameters
from bbllm_ros.rclpy_support.peer_process import end_with_owner

ENDS = (signal.SIGINT, signal.SIGTERM)
LISTEN_S = 2 * PERIOD_S
"""How long a node listens for another of its name before it serves: two beats [s]."""
REST_S = 2.0
"""How long the callbacks of a node that came to rest may take to return [s]."""
END_S = 8.0
"""How long a process may take to end after SIGTERM; then it ends as it is [s]."""


CONTEXT: ContextVar[Context | None] = ContextVar('context of ROS', default=None)
"""Where nodes are made; None is the one of the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStart:
    """A node that is to be run."""

    make: Callable[[], 'StackNode']
    threads: int = 8
    args: Sequence[str] | None = None
    """Its arguments, and it gets a context of its own; None for those of the process."""


class StackNode(LifecycleNode):
    """
    A node of the stack: it is managed, it beats, and it watches the beats of the others.

    A subclass overrides `build`, `begin` and `come_to_rest`; `params` has values of the record
    given as *params*.
    """

    def __init__(self, name: str, params: type[NodeParams] = NodeParams):
        super().__init__(name, context=CONTEXT.get())
        self._plain_log = PlainLogger(self.get_logger().name)
        self.group = ReentrantCallbackGroup()
        self.failed = False
        self.end_reason = f'The node {name} was asked to end.'
        """Why this process ends, once it does."""
        self.owner_lost = False
        """Whether that is the end of the process that has started this one."""
        self.heartbeats = listen(self)
        self._joined_s = time.monotonic()
        self._beat = Heartbeat(self)
        self._built = False
        self._torn_down_s = -math.inf
        self._reason: BaseException | None = None
        description = 'Configure and activate at the start; otherwise a lifecycle manager does.'
        self.declare_parameter(
            'autostart', True, ParameterDescriptor(description=description, read_only=True)
        )
        self._params = Parameters[Any](self, params, self._refuse_change, self._take)
        self.diagnostics = Diagnostics(self, lambda: str(self._state_machine.current_state[1]))
        # A transition that is not possible now is refused, and no fault of this process.
        service = self._service_change_state
        service.callback = _refusing(service.callback)
        self._own = entities_of(self)

    @property
    def params(self) -> Any:
        return self._params.values

    def build(self) -> None:
        """Make what this node needs from its parameters; a BbllmError leaves it unconfigured."""

    def get_logger(self) -> PlainLogger:
        """Return the log of this node, safe for text from outside."""
        return getattr(self, '_plain_log', None) or super().get_logger()

    def begin(self) -> None:
        """Begin to serve; called when the node is activated, and spun."""

    def come_to_rest(self) -> None:
        """
        End what runs; called before the process ends, while others can still be reached.

        Also after a fault, when it may be that no thread spins this node any more: it must not
        wait for an answer for long.
        """

    def take(self, params: Any) -> None:
        """Use new values of the dynamic parameters; called while the node is configured."""

    @property
    def busy(self) -> str:
        """What runs and keeps parameters from being changed now; empty where nothing runs."""
        return ''

    def autostart(self) -> None:
        """Configure and activate this node, or raise why that failed."""
        for transition in (self.trigger_configure, self.trigger_activate):
            if transition() is not TransitionCallbackReturn.SUCCESS:
                raise self._reason or RuntimeError(f'{transition.__name__} failed')

    def every(
        self, period_s: float, call: Callable[[], None], group: CallbackGroup | None = None
    ) -> None:
        """Call a function regularly by the steady clock; see `steady_timer`."""
        steady_timer(self, period_s, call, group)

    def fail(self, reason: str) -> None:
        """End this process with an error, from any thread: what cannot serve must not seem to."""
        self.get_logger().fatal(reason)
        self.diagnostics.error(reason)
        self.failed = True
        self._beat.reason = reason.strip().splitlines()[-1]
        os.kill(os.getpid(), signal.SIGTERM)

    def lose_owner(self, reason: str) -> None:
        """Give as the reason for the end that the process which started this one has ended."""
        self.owner_lost = True
        self.end_reason = f'The node {self.get_name()} ends: {reason}.'
        self._beat.reason = reason

    def end_for(self, lost: str) -> None:
        """Give another node that has gone as the reason for the end, to all that listen."""
        self._beat.reason = lost

    def end_beat(self) -> None:
        self._beat.end()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try(self._build, 'configure')

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to serve, unless another process serves under this name."""

        def activate() -> None:
            if not self._built:  # deactivating has destroyed what was built
                self._build()
            self._refuse_duplicate()
            self.begin()
            self._beat.start()
            self.get_logger().info(f'ready: {self.get_fully_qualified_name()}')

        return self._try(activate, 'activate')

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        def deactivate() -> None:
            self._beat.reason = 'it was deactivated'
            reason, self.end_reason = (
                self.end_reason,
                f'The node {self.get_name()} was deactivated.',
            )
            self.come_to_rest()
            self.end_reason = reason
            self._tear_down()

        return self._try(deactivate, 'deactivate')

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._tear_down()
        return TransitionCallbackReturn.SUCCESS

    on_shutdown = on_deactivate
    on_error = on_cleanup

    def _try(self, act: Callable[[], None], what: str) -> TransitionCallbackReturn:
        """Do what a transition does; rclpy drops what a callback raises without a word."""
        self._reason = None
        try:
            act()
        except BbllmError as error:
            self._reason = error
            self.diagnostics.error(str(error))
            self.get_logger().error(f'{self.get_name()} could not {what}: {error}')
            self._tear_down()
            return TransitionCallbackReturn.FAILURE
        except Exception as error:  # whatever it is, it is reported and raised by `autostart`
            self._reason = error
            self.get_logger().error(f'fault in {what}:\n{traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    def _build(self) -> None:
        self.build()
        self._built = True

    def _tear_down(self) -> None:
        self._beat.end()
        self._built = False  # first: a callback under way may meet what is destroyed at once
        try:
            destroy_since(self, self._own)
        finally:
            self._torn_down_s = time.monotonic()

    def excuses(self, fault: BaseException) -> bool:
        """Return whether a callback only met what was destroyed while it was under way."""
        lately = not self._built or time.monotonic() - self._torn_down_s < REST_S
        return isinstance(fault, InvalidHandle) and lately

    def _take(self, params: Any) -> None:
        if self._built:  # otherwise the next configuration reads it
            self.take(params)

    def _refuse_duplicate(self) -> None:
        while (left_s := self._joined_s + LISTEN_S - time.monotonic()) > 0:
            time.sleep(left_s)
        others = self.heartbeats.others(self.get_name(), self._beat.lives)
        if others:
            process = next((f' (process {x.number})' for x in others if x is not None), '')
            raise ConfigError(
                f'The node {self.get_fully_qualified_name()} runs already{process}, here or on '
                'another machine: its heartbeat arrives. End it, or start this one with another '
                'namespace or another ROS_DOMAIN_ID.'
            )

    def _refuse_change(self, name: str, dynamic: bool) -> str:
        if not self._built:
            return ''
        if not dynamic:
            return (
                f'{name} is read when the node is configured: change it while the node is '
                'inactive or unconfigured (ros2 lifecycle set), or start the node again'
            )
        return f'{name} can be changed at rest only: {self.busy}' if self.busy else ''


def _refusing(callback: Callable[..., Any]) -> Callable[..., Any]:
    def change(request: Any, reply: Any) -> Any:
        try:
            return callback(request, reply)
        except RCLError:
            reply.success = False
            return reply

    return change


def run(make: Callable[[], StackNode], threads: int = 8) -> None:
    """Run a node until SIGINT or SIGTERM; the body of every node's `main`."""
    run_all([NodeStart(make=make, threads=threads)])


def run_all(starts: Sequence[NodeStart]) -> None:
    """
    Run nodes in this process until SIGINT or SIGTERM, or until one of them has failed.

    At the end they come to rest in their order while all are spun, and only then leave.
    """
    end_asked = _end_signals()
    reasons: list[str] = []
    end_with_owner(reasons.append)
    try:
        domain_of(os.environ)  # rcl names neither the variable nor its range
        bound_process()
    except BbllmError as error:
        sys.exit(f'error: {error}')
    nodes: list[StackNode] = []
    code = 0
    try:
        for start in starts:
            node = _make(start)
            nodes.append(node)
            lock_name(node.get_name(), node.get_namespace(), node.context.get_domain_id())
        with ExitStack() as spun:
            for node, start in zip(nodes, starts, strict=True):
                spun.enter_context(_spun(node, start.threads))
            for node in nodes:
                if node.get_parameter('autostart').value:
                    node.autostart()
            os.read(end_asked, 1)
            _name_reason(nodes, reasons)
            threading.Thread(target=_end_in_time, args=[nodes], name='end', daemon=True).start()
            for node in nodes:
                _come_to_rest(node)
            for node in nodes:
                node.end_beat()
        code = int(any(node.failed for node in nodes))
    except BbllmError as error:
        _report(f'error: {error}')
        code = 1
    except Exception:  # reported here, as `os._exit` below would leave it unreported
        _report(traceback.format_exc())
        code = 1
    for node in nodes:
        leave_graph(node)
        node.context.try_shutdown()
    _leave(code)


def _make(start: NodeStart) -> StackNode:
    """Return a node in the context of the process, or in one for its own arguments."""
    context = rclpy.get_default_context() if start.args is None else Context()
    rclpy.init(args=start.args, context=context, signal_handler_options=SignalHandlerOptions.NO)
    before = CONTEXT.set(context)
    try:
        return start.make()
    finally:
        CONTEXT.reset(before)


def _name_reason(nodes: Sequence[StackNode], reasons: Sequence[str]) -> None:
    """Let each node give the reason why this process ends, where one is known."""
    failed = next((node.get_name() for node in nodes if node.failed), '')
    shared = f'The node {failed} has failed, and this one was in the same process.'
    for node in nodes:
        if reasons:
            node.lose_owner(reasons[0])
        elif failed and not node.failed:
            node.end_reason = shared


def _leave(code: int) -> None:
    """End this process without waiting for threads that still run a callback."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # whoever read it may have ended
            stream.flush()
    os._exit(code)


def _end_in_time(nodes: Sequence[StackNode]) -> None:
    time.sleep(END_S)
    _report(f'error: this node did not come to rest within {END_S:g} s; it ends.')
    for node in nodes:  # or whoever listens would take it for one that was killed
        node.end_beat()
    _leave(1)


def _report(text: str) -> None:
    with suppress(OSError):  # whoever read it may have ended
        print(escape_hidden(text), file=sys.stderr, flush=True)


def _come_to_rest(node: StackNode) -> None:
    """End what runs, whatever else has failed: a fault must leave nothing moving either."""
    try:
        node.come_to_rest()
    except Exception:  # whatever it is, the process still ends in order
        node.get_logger().error(f'fault in coming to rest:\n{traceback.format_exc()}')
        node.failed = True


def _end_signals() -> int:
    """Return a file descriptor that can be read from once SIGINT or SIGTERM came."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    for number in ENDS:
        # Also where SIGINT is ignored, as in processes that a script starts in the background.
        signal.signal(number, _nothing)
    # Whatever thread the signal reaches, C writes to the pipe at once.
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def _nothing(number: int, frame: object) -> None:
    """Handle a signal that was already seen at the pipe."""


@contextmanager
def _spun(node: StackNode, threads: int) -> Iterator[None]:
    """Spin a node; at the end its callbacks under way have returned, or REST_S have passed."""
    faults: list[BaseException] = []

    def report(fault: BaseException) -> None:
        if node.excuses(fault):
            return
        faults.append(fault)
        if len(faults) == 1:  # what runs comes to rest while its answers come
            reason = ''.join(traceback.format_exception(fault))
            node.fail(f'fault in a callback:\n{reason}')

    executor = PoolExecutor(threads, report, context=node.context)
    executor.add_node(node)
    executor.start()
    try:
        yield
    finally:
        executor.end(REST_S)
