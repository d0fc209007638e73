"""The prompts of LLM-State's attention and policy."""

from collections.abc import Sequence
from dataclasses import dataclass

from bbllm import Outcome, Scene, Task, events
from bbllm.planning import OpenState, StatePrompts, language_of, one_line, render, task_text
from bbllm_planners.low_level_plan import action_forms

PACKAGE = 'bbllm_planners.llm_state'
PLAN_LIMIT = 20
"""A plan has fewer steps than this (appendix VI-A)."""


@dataclass(frozen=True)
class PlanPrompts(StatePrompts):
    """Renders the prompts of one episode; `names` must have seen every scene."""

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
        calls = action_forms(language_of(scene).low_level_actions(scene))
        return _render(
            'policy',
            scene,
            actions=calls,
            examples=[*calls, *calls][:2],
            limit=PLAN_LIMIT,
            stateful=state is not None,
            history=self.history(history, scene),
            unread='' if unread is None else one_line(f'{unread.text} - {unread.why}'),
            observation=self.lists(scene, history),
            situation=self.situation(scene),
            state='' if state is None else self._whole(state),
            task=task_text(task),
        )

    def _whole(self, state: OpenState) -> str:
        reasoning = f'Reasoning: {state.summary}' if state.summary else ''
        return '\n'.join(filter(None, [self.entries(state), reasoning])) or 'nothing yet'


def _render(name: str, scene: Scene, **values: object) -> str:
    return render(PACKAGE, f'{language_of(scene).name}/{name}', **values)
