"""Writes what a comparison comes to: figures, tables and plots, from the folders of its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bbllm.bench.compare.choice import Choice, folder_name
from bbllm.bench.compare.figures import Entry, comparison_of, tokens_of_step
from bbllm.bench.compare.plots import Curve, curves, growth_page
from bbllm.bench.compare.run import COMPARE, Ran
from bbllm.bench.compare.text import markdown
from bbllm.bench.log.saved_run import SavedRun, read_settings, read_sorted
from bbllm.bench.log.store import SUMMARY, cannot_write, read_json, write_atomically
from bbllm.bench.scorers.session_history import earlier_lines
from bbllm.bench.stand_ins import STAND_INS, roles_of
from bbllm.viz.png import to_png
from bbllm.viz.shapes import Point
from bbllm.viz.svg import to_svg

TABLES = 'compare.md'
PICTURES = ('prompts.svg', 'prompts.png')
STAND_INS_SAY_NOTHING = (
    'A stand-in answered, not a language model: rates show that the plumbing of each planner '
    'works, and not how well it plans. Sizes of prompts are those of any model whose replies lead '
    'to as many steps.'
)


def compare_folder(folder: Path, choice: Choice, ran: Sequence[Ran]) -> dict[str, Any] | None:
    """
    Sum up what is on record in the folder of a comparison, and write it there.

    Args:
        folder: Holds the folders of the runs.
        choice: Whom to compare.
        ran: How the runs ended that were worked on.

    Returns:
        What `compare.json` holds then; None where no episode is on record.

    Raises:
        ConfigError: A run cannot be read, or a file cannot be written.
    """
    entries = [entry for item in choice.contenders if (entry := _entry(item.planner, folder))]
    if not entries:
        return None
    against = choice.contenders[0].planner
    data = {
        **comparison_of(entries, choice.suite.tasks, against=against),
        'notices': [*_notices(entries), *_not_yet(against, entries)],
        'left_out': [{'planner': item.planner, 'reason': item.reason} for item in choice.left_out],
        'ended_early': {item.planner: item.end.reason for item in ran if item.end.reason},
        'curves': _curves(entries),
    }
    page = growth_page(data['suite'], **data['curves'], note=_note(data))
    write_atomically(folder / COMPARE, json.dumps(data, ensure_ascii=False, indent=2) + '\n')
    write_atomically(folder / TABLES, markdown(data, PICTURES[:1]))
    write_atomically(folder / PICTURES[0], to_svg(page))
    try:
        (folder / PICTURES[1]).write_bytes(to_png(page))
    except OSError as error:
        raise cannot_write(folder / PICTURES[1], error) from error
    return data


def _entry(planner: str, folder: Path) -> Entry | None:
    """Return the run of a planner as it is on disk; None where no episode of it ended."""
    path = folder / folder_name(planner)
    results = read_sorted(path)
    if not results:
        return None
    summary = read_json(path / SUMMARY) if (path / SUMMARY).exists() else {}
    run = SavedRun(path, read_settings(path), results)
    return Entry(planner, run, summary.get('episodes_per_minute'))


def _not_yet(against: str, entries: Sequence[Entry]) -> list[str]:
    """Say that nothing is compared where the one that all are held against has no episode yet."""
    if any(entry.planner == against for entry in entries):
        return []
    return [
        f'`{against}`, which the others are held against, has no episode on record yet, so there '
        'are no differences from it. The same command goes on with it.'
    ]


def _notices(entries: Sequence[Entry]) -> list[str]:
    """
    Say of each name that is no language model what it is, and what no figure counts.

    A Body that nobody asks is none of these names.
    """
    named = {
        name: roles
        for name in STAND_INS
        for entry in entries
        if (roles := roles_of(name, entry.run.settings, {}))
    }
    told = [f'`{name}` {STAND_INS[name]}.' for name in named]
    in_brain = any('Brain' in roles for roles in named.values())
    told += [STAND_INS_SAY_NOTHING] if in_brain else []
    for entry in entries:
        currency = (entry.run.settings.get('prices') or {}).get('currency') or ''
        told += [f'`{entry.planner}`: {line}' for line in earlier_lines(entry.results, currency)]
    return told


def _curves(entries: Sequence[Entry]) -> dict[str, dict[str, Curve]]:
    """Return what is plotted: means over prompts and over episodes, by steps."""
    prompts: dict[str, list[Point]] = {}
    steps: dict[str, list[Point]] = {}
    for entry in entries:
        results = entry.results
        prompts[entry.planner] = [point for result in results for point in result.prompt_growth]
        costs = [(result.attempted, tokens_of_step(result)) for result in results]
        steps[entry.planner] = [(n, tokens) for n, tokens in costs if tokens]
    return {'prompts': curves(prompts), 'steps': curves(steps)}


def _note(data: Mapping[str, Any]) -> str:
    estimated = any(row['tokens_estimated'] for row in data['planners'])
    how = ', tokens estimated' if estimated else ''
    return f'Brain {data["brain"]}{how}; means over a few steps each'
