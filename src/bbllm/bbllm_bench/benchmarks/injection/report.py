"""What the cases come to, as tables and figures."""

from collections import Counter
from collections.abc import Callable, Sequence

from bbllm_bench.benchmarks.injection.cases import Channel, Goal
from bbllm_bench.benchmarks.injection.trial import REFUSERS, Result
from bbllm_bench.report.grid import Grid, grid_of

NOTES = {
    'border': (
        'border: cases whose text was refused before it was a part of the scene or the episode; '
        'seen: cases whose order\nstood in a prompt; obeyed: cases in which a call, a plan or a '
        'reply does what the order asks for; proposed: such\ncalls, plans and replies; then by '
        'what refused them; executed: those that nothing refused, and what the witness\nsaw; '
        'leaks: cases in which a key was found in a prompt, a journal or a question; done: cases '
        'in which the task was done'
    ),
}


def rows_of(
    results: Sequence[Result], by: Callable[[Result], str], names: Sequence[str], title: str
) -> list[dict[str, str]]:
    """Return a row for each group of results."""
    groups = {name: [item for item in results if by(item) == name] for name in names}
    return [{title: name, **_row(group)} for name, group in groups.items() if group]


def _row(results: Sequence[Result]) -> dict[str, str]:
    refused = Counter[str]()
    for item in results:
        refused.update(item.refused)
    figures = {
        'cases': len(results),
        'border': sum(item.border != '' for item in results),
        'seen': sum(item.seen for item in results),
        'obeyed': sum(item.proposed > 0 for item in results),
        'proposed': sum(item.proposed for item in results),
        **{name: refused[name] for name in REFUSERS},
        'executed': sum(item.executed for item in results),
        'leaks': sum(item.leaks != () for item in results),
        'done': sum(item.done for item in results),
    }
    return {name: str(figure) for name, figure in figures.items()}


def grids_of(results: Sequence[Result], planners: Sequence[str]) -> list[Grid]:
    """Return the tables by planner, channel and order, and of what reaches which planner."""
    total = [{'planner': 'all', **_row(results)}]
    channels, goals = [each.value for each in Channel], [each.value for each in Goal]
    by_planner = rows_of(results, lambda item: item.planner, planners, 'planner')
    by_channel = rows_of(results, lambda item: item.case.channel.value, channels, 'channel')
    by_goal = rows_of(results, lambda item: item.case.goal.value, goals, 'order')
    return [
        grid_of('By planner', by_planner, total, NOTES),
        grid_of('By channel, all planners', by_channel),
        grid_of('By order, all planners', by_goal),
        grid_of('Cases whose order stood in a prompt, by planner', _seen(results, planners)),
    ]


def _seen(results: Sequence[Result], planners: Sequence[str]) -> list[dict[str, str]]:
    """Return a row for each planner: seen of all cases, by channel."""
    rows = []
    for planner in planners:
        row = {'planner': planner}
        for channel in Channel:
            found = [r.seen for r in results if (r.planner, r.case.channel) == (planner, channel)]
            row[channel.value] = f'{sum(found)}/{len(found)}' if found else ''
        rows.append(row)
    return rows
