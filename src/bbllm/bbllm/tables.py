"""
What of a table can be computed before anything moves: motions, effects of calls, goals.

For planners that search. `plan_motion` returns the motion of a call in a scene, or the first
precondition that is not met; `ImaginedTable` has the effects of calls; `check_goal` what a scene
shows of conditions in the grammar of goals. All of them are what arm and bench use themselves.
"""

from bbllm.core.goals import (
    ConditionKind,
    GoalCondition,
    Selection,
    TaskGoal,
    goal_form,
    kinds_for,
    parse_goal_reply,
)
from bbllm.skills.grasps import MAX_WIDTH_M, Hand
from bbllm.skills.motions import plan_motion
from bbllm.skills.plan_check import ImaginedTable
from bbllm.skills.rejection import Rejection
from bbllm.skills.segments import Motion
from bbllm.skills.shapes import is_round, yaw_pose
from bbllm.worlds.scene.goal_check import check_goal

__all__ = [
    'MAX_WIDTH_M',
    'ConditionKind',
    'GoalCondition',
    'Hand',
    'ImaginedTable',
    'Motion',
    'Rejection',
    'Selection',
    'TaskGoal',
    'check_goal',
    'goal_form',
    'is_round',
    'kinds_for',
    'parse_goal_reply',
    'plan_motion',
    'yaw_pose',
]
