"""Writes what a comparison comes to: figures and tables, from the folders of its runs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from bbllm_bench.compare.choice import folder_name
from bbllm_bench.compare.figures import (
    LeftOutPlanner,
    PlannerComparison,
    PlannerResults,
    comparison_of,
)
from bbllm_bench.compare.text import markdown
from bbllm_bench.log.files import claim_folder, write_atomically
from bbllm_bench.log.store import read_run
from bbllm_bench.oracle.notices import notices_of_changes, roles_of, stand_ins
from bbllm_bench.scorers.scoring import earlier_lines

COMPARE = 'compare.json'
TABLES = 'compare.md'
STAND_INS_ONLY = (
    'A stand-in answered, not a language model: rates show that the plumbing of each planner '
    'works, and not how well it plans. Sizes of prompts are those of any model whose replies lead '
    'to as many steps.'
)


def claim(folder: Path) -> None:
    """
    Make the folder of a comparison.

    Raises:
        ConfigError: It cannot be made, or has other content.
    """
    claim_folder(folder, COMPARE, 'a comparison')
    if not (folder / COMPARE).exists():
        # Whoever is stopped before the first figures can go on in it.
        write_atomically(folder / COMPARE, '')


def compare_folder(
    folder: Path,
    planners: Sequence[str],
    *,
    left_out: Sequence[LeftOutPlanner] = (),
    ended_early: Mapping[str, str] = MappingProxyType({}),
) -> PlannerComparison | None:
    """
    Sum up what is on record in the folder of a comparison, and write it there.

    Returns None where no episode is on record.

    Args:
        folder: The comparison.
        planners: Who plays; the others are compared with the first.
        left_out: Who does not.
        ended_early: Why the run of a planner ended before all was played.

    Raises:
        ConfigError: A run cannot be read, or a file cannot be written.
    """
    entries = [entry for planner in planners if (entry := _entry(planner, folder))]
    if not entries:
        return None
    against = planners[0]
    data = comparison_of(entries, against=against).model_copy(
        update={
            'notices': tuple(_notices(entries, against)),
            'left_out': tuple(left_out),
            'ended_early': dict(ended_early),
        }
    )
    write_atomically(folder / COMPARE, json.dumps(data.model_dump(), indent=2) + '\n')
    write_atomically(folder / TABLES, markdown(data))
    return data


def _entry(planner: str, folder: Path) -> PlannerResults | None:
    """Return the run of a planner as it is on disk; None where no episode of it ended."""
    run = read_run(folder / folder_name(planner))
    return PlannerResults(planner, run) if run.results else None


def _notices(entries: Sequence[PlannerResults], against: str) -> list[str]:
    """
    Return notices: what is no language model, what no figure counts, what is still missing.

    A Body that is never asked is none of these names.
    """
    named = {
        name: roles
        for name in stand_ins()
        for entry in entries
        if (roles := roles_of(name, entry.run.settings, {}))
    }
    notices = [f'`{name}` {stand_ins()[name]}.' for name in named]
    in_brain = any('Brain' in roles for name, roles in named.items() if name != 'replay')
    notices += [STAND_INS_ONLY] if in_brain else []
    if parts := entries[0].run.settings.parts:
        notices.append(f'Shards of the run: {parts}.')
    for entry in entries:
        lines = earlier_lines(entry.results)
        notices += [
            f'`{entry.planner}`: {line}' for line in (*notices_of_changes(entry.results), *lines)
        ]
    if all(entry.planner != against for entry in entries):
        notices.append(
            f'`{against}`, which the others are compared with, has no episode on record yet, so '
            'there are no differences from it. The same command goes on with it.'
        )
    return notices
