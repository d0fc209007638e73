"""
A planner of your own: a class with one method, run on the simulated arm.

    python examples/own_planner.py [MODEL]

The planner asks its model for an order of cubes and builds a tower of them, bottom to top. Where
a cube cannot be used, it asks once more and says why. Without MODEL, a scripted model answers,
which names a cube out of reach first. docs/writing-a-planner.md has all that a planner can do,
and how `bbllm run --planner tower` finds it by an entry point.
"""

import sys
from collections.abc import Sequence

from bbllm import (
    ChatModel,
    EpisodeContext,
    ModelRequest,
    Plan,
    PlanStep,
    Reply,
    Robot,
    Scene,
    SkillCall,
    Task,
    World,
    errors,
    events,
)

PROMPT = """You control a robot arm that stacks cubes. Task: {task}
Objects: {names}
{failures}Reply with the names of the cubes from bottom to top, separated by commas."""


class Tower:
    """Plans an order of cubes, and stacks them."""

    def __init__(self, brain: ChatModel, body: object, *, k: int):
        # The body maps steps in plain words to calls; this planner makes its calls itself.
        self._brain = brain
        self._k = k

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Stack the cubes that the model names; ask again up to k times where that fails."""
        failures: list[str] = []
        while True:
            scene = world.observe()
            order = self._ask(task, scene, failures)
            calls = [
                call
                for below, cube in zip(order, order[1:], strict=False)
                for call in (SkillCall('pick', (cube,)), SkillCall('place', (below,)))
            ]
            plan = Plan(tuple(PlanStep(i, str(call)) for i, call in enumerate(calls)))
            # Events are the record of the episode: journals, pictures and figures come from it.
            context.emit(events.PlanMade.of(plan, 0))
            for step, call in zip(plan.steps, calls, strict=True):
                context.emit(events.StepBegun.of(step))
                outcome = world.execute(call)
                if outcome.succeeded:
                    continue
                failures.append(f'{step.text}: {outcome.message}')
                if len(failures) > self._k:
                    context.emit(events.StepFailed.of(step, outcome.message))
                    return
                context.emit(events.RepairBegun.of(step, outcome.message))
                break
            else:
                return

    def _ask(self, task: Task, scene: Scene, failures: Sequence[str]) -> list[str]:
        told = ''.join(f'This failed before: {failure}\n' for failure in failures)
        prompt = PROMPT.format(task=task.instruction, names=', '.join(scene.names), failures=told)
        reply = self._brain.ask(ModelRequest.of(prompt))
        # A model's text is data: it is checked against the scene and never executed.
        names = [name.strip(' .`') for name in reply.text.split(',')]
        known = [name for name in names if name in scene.names]
        if len(known) < 2:
            raise errors.GaveUpError(f'The model named no tower: {reply.text[:100]!r}')
        return known


class Scripted:
    """A model for trying it out: the first reply has a cube that the arm cannot reach."""

    name = 'scripted'
    supports_schema = False

    def ask(self, request: ModelRequest, on_text: object = None) -> Reply:
        """Answer by whether the prompt names a failure."""
        failed = 'failed before' in request.messages[-1].content
        text = 'green_cube, red_cube' if failed else 'green_cube, white_cube, red_cube'
        return Reply(text=text, model=self.name)


def main(model: str | None = None) -> int:
    """Run the planner on a task."""
    brain = model or Scripted()
    with Robot('sim', scene='plus_sign', planner=Tower, brain=brain) as robot:
        episode = robot.do('build a tower', on_event=lambda event: print(event.kind.value))
    print(episode.ending.name, f'after {episode.feedback_loops} feedback loops', episode.message)
    return 0 if episode.ending is events.Ending.FINISHED else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
