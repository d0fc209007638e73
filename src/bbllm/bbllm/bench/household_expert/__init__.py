"""
`expert` in households: a stand-in for a language model, for benches only; it is none.

It is told the start and the goal of a case, finds a plan by search in copies of the household, and
answers the prompts of the planners in the formats that these ask for. It measures the plumbing of
planners, grounding, rules and checkers; it says nothing about planning.
"""

from bbllm.bench.household_expert.model import HouseholdExpert
from bbllm.bench.household_expert.search import NoPlanError, search

__all__ = ['HouseholdExpert', 'NoPlanError', 'search']
