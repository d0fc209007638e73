"""
A skill of your own: `swap(first, second)`, made of skills that the arm has.

    python examples/own_skill.py [MODEL]

A world is anything with `skills`, `observe`, `execute` and `stop`, and a `Robot` is one. So a new
skill is a world around another one. Planners find it in the scene, with its summary, as they find
any other. Each call inside passes the checks below: reach, collisions, limits, safety envelope.
"""

import sys
from dataclasses import replace
from typing import ClassVar

from bbllm import (
    ModelRequest,
    Outcome,
    Reply,
    Robot,
    Scene,
    Skill,
    SkillCall,
    Status,
    WorldWrapper,
)

SWAP = Skill('swap', ('first', 'second'), 'exchange the places of two objects', ('exchange',))


class WithSwap(WorldWrapper):
    """A world with one more skill."""

    DROPPED: ClassVar = {'rehearse': 'its simulations do not have the skill'}
    _stopped = False

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills of the inner world, and the new one."""
        return (*self.inner.skills, SWAP)

    def observe(self) -> Scene:
        """Return the scene, which tells planners of the skill."""
        return replace(self.inner.observe(), skills=self.skills)

    def execute(self, call: SkillCall) -> Outcome:
        """Execute a call; a swap step by step, up to the first that fails."""
        if call.skill != SWAP.name:
            return self.inner.execute(call)
        self._stopped = False
        scene, duration_s = self.inner.observe(), 0.0
        try:
            parts = self._parts(*call.args, scene=scene)
        except (KeyError, ValueError) as error:
            return Outcome(call=call, status=Status.REJECTED, message=f'No swap: {error}.')
        for part in parts:
            if self._stopped:
                return Outcome(call=call, status=Status.FAILED, message='The swap was stopped.')
            outcome = self.inner.execute(part)
            duration_s += outcome.duration_s
            if not outcome.succeeded:
                # Code and sentence stay: the planner is told what went wrong inside.
                return replace(outcome, call=call, status=Status.FAILED, duration_s=duration_s)
        return Outcome(call=call, status=Status.SUCCEEDED, duration_s=duration_s)

    def stop(self) -> None:
        """Stop the call that runs now, from any thread."""
        self._stopped = True
        super().stop()

    def _parts(self, first: str, second: str, *, scene: Scene) -> list[SkillCall]:
        """Park the first object at a free location, move the second, and fetch the first."""
        taken = {fact.object for fact in scene.facts if fact.predicate in ('on', 'in')}
        free = [
            item.name
            for item in scene.objects
            if item.kind.value == 'location'
            and item.name not in taken
            and scene.has(item.name, 'reachable', 'yes')
        ]
        if not free:
            raise ValueError('no location is free')
        moves = ((first, free[0]), (second, _pose(scene, first)), (first, _pose(scene, second)))
        return [
            call
            for name, target in moves
            for call in (SkillCall('pick', (name,)), SkillCall('place', (target,)))
        ]


def _pose(scene: Scene, name: str) -> str:
    """Write the position of an object as a target: `x y z` in metres, in the robot's frame."""
    return ' '.join(f'{value:.3f}' for value in scene.object(name).pose.position_m)


class Scripted:
    """A model for trying it out: as Brain it plans one step, as Body it writes the call."""

    name = 'scripted'
    supports_schema = False

    def ask(self, request: ModelRequest, on_text: object = None) -> Reply:
        """Reply in the formats that the planner `brain_body` asks for."""
        asks_for_call = '<rob0>' in request.messages[-1].content
        call, plan = '<rob0>[swap] <red_cube> <blue_cube>', '0: swap red_cube and blue_cube'
        return Reply(text=call if asks_for_call else plan, model=self.name)


def main(model: str | None = None) -> int:
    """Use the skill in one call, then in a plan."""
    brain = model or Scripted()
    with Robot('sim', brain=brain, body=brain) as arm, Robot(WithSwap(arm), brain=brain) as robot:
        print(robot.execute('swap(red_cube, blue_cube)').status.name)
        episode = robot.do('let the red and the blue cube exchange their places')
        print(*(event.data for event in episode.events if isinstance(event.data, SkillCall)))
        print(episode.ending.name, episode.message)
    return 0 if episode.ending.name == 'FINISHED' else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
