"""The prompt of a Body: the step to map, its scene, and an example."""

from bbllm.core.protocols import Pass
from bbllm.core.types import PlanStep, Scene, SkillCall
from bbllm.planners.common.call_grammar import CallForm, MappedStep, read_line, skill_named
from bbllm.planners.common.prompting import (
    describe_skill,
    environment,
    one_line,
    render,
    source,
    templates,
)
from bbllm.planners.domains.languages import language_of

PACKAGE = 'bbllm.planners.body'


def execution_prompt(step: PlanStep, scene: Scene, form: CallForm) -> str:
    """
    Return the prompt for the call of a step; `form` is how to reply.

    The scene is that of the Brain, without what is out of reach; its skills are those that both
    may use.
    """
    language = language_of(scene)
    return render(
        PACKAGE,
        'execution',
        who=language.robot,
        actions=[describe_skill(skill) for skill in scene.skills],
        place_alone=any(s.name == 'place' and len(s.params) == 1 for s in scene.skills),
        takes_numbers=form.takes_numbers,
        in_json=form.in_json,
        syntax=f'its number, a colon, and {language.syntax}, or <pass> why',
        example=example(form),
        # What the arm cannot reach is for the Brain to judge, and for the world to refuse.
        environment=environment(scene, reach=False),
        step=f'{step.index}: {one_line(step.text)}',
    )


def example(form: CallForm) -> str:
    """Return the examples: those steps whose actions are offered, with their replies."""
    text = source(templates(PACKAGE), f'{language_of(form.scene).name}.md').strip()
    head, _, rest = text.partition('\nSteps:\n')
    pairs = [(words, read_line(call)) for words, _, call in (
        line.partition(' | ') for line in rest.split('\n'))]  # fmt: skip
    offered = [(words, _offered(mapped, form.scene)) for words, mapped in pairs]
    steps = [(words, mapped) for words, mapped in offered if mapped is not None]
    calls = [form.write(i, mapped) for i, (_, mapped) in enumerate(steps)]
    replies = [f'{{"calls": [{call}]}}' for call in calls] if form.in_json else calls
    lines = [
        f'Step: {i}: {words}\nCall: {reply}'
        for i, ((words, _), reply) in enumerate(zip(steps, replies, strict=True))
    ]
    return '\n'.join([head, *lines])


def _offered(mapped: MappedStep, scene: Scene) -> SkillCall | Pass | None:
    """Return a call with the scene's word for its action, a pass as it is, else None."""
    if not isinstance(mapped, SkillCall):
        return mapped if isinstance(mapped, Pass) else None
    skill = skill_named(mapped.skill, scene)
    return SkillCall(skill.name, mapped.args) if skill else None
