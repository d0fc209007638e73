"""The zero-shot planner of Huang et al.: free text, and for each step the nearest action."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from random import Random

from bbllm import (
    EpisodeContext,
    Kind,
    Plan,
    PlanStep,
    Scene,
    Skill,
    SkillCall,
    Task,
    World,
    errors,
    events,
)
from bbllm.planning import (
    PHRASES,
    Embedder,
    MatchingBody,
    ModelPlanner,
    PlannerSpec,
    Policy,
    PromptRequest,
    Referents,
    class_of,
    language_of,
    parse_plan,
    scene_graph,
    words_of,
)
from bbllm_planners.prog_prompt.lang_prompt import read_examples, steps_prompt
from bbllm_planners.prog_prompt.program import carry_out
from bbllm_planners.prog_prompt.prompting import GRAB_AND_PUTIN, offered
from bbllm_planners.similarity import Similarity

SHORTLIST = 8
"""How many objects, those with the nearest words, are candidates for one step."""
TAKEN = ('object', 'obj1')
"""Parameters for an object that a hand takes."""
NEEDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(('grab', 'putin', 'putback'), frozenset({'grabbable'})),
    **dict.fromkeys(('open', 'close'), frozenset({'can_open'})),
    **dict.fromkeys(('switchon', 'switchoff'), frozenset({'has_switch'})),
    'sit': frozenset({'sittable'}),
    'drink': frozenset({'drinkable', 'recipient'}),
}
"""Affordances of which the first object of an action must have one; other actions need none."""


class Actions:
    """The actions of a scene, on classes in a household and on objects elsewhere."""

    def __init__(self, scene: Scene, embedder: Embedder):
        self._nearness = Similarity(embedder)
        self._skills = offered(scene)
        self._names = language_of(scene).names(scene)
        self._affords: dict[str, set[str]] = {}
        for name, words in scene_graph(scene).affords.items():
            self._affords.setdefault(class_of(name), set()).update(words)
        stays = (Kind.LOCATION, Kind.FIXTURE, Kind.HAND, Kind.CONTAINER)
        fixed = [item.name for item in scene.objects if item.kind in stays]
        self._untakable = frozenset() if scene.is_symbolic else frozenset(fixed)
        self._containers = {i.name for i in scene.objects if i.kind is Kind.CONTAINER}

    def nearest(self, text: str) -> SkillCall:
        """Return the admissible action nearest to a step; raise ParseError without actions."""
        words = {words_of(name): name for name in self._names}
        near = [words[item] for item in self._nearness.ranked(text, words)[:SHORTLIST]]
        calls = {self.phrase(call): call for call in self._on(near)}
        if not calls:
            raise errors.ParseError('The scene has no skills that a step could be near.')
        return calls[self.nearest_of(text, [*calls])]

    def nearest_of(self, text: str, others: Sequence[str]) -> str:
        return self._nearness.ranked(text, others)[0]

    def phrase(self, call: SkillCall) -> str:
        objects = [words_of(arg) for arg in call.args]
        form = PHRASES.get(call.skill, ' '.join([words_of(call.skill), *['{}'] * len(objects)]))
        return form.format(*objects)

    def _on(self, objects: Sequence[str]) -> Iterator[SkillCall]:
        for skill in self._skills:
            timed = skill.params == ('seconds',)
            for args in [('1',)] if timed else permutations(objects, len(skill.params)):
                if self._is_admissible(skill, args):
                    yield SkillCall(skill.name, args)

    def _is_admissible(self, skill: Skill, args: tuple[str, ...]) -> bool:
        if not args:
            return True
        if skill.params[0] in TAKEN and args[0] in self._untakable:
            return False
        if skill.name == GRAB_AND_PUTIN and args[1] not in self._containers:
            return False
        needed = NEEDS.get(skill.name)
        return (
            needed is None or not self._affords or bool(needed & self._affords.get(args[0], set()))
        )


MAX_STEPS = 20
"""How many steps are requested one by one from a model that does not report the end."""


@dataclass(frozen=True, slots=True)
class HuangOptions:
    """Options of the planner."""

    correction: bool = True
    """Whether steps are requested one by one, after the actions of previous steps."""
    grounding: Policy = Policy.NEAREST
    """How one of several objects of a class is chosen."""


@dataclass(frozen=True)
class Huang(ModelPlanner):
    """
    The baseline of row 8 of ProgPrompt's Table I.

    Source: Huang et al., Language Models as Zero-Shot Planners, as Singh et al. describe it in
    section II of ProgPrompt. The prompt has one example, that with the nearest task. Each step
    becomes the admissible action with the nearest words, and with `correction` that action
    replaces the model's words before the next step. Omitted is what needs probabilities of a
    completion.
    """

    options: HuangOptions = HuangOptions()

    def __post_init__(self) -> None:
        if not isinstance(self.body, MatchingBody):
            raise errors.ConfigError(
                f'The planner huang matches steps with actions by embedding, but its Body is '
                f'{self.body.name}. Use --mapping embedding, and --body lexical or the name of an '
                'embedding model.'
            )

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        assert isinstance(self.body, MatchingBody)
        scene = world.observe()
        actions = Actions(scene, self.body.embedder)
        calls = list(self._write(task, scene, actions, context))
        steps = [PlanStep(i, actions.phrase(call)) for i, call in enumerate(calls)]
        context.emit(events.PlanMade.of(Plan(tuple(steps)), 0))
        referents = Referents(self.options.grounding, Random(task.id), context)
        for call, step in zip(calls, steps, strict=True):
            context.emit(events.StepBegun.of(step))
            carry_out(call, step, referents, world, context)

    def _write(
        self, task: Task, scene: Scene, actions: Actions, context: EpisodeContext
    ) -> Iterator[SkillCall]:
        examples = {item.task: item for item in read_examples(scene)}
        example = examples[actions.nearest_of(task.instruction, [*examples])]
        render_prompt = partial(steps_prompt, task, [example], in_house=scene.is_symbolic)
        if not self.options.correction:
            request = PromptRequest(kind='steps', scene=scene)
            texts = self.ask(render_prompt(), parse_plan, request, context)
            yield from (actions.nearest(step.text) for step in texts)
            return
        steps: list[PlanStep] = []
        while len(steps) < MAX_STEPS:
            prompt = render_prompt(so_far=steps)
            read = partial(parse_plan, start=len(steps))
            request = PromptRequest(kind='next_step', scene=scene, start=len(steps))
            if not (new := self.ask(prompt, read, request, context)):
                return
            call = actions.nearest(new[0].text)
            steps.append(PlanStep(len(steps), actions.phrase(call)))
            yield call
        context.warn(f'The model was not done after {MAX_STEPS} steps; no more were asked for.')


HUANG = PlannerSpec(
    factory=Huang, options=HuangOptions(), uses_feedback=False, needs_embedder=True
)
