"""The reference solution of a puzzle of bbllm: the moves that search has found."""

import sys


def main() -> int:
    """Call the solution through the episode server, as an agent would; return an exit code."""
    from robouse.agent_cli import _send as send

    state = send({'op': 'observe'}).get('result', {}).get('state', {})
    calls = state.get('reference')
    if not calls:
        send({'op': 'give_up', 'text': 'this task has no solution found by search'})
        return 1
    for name, *arguments in calls:
        reply = send({'op': 'skill', 'name': name, 'args': arguments})
        outcome = reply.get('result', {})
        if outcome.get('status') != 'SUCCEEDED':
            print(name, *arguments, reply, file=sys.stderr)
            break
    send({'op': 'done', 'text': 'the moves of the solution'})
    return 0


if __name__ == '__main__':
    sys.exit(main())
