"""The parameters of each node; what verbs also have is declared in `bbllm.api.config`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from bbllm.api.config import (
    ArmAddress,
    ExperienceChoice,
    GoalChoice,
    LimitChoice,
    LoopChoice,
    MappingChoice,
    ModelChoice,
    ModelFileChoice,
    PlannerChoice,
    RecordChoice,
    RehearsalChoice,
    RuleChoice,
    SceneChoice,
    SeedChoice,
    SpeedChoice,
    StreamChoice,
    TalkChoice,
)
from bbllm.api.settings import Settings, revised, setting
from bbllm.core.approval import ApprovalMode
from bbllm.core.paths import is_yaml_path
from bbllm_ros.rclpy_support.params import NodeParams, Value, fixed, live, param, parameter_of

PICTURES = 'Scenes from pictures'


class ApprovalChoice(Settings):
    """What a person has to allow."""

    approval: Annotated[ApprovalMode, BeforeValidator(ApprovalMode)] = fixed(
        ApprovalMode.PLAN,
        'What a person has to approve before it moves (`bbllm approve`): nothing (none), every '
        'plan, every single call (step), or only calls that are risky.',
    )


class SceneSourceChoice(Settings):
    """Where the scenes of a stack come from."""

    sources: str = setting(
        'objects',
        'Where the objects of scenes come from, a list with commas: objects (alone), the '
        'simulator itself; camera, pictures; static, detections, vision_msgs or apriltag '
        '(docs/perception.md).',
        metavar='NAMES',
        panel=PICTURES,
        common=True,
    )


class CameraChoice(Settings):
    """What finds objects in pictures."""

    cameras: str = setting(
        'table_camera',
        'Cameras with depth, a list with commas: what their topics begin with, as in '
        'table_camera/color/image_raw; a simulation has table_camera and hand_camera.',
        metavar='NAMES',
        panel=PICTURES,
    )
    detector: str = setting(
        'blocks',
        'What finds the objects in pictures: blocks, onnx or vlm.',
        metavar='NAME',
        panel=PICTURES,
    )
    detector_model: str = setting(
        '',
        'The file of the network of the detector onnx, or the model of vlm.',
        metavar='NAME|FILE',
        panel=PICTURES,
    )


class ModelParams(NodeParams, ModelChoice, RecordChoice):
    """Which language models a node uses."""

    brain: str | None = revised(ModelChoice, 'brain')
    body: str | None = revised(ModelChoice, 'body')


class BrainPlannerParams(
    ModelParams,
    PlannerChoice,
    LoopChoice,
    ExperienceChoice,
    GoalChoice,
    TalkChoice,
    StreamChoice,
    LimitChoice,
    RehearsalChoice,
):
    """Parameters of `brain_planner`."""

    planner: str = revised(PlannerChoice, 'planner')
    controller: str = param(
        'fr3_arm_controller', 'Controller that is stopped when a node is lost.'
    )
    skill_timeout_s: float = param(600.0, 'Wall time that a call may take [s].', 1.0, 1e5)
    map_timeout_s: float = param(300.0, 'Wall time that map_step may take [s].', 1.0, 1e5)
    episodes_folder: str = param('', 'Where journals go; empty: $XDG_STATE_HOME/bbllm/episodes.')
    picture_topic: str = param(
        'table_camera/color/image_raw',
        'Colour topic of the camera whose pictures a planner with the option image=before or '
        'image=each sends to its model; empty: none.',
    )


class BodyMapperParams(ModelParams, MappingChoice):
    """Parameters of `body_mapper`."""


class StateEstimatorParams(NodeParams, SceneSourceChoice):
    """Parameters of `state_estimator`."""

    max_age_s: float = param(2.0, 'Age from which objects are stale, wall clock [s].', 0.1, 60.0)
    wait_s: float = param(3.0, 'Time that get_scene waits for a scene, wall clock [s].', 0.1, 60.0)
    rate_hz: float = param(5.0, 'How often the topic scene is published [Hz].', 0.1, 50.0)
    gripper: str = param('franka_gripper', 'Prefix of the names of the hand.')
    scene: str = param(
        '',
        'Scene file with furniture and locations, and with source static the objects: a name in '
        'config/scenes or a path; empty: none, or empty_table with cameras.',
    )
    catalogue: str = param(
        '',
        'File that describes detected objects: a name in config/catalogues or a path; empty: '
        'as detector and scene file do.',
    )
    min_confidence: float = param(0.5, 'Detections that are less sure are left out.', 0.0, 1.0)
    max_delay_s: float = param(2.0, 'Age from which pictures are left out [s].', 0.05, 60.0)
    window_s: float = param(2.0, 'Sightings of so long are averaged [s].', 0.0, 60.0)
    gate_m: float = param(0.01, 'Distance at which sightings still agree [m].', 0.001, 0.2)
    gate_deg: float = param(15.0, 'Angle at which sightings still agree [deg].', 1.0, 180.0)
    agreeing: int = param(3, 'Sightings that agree before an object counts.', 1, 100)
    lost_after_s: float = param(
        2.0, 'Time out of sight after which an object is lost [s]; 0: never.', 0.0, 3600.0
    )
    hidden_m: float = param(0.1, 'Distance at which the arm hides an object [m].', 0.0, 1.0)
    collision_objects: bool = param(False, 'Publish collision_object; needs moveit_msgs.')


class PerceptionParams(NodeParams, ModelFileChoice, CameraChoice):
    """Parameters of `perception`."""

    scene: str = param('', 'As that of state_estimator; its objects count as a catalogue.')
    catalogue: str = param('', 'As that of state_estimator.')
    gripper: str = param('franka_gripper', 'Prefix of the names of the hand.')
    pair_tolerance_s: float = param(
        0.01, 'How far apart the stamps of colour and depth may be [s].', 0.0, 0.5
    )
    silent_after_s: float = param(
        0.7, 'Time without a picture after which a camera has a fault, wall clock [s].', 0.1, 30.0
    )
    frozen_after: int = param(
        3, 'Pictures in a row that repeat the one before, for a fault; 0: any number.', 0, 1000
    )
    least_depth_share: float = param(
        0.3, 'Share of pixels with depth below which a lens is covered.', 0.0, 1.0
    )
    max_delay_s: float = param(2.0, 'As that of state_estimator [s].', 0.05, 60.0)


class Fr3ExecutorParams(NodeParams, RuleChoice, ApprovalChoice):
    """Parameters of `fr3_executor`."""

    controller: str = param('fr3_arm_controller', 'Joint trajectory controller of the arm.')
    gripper: str = param('franka_gripper', 'Prefix of the names of the hand.')
    speed_scale: float = live(0.8, "Share of the robot's limits that is used.", 0.01, 1.0)
    state_timeout_s: float = param(2.0, 'Silence after which the driver has gone [s].', 0.1, 60.0)
    approval_timeout_s: float = live(300.0, 'Wall time that a person has to answer [s].', 1.0, 1e5)
    simulated: bool = fixed(False, 'The robot is simulated: a program may answer for a person.')
    max_scene_age_s: float = param(
        2.0, 'Age of the scene from which nothing moves [s].', 0.1, 60.0
    )
    lift_cap_n: float = param(
        10.0,
        'A lift that takes more ends: what is gripped is fixed or too heavy; contact_force of the '
        'safety file has to be 2.33 times as much [N].',
        2.0,
        30.0,
    )


class MujocoSimParams(NodeParams, SceneChoice, SpeedChoice, SeedChoice):
    """Parameters of `mujoco_sim`."""

    speed: float = revised(SpeedChoice, 'speed', 1.0)
    force_noise_n: float = param(
        -1.0, 'Noise of forces; 0: exact; -1: as in the scene [N].', -1.0, 5.0
    )
    clock: bool = param(False, "Publish the world's clock on /clock.")
    homed: bool = param(True, 'The hand was homed already; otherwise it knows no width yet.')
    cameras: bool = param(
        True, 'Offer pictures of table_camera and hand_camera; drawn while there are subscribers.'
    )
    camera_rate_hz: float = param(15.0, 'Pictures per simulated second [Hz].', 0.1, 90.0)
    camera_size: str = param('848x480', 'Size of pictures: 640x480, 848x480 or 1280x720 [px].')


class FrankaDirectParams(NodeParams, ArmAddress):
    """Parameters of `franka_direct`."""

    load_gripper: bool = fixed(True, 'There is a Franka Hand at the arm.')


NODE_PARAMS: Mapping[str, type[NodeParams]] = {
    'brain_planner': BrainPlannerParams,
    'body_mapper': BodyMapperParams,
    'state_estimator': StateEstimatorParams,
    'perception': PerceptionParams,
    'fr3_executor': Fr3ExecutorParams,
    'mujoco_sim': MujocoSimParams,
    'franka_direct': FrankaDirectParams,
}


def chosen_params(config: Settings) -> dict[str, dict[str, Value]]:
    """Return the parameters of nodes that settings were chosen for; files with whole paths."""
    own, chosen = type(config).model_fields, config.given
    return {
        node: {
            name: _written(name, value)
            for name, value in chosen.items()
            # A parameter of the same name with another description is another setting.
            if name in record.model_fields
            and record.model_fields[name].description == own[name].description
        }
        for node, record in NODE_PARAMS.items()
    }


def _written(name: str, value: Any) -> Value:
    # Names of models may contain a slash, too.
    is_file = isinstance(value, Path) or (
        (name in ('scene', 'safety') and is_yaml_path(value))
        or (name == 'detector_model' and Path(value).suffix == '.onnx')
    )
    return str(Path(value).expanduser().resolve()) if is_file else parameter_of(value)
