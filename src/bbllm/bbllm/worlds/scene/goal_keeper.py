"""The goal of a person's sentence: read by the Brain or given by the person, checked by poses."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bbllm.core.errors import ConfigError, NoGoalError, ParseError, UnknownNameError
from bbllm.core.goals import (
    AUTO,
    GIVEN,
    NO_GOAL,
    GoalFinding,
    TaskGoal,
    parse_goal,
    withdrawn,
)
from bbllm.core.observation import Observed
from bbllm.core.protocols import ChatModel, EpisodeContext, streams
from bbllm.core.text import cut
from bbllm.core.types import Scene, Task
from bbllm.planners.common.goal_request import ask_goal
from bbllm.worlds.scene.goal_check import check_goal, undecided

REASON_CHARACTERS = 120
"""So much of why a condition is withdrawn is kept [characters]."""


class SceneGoals:
    """
    A `GoalKeeper` for worlds whose scenes have poses or facts.

    Args:
        brain: Reads the goal from the task.
        text: Conditions that a person gave; the Brain is not asked then.
        moves: Whether anything can move; if not, nothing is checked.
    """

    def __init__(self, brain: ChatModel, text: str = '', *, moves: bool = True):
        self._brain = brain
        self._text = text
        self._moves = moves
        self.by = GIVEN if text else brain.name

    @property
    def overlaps(self) -> bool:
        """Whether a live model reads the goal, which need not be waited for."""
        return not self._text and streams(self._brain)

    def read(self, task: Task, scene: Scene, context: EpisodeContext) -> TaskGoal:
        """
        Return the goal; see `GoalKeeper`.

        One that a person gave counts until something is added to the task; then the Brain reads it
        from the task, what was given and what was added.
        """
        if self._text and not task.added:
            return given_goal(self._text, scene)
        if self._text:
            self.by = self._brain.name
            given = f'The person gave as its goal: {self._text}'
            task = replace(task, added=(given, *task.added))
        goal = ask_goal(self._brain, task, scene, context)
        if why := undecided(goal, scene):
            raise NoGoalError(f'{why}, so that it cannot show that the task was done')
        return goal

    def check(
        self, goal: TaskGoal, scene: Scene, start: Scene, observations: Sequence[Observed] | None
    ) -> GoalFinding:
        """Return what a settled scene shows of a goal; see `GoalKeeper`."""
        if not self._moves:
            return GoalFinding(unseen='nothing moves')
        return check_goal(goal, scene, start, observations=observations)

    def withdraw(self, goal: TaskGoal, condition: str, reason: str, start: Scene) -> TaskGoal:
        """Return a goal with one condition as what is not checked; see `GoalKeeper`."""
        try:
            new = withdrawn(goal, condition, cut(reason, REASON_CHARACTERS), start)
        except ParseError as error:
            raise NoGoalError(f'No condition was withdrawn. {error}') from error
        given = parse_goal(self._text, start).conditions if self._text else ()
        if any(one in given and one not in new.conditions for one in goal.conditions):
            raise NoGoalError(f'A person gave the condition {condition}, so that it stays.')
        return new


def given_goal(text: str, scene: Scene) -> TaskGoal:
    """Return the goal that a person gave; raises ConfigError where a scene cannot have it."""
    try:
        return parse_goal(text, scene)
    except (ParseError, UnknownNameError) as error:
        raise ConfigError(f'The goal {text[:80]!r} cannot be checked. {error}') from error


def goal_keeper(wanted: str, brain: ChatModel, *, moves: bool = True) -> SceneGoals | None:
    """
    Return what keeps the goal of a task; None where it is not to be checked.

    Args:
        wanted: `auto`, `no`, or conditions in the grammar of core.goals; see `check_wanted`.
        brain: Reads the goal with `auto`.
        moves: Whether anything can move, so that the goal is checked.
    """
    if wanted == NO_GOAL:
        return None
    return SceneGoals(brain, '' if wanted == AUTO else wanted, moves=moves)


def check_wanted(wanted: str, observe: Callable[[], Scene]) -> None:
    """
    Check a goal that a person gave, before anything is started.

    Args:
        wanted: `auto`, `no`, or conditions.
        observe: Returns the scene before the task; called for conditions only.

    Raises:
        ConfigError: The conditions cannot be read, or name what is not in the scene.
    """
    if wanted not in (AUTO, NO_GOAL):
        given_goal(wanted, observe())
