"""
A plain agent: the skills are tools of the model, which calls one at a time until it is done.

It is the baseline of a loop of native tool calls (the form of ReAct: Yao et al., arXiv
2210.03629, with the calls of a chat protocol in place of text). It has no plan, no memory but the
conversation, and no other role than that of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bbllm import EpisodeContext, Outcome, Scene, Task, World, errors, events
from bbllm.planning import (
    CalledTool,
    CallError,
    Message,
    ModelPlanner,
    PictureUse,
    PlannerSpec,
    PromptRequest,
    Tool,
    arguments_of,
    as_data,
    ask_for_call,
    changes,
    images,
    language_of,
    messages_of,
    one_line,
    parameters,
    picture_for,
    picture_sentence,
    prompt_limit,
    render,
    skill_call_of,
    task_text,
    text_of,
    tool_of,
)
from bbllm_planners.agent.conversation import Conversation
from bbllm_planners.hands import Hands

PACKAGE = 'bbllm_planners.agent'
MAX_CALLS = 300
"""How many tools an episode may call, as thoughts of Inner Monologue; other limits are lower."""
ONE_AT_A_TIME = 'One call is carried out at a time: it was not tried.'
MAX_WORDS = 1000
"""So much of a report, reason or question is kept [characters]."""

_WORDS = {'type': 'string'}
LOOK = Tool('look', 'Describes the scene as it is now. Moves nothing.', parameters({}))
DONE = Tool(
    'done', 'Ends the task: all that was asked for is done.', parameters({'report': _WORDS})
)
GIVE_UP = Tool(
    'give_up',
    'Ends the task: it cannot be done, or no more of it.',
    parameters({'reason': _WORDS}),
)
ANSWER = Tool(
    'answer',
    'Ends the task with an answer to the question that it is; nothing moves.',
    parameters({'text': _WORDS}),
)
ASK_PERSON = Tool(
    'ask_person',
    'Asks the person how the task is meant; the result is the answer.',
    parameters({'question': _WORDS}),
)


def tools_for(skills: Sequence[Tool], *, talks: bool = False, asks: bool = False) -> list[Tool]:
    """Return all tools: those of skills, and those of every episode."""
    return [*skills, LOOK, DONE, GIVE_UP, *[ANSWER] * talks, *[ASK_PERSON] * asks]


def scene_of(hands: Hands) -> str:
    """Return a scene as the opening and `look` have it."""
    seen = text_of(language_of(hands.scene).observation(hands.scene, hands.names))
    return '\n'.join(filter(None, [seen, measured(hands.scene)]))


def measured(scene: Scene) -> str:
    """Return what the hand feels as a line; '' where it is not measured."""
    if scene.hand is None or scene.hand.force_n is None:
        return ''
    x, y, z = (round(value, 2) + 0.0 for value in scene.hand.force_n)
    return f'Force on the hand [N], world axes: {x:.2f} {y:.2f} {z:.2f}'


def opening_prompt(
    task: Task,
    scene: Scene,
    text: str,
    *,
    n_left_out: int = 0,
    picture: str = '',
    talks: bool = False,
    asks: bool = False,
) -> str:
    """Return the prompt that begins a conversation; *text* is the scene."""
    language = language_of(scene)
    return render(
        PACKAGE,
        f'{language.name}/agent',
        robot=language.robot,
        task=task_text(task),
        scene=text,
        n_left_out=n_left_out,
        picture=picture,
        talks=talks,
        asks=asks,
    )


def result_text(outcome: Outcome, before: Scene, hands: Hands) -> str:
    """Return the result of a call: whether it succeeded, why not, and what is new."""
    status = 'succeeded' if outcome.succeeded else f'{outcome.status.name}, {outcome.code.name}'
    cause = '' if outcome.succeeded else hands.names.in_short(outcome.message)
    language = language_of(hands.scene)
    new = changes(*(language.observation(each, hands.names) for each in (before, hands.scene)))
    seen = '\n'.join(filter(None, [cause, f'New in the scene: {new}', measured(hands.scene)]))
    return f'{status}\n{as_data(seen)}'


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """Options of the planner."""

    image: PictureUse = 'none'
    """Whether the model is sent a picture of the scene: at the beginning, or also after each
    call, where only the newest is kept."""


@dataclass(frozen=True)
class Agent(ModelPlanner):
    """
    The model calls tools, one at a time, until it calls `done` or `give_up`.

    K has no effect: limits of calls, requests, tokens and time end the episode.
    """

    options: AgentOptions = AgentOptions()

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """Work on the task until the model reports the end, or raise GaveUpError."""
        with context.taking_remarks():
            _Loop(self, task, world, context).run()


class _Loop:
    """One episode."""

    def __init__(self, planner: Agent, task: Task, world: World, context: EpisodeContext):
        self._planner, self._task = planner, task
        self._world, self._context = world, context
        self._hands = Hands(world, context)
        self._picture = picture_for(world, planner.options.image, moved=False)
        scene, text = self._hands.scene, scene_of(self._hands)
        self._talk = Conversation(partial(self._opening, scene, text), ())

    def run(self) -> None:
        """Ask for calls until one of them ends the task."""
        context, brain = self._context, self._planner.brain
        for _ in range(MAX_CALLS):
            self._take_remarks()
            tools = self._talk.tools = tools_for(
                [tool_of(skill) for skill in self._hands.actions],
                talks=context.talks,
                asks=context.asks,
            )
            request = PromptRequest(kind='tool_call', scene=self._hands.scene)
            messages = self._talk.messages(request, prompt_limit(brain))
            try:
                called = ask_for_call(brain, messages, tools, on_retry=context.warn)
            except errors.SpokenError:
                continue
            for call in called.extra:
                context.emit(events.LineDiscarded(str(call)[:MAX_WORDS], ONE_AT_A_TIME))
            if self._is_over(called):
                return
        raise errors.GaveUpError(
            f'After {MAX_CALLS} calls of tools the model has not called `done`. A lower limit of '
            'steps would have ended this earlier.'
        )

    def _opening(self, scene: Scene, text: str, n_left_out: int) -> list[Message]:
        context, picture = self._context, self._picture
        prompt = opening_prompt(
            context.current(self._task) if n_left_out else self._task,
            scene,
            text,
            n_left_out=n_left_out,
            picture=picture_sentence(picture),
            talks=context.talks,
            asks=context.asks,
        )
        return messages_of(prompt, images=images(picture))

    def _take_remarks(self) -> None:
        for remark in self._context.take_human_feedback():
            self._talk.add_words(one_line(remark.sentence))

    def _is_over(self, called: CalledTool) -> bool:
        """Do what a call of a tool asks for; return whether the task has ended."""
        try:
            match called.call.name:
                case LOOK.name:
                    self._hands.look()
                    self._answer(called, as_data(scene_of(self._hands)), idle=True)
                case DONE.name:
                    self._context.report_done()
                    return True
                case GIVE_UP.name:
                    raise errors.GaveUpError(self._words(called, 'reason'))
                case ANSWER.name if self._context.talks:
                    raise errors.AnsweredError(self._words(called, 'text'))
                case ASK_PERSON.name if self._context.asks:
                    self._ask(called)
                case _:
                    self._act(called)
        except CallError as error:
            self._context.emit(
                events.LineDiscarded(str(called.call)[:MAX_WORDS], str(error), code=error.code)
            )
            result = f'not tried, {error.code.name}\n{as_data(one_line(str(error)))}'
            self._answer(called, result, idle=True)
        return False

    def _words(self, called: CalledTool, param: str) -> str:
        return one_line(arguments_of(called.call, (param,))[0])[:MAX_WORDS]

    def _ask(self, called: CalledTool) -> None:
        remarks = self._context.ask_person(self._words(called, 'question'))
        self._answer(called, 'answered')
        for remark in remarks:
            self._talk.add_words(one_line(remark.sentence))

    def _act(self, called: CalledTool) -> None:
        hands = self._hands
        call = skill_call_of(called.call, hands.actions)
        before = hands.scene
        hands.carry_out([call])
        use = self._planner.options.image
        picture = picture_for(self._world, use, moved=True) if use == 'each' else None
        self._talk.add_call(called, result_text(hands.history[-1], before, hands), images(picture))

    def _answer(self, called: CalledTool, result: str, *, idle: bool = False) -> None:
        self._talk.add_call(called, result)
        if idle:
            self._hands.idle(True)


AGENT = PlannerSpec(
    factory=Agent,
    options=AgentOptions(),
    uses_feedback=False,
    asks_body=False,
    uses_force=True,
)
