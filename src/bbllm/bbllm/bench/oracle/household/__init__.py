"""The oracle of households: `expert`, which is handed start, goal and outcomes as data."""

from bbllm.bench.oracle.household.model import HouseholdOracle

__all__ = ['HouseholdOracle']
