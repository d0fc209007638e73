"""Rule-based models that answer from the episode as data: their seam, and those of the table."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial

from bbllm.core.goals import NONE
from bbllm.core.protocols import (
    ChatModel,
    ModelRequest,
    OnText,
    PromptRequest,
    Reply,
    Situation,
)
from bbllm.core.registry import load_planner, load_planners, plain_name, planner_names
from bbllm.core.types import Scene
from bbllm.llm.reply_text import cut_at_stop
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.oracle.instruction import HINT, MAX_CHARACTERS, read_instruction
from bbllm_bench.oracle.lessons import Lessons
from bbllm_bench.oracle.questions import answer, is_question
from bbllm_bench.oracle.reply_format import BY_GOAL, ON_BLOCKS, numbered, repaired
from bbllm_bench.oracle.step_mapping import PASS, call_text
from bbllm_bench.oracle.table_goals import (
    Arrange,
    AskError,
    RefusalError,
    TableGoal,
    TableObject,
    all_in_reach,
    conditions_text,
    objects_of,
)
from bbllm_bench.oracle.table_search import OFFSETS, steps_for
from bbllm_bench.oracle.vocabulary import words_of

Answer = Callable[[PromptRequest, str], str]
"""Returns the reply to a declared request, whose prompt is the second argument."""
AT_THE_END = 'return to base'
"""Ends the steps of a task that has moved something, or where nothing is left to be moved."""
_MOVED = re.compile(r'(\w+) from (-?\d\.\d+ -?\d\.\d+ -?\d\.\d+)(?: (?:on|in) (\w+))?\S*.*? to ')
"""An object that an earlier turn moved, with the pose and the place where it had been."""
IN_HOUSES = (
    'cannot: `offline` only understands tasks on a table. In a house, name a language model with '
    '--brain (docs/models.md), or measure the pipeline: `bbllm bench household --brain expert`.'
)


class OracleModel:
    """
    A SituatedModel behind the seam of a language model.

    Args:
        name: What reports call it.
        begin: Returns what answers the requests of an episode; the episode is None outside of one.
        planners: Names of the planners whose requests it answers.
        where: Words for refusals: where it answers only these, ` in houses`.
        open_to_others: Whether planners of other packages may ask; a prompt without a declared
            request is refused in the reply.
    """

    supports_schema = False

    def __init__(
        self,
        name: str,
        begin: Callable[[Situation | None], Answer],
        planners: Sequence[str],
        *,
        where: str = '',
        open_to_others: bool = False,
    ):
        self.name = name
        self._planners = planners
        self._where = where
        self._open = open_to_others
        self._begin = begin
        self._answer = begin(None)

    def in_episode(self, situation: Situation) -> ChatModel:
        """Return the model for one episode; see `SituatedModel`."""
        model = copy(self)
        model._answer = self._begin(situation)
        return model

    def refusal(self, planner: str) -> str:
        """Return why it cannot answer a planner; see `SituatedModel`."""
        if plain_name(planner) in self._planners or (self._open and not _is_ours(planner)):
            return ''
        return (
            f'The planner {planner} cannot work with `{self.name}`{self._where}, which is no '
            f'language model and answers {", ".join(self._planners)} only. Name a language model, '
            'such as `--brain MODEL` (see docs/models.md), or choose one of these planners.'
        )

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        """Answer the latest request of a conversation; it costs no tokens."""
        begun_s = time.perf_counter()
        declared = request.declared
        text = f'cannot: the prompt declares no request, and `{self.name}` reads no prompts.'
        if declared is not None:
            asked = (item.content for item in request.messages if item.role != 'assistant')
            text = self._answer(declared, '\n'.join(asked))
        text = cut_at_stop(text, request.stop)
        return Reply(text=text, model=self.name, duration_s=time.perf_counter() - begun_s)


def offline() -> OracleModel:
    planners = ('brain_body', 'base_llm')
    return OracleModel('offline', _ByInstruction, planners, open_to_others=True)


def expert(brief: Mapping[str, object] | None) -> OracleModel:
    """Return `expert` or `uninformed` for a goal; without one it answers no request."""
    goal = GoalBrief.model_validate(brief or {})
    name = 'expert' if goal.gather else 'uninformed'
    formats = ON_BLOCKS if goal.goal is None else BY_GOAL.get(goal.goal.kind, ON_BLOCKS)

    def answer(situation: Situation | None, request: PromptRequest, _: str) -> str:
        if request.kind == 'call':
            return call_text(request.text, request.scene)
        if request.kind == 'goal':
            return NONE
        if situation is None or goal.goal is None:
            return f'cannot: `{name}` is in no episode.'
        reply = formats.get(plain_name(situation.planner))
        if reply is None or request.scene is None:
            return f'cannot: this goal is answered for {", ".join(formats)} only.'
        return reply(request, request.scene, situation, goal)

    return OracleModel(name, lambda at: partial(answer, at), tuple(formats))


class _ByInstruction:
    """
    What `offline` answers in one episode: a plan for the instruction, a question, or an answer.

    A sentence is read on the table as it was when it was first read: `the nearest cube` remains
    the one that was nearest then, and `10 cm to the left` begins where the object was.
    """

    def __init__(self, situation: Situation | None):
        self._situation = situation
        self._tables: dict[str, tuple[Mapping[str, TableObject], str | None]] = {}

    def __call__(self, request: PromptRequest, _: str) -> str:
        scene, situation = request.scene, self._situation
        if request.kind == 'call':
            return call_text(request.text, request.scene)
        if situation is None:
            return 'cannot: `offline` is in no episode.'
        if scene is None or scene.is_symbolic:
            return IN_HOUSES
        try:
            return self._reply(request, scene, situation)
        except AskError as error:
            if request.kind != 'goal' and situation.asks():
                return ' | '.join([f'ask: {error}', *error.options])
            text = f'{error} State it in the task: {", ".join(error.options)}.'
        except RefusalError as error:
            text = str(error).strip()
        refused = f'cannot: {text if text.endswith(HINT) else f"{text} {HINT}"}'
        return NONE if request.kind == 'goal' else refused

    def _read(self, text: str, scene: Scene, situation: Situation) -> list[TableGoal]:
        table, held = self._tables.setdefault(text, (objects_of(scene), scene.held))
        answers = {remark.question: remark.text for remark in situation.remarks()}
        earlier = _moved_before(situation.task.history)
        goals = read_instruction(text, table, held, answers=answers, earlier=earlier)
        names = {name for goal in goals for item in goal.items for name in item.names}
        if gone := sorted(names - {*scene.names}):
            raise RefusalError(f"There is no '{gone[0]}' in the scene any more.")
        return goals

    def _reply(self, request: PromptRequest, scene: Scene, situation: Situation) -> str:
        text = situation.task.instruction
        objects = objects_of(scene)
        if is_question(words := words_of(text[:MAX_CHARACTERS], objects)):
            found = answer(words, objects, scene.held)
            if request.kind == 'goal':
                return NONE
            return f'{"answer" if situation.talks() else "cannot"}: {found}'
        read = partial(self._read, scene=scene, situation=situation)
        goals = read(text)
        lessons = Lessons(request, scene, read, situation.remarks())
        for note in lessons.notes:
            situation.not_understood(note)
        far = {item.name for item in objects.values() if item.in_reach is False}
        if request.kind == 'goal':
            changed = lessons.bad or lessons.preferred  # no condition states what is left out
            return NONE if changed else conditions_text([*goals, *lessons.wishes], objects, far)
        steps = steps_for([_planned(goal, far) for goal in goals], scene, lessons)
        if request.kind == 'calls':
            calls = (call_text(step, scene) for step in steps)
            return numbered([call for call in calls if call != PASS])
        if request.kind != 'repair':
            return numbered(steps, request.start)
        if request.start == len(request.plan) and steps == [AT_THE_END]:
            steps = []  # all that can be done was done
        explanation = f'{request.failures[-1].cause} The plan goes on from how the scene is now.'
        if lessons.bad:
            explanation += f' Left out: {", ".join(lessons.bad)}.'
        if lessons.notes:
            explanation += f' Not understood: {" / ".join(lessons.notes)}. {HINT}'
        return repaired(explanation, steps, request.start)


def _moved_before(history: Sequence[str]) -> dict[str, str]:
    """Return where the objects had been that the latest turn with a motion moved."""
    for line in reversed(history):
        moves = line.rpartition('moved: ')[2] if 'moved: ' in line else ''
        if found := _MOVED.findall(moves):
            return {
                name: place if place and 'table' not in place else pose
                for name, pose, place in found
            }
    return {}


def _planned(goal: TableGoal, far: set[str]) -> TableGoal:
    """Return what is planned: all in reach, but any for a sign, as what is far shows by trying."""
    return goal if isinstance(goal, Arrange) and goal.shape in OFFSETS else all_in_reach(goal, far)


def our_planners(domain: str) -> tuple[str, ...]:
    """Return the names of the planners of this project that support a domain, sorted."""
    specs, _ = load_planners()
    return tuple(name for name, spec in specs.items() if domain in spec.domains and _is_ours(name))


def _is_ours(planner: str) -> bool:
    if plain_name(planner) not in planner_names():
        return False  # a class that was given to `run_episode`
    factory = load_planner(plain_name(planner)).factory
    return factory.__module__.startswith(('bbllm.planners.', 'bbllm_planners.'))
