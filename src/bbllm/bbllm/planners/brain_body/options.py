"""The options of BrainBody-LLM."""

from dataclasses import dataclass

from bbllm.planners.brain_body.prompting import FeedbackForm
from bbllm.planners.common.belief.belief_world import Estimation
from bbllm.planners.common.grounding import Policy
from bbllm.planners.common.model_planner import PictureUse


@dataclass(frozen=True, slots=True)
class BrainBodyOptions:
    """Options of the planner."""

    grounding: Policy = Policy.NEAREST
    """In a household, how one of several objects of a class is chosen."""
    read_calls: bool = True
    """Whether steps that already are calls are read without a model; if not, the Body is asked for
    each step, as in the paper."""
    open_state: Estimation = 'given'
    """How beliefs about objects are formed from past actions, for the Brain to read."""
    reach: bool = True
    """On a table, whether the Brain is told what is out of reach, or learns it from feedback only,
    as in the paper."""
    image: PictureUse = 'none'
    """Whether the Brain is sent a picture of the scene: with the first plan, or also with each
    repair."""
    feedback: FeedbackForm = 'full'
    """What repair prompts state of why a step failed."""


OPTIONS = BrainBodyOptions()
