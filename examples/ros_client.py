"""
A ROS 2 client: give a running stack a task, talk to it meanwhile, and read its scene.

    bbllm up sim                          # in another terminal, or a launch file
    python examples/ros_client.py ['put the red cube on location_B'] [NAMESPACE]

A stack plans with models of its own, and decides who approves what moves. So this program only
gives the task and follows it. On a real arm (namespace bbllm_real) a person approves each plan,
with `bbllm approve` in another terminal, and nothing that this program does can replace that.
"""

import signal
import sys
import threading
from types import FrameType

from bbllm import Outcome, Robot, SkillCall, errors, events

TASK = 'put the red cube on location_B'
NAMESPACE = 'bbllm'


def show(event: events.Event) -> None:
    """Print what the stack reports, as it comes over the topic `episode_events`."""
    match event.data:
        case events.EpisodeStarted(planner=planner, brain=brain):
            print(f'{planner} with {brain} begins')
        case events.PlanMade(steps=steps):
            print('plan:', '; '.join(steps))
        case events.ApprovalAnswered(text=text):
            print('approval:', text)
        case SkillCall() as call:
            print('->', call)
        case Outcome() as outcome if not outcome.succeeded:
            print('  ', outcome.code.name, outcome.message)
        case events.RepairBegun(cause=cause):
            print('the planner repairs its plan:', cause)
        case events.EpisodeEnded(ending=ending, message=message):
            print(ending.name, message)
        case _:
            pass


def main(task: str = TASK, namespace: str = NAMESPACE) -> int:
    """Give a stack a task and wait for its end."""
    try:
        robot = Robot('ros', namespace=namespace)
    except errors.BbllmError as error:
        # No ROS in this shell, no stack, or a part of it is missing: the text says what to do.
        print(error, file=sys.stderr)
        return 2

    with robot:
        scene = robot.observe()
        print(f'{len(scene.objects)} objects, the hand has {scene.held or "nothing"}')

        # SIGTERM stops the arm, which keeps what it has in its hand, as Ctrl-C does.
        def stop(number: int, frame: FrameType | None) -> None:
            threading.Thread(target=robot.stop).start()

        signal.signal(signal.SIGTERM, stop)
        try:
            episode = robot.do(task, on_event=show)
        except errors.TaskError as error:
            print(f'The stack refused the task: {error}', file=sys.stderr)
            return 2
        except errors.LostNodeError as error:
            print(f'A node of the stack has gone: {error}', file=sys.stderr)
            return 1

        print(f'{episode.steps} calls in {episode.wall_s:.1f} s; `bbllm show {episode.id}`')
        held = robot.observe().held
        print(f'the hand has {held or "nothing"} at the end')
    return 0 if episode.ending is events.Ending.FINISHED else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
