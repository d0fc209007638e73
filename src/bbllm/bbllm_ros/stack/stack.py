"""The stack: which nodes there are, and all of them as processes of this machine. Needs no ROS."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bbllm.core.cancel import CancelToken
from bbllm.core.constants import NAMESPACE, REAL_NAMESPACE
from bbllm.core.errors import ConfigError, LostNodeError
from bbllm.core.forked import ONE_THREAD
from bbllm.core.paths import config_dir, state_dir
from bbllm_ros.rclpy_support.dds_boundary import FAST_DDS, RMW, bounded
from bbllm_ros.rclpy_support.domains import check_names_free, domain_of
from bbllm_ros.rclpy_support.params import Value
from bbllm_ros.rclpy_support.peer_process import owner_environ
from bbllm_ros.stack.forked import NodeProcess, new_process

if TYPE_CHECKING:
    from bbllm_ros.stack.client import StackClient

SIMULATOR = 'mujoco_sim'
REAL_NODES = ('brain_planner', 'body_mapper', 'state_estimator', 'fr3_executor')
"""The nodes that work beside franka_ros2."""
DIRECT_DRIVER = 'franka_direct'
"""Serves what franka_ros2 does, over libfranka alone."""
NODES = (*REAL_NODES, SIMULATOR)
"""Each is an executable, a module of `bbllm_ros` and a file in config/params."""
DIRECT_NODES = (*REAL_NODES, DIRECT_DRIVER)
PERCEPTION = 'perception'
"""Started exactly where a source of the scene is `camera`."""
ENDING_ORDER = (('brain_planner',), ('fr3_executor',))
"""First those that can still bring the arm to rest while the others listen; then the rest."""
READY_S = 30.0
"""How long a stack may take until it is ready, on a busy machine [s]."""
ONE_PROCESS = 'one_process'
"""The executable, and the name of the log, of a stack whose nodes share one process."""
NODE = '--node'
"""Begins the arguments of a node on the command line of `ONE_PROCESS`."""
END_S = 12.0
"""How long a node may take to end before it is killed; it gives up before that by itself [s]."""
TAIL_LINES = 15
RESPAWN_S = 1.0
"""How long a node that died is left dead before it is started again [s]."""
RESPAWNS = 5
"""How often one node is started again within `RESPAWN_WINDOW_S`; then the stack ends."""
RESPAWN_WINDOW_S = 60.0

Start = Callable[[str, Sequence[str], Mapping[str, str], int], NodeProcess]
"""Starts a module with its arguments, environment and log (a file descriptor)."""

SIMULATED: Mapping[str, Mapping[str, Value]] = {
    'fr3_executor': {'approval': 'none', 'simulated': True, 'safety': 'safety'}
}
"""Parameters of nodes beside a simulated robot; their files are made for a real one."""
AWAITED = 'sim/awaited'
"""Where an executor of a simulated robot publishes the time on the world's clock it waits for."""
SIMULATED_REMAPS = (('/tf', 'tf'), ('/tf_static', 'tf_static'))
"""
Names of a simulated stack that lie in its namespace: the frames on `/tf` are those of a real arm.
"""


def default_namespace(nodes: Collection[str]) -> str:
    return NAMESPACE if SIMULATOR in nodes else REAL_NAMESPACE


def remap_arguments(simulated: bool) -> list[str]:
    remaps = SIMULATED_REMAPS if simulated else ()
    return [word for old, new in remaps for word in ('-r', f'{old}:={new}')]


def params_file(node: str) -> Path:
    return config_dir() / 'params' / f'{node}.yaml'


def node_arguments(
    node: str,
    params: Mapping[str, Value] | None = None,
    namespace: str = NAMESPACE,
    *,
    simulated: bool = False,
) -> list[str]:
    """
    Return what follows a node's executable on its command line.

    *params* win over its file; with *simulated* the transforms lie in the namespace, too.
    """
    given: list[str] = []
    for name, value in (params or {}).items():
        given += ['-p', f'{name}:={_yaml(value)}']
    file = params_file(node)
    files = ['--params-file', str(file)] if file.exists() else []
    # Means nothing unless ROS_SECURITY_ENABLE is true: then the node's keys are found by it.
    enclave = ['--enclave', f'/{namespace}/{node}']
    names = ['-r', f'__ns:=/{namespace}', '-r', f'__node:={node}', *remap_arguments(simulated)]
    return ['--ros-args', *names, *enclave, *files, *given]


def node_environ(
    log_folder: Path | None = None, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    defaults = {
        RMW: FAST_DDS,
        'RCUTILS_COLORIZED_OUTPUT': '0',
        'PYTHONUNBUFFERED': '1',
    }
    defaults.update([ONE_THREAD])
    if log_folder is not None:
        defaults['ROS_LOG_DIR'] = str(log_folder / 'ros')
    return bounded({**defaults, **os.environ, **(more or {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class StackConfig:
    """What a stack is started with."""

    params: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """By node, parameters that win over its file: {'mujoco_sim': {'speed': 0}}."""
    nodes: tuple[str, ...] = NODES
    executables: Mapping[str, str] = field(default_factory=dict)
    """
    By node, an executable of another name: {'franka_driver': 'mujoco_sim'} plays a real driver.
    """
    namespace: str = ''
    """`default_namespace` of the nodes where it is empty."""
    environ: Mapping[str, str] = field(default_factory=dict)
    respawn: bool = False
    """Whether a node that dies is started again; otherwise the stack ends with it."""
    one_process: bool = False
    """
    Whether all nodes share one process, which is lighter and starts faster; one that crashes ends
    all then.
    """
    start: Start = new_process
    """How the process of a node is started: anew, or as a fork; see `forked`."""
    owner: str = 'the program'
    """What people call the process that starts the nodes, for when it has ended."""
    log_folder: Path | None = None
    """Where the nodes' output goes; `$XDG_STATE_HOME/bbllm/log/<time>-<pid>` by default."""

    def __post_init__(self) -> None:
        if not self.namespace:
            object.__setattr__(self, 'namespace', default_namespace(self.nodes))

    @property
    def simulated(self) -> bool:
        return SIMULATOR in self.nodes


class Stack:
    """
    The five nodes as processes, or as one; ends them when left or when this process is killed.

        with Stack(StackConfig(params={'mujoco_sim': {'scene': 'tower'}})) as stack:
            client = stack.wait_ready()
    """

    def __init__(self, config: StackConfig | None = None):
        self.config = config or StackConfig()
        stamp = f'{time.strftime("%Y%m%d-%H%M%S")}-{os.getpid()}'
        self.log_folder = self.config.log_folder or state_dir() / 'log' / stamp
        self.processes: dict[str, NodeProcess] = {}
        """By node, or the one of all under `ONE_PROCESS`."""
        self._respawned_s: dict[str, list[float]] = {}

    def __enter__(self) -> Stack:
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self) -> None:
        """
        Start all nodes; does not wait.

        Raises ConfigError where a node of such a name runs, or there is no place for logs.
        """
        domain = domain_of(self.environ())
        check_names_free(self.config.nodes, self.config.namespace, domain)
        try:
            self.log_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f'The logs cannot be written to {self.log_folder} ({error.strerror}); '
                'set XDG_STATE_HOME to a folder that can.'
            ) from error
        for name in [ONE_PROCESS] if self.config.one_process else self.config.nodes:
            self.processes[name] = self._start(name)

    def wait_ready(
        self,
        timeout_s: float = READY_S,
        on_progress: Callable[[tuple[str, ...]], None] | None = None,
    ) -> StackClient:
        """
        Return a client once every node serves, which the caller closes.

        Raises LostNodeError where a node died (with the end of its log), or some are not ready in
        time.
        """
        from bbllm_ros.stack.client import StackClient

        client = StackClient(self.config.namespace, environ=self.environ())
        try:
            client.wait_ready(
                self.config.nodes,
                timeout_s,
                on_progress=on_progress,
                cancel=CancelToken(self.tend),
            )
        except BaseException:
            client.close()
            raise
        return client

    def check(self) -> None:
        for node, process in self.processes.items():
            code = process.poll()
            if code is not None:
                raise LostNodeError(self._obituary(node, code))

    def tend(self, on_respawn: Callable[[str], None] = lambda _: None) -> None:
        """Start nodes that have died again where the configuration asks for it, or raise."""
        if not self.config.respawn:
            self.check()
            return
        for sentence in self.respawn_dead():
            on_respawn(sentence)

    def respawn_dead(self) -> list[str]:
        """
        Start the nodes that have died again, each after `RESPAWN_S`; return a sentence for each.

        Raises LostNodeError where one has died too often.
        """
        done = []
        for node, process in list(self.processes.items()):
            code = process.poll()
            if code is None:
                continue
            obituary = self._obituary(node, code)
            now_s = time.monotonic()
            tries = self._respawned_s.setdefault(node, [])
            tries[:] = [then_s for then_s in tries if then_s > now_s - RESPAWN_WINDOW_S]
            if len(tries) >= RESPAWNS:
                raise LostNodeError(
                    f'{obituary}\nIt was started again {RESPAWNS} times within '
                    f'{RESPAWN_WINDOW_S:g} s.'
                )
            tries.append(now_s)
            time.sleep(RESPAWN_S)
            self.processes[node] = self._start(node)
            done.append(f'{obituary.splitlines()[0].partition(" The end of")[0]} Started again.')
        return done

    def log_file(self, node: str) -> Path:
        return self.log_folder / f'{ONE_PROCESS if self.config.one_process else node}.log'

    def environ(self) -> dict[str, str]:
        return node_environ(self.log_folder, self.config.environ)

    def end(self) -> None:
        """End all nodes, the arm at rest first; kill those that do not end by themselves."""
        order = (*ENDING_ORDER, tuple(self.processes))
        for nodes in order:
            # One process ends its nodes in this order itself, and may take as long.
            patience_s = END_S * (len(order) if ONE_PROCESS in nodes else 1)
            processes = [self.processes[node] for node in nodes if node in self.processes]
            self._end(processes, patience_s)
        self.processes.clear()

    def _start(self, node: str) -> NodeProcess:
        module = f'bbllm_ros.nodes.{self.config.executables.get(node, node)}'
        arguments = self._arguments(node) if node != ONE_PROCESS else self._arguments_of_all()
        environ = {**self.environ(), **owner_environ(self.config.owner)}
        with self.log_file(node).open('ab') as log:
            return self.config.start(module, arguments, environ, log.fileno())

    def _arguments(self, node: str) -> list[str]:
        given = self.config.params.get(node, {})
        if self.config.simulated:
            given = {**SIMULATED.get(node, {}), **given}
        return node_arguments(node, given, self.config.namespace, simulated=self.config.simulated)

    def _arguments_of_all(self) -> list[str]:
        words = []
        for node in self.config.nodes:
            words += [NODE, self.config.executables.get(node, node), *self._arguments(node)]
        return words

    def _end(self, processes: list[NodeProcess], patience_s: float) -> None:
        for process in processes:
            _signal(process, signal.SIGTERM)
        deadline_s = time.monotonic() + patience_s
        for process in processes:
            try:
                process.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
                process.wait()

    def _obituary(self, node: str, code: int) -> str:
        how = f'was killed by signal {-code}' if code < 0 else f'ended with code {code}'
        lines = self.log_file(node).read_text(errors='replace').splitlines()[-TAIL_LINES:]
        tail = '\n'.join(f'    {line}' for line in lines) or '    (nothing)'
        what = 'The process of all nodes' if node == ONE_PROCESS else f'The node {node}'
        return f'{what} {how}. The end of {self.log_file(node)}:\n{tail}'


def _signal(process: NodeProcess, number: int) -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return  # it ended just now


def _yaml(value: Value) -> str:
    """Write a value so that ROS reads the same type again; an empty text needs its quotes."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)
