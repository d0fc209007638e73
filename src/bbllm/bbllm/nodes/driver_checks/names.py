"""Names, types and qualities of service: what the graph shows before anything is said."""

from __future__ import annotations

from bbllm.nodes.driver_checks.check import (
    Evidence,
    Need,
    Theme,
    expect_equal,
)
from bbllm.nodes.driver_checks.client import DriverClient
from bbllm.nodes.driver_checks.graph import expect_actions, expect_services, expect_topic

ARM = Theme(title='names of the arm', need=Need.NOTHING)
HAND = Theme(title='names of the hand', need=Need.NOTHING, hand=True)
STATE = 'franka_robot_state_broadcaster'
POSE, TWIST = 'geometry_msgs/msg/PoseStamped', 'geometry_msgs/msg/TwistStamped'
WRENCH, JOINTS = 'geometry_msgs/msg/WrenchStamped', 'sensor_msgs/msg/JointState'
CONVENIENCE = {
    'current_pose': POSE,
    'last_desired_pose': POSE,
    'desired_end_effector_twist': TWIST,
    'measured_joint_states': JOINTS,
    'desired_joint_states': JOINTS,
    'external_joint_torques': JOINTS,
    'external_wrench_in_base_frame': WRENCH,
    'external_wrench_in_stiffness_frame': WRENCH,
}
"""Topics of the state broadcaster beside robot_state."""


@ARM.check('fr 1.5; joint_trajectory_controller.cpp on_configure')
def arm_follows_trajectories_as_an_action(driver: DriverClient) -> Evidence:
    """The arm's controller serves follow_joint_trajectory as FollowJointTrajectory."""
    return expect_actions(
        driver,
        {
            f'{driver.controller}/follow_joint_trajectory': (
                'control_msgs/action/FollowJointTrajectory'
            )
        },
    )


@ARM.check('fr 1.5; joint_trajectory_controller.cpp on_configure')
def arm_listens_to_trajectories_on_a_topic(driver: DriverClient) -> Evidence:
    """The arm's controller subscribes joint_trajectory as JointTrajectory."""
    topic = driver.full_name(f'{driver.controller}/joint_trajectory')
    driver.wait_until(
        lambda: driver.node.get_subscriptions_info_by_topic(topic), f'a subscriber of {topic}'
    )
    seen = {end.topic_type for end in driver.node.get_subscriptions_info_by_topic(topic)}
    expect_equal('the type', seen, {'trajectory_msgs/msg/JointTrajectory'})
    return {topic: sorted(seen)}


@ARM.check('fr 1.5; joint_trajectory_controller.cpp on_configure')
def arm_tells_its_controller_state(driver: DriverClient) -> Evidence:
    """The arm's controller publishes controller_state, reliably."""
    kind = 'control_msgs/msg/JointTrajectoryControllerState'
    return expect_topic(driver, f'{driver.controller}/controller_state', kind, reliable=True)


@ARM.check('fr 1.5; joint_trajectory_controller.cpp on_configure')
def arm_answers_where_its_trajectory_will_be(driver: DriverClient) -> Evidence:
    """The arm's controller serves query_state as QueryTrajectoryState."""
    name, kind = f'{driver.controller}/query_state', 'control_msgs/srv/QueryTrajectoryState'
    return expect_services(driver, {name: kind})


@ARM.check('fr 1.5; franka_action_server.cpp')
def error_recovery_is_an_action(driver: DriverClient) -> Evidence:
    """Errors are cleared by the action action_server/error_recovery."""
    kind = 'franka_msgs/action/ErrorRecovery'
    return expect_actions(driver, {'action_server/error_recovery': kind})


@ARM.check('fr 1.5; franka_action_server.cpp')
def robot_side_motions_are_an_action(driver: DriverClient) -> Evidence:
    """The robot's own point-to-point motion is the action action_server/ptp_motion."""
    return expect_actions(driver, {'action_server/ptp_motion': 'franka_msgs/action/PTPMotion'})


@ARM.check('fr 1.5; franka_param_service_server.cpp')
def thresholds_and_load_are_services(driver: DriverClient) -> Evidence:
    """Both services for collision thresholds, and set_load, are under service_server."""
    return _parameter_services(
        driver,
        set_force_torque_collision_behavior='SetForceTorqueCollisionBehavior',
        set_full_collision_behavior='SetFullCollisionBehavior',
        set_load='SetLoad',
    )


@ARM.check('fr 1.5; franka_param_service_server.cpp')
def stiffness_and_frames_are_services(driver: DriverClient) -> Evidence:
    """The services for stiffness and for the frames of tool and stiffness are there too."""
    return _parameter_services(
        driver,
        set_joint_stiffness='SetJointStiffness',
        set_cartesian_stiffness='SetCartesianStiffness',
        set_tcp_frame='SetTCPFrame',
        set_stiffness_frame='SetStiffnessFrame',
    )


@ARM.check('fr 1.5; controller_manager.cpp init_services')
def controllers_and_hardware_are_switched_by_services(driver: DriverClient) -> Evidence:
    """controller_manager lists and switches controllers and hardware components."""
    return _manager_services(
        driver,
        list_controllers='ListControllers',
        switch_controller='SwitchController',
        list_hardware_components='ListHardwareComponents',
        set_hardware_component_state='SetHardwareComponentState',
    )


@ARM.check('fr 1.5; controller_manager.cpp init_services')
def controllers_are_loaded_by_services(driver: DriverClient) -> Evidence:
    """controller_manager also loads, configures and unloads controllers, and lists interfaces."""
    return _manager_services(
        driver,
        load_controller='LoadController',
        configure_controller='ConfigureController',
        unload_controller='UnloadController',
        list_controller_types='ListControllerTypes',
        list_hardware_interfaces='ListHardwareInterfaces',
    )


@ARM.check('fr 1.5; controller_manager.cpp:658')
def activity_is_kept_for_those_who_come_later(driver: DriverClient) -> Evidence:
    """controller_manager/activity is reliable and transient local."""
    kind = 'controller_manager_msgs/msg/ControllerManagerActivity'
    return expect_topic(driver, 'controller_manager/activity', kind, reliable=True, latched=True)


@ARM.check('fr 1.5; franka_robot_state_broadcaster.cpp on_configure')
def robot_state_is_reliable(driver: DriverClient) -> Evidence:
    """robot_state is published as FrankaRobotState, reliably, and is not kept."""
    kind = 'franka_msgs/msg/FrankaRobotState'
    return expect_topic(driver, f'{STATE}/robot_state', kind, reliable=True, latched=False)


@ARM.check('fr 0.8, 1.5; franka_robot_state_broadcaster.cpp on_configure')
def convenience_topics_are_best_effort(driver: DriverClient) -> Evidence:
    """The eight other topics of the state broadcaster are there, all of them best effort."""
    evidence: dict[str, object] = {}
    for name, kind in CONVENIENCE.items():
        evidence |= expect_topic(driver, f'{STATE}/{name}', kind, reliable=False)
    return evidence


@ARM.check('fr 1.5; joint_state_broadcaster.cpp, franka.launch.py')
def joint_states_of_the_arm_are_reliable(driver: DriverClient) -> Evidence:
    """The arm's own joint states are on franka/joint_states, reliably."""
    return expect_topic(driver, 'franka/joint_states', JOINTS, reliable=True)


@ARM.check('fr 1.5; franka.launch.py')
def joint_states_of_everything_are_on_one_topic(driver: DriverClient) -> Evidence:
    """joint_states carries the joint states of the whole robot."""
    return expect_topic(driver, 'joint_states', JOINTS, reliable=True)


@ARM.check('fr 1.5; franka.launch.py (robot_state_publisher)')
def robot_description_is_kept(driver: DriverClient) -> Evidence:
    """robot_description is reliable and transient local."""
    return expect_topic(
        driver, 'robot_description', 'std_msgs/msg/String', reliable=True, latched=True
    )


@ARM.check('fr 1.5; franka.launch.py (robot_state_publisher)')
def fixed_transforms_are_kept(driver: DriverClient) -> Evidence:
    """Moving transforms are on /tf; fixed ones on /tf_static, which is transient local."""
    kind = 'tf2_msgs/msg/TFMessage'
    return {
        **expect_topic(driver, driver.transforms('/tf'), kind, latched=False),
        **expect_topic(driver, driver.transforms('/tf_static'), kind, latched=True),
    }


@ARM.check('fr 1.5')
def each_state_has_one_author(driver: DriverClient) -> Evidence:
    """Nobody but the driver publishes the states of arm and controllers."""
    evidence = {}
    for topic in ('franka/joint_states', f'{STATE}/robot_state', 'controller_manager/activity'):
        evidence[topic] = len(driver.publishers(topic))
        expect_equal(f'the number of publishers of {topic}', evidence[topic], 1)
    return evidence


@HAND.check('fr 0.1, 1.5; gripper_action_server.cpp, gripper.launch.py')
def hand_has_three_actions_of_its_own(driver: DriverClient) -> Evidence:
    """The hand serves homing, move and grasp with the types of franka_msgs."""
    return expect_actions(
        driver,
        {
            f'{driver.gripper}/{name}': f'franka_msgs/action/{kind}'
            for name, kind in (('homing', 'Homing'), ('move', 'Move'), ('grasp', 'Grasp'))
        },
    )


@HAND.check('fr 1.5; gripper_action_server.cpp')
def hand_has_an_action_for_moveit(driver: DriverClient) -> Evidence:
    """The hand serves gripper_action as GripperCommand."""
    name, kind = f'{driver.gripper}/gripper_action', 'control_msgs/action/GripperCommand'
    return expect_actions(driver, {name: kind})


@HAND.check('fr 1.5; gripper_action_server.cpp')
def hand_is_stopped_by_a_service(driver: DriverClient) -> Evidence:
    """The hand serves stop as Trigger."""
    return expect_services(driver, {f'{driver.gripper}/stop': 'std_srvs/srv/Trigger'})


@HAND.check('fr 1.5; gripper_action_server.cpp')
def joint_states_of_the_hand_are_reliable(driver: DriverClient) -> Evidence:
    """The hand publishes its own joint_states, reliably."""
    return expect_topic(driver, f'{driver.gripper}/joint_states', JOINTS, reliable=True)


def _parameter_services(driver: DriverClient, **kinds: str) -> Evidence:
    return _services(driver, 'service_server', 'franka_msgs', kinds)


def _manager_services(driver: DriverClient, **kinds: str) -> Evidence:
    return _services(driver, 'controller_manager', 'controller_manager_msgs', kinds)


def _services(driver: DriverClient, node: str, package: str, kinds: dict[str, str]) -> Evidence:
    wanted = {f'{node}/{name}': f'{package}/srv/{kind}' for name, kind in kinds.items()}
    return expect_services(driver, wanted)
