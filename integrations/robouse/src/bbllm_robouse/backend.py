"""
The backend `bbllm_table` of Robo Use: agents play the simulated table of bbllm by its skills.

The table runs in a process of the environment of bbllm (`table_process`). There is no action below
skills, so nothing moves that its approval gate and its safety envelope did not let through.
"""

import base64
import io
import json
import os
import subprocess
from typing import Any

import numpy as np
from bbllm_robouse.environment import bbllm_python, with_sources
from robouse.backends.base import ActionSpec, Backend, StepInfo
from robouse.core.embodiment_spec import Skill, SkillArg

END_S = 20.0
"""How long the process of the table may take to end [s]."""


class TableGoneError(RuntimeError):
    """The process of the table has ended."""


class TableBackend(Backend):
    """
    A table of bbllm, by the fields `suite`, `case`, `approval` and `never` of a task.

    Raises RuntimeError where there is no interpreter of bbllm, or it refuses the task.
    """

    name = 'bbllm_table'
    robot_name = 'franka-fr3'
    camera = 'table_camera'
    probe_success = False
    proprioception = ('holding',)

    def __init__(self, spec: dict[str, Any]):
        super().__init__(spec)
        self.max_steps = int(spec.get('max_steps', 60))
        self.action_spec = ActionSpec(
            ['wait'], [0.0], [1.0], 'nothing moves for it; the robot moves by `robo skill`'
        )
        self.last_judge: dict[str, Any] = {}
        self._process: subprocess.Popen[str] | None = None
        self._skills: list[dict[str, Any]] = []

    def reset(self, seed: int) -> None:
        """Draw the table of the case with this seed."""
        self.close()
        self._process = subprocess.Popen(
            [bbllm_python(), '-m', 'bbllm_robouse.table_process'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=with_sources(dict(os.environ)),
        )
        wanted = {name: self.spec.get(name) for name in ('suite', 'never')}
        approval = self.spec.get('approval', 'program')
        self._ask(task=self.spec.get('case'), seed=seed, approval=approval, **wanted)
        self._skills = self._ask(op='skills')

    def step(self, action: Any) -> StepInfo:
        """Do nothing: the robot stands still between calls of skills."""
        return StepInfo(success=False)

    def hold_action(self) -> list[float]:
        """Return the action that moves nothing."""
        return [0.0]

    def observe(self) -> dict[str, Any]:
        """Return the scene as planners of bbllm receive it."""
        state: dict[str, Any] = self._ask(op='observe')
        return state

    def observe_privileged(self) -> dict[str, Any]:
        """Return the scene and the solution of a puzzle, for the reference solution alone."""
        return {**self.observe(), 'reference': self._ask(op='reference')}

    def skills(self) -> list[str]:
        """Return the names of the skills of the table."""
        return [skill['name'] for skill in self._skills]

    def skill_specs(self) -> list[Skill]:
        """Return the skills of the table with their parameters."""
        return [
            Skill(
                skill['name'],
                [SkillArg(name, 'object') for name in skill['params']],
                impl='backend',
                doc=f'{skill["summary"]}; a call is one step',
            )
            for skill in self._skills
        ]

    def run_skill(self, name: str, args: list[str]) -> dict[str, Any]:
        """Execute one call, if the approval gate and the envelope permit it."""
        outcome = self._ask(op='skill', name=name, args=args)
        return {**outcome, 'state': self.observe()}

    def render(self, width: int = 320, height: int = 320) -> np.ndarray:
        """Return a picture of the table [height, width, 3]."""
        from PIL import Image

        picture = Image.open(io.BytesIO(base64.b64decode(self._ask(op='picture'))))
        return np.asarray(picture.convert('RGB').resize((width, height)))

    def success(self) -> bool:
        """Return whether the goal is met now, by the scorers of bbllm."""
        self.last_judge = self._ask(op='score')
        return bool(self.last_judge['passed'])

    def judge(self, outcome: str, text: str) -> bool:
        """Return the verdict of an episode that ended with `robo done`."""
        return self.success() and outcome == 'done'

    def close(self) -> None:
        """End the process of the table."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None  # it is a pipe
        process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ask(self, **request: Any) -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise TableGoneError('The table was not reset.')
        try:
            process.stdin.write(json.dumps(request) + '\n')
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ''
        if not line:
            raise TableGoneError(
                f'The process of the table has ended (exit code {process.poll()}); '
                'episode/server.log has its errors.'
            )
        reply = json.loads(line)
        if 'error' in reply:
            raise RuntimeError(reply['error'])
        return reply['result']
