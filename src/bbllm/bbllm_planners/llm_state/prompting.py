"""
The prompts of LLM-State's attention, state estimator and policy.

Source: Chen et al., LLM-State, appendix VI-A, in own words. Constant parts come first, so that a
server can cache the beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm import Outcome, Scene, Task, events
from bbllm.planning import (
    ROOMS,
    TAKING,
    OpenState,
    ShortNames,
    language_of,
    one_line,
    render,
    task_text,
    text_of,
)
from bbllm_planners.low_level_plan import action_forms

PACKAGE = 'bbllm_planners.llm_state'
PLAN_LIMIT = 20
"""A plan has fewer steps than this (appendix VI-A)."""


@dataclass(frozen=True)
class PlanPrompts:
    """Renders the prompts of one episode; `names` must have seen every scene."""

    names: ShortNames
    messages: bool = False
    """Whether the history has the reasons of failures."""

    def attention(
        self, task: Task, state: OpenState, history: Sequence[Outcome], scene: Scene
    ) -> str:
        """Return the prompt that asks for relevant objects; the history only orders its lists."""
        return _render(
            'attention',
            scene,
            state=self.entries(state.blank()) or 'nothing yet',
            observation=self.lists(scene, history),
            situation=self.situation(scene),
            task=task_text(task),
        )

    def policy(
        self,
        task: Task,
        state: OpenState | None,
        history: Sequence[Outcome],
        scene: Scene,
        unread: events.LineDiscarded | None = None,
    ) -> str:
        """
        Return the prompt that asks for a plan; a planner without state has no beliefs.

        `unread` is the line that ended the last plan.
        """
        skills = language_of(scene).low_level_actions(scene)
        return _render(
            'policy',
            scene,
            actions=action_forms(skills),
            documented=action_forms(skills, documented=True),
            limit=PLAN_LIMIT,
            stateful=state is not None,
            history=self.history(history, scene),
            unread='' if unread is None else one_line(f'{unread.text} - {unread.why}'),
            observation=self.lists(scene, history),
            situation=self.situation(scene),
            state='' if state is None else self._whole(state),
            task=task_text(task),
        )

    def estimator(
        self,
        task: Task,
        state: OpenState,
        history: Sequence[Outcome],
        scene: Scene,
        *,
        summary: bool = True,
        objects: bool = True,
    ) -> str:
        """Return the prompt that asks for a summary, attributes of `objects`, or both."""
        language = language_of(scene)
        seen = language.lists(scene, self.names)
        return _render(
            'estimator',
            scene,
            task=task_text(task),
            state=self.entries(state.blank()) or 'nothing yet',
            history=self.history(history, scene),
            rooms=text_of({ROOMS: seen[ROOMS]}) if ROOMS in seen else '',
            situation=text_of(language.situation(scene, self.names)),
            summary=summary,
            objects=objects,
        )

    def history(self, outcomes: Sequence[Outcome], scene: Scene) -> str:
        """Return all outcomes, a line each: `open(fridge1) Success`."""
        language, lines = language_of(scene), []
        for outcome in outcomes:
            call = language.as_planned(outcome.call, self.names)
            how = 'Success' if outcome.succeeded else 'Fail'
            if self.messages and not outcome.succeeded and outcome.message:
                how += f': {self.names.in_short(outcome.message)}'
            lines.append(f'{call} {how}')
        return '\n'.join(lines) or 'none yet'

    def entries(self, state: OpenState) -> str:
        return '\n'.join(
            f'{self.names.short(name)}: {" | ".join(words) or "[]"}'
            for name, words in state.attributes.items()
        )

    def lists(self, scene: Scene, history: Sequence[Outcome]) -> str:
        taken = [o.call.args[0] for o in history if o.succeeded and o.call.skill in TAKING]
        latest = [*reversed(dict.fromkeys(reversed(taken)))]
        return text_of(language_of(scene).lists(scene, self.names, latest))

    def situation(self, scene: Scene) -> str:
        return text_of(language_of(scene).unlisted(scene, self.names))

    def _whole(self, state: OpenState) -> str:
        reasoning = f'Reasoning: {state.summary}' if state.summary else ''
        return '\n'.join(filter(None, [self.entries(state), reasoning])) or 'nothing yet'


def _render(name: str, scene: Scene, **values: object) -> str:
    return render(PACKAGE, f'{language_of(scene).name}/{name}', **values)
