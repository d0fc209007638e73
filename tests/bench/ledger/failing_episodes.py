"""Episodes of a planner on a table of symbols, in which something fails."""

from collections.abc import Sequence
from pathlib import Path

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Episode
from bbllm.core.journal import JournalWriter
from bbllm.core.protocols import ModelRequest
from bbllm.core.registry import load_planner
from bbllm.core.types import SkillCall, Task
from bbllm.llm.models.factory import Models
from bbllm.planners.assembly import build_planner
from bbllm.testing import ScriptedModel
from tests.planners.symbolic_table import SymbolicTabletop, busy_table

UNCOVER = 'New plan:\n0: pick(blue_cube)\n1: place(location_B)\n2: pick(red_cube)\n3: Done'
"""Repairs a plan that began with the cube below."""
FAR = ('0: pick(red_cube)\n1: place(location_I)', 'New plan:\n1: place(location_A)\n2: Done')
"""A plan whose second step is out of reach, and its repair."""


def far_table() -> SymbolicTabletop:
    """Return a table with a location that the arm does not reach."""
    return busy_table(unreachable=['location_I'])


def stack() -> SymbolicTabletop:
    """Return a table with a cube on a cube."""
    places = {'location_A': (0.54, -0.18), 'location_B': (0.48, -0.12)}
    table = SymbolicTabletop({'red_cube': (0.4, 0.12), 'blue_cube': (0.6, 0.2), **places})
    for call in (SkillCall('pick', ('blue_cube',)), SkillCall('place', ('red_cube',))):
        assert table.execute(call).succeeded
    return table


def play(
    table: SymbolicTabletop,
    replies: Sequence[str],
    *,
    folder: Path | None = None,
    name: str = 'test',
    task: str = 'put the red cube away',
    planner: str = 'brain_body',
    brain: str = 'scripted',
    k: int = 3,
    settings: dict[str, object] | None = None,
    remark: str = '',
) -> tuple[Episode, ScriptedModel]:
    """
    Play an episode; return also its Brain, which has what was asked.

    Its journal goes into a *folder*. *remark* is sent while the first plan is written.
    """
    first, *others = replies

    def begin(request: ModelRequest) -> str:
        if remark:
            run.add_feedback(remark)
        return first

    model = ScriptedModel([begin, *others], name=brain)
    body = ScriptedModel(['0: <rob0>[pick] <unicorn>'] * 2, name=brain)
    journal = None if folder is None else JournalWriter(folder, name)
    run = EpisodeRun(
        Task(name, task),
        planner=planner,
        brain=brain,
        body=brain,
        sinks=[] if journal is None else [journal],
        settings=settings,
    )
    made = build_planner(run, load_planner(planner), Models(model, body), k=k)
    return run.execute(made, table), model
