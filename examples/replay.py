"""
Record and replay: ask models once, and run the same episode again without them.

    python examples/replay.py [MODEL]

A recording is a file of JSON lines with all prompts and replies. A replay answers from it, so it
needs no key, no network and no money, and gives the same plan. It is how a run with a paid model
becomes a test. Where the program asks what is not in the recording, it stops and says what.
"""

import json
import sys
import tempfile
from pathlib import Path

from bbllm import Robot, SkillCall, errors, events

TASK = 'put the red cube on location_B'


def calls_of(episode: events.Episode) -> list[str]:
    """Return the calls of an episode in words."""
    return [str(event.data) for event in episode.events if isinstance(event.data, SkillCall)]


def main(model: str = 'offline') -> int:
    """Record an episode, replay it, and compare both."""
    with tempfile.TemporaryDirectory() as folder:
        talk = Path(folder) / 'talk.jsonl'

        # 1. Once with the models; `bbllm run --record FILE` does the same.
        with Robot('sim', brain=model, body=model, record=talk) as robot:
            recorded = robot.do(TASK)
        print(f'recorded with {recorded.brain}: {recorded.ending.name}')

        # 2. What was said can be read: one exchange a line.
        exchanges = [json.loads(line) for line in talk.read_text().splitlines()]
        print(f'{len(exchanges)} exchanges, with the fields {", ".join(exchanges[0])}')

        # 3. Again from the file, on a new table; `bbllm run --replay FILE` does the same.
        with Robot('sim', replay=talk) as robot:
            replayed = robot.do(TASK)
        print(f'replayed as {replayed.brain}: {replayed.ending.name}')

        print('calls:', *calls_of(replayed), sep='\n  ')
        same = calls_of(recorded) == calls_of(replayed)
        print('both made the same calls' if same else 'the calls differ')

        # 4. Another task is not in the recording: an error, never an invented reply.
        with Robot('sim', replay=talk) as robot:
            try:
                robot.plan('stack the red cube on the blue cube')
            except errors.TaskError as error:
                print(f'another task: {error}')
    return 0 if same and replayed.ending is events.Ending.FINISHED else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
