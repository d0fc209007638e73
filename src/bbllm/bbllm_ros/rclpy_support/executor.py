"""
An executor of rclpy whose wait sets last, and whose callbacks run in a pool of threads.

rclpy 7.1 builds a wait set of everything a node has before and after each callback. This one keeps
two: of what comes often (topics, timers) and of what comes seldom (services, clients, actions), so
that a message does not pay for services. What has come is taken at once by the thread that waits,
and only the callback goes to the pool; answers to clients are handed over without it.

rclpy's `EventsExecutor` waits for nothing, but deadlocks in 7.1 (design/executors.md).
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle, WaitSet
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.context import Context
from rclpy.event_handler import EventHandler
from rclpy.executors import Executor
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.task import Task
from rclpy.waitable import NumberOfEntities, Waitable

KINDS = ('subscription', 'guard_condition', 'timer', 'client', 'service')
"""What a wait set has, in the order of its constructor; events come last."""
FOREVER = -1
EVENTS_S = 2.0
"""
How often events of topics are looked at [s]. They are not waited for: a wait for events of a
subscription ends with each of its messages, also where another thread takes them.
"""
AWAITS = 'awaits what is not done: only functions may be callbacks here.'

Run = Callable[[], None]


class UnspunGroup(CallbackGroup):
    """A group whose subscriptions every executor leaves alone."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        """Nothing ever begins."""


class PoolExecutor(Executor):
    """
    Spins nodes from `start` to `end`; callbacks block as long as they like.

    Callbacks of a reentrant group run at the same time, others one after the other in the order in
    which their messages came; a timer never overlaps itself. *on_fault* is called with what a
    callback raises. Callbacks are functions: one that awaits what is not done yet is a fault.
    """

    def __init__(
        self,
        threads: int,
        on_fault: Callable[[BaseException], None],
        *,
        context: Context | None = None,
    ):
        super().__init__(context=context)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix='callback')
        self._on_fault = on_fault
        self._lanes: dict[int, _Lane] = {}
        self._ending = False
        self._waits = (
            _Wait(self, lambda node: {'subscription': node.subscriptions, 'timer': node.timers}),
            _Wait(
                self,
                lambda node: {
                    'client': node.clients,
                    'service': node.services,
                    'guard_condition': node.guards,
                    'waitable': node.waitables,
                },
            ),
        )

    def start(self) -> None:
        for wait in self._waits:
            wait.thread.start()

    def end(self, timeout_s: float) -> None:
        """Begin no callback any more; wait a time for those under way [s]."""
        deadline_s = time.monotonic() + timeout_s
        self._ending = True
        self.wake()
        self._pool.shutdown(wait=False, cancel_futures=True)
        for thread in (*(wait.thread for wait in self._waits), *self._pool._threads):
            thread.join(timeout=max(0.0, deadline_s - time.monotonic()))
        self.shutdown(timeout_sec=0.0)

    @property
    def ending(self) -> bool:
        return self._ending

    def wake(self) -> None:
        """Take in what a node has got or lost since."""
        for wait in getattr(self, '_waits', ()):  # rclpy's constructor comes first
            wait.renew()

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> Task:
        """Call a function in the pool; see `Executor.create_task`."""
        task = Task(callback, args, kwargs, executor=self)
        self.submit(partial(_run_task, task))
        return task

    def submit(self, run: Run, group: CallbackGroup | None = None) -> None:
        """Run a function in the pool, in its turn where its group excludes others."""
        if isinstance(group, MutuallyExclusiveCallbackGroup):
            self._lanes.setdefault(id(group), _Lane(self._submit)).add(run)
        else:
            self._submit(run)

    def _submit(self, run: Run) -> None:
        try:
            self._pool.submit(self._guarded, run)
        except RuntimeError:
            if not self._ending:
                raise

    def _guarded(self, run: Run) -> None:
        if self._ending:
            return
        try:
            run()
        except BaseException as fault:  # whatever it is, nothing may be left moving
            self.fault(fault)

    def fault(self, fault: BaseException) -> None:
        if not self._ending:
            self._on_fault(fault)


class _Lane:
    """Runs functions one after the other, in a pool."""

    def __init__(self, submit: Callable[[Run], None]):
        self._submit = submit
        self._lock = threading.Lock()
        self._waiting: deque[Run] = deque()
        self._busy = False

    def add(self, run: Run) -> None:
        with self._lock:
            self._waiting.append(run)
            begins, self._busy = not self._busy, True
        if begins:
            self._submit(self._next)

    def _next(self) -> None:
        with self._lock:
            run = self._waiting.popleft()
        try:
            run()
        finally:
            with self._lock:
                self._busy = bool(self._waiting)
            if self._busy:
                self._submit(self._next)


class _Wait:
    """A thread that waits for some kinds of what the nodes of an executor have."""

    def __init__(
        self,
        executor: PoolExecutor,
        parts: Callable[[Node], Mapping[str, Iterable[Any]]],
    ):
        self._executor = executor
        self._parts = parts
        self._guard = GuardCondition(None, None, context=executor.context)
        self._changed = True
        self._used = ExitStack()
        self._found: dict[str, dict[int, Any]] = {}
        self._waitables: list[Waitable] = []
        self._events: list[EventHandler] = []
        self._set: Any = None
        self._running: set[int] = set()
        self.thread = threading.Thread(target=self._run, name='executor', daemon=True)

    def renew(self) -> None:
        self._changed = True
        self._guard.trigger()

    def _run(self) -> None:
        executor = self._executor
        take: dict[str, Callable[[Any], None]] = {
            'subscription': self._take_messages,
            'timer': self._take_timer,
            'client': self._take_answers,
            'service': self._take_requests,
            'guard_condition': self._take_guard,
        }
        viewing = False
        try:
            while not executor.ending and executor.context.ok():
                if self._changed:
                    self._changed = False
                    self._collect()
                # After a turn in which nothing had come, one that waits for nothing.
                events = self._events if viewing else []
                try:
                    self._wait(events, 0 if viewing else self._patience_ns)
                    for event in events:
                        if event.is_ready(self._set):
                            self._take_waitable(event)
                except InvalidHandle:  # destroyed just now, with the topic that it is of
                    self._changed, viewing = True, False
                    continue
                idle = True
                for kind, found in self._found.items():
                    for pointer in self._set.get_ready_entities(kind):
                        entity = found.get(pointer)
                        if entity is not None:
                            idle = False
                            take[kind](entity)
                for waitable in self._waitables:
                    if waitable.is_ready(self._set):
                        idle = False
                        self._take_waitable(waitable)
                viewing = idle and not viewing
        except BaseException as fault:  # a node that is not spun any more must not look alive
            executor.fault(fault)
        finally:
            self._used.close()

    @property
    def _patience_ns(self) -> int:
        return round(EVENTS_S * 1e9) if self._events else FOREVER

    def _collect(self) -> None:
        """Use what the nodes have now, and let go of what they had."""
        self._used.close()
        self._used = used = ExitStack()
        used.enter_context(self._executor.context.handle)
        found: dict[str, dict[int, Any]] = {kind: {} for kind in KINDS}
        waitables: list[Waitable] = []
        parts = [self._parts(node) for node in self._executor.get_nodes()]
        for kind, entity in chain.from_iterable(
            ((kind, entity) for kind, entities in part.items() for entity in list(entities))
            for part in parts
        ):
            if isinstance(entity.callback_group, UnspunGroup):
                continue
            handle = entity if kind == 'waitable' else entity.handle
            try:
                used.enter_context(handle)
            except InvalidHandle:
                continue  # it was destroyed just now
            if kind == 'waitable':
                waitables.append(entity)
            else:
                found[kind][handle.pointer] = entity
        count = NumberOfEntities(*(len(found[kind]) for kind in KINDS))
        for waitable in waitables:
            count += waitable.get_num_entities()
        self._set = WaitSet(
            count.num_subscriptions,
            count.num_guard_conditions + 1,
            count.num_timers,
            count.num_clients,
            count.num_services,
            count.num_events,
            self._executor.context.handle,
        )
        self._found = {kind: entities for kind, entities in found.items() if entities}
        self._events = [each for each in waitables if isinstance(each, EventHandler)]
        self._waitables = [each for each in waitables if not isinstance(each, EventHandler)]

    def _wait(self, events: Iterable[EventHandler], timeout_ns: int) -> None:
        wait_set = self._set
        wait_set.clear_entities()
        wait_set.add_guard_condition(self._guard.handle)
        for kind, found in self._found.items():
            add = getattr(wait_set, f'add_{kind}')
            for entity in found.values():
                add(entity.handle)
        for waitable in chain(self._waitables, events):
            waitable.add_to_wait_set(wait_set)
        wait_set.wait(timeout_ns)

    def _take_messages(self, subscription: Any) -> None:
        handle, kind, raw = subscription.handle, subscription.msg_type, subscription.raw
        with_info = subscription._callback_type is not subscription.CallbackType.MessageOnly
        while taken := handle.take_message(kind, raw):
            given = taken if with_info else taken[:1]
            run = partial(subscription.callback, *given)
            self._executor.submit(run, subscription.callback_group)

    def _take_timer(self, timer: Any) -> None:
        if not timer.handle.is_timer_ready():
            return
        timer.handle.call_timer()
        key = id(timer)
        if key in self._running:
            return  # its last call waits or runs still

        def run() -> None:
            try:
                timer.callback()
            finally:
                self._running.discard(key)

        self._running.add(key)
        self._executor.submit(run, timer.callback_group)

    def _take_answers(self, client: Any) -> None:
        while True:
            header, reply = client.handle.take_response(client.srv_type.Response)
            if header is None:
                return
            try:
                future = client.get_pending_request(header.request_id.sequence_number)
            except KeyError:
                continue  # nobody waits for it any more
            future.set_result(reply)

    def _take_requests(self, service: Any) -> None:
        while True:
            request, header = service.handle.service_take_request(service.srv_type.Request)
            if header is None:
                return
            run = partial(_serve, service, request, header)
            self._executor.submit(run, service.callback_group)

    def _take_guard(self, guard: Any) -> None:
        self._executor.submit(guard.callback, guard.callback_group)

    def _take_waitable(self, waitable: Waitable) -> None:
        data = waitable.take_data()
        run = partial(_finish, waitable.execute, data)
        self._executor.submit(run, waitable.callback_group)


def _serve(service: Any, request: Any, header: Any) -> None:
    reply = service.callback(request, service.srv_type.Response())
    service.send_response(reply, header)


def _finish(function: Any, *args: Any) -> None:
    """Call a coroutine function that need not wait."""
    coroutine = function(*args)
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError(f'{function} {AWAITS}')


def _run_task(task: Task) -> None:
    task()
    if not task.done() and not task.cancelled():
        task.cancel()
        raise RuntimeError(f'{task} {AWAITS}')
    task.result()
