"""
Statistics of the columns of a LeRobot data set, by episode and over all episodes.

What is computed is that of lerobot 0.4.4, `lerobot/datasets/compute_stats.py`: for each component
min, max, mean, std (of the population), the quantiles 1, 10, 50, 90 and 99 %, and the number of
frames. There the quantiles come from histograms of 5,000 bins, here they are exact, so that both
differ by the width of a bin at most.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.generic]
Stats = Mapping[str, Column]
"""By the names of the statistics; each of shape (d,), and `count` of shape (1,)."""
QUANTILES = {'q01': 0.01, 'q10': 0.10, 'q50': 0.50, 'q90': 0.90, 'q99': 0.99}


def stats_of(column: Column) -> Stats:
    """Return the statistics of one column of an episode, shape (n,) or (n, d)."""
    rows = column.reshape(len(column), -1)
    values = rows.astype(np.float64)
    at = list(QUANTILES.values())
    quantiles = np.quantile(values, at, axis=0, method='inverted_cdf')
    return {
        'min': rows.min(axis=0),
        'max': rows.max(axis=0),
        'mean': values.mean(axis=0),
        'std': values.std(axis=0),
        'count': np.array([len(rows)]),
        **dict(zip(QUANTILES, quantiles)),
    }


def joined(parts: Sequence[Stats]) -> Stats:
    """
    Return the statistics of one column over all episodes, of those of each.

    As lerobot's `aggregate_stats`: all are exact but the quantiles, which are the means of those
    of the episodes, weighted by their frames.
    """
    counts = np.array([part['count'] for part in parts], dtype=np.float64)
    total = counts.sum(axis=0)

    def weighted(name: str) -> NDArray[np.float64]:
        return np.asarray((np.array([part[name] for part in parts]) * counts).sum(axis=0) / total)

    mean = weighted('mean')
    deviations = np.array([part['mean'] for part in parts]) - mean
    squares = np.square(np.array([part['std'] for part in parts])) + np.square(deviations)
    return {
        'min': np.min([part['min'] for part in parts], axis=0),
        'max': np.max([part['max'] for part in parts], axis=0),
        'mean': mean,
        'std': np.sqrt((squares * counts).sum(axis=0) / total),
        'count': total.astype(np.int64),
        **{name: weighted(name) for name in QUANTILES},
    }
