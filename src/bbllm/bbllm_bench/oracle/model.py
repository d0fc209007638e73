"""Rule-based models that answer from the episode as data: their seam, and those of the table."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial

from bbllm.core.dialogue import SAFEST
from bbllm.core.events import FeedbackReceived
from bbllm.core.goals import NONE
from bbllm.core.protocols import (
    ChatModel,
    ModelRequest,
    OnText,
    PromptRequest,
    Reply,
    Situation,
    StepFailure,
)
from bbllm.core.registry import load_planner, load_planners, plain_name, planner_names
from bbllm.core.skill_calls import is_pose_like
from bbllm.core.stop_words import is_stop
from bbllm.core.types import Code, Outcome, PlanStep, Scene, SkillCall
from bbllm.llm.reply_text import cut_at_stop
from bbllm.planners.common.call_grammar import parse_call
from bbllm_bench.oracle.clauses import MAX_CHARACTERS, names_in
from bbllm_bench.oracle.corrections import Utterance
from bbllm_bench.oracle.dialogue_state import DialogueState, added
from bbllm_bench.oracle.goal_brief import GoalBrief
from bbllm_bench.oracle.hints import hint_of
from bbllm_bench.oracle.lessons import Lessons
from bbllm_bench.oracle.past_questions import Recall
from bbllm_bench.oracle.questions import answer, is_question
from bbllm_bench.oracle.reply_format import (
    BASELINES,
    BY_GOAL,
    CLASSICAL,
    ON_BLOCKS,
    PlanLine,
    final_places,
    numbered,
    plan_reply,
    repaired,
)
from bbllm_bench.oracle.step_mapping import PASS, call_text
from bbllm_bench.oracle.table_goals import (
    Arrange,
    AskError,
    RefusalError,
    TableGoal,
    all_in_reach,
    conditions_text,
    objects_of,
)
from bbllm_bench.oracle.table_search import OFFSETS, steps_for
from bbllm_bench.oracle.talk import WITHDRAWAL, kind_of_talk, reply_to_talk
from bbllm_bench.oracle.vocabulary import words_of

Answer = Callable[[PromptRequest, str], str]
"""Returns the reply to a declared request, whose prompt is the second argument."""
BY_OUTCOMES = ('tool_call', 'code', 'planning_goal')
"""Kinds of requests that state nothing of what was done: the episode shows it."""
AT_THE_END = 'return to base'
"""Ends the steps of a task that has moved something, or where nothing is left to be moved."""
HELP = ('what can you do', 'help', 'what do you understand', 'what can i say', 'what can i do')
"""Questions for what is understood, without signs."""
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
    planners = ('brain_body', 'base_llm', CLASSICAL, *BASELINES)
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


class WithdrawnError(RefusalError):
    """A person wrote `never mind` during a task."""


class _ByInstruction:
    """
    What `offline` answers in one episode: a plan for the instruction, a question, or an answer.

    A sentence is read on the table as it was when the task began: `the nearest cube` remains the
    one that was nearest then, and `10 cm to the left` begins where the object was.
    """

    def __init__(self, situation: Situation | None):
        self._situation = situation
        self._state: DialogueState | None = None
        self._assumed: dict[str, str] = {}
        """What was chosen by question where nobody answers."""

    def __call__(self, request: PromptRequest, _: str) -> str:
        scene, situation = request.scene, self._situation
        if request.kind == 'call':
            return call_text(request.text, request.scene)
        if situation is None:
            return 'cannot: `offline` is in no episode.'
        if scene is None or scene.is_symbolic:
            return IN_HOUSES
        answers = {remark.question: remark.text for remark in situation.remarks()}
        try:
            return self._settled(request, scene, situation, answers)
        except AskError as error:
            if request.kind != 'goal' and situation.asks():
                return ' | '.join([f'ask: {error}', *error.options])
            text = f'{error} State it in the task: {", ".join(error.options)}.'
        except WithdrawnError as error:
            return NONE if request.kind == 'goal' else f'cannot: {error}'
        except RefusalError as error:
            text = str(error).strip()
        refused = f'cannot: {text} {hint_of(objects_of(scene))}'
        return NONE if request.kind == 'goal' else refused

    def _settled(
        self,
        request: PromptRequest,
        scene: Scene,
        situation: Situation,
        answers: Mapping[str, str],
    ) -> str:
        """Return the reply; where nobody answers a question, with what moves least assumed."""
        if any(kind_of_talk(text) == WITHDRAWAL for text in answers.values()):
            raise WithdrawnError('You withdrew the task.')
        nobody = situation.talks() and not situation.asks()
        unanswered = {question for question, text in answers.items() if text == SAFEST}
        while True:
            answers = {q: text for q, text in answers.items() if text != SAFEST} | self._assumed
            try:
                return self._reply(request, scene, situation, answers)
            except AskError as error:
                question = str(error)
                if question in self._assumed or not (nobody or question in unanswered):
                    raise
                first = replace(request, kind='plan', start=0, plan=(), failures=())
                plans: dict[str, int] = {}
                for option in error.options:
                    with suppress(RefusalError):
                        given = {**answers, question: option}
                        reply = self._reply(first, scene, situation, given)
                        plans[option] = reply.count('\n')
                if not plans:
                    raise
                self._assumed[question] = min(plans, key=plans.__getitem__)

    def _reply(
        self,
        request: PromptRequest,
        scene: Scene,
        situation: Situation,
        answers: Mapping[str, str],
    ) -> str:
        if request.kind in BY_OUTCOMES:
            request = _with_outcomes(request, situation)
        objects, task = objects_of(scene), situation.task
        if self._state is None:
            self._state = DialogueState(task.turns, objects, scene.held)
        state = self._state
        if found := self._answer(task.instruction, scene, situation):
            return NONE if request.kind == 'goal' else found
        utterance, left, replies = self._revised(
            state.begun(task.instruction, answers), scene, situation
        )
        wanted = state.wanted(utterance)
        goals = [*wanted.backs, *wanted.goals]
        names = {name for goal in goals for item in goal.items for name in item.names}
        if gone := sorted(names - {*scene.names}):
            raise RefusalError(f"There is no '{gone[0]}' in the scene any more.")
        table = replace(utterance.table, past=replace(state.past, last=utterance.patients))
        taken = {one.text for one in situation.remarks()} - {one.text for one in left}
        lessons = Lessons(
            request, scene, lambda text: Utterance.read(text, table).goals, left, taken
        )
        for note in lessons.notes:
            situation.not_understood(note)
            replies[note] = f"answer: I do not understand '{note}'. {hint_of(objects)}"
        failure = request.failures[-1] if request.failures else None
        news = [replies.get(one.text, '') for one in failure.human] if failure else []
        news = [*news, *(replies.values() if request.kind == 'plan' else ())]
        news = [*dict.fromkeys(news)] if situation.talks() else []
        if failure and request.kind == 'repair' and news and all(news) and _is_remark(failure):
            # The plan stays as it is.
            return f'answer: {" ".join(text.removeprefix("answer: ") for text in news)}'
        far = {item.name for item in objects.values() if item.in_reach is False}
        if request.kind == 'goal':
            # No condition states what is left out.
            changed = lessons.bad or lessons.preferred or not wanted.is_checkable
            return NONE if changed else conditions_text([*goals, *lessons.wishes], objects, far)
        steps = steps_for([_planned(goal, far) for goal in goals], scene, lessons)
        if request.kind == 'calls':
            calls = (call_text(step, scene) for step in steps)
            return numbered([call for call in calls if call != PASS])
        if request.kind == 'planning_goal':
            return final_places(_called(steps, scene), scene)
        if request.kind in BY_OUTCOMES:
            return plan_reply(request, _called(steps, scene), 'rob0')
        aside = [f'assumed: {question} {option}' for question, option in self._assumed.items()]
        aside += filter(None, news)
        if request.kind != 'repair':
            return '\n'.join([numbered(steps, request.start), *aside])
        if request.start == len(request.plan) and steps == [AT_THE_END]:
            steps = []  # all that can be done was done
        explanation = f'{request.failures[-1].cause} The plan goes on from how the scene is now.'
        if lessons.bad:
            explanation += f' Left out: {", ".join(lessons.bad)}.'
        if lessons.notes:
            explanation += f' Not understood: {" / ".join(lessons.notes)}. {hint_of(objects)}'
        return '\n'.join([repaired(explanation, steps, request.start), *aside])

    def _revised(
        self, utterance: Utterance, scene: Scene, situation: Situation
    ) -> tuple[Utterance, list[FeedbackReceived], dict[str, str]]:
        """Return what is meant after all remarks, those left over, and replies to the others."""
        left: list[FeedbackReceived] = []
        replies: dict[str, str] = {}
        for remark in situation.remarks():
            if remark.question or not remark.text:
                continue
            if found := self._answer(remark.text, scene, situation, running=True):
                replies[remark.text] = found
            elif (changed := added(remark.text, utterance, utterance.table)) is not None:
                utterance = changed
            elif is_stop(remark.text.partition(',')[0].partition(' ')[0]):
                raise WithdrawnError(f'You wrote: "{remark.text}".')
            else:
                left.append(remark)
        return utterance, left, replies

    def _answer(
        self, text: str, scene: Scene, situation: Situation, *, running: bool = False
    ) -> str:
        """Return the reply to talk or a question, with its word; '' for a task."""
        assert self._state is not None
        objects, begin = objects_of(scene), 'answer: ' if situation.talks() else 'cannot: '
        if kind := kind_of_talk(text):
            if kind == WITHDRAWAL and running:
                raise WithdrawnError('You withdrew the task.')
            return begin + reply_to_talk(kind, hint_of(objects))
        words = words_of(text[:MAX_CHARACTERS], objects)
        recall = Recall(
            self._state.turns,
            lambda what: names_in(what, objects),
            situation.task.instruction if running else '',
            situation.events(),
        )
        if found := recall.answer(text):
            return begin + found
        if ' '.join(word for word in words if word != ';') in HELP:
            return begin + hint_of(objects)
        if not is_question(words):
            return ''
        return begin + answer(words, objects, scene.held)


def _with_outcomes(request: PromptRequest, situation: Situation) -> PromptRequest:
    """Return a request with what was done and what failed, in words, as the episode shows it."""
    done: list[str] = []
    failures: list[StepFailure] = []
    held = ''
    for outcome in (e.data for e in situation.events() if isinstance(e.data, Outcome)):
        call = outcome.call
        words = ' '.join((call.skill, *call.args))
        if call.skill == 'place':
            where = 'at' if is_pose_like(call.args[0]) else 'on'
            words = f'place {held or "it"} {where} {call.args[0]}'
        if outcome.succeeded:
            done.append(words)
            held = {'pick': call.args[0] if call.args else '', 'place': ''}.get(call.skill, held)
            continue
        tried = outcome.code is not Code.NOT_APPROVED
        step = PlanStep(len(done), words)
        failures.append(StepFailure(step, outcome.message, outcome=outcome, tried=tried))
    return replace(request, plan=tuple(done), start=len(done), failures=tuple(failures))


def _called(steps: Sequence[str], scene: Scene) -> list[PlanLine]:
    """Return the calls that steps are, without the way back to the base alone."""
    if list(steps) == [AT_THE_END]:
        return []
    lines = []
    for step in steps:
        call = parse_call(call_text(step, scene), scene)
        if isinstance(call, SkillCall):
            lines.append(PlanLine(call.skill, call.args, step))
    return lines


def _is_remark(failure: StepFailure) -> bool:
    """Return whether nothing has failed, and no person has denied anything."""
    return not failure.tried and failure.outcome is None


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
