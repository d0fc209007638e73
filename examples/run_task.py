"""
Run a task: give a simulated robot arm an instruction and follow what it does.

    python examples/run_task.py ['put the red cube on location_B'] [MODEL]

Without MODEL, the model of config/llm.yaml plans; without a key, the rule-based `offline`.
"""

import sys

from bbllm import Outcome, Robot, SkillCall, events

TASK = 'stack the red cube on the blue cube'


def show(event: events.Event) -> None:
    """Print an event. Each kind is a record of its own, so `match` reads its fields."""
    match event.data:
        case events.PlanMade(steps=steps, revision=revision):
            print(f'plan {revision}:')
            for index, text in enumerate(steps):
                print(f'  {index}: {text}')
        case SkillCall() as call:
            print(f'-> {call}')
        case Outcome(succeeded=True, duration_s=seconds):
            print(f'   done in {seconds:.1f} s')
        case Outcome(code=code, message=message):
            print(f'   {code.name}: {message}')
        case events.RepairBegun(loop=loop, cause=cause):
            print(f'feedback loop {loop}: {cause}')
        case _:
            pass  # models' replies, scenes, counts: see bbllm.events


def main(task: str = TASK, model: str | None = None) -> int:
    """Do a task, and return 0 where it was finished."""
    # The arm is simulated in this process. The world stays as it is between tasks.
    with Robot('sim', scene='tabletop', brain=model, body=model) as robot:
        # A plan alone moves nothing.
        print(f'A plan for {task!r}:\n{robot.plan(task)}\n')

        # `do` returns the record of the episode, whether or not it was finished.
        episode = robot.do(task, on_event=show)
        print(f'\n{episode.ending.name} {episode.message}'.rstrip())
        print(f'{episode.steps} calls, {episode.robot_s:.1f} s of robot time')
        print(f'`bbllm show {episode.id}` shows it again, with pictures.')

        # The scene has objects, skills and facts: the same that the models are shown.
        for fact in robot.observe().facts:
            if fact.predicate == 'on' and fact.object.endswith('_cube'):
                print(f'now {fact}')

        # One call at a time works too. What fails is an outcome, not an exception.
        print(robot.execute('pick(green_cube)').status.name)
        outcome = robot.execute('place(green_cube)')
        print(outcome.status.name, outcome.code.name, outcome.message)
    return 0 if episode.ending is events.Ending.FINISHED else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
