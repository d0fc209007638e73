"""Answers requests from the socket until the other side closes it."""

import contextlib
import os
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from bbllm_libero.worker.environment import Benchmark, RequestError
from bbllm_libero.worker.frames import ClosedError, receive, send

POLL_S = 0.5
"""How often it is checked whether the parent is gone, also while a request takes long [s]."""


def main(descriptor: int, parent: int) -> None:
    """
    Serve the socket *descriptor*; the process ends with the process *parent*.

    What the benchmark prints goes to the output of this process, never into the socket.
    """
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what becomes of Ctrl-C
    peer = socket.socket(fileno=descriptor)
    benchmark = Benchmark()
    verbs: Mapping[str, Callable[..., tuple[object, bytes]]] = {
        'versions': lambda: (benchmark.versions(), b''),
        'suites': lambda: (benchmark.suites(), b''),
        'tasks': lambda suite: (benchmark.tasks(suite), b''),
        'reset': lambda **wanted: (benchmark.reset(**wanted), b''),
        'step': lambda action: (benchmark.step(action), b''),
        'shape': lambda name: (benchmark.shape(name), b''),
        'facts': lambda: (benchmark.facts(), b''),
        'goal': lambda: (benchmark.goal(), b''),
        'render': lambda **wanted: benchmark.render(**wanted),
    }
    with contextlib.suppress(ClosedError, OSError):
        while True:
            request, _ = receive(peer)
            answer, data = _answered(verbs, request)
            send(peer, answer, data)


def _answered(
    verbs: Mapping[str, Callable[..., tuple[object, bytes]]], request: Mapping[str, Any]
) -> tuple[dict[str, object], bytes]:
    name = str(request.get('verb'))
    if name not in verbs:
        return {'error': 'request', 'text': f'there is no request {name!r}'}, b''
    try:
        result, data = verbs[name](**request.get('given', {}))
    except RequestError as error:
        return {'error': 'request', 'text': str(error)}, b''
    except Exception as error:  # the benchmark's own; the other side decides what becomes of it
        text = f'{type(error).__name__}: {error}'
        return {'error': 'fault', 'text': text, 'trace': traceback.format_exc()}, b''
    return {'result': result}, data


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_S)
    os._exit(1)
