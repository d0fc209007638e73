"""LangPrompt: the model lists steps in plain words, and a Body maps them to calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from bbllm import EpisodeContext, Plan, PlanStep, Scene, Task, World, events
from bbllm.planning import (
    ModelPlanner,
    PlanMapper,
    PlannerSpec,
    Policy,
    PromptRequest,
    Referents,
    beside,
    declared,
    language_of,
    map_step,
    meaning_text,
    one_line,
    parse_plan,
    render,
    source,
    templates,
)
from bbllm_planners.prog_prompt.program import carry_out
from bbllm_planners.prog_prompt.prompting import moves_to_containers, offered

PACKAGE = 'bbllm_planners.prog_prompt'
_TASK = 'Task: '


@dataclass(frozen=True, slots=True)
class Example:
    """A task with its steps."""

    task: str
    steps: tuple[PlanStep, ...]

    def __str__(self) -> str:
        return '\n'.join([f'{_TASK}{self.task}', *map(str, self.steps)])


def read_examples(scene: Scene) -> tuple[Example, ...]:
    name = 'containers' if moves_to_containers(scene) else language_of(scene).name
    text = source(templates(PACKAGE), f'steps/{name}.md')
    blocks = [block.partition('\n') for block in text.strip().split('\n\n')]
    return tuple(Example(head.removeprefix(_TASK), parse_plan(rest)) for head, _, rest in blocks)


def steps_prompt(
    task: Task,
    examples: Sequence[Example],
    *,
    objects: Sequence[str] = (),
    actions: Sequence[str] = (),
    names_mean: str = '',
) -> str:
    """Return the prompt for all steps."""
    return render(
        PACKAGE,
        'steps/plan',
        task='\n'.join(filter(None, [one_line(task.instruction), beside(task)])),
        examples=list(map(str, examples)),
        objects=objects,
        actions=actions,
        names_mean=names_mean,
    )


EXAMPLES = 3
"""As many as in the paper."""


@dataclass(frozen=True, slots=True)
class LangPromptOptions:
    """Options of the planner."""

    grounding: Policy = Policy.NEAREST
    """How one of several objects of a class is chosen."""
    read_calls: bool = True
    """Whether steps that already are calls are read without a model; if not, the Body is asked for
    each step."""


OPTIONS = LangPromptOptions()


@dataclass(frozen=True)
class LangPrompt(ModelPlanner):
    """
    The paper's baseline whose prompt is in plain words.

    Source: Singh et al., ProgPrompt, section V-A and row 7 of Table I: objects and example plans
    in words, without assertions. A Body maps steps to actions, in place of an unpublished model.
    """

    options: LangPromptOptions = OPTIONS

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        scene = world.observe()
        prompt = steps_prompt(
            task,
            read_examples(scene)[:EXAMPLES],
            objects=language_of(scene).names(scene),
            actions=[declared(skill) for skill in offered(scene)],
            names_mean=meaning_text(self.options.grounding) if scene.is_symbolic else '',
        )
        request = PromptRequest(kind='steps', scene=scene)
        plan = Plan(self.ask(prompt, parse_plan, request, context))
        context.emit(events.PlanMade.of(plan, 0))
        referents = Referents(self.options.grounding, Random(task.id), context)
        mapper = PlanMapper(self.body, reads_calls=self.options.read_calls)
        for step in plan.steps:
            scene = world.observe()
            shown = replace(scene, skills=tuple(offered(scene)))
            problem = 'This step could not be turned into a call.'
            if call := map_step(mapper, step, shown, context, problem):
                carry_out(call, step, referents, world, context)


LANG_PROMPT = PlannerSpec(factory=LangPrompt, options=OPTIONS, uses_feedback=False)
