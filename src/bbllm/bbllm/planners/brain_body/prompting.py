"""The prompts of a Brain: for a plan, for the plan from a failure on, and for a whole program."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bbllm.core.protocols import StepFailure
from bbllm.core.text import as_data
from bbllm.core.types import Plan, Scene, Task
from bbllm.planners.common.grounding import Policy, meaning_text
from bbllm.planners.common.prompting import (
    believed,
    describe_skill,
    environment,
    one_line,
    render,
    task_text,
    templates,
)
from bbllm.planners.domains.languages import language_of
from bbllm.planners.domains.scene_graph import sensed_only

PACKAGE = 'bbllm.planners.brain_body'
BELIEVED = 'Believed, not sensed:'
"""Heading of the open state of a scene."""

FeedbackForm = Literal['full', 'none', 'code']
"""What a repair prompt states of why a step failed; see `Prompts.reported`."""


@dataclass(frozen=True)
class Prompts:
    """Renders the prompts, each for the domain of its scene."""

    believed: bool = False
    """Whether the prompts of a Brain include the open state of a scene."""
    reach: bool = True
    """Whether the prompts of a Brain on a table mark what is out of reach."""
    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""
    form: FeedbackForm = 'full'
    """What the prompts of a Brain state of why a step failed."""

    def planning(self, task: Task, scene: Scene, *, picture: str = '', left: str = '') -> str:
        """
        Return the prompt for a plan; *picture* is the sentence on its picture.

        *left* is the sentence on what else may be asked for.
        """
        text = self._environment(scene)
        return self._render('planning', scene, task, environment=text, picture=picture, left=left)

    def direct(self, task: Task, scene: Scene) -> str:
        """Return the prompt for a whole program, without steps in plain words before it."""
        text, name = environment(scene, reach=self.reach), language_of(scene).name
        examples = (
            templates(PACKAGE)
            .get_template(f'{name}/direct_examples.md')
            .render(
                reach=self.reach,
                putin=any(skill.name == 'grab_and_putin' for skill in scene.skills),
            )
        )
        return self._render(
            f'{name}/direct', scene, task, environment=text, examples=examples.rstrip()
        )

    def feedback(
        self,
        task: Task,
        scene: Scene,
        plan: Plan,
        failure: StepFailure,
        earlier: Sequence[StepFailure],
        *,
        picture: str = '',
        left: str = '',
        before: Scene | None = None,
    ) -> str:
        """
        Return the prompt for the plan from a failure on.

        *picture* and *left* are as in `planning`. What was added to the task stands there alone,
        and only then the prompt has what differed in the scene *before* the task: a person may ask
        for that again.
        """
        return self._render(
            'feedback',
            scene,
            task,
            environment=self._environment(scene),
            picture=picture,
            plan=str(plan),
            error_step=failure.step.index,
            feedback=one_line(language_of(scene).message(failure.cause, scene)),
            controller=one_line(failure.controller),
            added=bool(task.added),
            left=left,
            before='\n'.join(self._gone(before, scene)) if task.added else '',
            earlier=[_delimited(item, scene) for item in earlier],
        )

    def shown(self, scene: Scene) -> Scene:
        """Return the part of a scene that the prompts of a Brain contain."""
        scene = scene if self.believed else sensed_only(scene)
        if self.reach:
            return scene
        return replace(scene, facts=tuple(f for f in scene.facts if f.predicate != 'reachable'))

    def reported(self, failure: StepFailure) -> StepFailure:
        """
        Return a failure with what the form of feedback states of its cause, and no more.

        `none` leaves the step alone. The words of people stay in all forms, and so does the cause
        where no step was tried.
        """
        if self.form == 'full' or not failure.tried:
            return failure
        code = failure.code if failure.outcome is None else failure.outcome.code
        text = ('no code' if code is None else code.name) if self.form == 'code' else ''
        return StepFailure(failure.step, text, human=failure.human)

    def _gone(self, scene: Scene | None, other: Scene | None) -> list[str]:
        """Return the lines of the environment that another scene lacks; none without both."""
        if scene is None or other is None:
            return []
        lines, others = (self._environment(each).split('\n') for each in (scene, other))
        return [line for line in lines if line not in others]

    def _environment(self, scene: Scene) -> str:
        text = environment(scene, reach=self.reach)
        beliefs = believed(scene) if self.believed else ''
        return f'{text}\n\n{BELIEVED}\n{beliefs}' if beliefs else text

    def _render(self, name: str, scene: Scene, task: Task, **values: object) -> str:
        language = language_of(scene)
        common: dict[str, object] = {
            'domain': language.name,
            'robot': language.robot,
            'objects': language.names(scene),
            'whole': scene.whole,
            'actions': [describe_skill(skill) for skill in language.skills(scene)],
            'syntax': language.syntax,
            'task': task_text(task),
            'worked': task.worked,
            'house_end': language.end(scene),
            'names_mean': meaning_text(self.grounding),
        }
        return render(PACKAGE, name, **common, **values)


def _delimited(failure: StepFailure, scene: Scene) -> str:
    """Return an earlier failure as delimited data."""
    # Without places: objects may have moved since.
    cause = language_of(scene).message(failure.cause, scene, places=False)
    what = one_line(f'step {failure.step.index} ({failure.step.text}): {cause or "failed"}')
    return as_data(what)
