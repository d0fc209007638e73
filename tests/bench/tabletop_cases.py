"""Cases of the suite `tabletop`."""

from bbllm.bench.scene_sampling.generator import make_case
from bbllm.bench.suites.case import Case
from bbllm.bench.suites.suite import load_suite

SUITE = load_suite('tabletop')
TASKS = tuple(spec.name for spec in SUITE.tasks)


def case_of(name: str, trial: int = 0, seed: int = 0) -> Case:
    return make_case(SUITE, name, seed=seed, trial=trial)
