"""The comparison of forms of feedback: table, page and chart."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.text import count_of
from bbllm.planners.brain_body.prompting import FeedbackForm
from bbllm_bench.compare.figures import PlannerComparison
from bbllm_bench.compare.text import VERDICTS, budgets_text, cell, p_values, played
from bbllm_bench.log.files import write_atomically
from bbllm_bench.metrics.metrics import FEEDBACK, METRICS
from bbllm_bench.report.grid import Grid, grid_of, markdown_of
from bbllm_bench.report.plots import COLORS, MUTED, new_figure, to_png

TABLES, CHART = 'feedback.md', 'feedback.png'
FORMS: tuple[str, ...] = get_args(FeedbackForm)
PLANNER = 'brain_body'
_SET = f'{PLANNER}:feedback='
ABOUT = {
    'feedback': 'Below each figure is its 95 % interval over cases.',
    'repaired': (
        'repaired: success in the episodes that used a feedback loop; tokens are of the same '
        'episodes, those of prompts estimated from their text, without pictures.'
    ),
}
ABOUT_DIFFERENCES = {
    'feedback': (
        'Over the cases that both played and neither lost; repaired and tokens over those in '
        'which both used a feedback loop.'
    ),
    'p': "p: McNemar's for SR, and below it after the correction of Holm for the number of forms.",
}


def planner_with(form: str) -> str:
    """Return the planner with a form of feedback; the default one needs no option."""
    return PLANNER if form == FORMS[0] else f'{_SET}{form}'


def form_of(planner: str) -> str:
    return planner.removeprefix(_SET) if planner.startswith(_SET) else FORMS[0]


def read_forms(text: str) -> tuple[str, ...]:
    """
    Read a list of forms with commas between them; the others are compared with the first.

    Raises:
        ConfigError: It has fewer than two, or one twice.
        UnknownNameError: One is none.
    """
    found = tuple(filter(None, (form.strip() for form in text.split(','))))
    for form in found:
        if form not in FORMS:
            raise UnknownNameError('form of feedback', form, FORMS)
    if len(found) < 2 or len(set(found)) < len(found):
        raise ConfigError(
            f'--forms {text!r} must name at least two forms, each once, such as full,none,code.'
        )
    return found


def feedback_grids(data: PlannerComparison) -> tuple[Grid, ...]:
    """Return the tables: each form, and each minus the first."""
    rows = [
        {
            'feedback': form_of(row.planner),
            'K': str(row.k),
            'n': played(row),
            **{METRICS[key].label: cell(key, row.rate(key)) for key in ('sr', 'loops')},
            'with loops': str(row.rate('repaired').n),
            **{METRICS[key].label: cell(key, row.rate(key)) for key in FEEDBACK},
        }
        for row in data.planners
    ]
    grids = [grid_of('Forms of feedback', rows, notes=ABOUT)]
    if data.paired:
        grids.append(_differences(data))
    return tuple(grids)


def _differences(data: PlannerComparison) -> Grid:
    rows = []
    for pair in data.paired:
        found = pair.comparison
        shown = {
            METRICS[key].label: cell(key, item.difference, sign=True)
            for key in ('loops', *FEEDBACK)
            if (item := found.differences.get(key))
        }
        rows.append(
            {
                'feedback': form_of(pair.planner),
                'pairs': str(found.pairs - found.lost_pairs),
                'SR': cell('sr_judged', found.judged.difference, sign=True),
                'p': p_values(found),
                'SR is': VERDICTS[found.verdict],
                **shown,
            }
        )
    title = f'Each form minus {form_of(data.against)}'
    return grid_of(title, rows, notes=ABOUT_DIFFERENCES)


def write_feedback(data: PlannerComparison, folder: Path) -> None:
    """Write page and chart into the folder of a comparison; raises ConfigError."""
    limits = budgets_text(data.limits, own=data.own_limits)
    lines = [
        f'# {data.suite}: {count_of(len(data.planners), "form")} of feedback compared',
        '',
        f'{PLANNER}, Brain {data.brain}, seed {data.seed}, {count_of(data.trials, "trial")} of '
        f'each task. Each episode has the same budget: {limits}.',
        '',
        *(f'> {notice}' for notice in data.notices),
    ]
    for grid in feedback_grids(data):
        lines += ['', *markdown_of(grid)]
    lines += ['', f'![Success by form of feedback]({CHART})']
    write_atomically(folder / TABLES, '\n'.join(lines) + '\n')
    write_atomically(folder / CHART, _chart(data))


def _chart(data: PlannerComparison) -> bytes:
    """Draw a row for each form: success in all episodes, and in those that used a loop."""
    forms = [form_of(row.planner) for row in data.planners]
    with new_figure(560, 110 + 34 * len(forms)) as figure:
        figure.set_layout_engine('constrained')
        axes = figure.subplots()
        title = f'{data.suite}, Brain {data.brain}: success by form of feedback'
        axes.set_title(title, loc='left', weight='bold')
        for key, name, shift in (
            ('sr', 'all episodes', -0.13),
            ('repaired', 'those that used a feedback loop', 0.13),
        ):
            rates = [row.rate(key) for row in data.planners]
            known = [(y + shift, r) for y, r in enumerate(rates) if r.value is not None]
            if not known:
                continue  # no episode used a loop
            color = COLORS['sr' if key == 'sr' else 'gcr']
            low, value, high = np.array([(r.low, r.value, r.high) for _, r in known], float).T
            places = [y for y, _ in known]
            axes.hlines(places, low, high, colors=color)
            axes.plot(value, places, 'o', color=color, label=name)
        axes.set_yticks(range(len(forms)), forms)
        axes.set_ylim(len(forms) - 0.5, -0.5)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xlabel('success rate, with 95 % intervals')
        axes.grid(axis='x')
        axes.grid(visible=False, axis='y')
        figure.legend(loc='outside lower right', ncols=2, frameon=False, labelcolor=MUTED)
        return to_png(figure)
