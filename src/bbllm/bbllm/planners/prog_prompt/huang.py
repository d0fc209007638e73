"""The zero-shot planner of Huang et al.: free text, and for each step the nearest action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from random import Random

from bbllm.core.errors import ConfigError, ParseError
from bbllm.core.events import PlanMade, StepBegun
from bbllm.core.instance_names import class_of
from bbllm.core.protocols import Body, ChatModel, Embedder, EpisodeContext, PromptRequest, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Kind, Plan, PlanStep, Scene, Skill, Task
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.house_actions import PHRASES
from bbllm.planners.common.matching import SECONDS, UNTAKABLE, MatchingBody
from bbllm.planners.common.plan_grammar import parse_plan
from bbllm.planners.common.program import Call, Referents, carry_out
from bbllm.planners.common.prompting import ask
from bbllm.planners.common.scene_graph import HOUSEHOLD, classes
from bbllm.planners.common.similarity import Similarity
from bbllm.planners.prog_prompt.lang_prompt import Example, LangPrompts
from bbllm.planners.prog_prompt.prompting import GRAB_AND_PUTIN, offered

SHORTLIST = 8
"""How many things are looked at for one step: those whose own words are nearest to it. All pairs
of all things of a house would be some ten thousand sentences for each kind of putting."""
TAKEN = ('object', 'obj1')
"""Parameters of what a hand takes."""
NEEDS: Mapping[str, frozenset[str]] = {
    'grab': frozenset({'grabbable'}),
    'putin': frozenset({'grabbable'}),
    'putback': frozenset({'grabbable'}),
    'open': frozenset({'can_open'}),
    'close': frozenset({'can_open'}),
    'switchon': frozenset({'has_switch'}),
    'switchoff': frozenset({'has_switch'}),
    'sit': frozenset({'sittable'}),
    'drink': frozenset({'drinkable', 'recipient'}),
}
"""What the first thing of an action must afford, one of them; other actions take anything."""


class Actions:
    """The actions of a scene, on classes in a household and on things elsewhere."""

    def __init__(self, scene: Scene, embedder: Embedder):
        self._nearness = Similarity(embedder)
        self._skills = offered(scene)
        house = scene.domain == HOUSEHOLD
        self._things = classes(scene) if house else list(scene.names)
        self._affords: dict[str, set[str]] = {}
        for fact in scene.facts:
            if fact.predicate == 'affords':
                self._affords.setdefault(class_of(fact.subject), set()).add(fact.object)
        stays = (*UNTAKABLE, Kind.CONTAINER)
        fixed = [item.name for item in scene.objects if item.kind in stays]
        self._untakable = frozenset() if house else frozenset(fixed)
        self._containers = {i.name for i in scene.objects if i.kind is Kind.CONTAINER}

    def nearest(self, text: str) -> Call:
        """
        Return the admissible action whose sentence is nearest to a step.

        Raises:
            ParseError: There is nothing to do in the scene.
            ModelError: The embedder could not be reached.
        """
        words = {_words(thing): thing for thing in self._things}
        near = [words[item] for item in self._nearness.ranked(text, words)[:SHORTLIST]]
        calls = {self.phrase(call): call for call in self._on(near)}
        if not calls:
            raise ParseError('The scene has no skills that a step could be near.')
        return calls[self.nearest_of(text, [*calls])]

    def nearest_of(self, text: str, others: Sequence[str]) -> str:
        """Return which of other texts, of which there is at least one, is nearest to a text."""
        return self._nearness.ranked(text, others)[0]

    def phrase(self, call: Call) -> str:
        """Write an action as a sentence would say it."""
        things = [_words(arg) for arg in call.args]
        form = PHRASES.get(call.verb, ' '.join([_words(call.verb), *['{}'] * len(things)]))
        return form.format(*things)

    def _on(self, things: Sequence[str]) -> Iterator[Call]:
        for skill in self._skills:
            for args in self._arguments(skill, things):
                if self._is_admissible(skill, args):
                    yield Call(skill.name, args)

    def _arguments(self, skill: Skill, things: Sequence[str]) -> Iterator[tuple[str, ...]]:
        if skill.params == ('seconds',):
            yield (SECONDS,)
        else:
            yield from permutations(things, len(skill.params))

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


def _words(name: str) -> str:
    return ' '.join(name.replace('_', ' ').split())


MAX_STEPS = 20
"""How many steps are asked for one by one, for a model that never says that it is done."""


@dataclass(frozen=True, slots=True)
class HuangOptions:
    """What of the planner can be varied."""

    correction: bool = True
    """Whether steps are asked for one by one, after the actions of those before."""
    grounding: Policy = Policy.RANDOM
    """How one of several objects of a class is chosen."""


class Huang:
    """
    The baseline of row 8 of ProgPrompt's Table I.

    Source: Huang et al., Language Models as Zero-Shot Planners, as Singh et al. describe it in
    section II of ProgPrompt. The one example is that whose task is nearest to this one. The model
    is told neither what there is nor what can be done; a step that it writes becomes the
    admissible action whose words are nearest, and with `correction` it is shown that action in
    place of its own words before it writes the next step. All steps are known before the first
    is carried out. Left out is what needs the probabilities of a completion: several samples for
    a step, ranked, and ending early where none is likely.
    """

    def __init__(
        self,
        brain: ChatModel,
        body: Body,
        *,
        k: int = 3,
        options: HuangOptions | None = None,
    ):
        """
        Make a planner.

        Args:
            brain: The model that writes steps.
            body: One that matches by embedding; its embedder is used.
            k: Not used: there are no feedback loops.
            options: What is varied.

        Raises:
            ConfigError: The Body does not match by embedding.
        """
        if not isinstance(body, MatchingBody):
            raise ConfigError(
                f'The planner huang matches steps with actions by embedding, but its Body is '
                f'{body.name}. Use --mapping embedding, and --body lexical or the name of an '
                'embedding model.'
            )
        self._brain = brain
        self._embedder = body.embedder
        options = options or HuangOptions()
        self._corrects = options.correction
        self._policy = options.grounding
        self._prompts = LangPrompts()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Work on the task until the actions are through.

        Raises:
            ParseError: The model gave no step that can be read.
            GaveUpError: The model said that there is none.
            BbllmError: Whatever world, model or embedder raised.
        """
        calls, plan = self._write(task, world.observe(), context)
        context.emit(PlanMade.of(plan, 0))
        referents = Referents(self._policy, Random(task.id), context)
        for call, step in zip(calls, plan.steps, strict=True):
            context.emit(StepBegun.of(step))
            carry_out(call, step, referents, world, context)

    def _write(self, task: Task, scene: Scene, context: EpisodeContext) -> tuple[list[Call], Plan]:
        actions = Actions(scene, self._embedder)
        examples = {item.task: item for item in self._prompts.examples(scene)}
        example = examples[actions.nearest_of(task.instruction, [*examples])]
        if self._corrects:
            return self._write_one_by_one(task, scene, example, actions, context)
        prompt = self._prompts.steps(task, example)
        request = PromptRequest(kind='steps', scene=scene)
        texts = ask(self._brain, prompt, parse_plan, request=request, on_retry=context.warn)
        calls = [actions.nearest(step.text) for step in texts]
        steps = [PlanStep(i, actions.phrase(call)) for i, call in enumerate(calls)]
        return calls, Plan(tuple(steps))

    def _write_one_by_one(
        self, task: Task, scene: Scene, example: Example, actions: Actions, context: EpisodeContext
    ) -> tuple[list[Call], Plan]:
        calls: list[Call] = []
        steps: list[PlanStep] = []
        while len(steps) < MAX_STEPS:
            prompt = self._prompts.next_step(task, example, steps)
            read = partial(parse_plan, start=len(steps))
            request = PromptRequest(kind='next_step', scene=scene, start=len(steps))
            new = ask(self._brain, prompt, read, request=request, on_retry=context.warn)
            if not new:
                break
            call = actions.nearest(new[0].text)
            calls.append(call)
            steps.append(PlanStep(len(steps), actions.phrase(call)))
        else:
            context.warn(
                f'The model was not done after {MAX_STEPS} steps; no more were asked for.'
            )
        return calls, Plan(tuple(steps))


HUANG = PlannerSpec(
    factory=Huang,
    options=HuangOptions(),
    uses_feedback=False,
    needs_embedder=True,
)
