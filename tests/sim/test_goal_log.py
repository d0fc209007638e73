"""Every goal that the simulated robot was sent is reported."""

from bbllm.arm.controllers.trajectory_goal import TrajectoryGoal
from bbllm.arm.driver import GraspGoal
from bbllm.scene.scene_file import load_scene
from bbllm.sim.faults import Fault, RobotMode
from bbllm.sim.robot import GoalSeen, SimulatedRobot
from bbllm.sim.simulation import Simulation


def test_every_goal_that_arrives_is_reported_with_the_mode_of_the_robot(
    turn: TrajectoryGoal,
) -> None:
    reported: list[GoalSeen] = []
    robot = SimulatedRobot(Simulation(load_scene('empty_table')), on_goal=reported.append)
    robot.follow(turn)
    robot.advance(0.5)
    robot.inject(Fault.USER_STOP)
    robot.follow(turn)
    assert robot.refuse(turn)
    robot.replace_trajectory(turn)
    robot.move_gripper(0.04, 0.1)
    robot.grasp(GraspGoal(0.04, 0.1, 10.0, 0.005, 0.005))
    robot.home_gripper()

    stopped = RobotMode.USER_STOPPED
    assert [(goal.kind, goal.mode, goal.accepted) for goal in reported] == [
        ('follow_joint_trajectory', RobotMode.MOVE, True),
        ('follow_joint_trajectory', stopped, False),
        ('follow_joint_trajectory', stopped, False),
        ('joint_trajectory', stopped, False),
        ('move', stopped, True),
        ('grasp', stopped, True),
        ('homing', stopped, True),
    ]
    assert [goal.stamp_s for goal in reported] == [0.0, *[0.5] * 6]
    assert 'not running' in reported[1].reason


def test_a_goal_that_may_be_sent_is_not_yet_a_goal(
    turn: TrajectoryGoal,
) -> None:
    reported: list[GoalSeen] = []
    robot = SimulatedRobot(Simulation(load_scene('empty_table')), on_goal=reported.append)
    assert robot.refuse(turn) is None
    assert not reported
