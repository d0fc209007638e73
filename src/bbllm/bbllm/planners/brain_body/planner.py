"""BrainBody-LLM: one model plans, one acts, failures go back to the first (Algorithm 1)."""

from dataclasses import dataclass

from bbllm.core.protocols import EpisodeContext, World
from bbllm.core.registry import PlannerSpec
from bbllm.core.types import Task
from bbllm.planners.brain_body.options import OPTIONS, BrainBodyOptions
from bbllm.planners.brain_body.session import plan_session
from bbllm.planners.common.model_planner import ModelPlanner


@dataclass(frozen=True)
class BrainBody(ModelPlanner):
    """
    The planning method of the paper: the brain plans, and the Body turns steps into calls.

    Source: Bhat et al., Algorithm 1. Two additions where the paper is silent: feedback of people
    during the task, which uses no loop, and a second request if a reply cannot be read. In a
    household the Body answers in classes, as theirs does; the paper does not specify how an object
    is then chosen.
    Two departures: steps that already are calls are read (`read_calls`), and a step that the Body
    passes is a failure for the Brain to repair; if none does, it stays passed.
    """

    options: BrainBodyOptions = OPTIONS

    def run(self, task: Task, world: World, context: EpisodeContext) -> None:
        """
        Execute the plan to its end; raise ParseError without a first plan; see `Planner`.

        The numbers are those of the lines of Algorithm 1.
        """
        with plan_session(self, self.options, task, world, context) as session:
            i = k = 0  # 10, 13
            session.plan()  # 12: the Brain, for the task
            while not session.ended:  # 14
                # 15 to 18: the Body turns the step into a call, and the actuator executes it.
                failure = session.attempt(i, loops_left=self.k - k)
                if failure is None:  # 27
                    i += 1  # 28
                    continue
                # K counts failures of the robot: a person's word is free, also where none is left.
                remarked = bool(failure.human) and (not failure.tried or k == self.k)
                if k != self.k or remarked:  # 20
                    k += not remarked  # 23
                    # 21 and 22: the Brain again, with what was perceived of the failure.
                    repaired = session.repair(failure, loops_left=self.k - k, remarked=remarked)
                    if repaired or not failure.tried:
                        continue
                session.leave(failure)
                i += 1  # 25


BRAIN_BODY = PlannerSpec(factory=BrainBody, options=OPTIONS, reads_experience=True)
