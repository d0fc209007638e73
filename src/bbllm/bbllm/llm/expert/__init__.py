"""
`expert` and `uninformed`: stand-ins for a language model, for benches only; they are none.

Both are told the goal of the case (`ExpertBrief`), read the very prompts that a model would get,
by their labels, and answer in the formats that these ask for. `expert` finds out by force and by
trying what it needs, from the history in the prompt and nothing else; `uninformed` guesses and
calls it done. They measure the plumbing of planners, skills, sensing and checkers; they say
nothing about planning.
"""

from bbllm.llm.expert.brief import ExpertBrief
from bbllm.llm.expert.model import ExpertModel

__all__ = ['ExpertBrief', 'ExpertModel']
