"""
Parameters of nodes: one model for each node, one line for each parameter.

A field becomes a ParameterDescriptor; the files in config/params have values only. A parameter is
read when its node is configured, so it can be changed while the node is unconfigured or inactive.
A dynamic one can be changed while the node is active and at rest, too. What a person relies on
when they approve motion is fixed: it needs a new start of the node.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from bbllm.core.errors import ConfigError

if TYPE_CHECKING:
    from rcl_interfaces.msg import SetParametersResult
    from rclpy.node import Node
    from rclpy.parameter import Parameter

OF_EVERY_NODE = ('autostart', 'use_sim_time', 'qos_overrides', 'start_type_description_service')

CLOCK_IS_FIXED = (  # half of a graph would stay behind
    'use_sim_time can be set at the start only, of all nodes together: start the stack again, '
    'for example with the launch argument use_sim_time'
)


class Change(enum.Enum):
    """When a parameter can be changed."""

    FIXED = enum.auto()
    """Only at the start of the process."""
    INACTIVE = enum.auto()
    """While the node is unconfigured or inactive."""
    AT_REST = enum.auto()
    """Also while the node is active and carries out nothing."""


def param(
    default: Any,
    description: str,
    low: float | None = None,
    high: float | None = None,
    *,
    change: Change = Change.INACTIVE,
) -> Any:
    told: Any = {'low': low, 'high': high, 'change': change}
    return Field(default, description=description, ge=low, le=high, json_schema_extra=told)


live = partial(param, change=Change.AT_REST)
fixed = partial(param, change=Change.FIXED)


class NodeParams(BaseModel):
    """Values of a node's parameters; an int stands for a float, and no other type for another."""

    model_config = ConfigDict(strict=True, extra='forbid', frozen=True)


class ModelParams(NodeParams):
    """Which language models a node uses."""

    llm_config: str = param('', 'File that describes the models; empty: config/llm.yaml.')
    brain: str = param(
        '', 'Provider or model of the Brain, instead of what the file says; empty: as it says.'
    )
    body: str = param('', 'The same of the Body.')
    record: str = param('', 'File that keeps the whole conversation; empty: none.')
    replay: str = param('', 'Recording that answers instead of a model; empty: none.')


P = TypeVar('P', bound=NodeParams)


class BrainPlannerParams(ModelParams):
    """Parameters of `brain_planner`."""

    planner: str = param(
        'brain_body',
        'Planning method, an entry point of group bbllm.planners, with options or without: '
        '`prog_prompt:check=graph,grounding=nearest`.',
    )
    feedback_loops: int = live(3, 'Feedback loops of an episode, K in the paper.', 0, 100)
    goal: str = param(
        'auto',
        'What is checked at the end of a task that brings no goal of its own: auto, what the '
        'Brain reads from the task, or no.',
    )
    stream: bool = param(
        True,
        'Whether a plan begins while its model writes it; not while fr3_executor asks a person '
        'for plans, nor with record or replay.',
    )
    controller: str = param('fr3_arm_controller', 'Controller that is told to hold in need.')
    step_limit: int = live(200, 'Calls of an episode; 0: no limit.', 0, 100_000)
    model_call_limit: int = live(300, 'Model calls of an episode; 0: no limit.', 0, 100_000)
    token_limit: int = live(0, 'Tokens of an episode, replies too; 0: no limit.', 0, 2**31 - 1)
    wall_limit_s: float = live(0.0, 'Wall time of an episode [s]; 0: no limit.', 0.0, 1e6)
    remark_limit: int = live(10, 'Remarks and denials that may change a plan.', 0, 1000)
    allow_circles: bool = live(
        False, 'Whether an episode that goes in circles goes on up to its other limits.'
    )
    rehearse: int = live(
        -1,
        'In how many simulations of the scene a plan is tried before it moves the arm; 0: none; '
        '-1: in three where fr3_executor asks a person for plans.',
        -1,
        100,
    )
    skill_timeout_s: float = param(600.0, 'Wall time that a call may take [s].', 1.0, 1e5)
    map_timeout_s: float = param(300.0, 'Wall time that map_step may take [s].', 1.0, 1e5)
    episodes_folder: str = param('', 'Where journals go; empty: $XDG_STATE_HOME/bbllm/episodes.')
    picture_topic: str = param(
        'table_camera/color/image_raw',
        'Colour topic of the camera whose pictures a planner with the option image=before or '
        'image=each sends to its model; empty: none.',
    )


class BodyMapperParams(ModelParams):
    """Parameters of `body_mapper`."""

    mapping: str = param(
        'auto',
        'How steps become calls: auto, text, schema or embedding; with embedding, `body` names '
        'the embedding model, or is lexical.',
    )


class StateEstimatorParams(NodeParams):
    """Parameters of `state_estimator`."""

    max_age_s: float = param(2.0, 'Age from which objects are stale, wall clock [s].', 0.1, 60.0)
    wait_s: float = param(3.0, 'Time that get_scene waits for a scene, wall clock [s].', 0.1, 60.0)
    rate_hz: float = param(5.0, 'How often the topic scene is published [Hz].', 0.1, 50.0)
    gripper: str = param('franka_gripper', 'Prefix of the names of the hand.')
    sources: str = param(
        'objects',
        'Who tells where things are, a list with commas: objects (alone), static, detections, '
        'vision_msgs, apriltag, camera.',
    )
    scene: str = param(
        '',
        'Scene file with furniture and locations, and with source static the things: a name in '
        'config/scenes or a path; empty: none, or empty_table with cameras.',
    )
    catalogue: str = param(
        '',
        'File that says what detected things are: a name in config/catalogues or a path; empty: '
        'as detector and scene file say.',
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
    open_state: str = param(
        'off',
        'Who adds what is believed of things by what was done to them, such as fixed_or_heavy, '
        'as estimated facts: off, rules or model.',
    )
    collision_objects: bool = param(False, 'Publish collision_object; needs moveit_msgs.')
    llm_config: str = param('', 'As that of the planner.')
    model: str = param('', 'Model for open_state:=model; empty: that of the Brain.')


class PerceptionParams(NodeParams):
    """Parameters of `perception`."""

    cameras: str = param(
        'table_camera',
        'Cameras with depth, a list with commas: what their topics begin with, as in '
        'table_camera/color/image_raw.',
    )
    detector: str = param('blocks', 'What finds the objects in pictures: blocks, onnx or vlm.')
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
    llm_config: str = param('', 'As that of the planner; of detectors that ask a model.')
    detector_model: str = param(
        '', 'Model of the detector vlm, or the file of the network of onnx.'
    )


class Fr3ExecutorParams(NodeParams):
    """Parameters of `fr3_executor`."""

    controller: str = param('fr3_arm_controller', 'Joint trajectory controller of the arm.')
    gripper: str = param('franka_gripper', 'Prefix of the names of the hand.')
    speed_scale: float = live(0.8, "Share of the robot's limits that is used.", 0.01, 1.0)
    state_timeout_s: float = param(2.0, 'Silence after which the driver has gone [s].', 0.1, 60.0)
    approval: str = fixed('plan', 'What a person has to allow: none, plan, step or risky.')
    approval_timeout_s: float = live(300.0, 'Wall time that a person has to answer [s].', 1.0, 1e5)
    simulated: bool = fixed(False, 'The robot is simulated: a program may answer for a person.')
    safety: str = fixed(
        '', 'File with the safety envelope, a path or safety_slow; empty: config/safety.yaml.'
    )
    never: str = fixed(
        '',
        'What no call and no motion may do, in plain words with semicolons: touch OBJECT, move '
        'OBJECT, place anything on OBJECT; besides the constraints of the safety file.',
    )
    keep_out: str = fixed(
        '',
        'Boxes that nothing may enter, with semicolons: x y z x y z, two corners in the frame of '
        'the base [m]; besides those of the safety file.',
    )
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


class MujocoSimParams(NodeParams):
    """Parameters of `mujoco_sim`."""

    scene: str = param('tabletop', 'File in config/scenes without extension, or a path.')
    speed: float = live(1.0, 'Simulated seconds per second; 0: as fast as possible.', 0.0, 100.0)
    viewer: bool = param(False, 'Open the MuJoCo viewer.')
    force_noise_n: float = param(
        -1.0, 'Noise of forces; 0: exact; -1: as in the scene [N].', -1.0, 5.0
    )
    seed: int = param(0, 'Of the noise of the force.', 0, 2**31)
    clock: bool = param(False, "Publish the world's clock on /clock.")
    homed: bool = param(True, 'The hand was homed already; otherwise it knows no width yet.')
    cameras: bool = param(
        True, 'Offer pictures of table_camera and hand_camera; drawn while there are subscribers.'
    )
    camera_rate_hz: float = param(15.0, 'Pictures per simulated second [Hz].', 0.1, 90.0)
    camera_size: str = param('848x480', 'Size of pictures: 640x480, 848x480 or 1280x720 [px].')


class TaskMenuParams(NodeParams):
    """Parameters of `task_menu`."""

    suite: str = param('tabletop', 'Suite whose tasks the menu offers: its name, or a path.')
    rate_hz: float = param(5.0, 'How often menus and status are looked after [Hz].', 0.5, 50.0)
    max_scene_age_s: float = param(2.0, 'Age from which scenes count as missing [s].', 0.1, 60.0)


NODE_PARAMS: Mapping[str, type[NodeParams]] = {
    'brain_planner': BrainPlannerParams,
    'body_mapper': BodyMapperParams,
    'state_estimator': StateEstimatorParams,
    'perception': PerceptionParams,
    'fr3_executor': Fr3ExecutorParams,
    'mujoco_sim': MujocoSimParams,
    'task_menu': TaskMenuParams,
}


def checked(node: str, cls: type[P], given: Mapping[str, object]) -> P:
    """
    Return the parameters of a node, with defaults for those that are not *given*.

    Raises ConfigError with what a parameter is, or those that there are.
    """
    try:
        return cls.model_validate(given)
    except ValidationError as error:
        name = str(error.errors()[0]['loc'][0])
    if name not in cls.model_fields:
        known = ', '.join(sorted(cls.model_fields))
        raise ConfigError(f'{node} has no parameter {name!r}. Known: {known}.')
    item = cls.model_fields[name]
    low, high = _told(item)['low'], _told(item)['high']
    between = '' if low is None else f' Between {low:g} and {high:g}.'
    raise ConfigError(
        f'{node}: the parameter {name} cannot be {given[name]!r}. It is: {item.description}'
        f'{between} For example {item.default!r}.'
    )


def _told(item: FieldInfo) -> Any:
    """Return what `param` was told of a field: low, high and change."""
    return item.json_schema_extra


class Parameters(Generic[P]):
    """
    The parameters of a node as one record *cls*, which follows their changes.

    *refuse* returns why a parameter cannot be changed now (empty where it can) by its name, and
    whether it can be changed while the node is active. *on_change* is called with the new record
    after a change. Raises ConfigError as `checked`.
    """

    def __init__(
        self,
        node: Node,
        cls: type[P],
        refuse: Callable[[str, bool], str],
        on_change: Callable[[P], None],
    ):
        self._on_change = on_change
        self._node, self._cls, self._refuse = node.get_name(), cls, refuse
        # rclpy keeps what came from files and the command line here, and offers no other way. A
        # misspelt one is otherwise ignored without a word.
        given = {
            name: override.value
            for name, override in node._parameter_overrides.items()
            if not name.startswith(OF_EVERY_NODE)
        }
        self.values = checked(self._node, cls, given)
        for name, item in cls.model_fields.items():
            value = getattr(self.values, name)
            node.declare_parameter(name, value, _descriptor(item), ignore_override=True)
        self._sim_time = node.get_parameter('use_sim_time').value
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._take)

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        from rcl_interfaces.msg import SetParametersResult

        for change in changes:
            if reason := self._fault_of(change):
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _fault_of(self, change: Parameter) -> str:
        if change.name == 'use_sim_time' and change.value != self._sim_time:
            return CLOCK_IS_FIXED
        item = self._cls.model_fields.get(change.name)
        if item is None:
            return ''
        if reason := self._refuse(change.name, _told(item)['change'] is Change.AT_REST):
            return reason
        try:
            checked(self._node, self._cls, {change.name: change.value})
        except ConfigError as error:
            return str(error)
        return ''

    def _take(self, changes: list[Parameter]) -> None:
        own = self._cls.model_fields
        mine = {change.name: change.value for change in changes if change.name in own}
        if mine:
            self.values = self._cls.model_validate({**self.values.model_dump(), **mine})
            self._on_change(self.values)


def _descriptor(item: FieldInfo) -> Any:
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    low, high, change = _told(item).values()
    descriptor = ParameterDescriptor(
        description=item.description, read_only=change is Change.FIXED
    )
    if isinstance(item.default, float):
        # People write speed:=0 where ROS wants 0.0; `checked` sees to the type instead.
        descriptor.dynamic_typing = True
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    elif low is not None:
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
    return descriptor
