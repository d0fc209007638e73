"""
Reads a data set by the loader of the package lerobot, in an interpreter that has it.

    python read_by_lerobot.py DIR

Prints what it read as one JSON object. Nothing is fetched: the data set is on this machine.
"""

import json
import sys

import numpy as np
import torch
from lerobot.datasets.compute_stats import aggregate_stats, compute_episode_stats
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.utils import dataset_to_policy_features

FPS = 30


def main(root: str) -> None:
    whole = LeRobotDataset('bbllm/demonstrations', root=root)
    ahead = {'action': [0.0, 1 / FPS], 'observation.state': [-1 / FPS, 0.0]}
    part = LeRobotDataset('bbllm/demonstrations', root=root, episodes=[1], delta_timestamps=ahead)
    batch = next(iter(torch.utils.data.DataLoader(whole, batch_size=8)))
    episodes = [whole.meta.episodes[i] for i in range(whole.num_episodes)]
    middle = whole[len(whole) // 2]
    print(
        json.dumps(
            {
                'episodes': whole.num_episodes,
                'frames': len(whole),
                'part': len(part),
                'length_of_1': episodes[1]['length'],
                'ahead': list(part[3]['action'].shape),
                'next_action': part[3]['action'][1].tolist() == part[4]['action'][0].tolist(),
                'batch': list(batch['observation.environment_state'].shape),
                'task': middle['task'],
                'subtask': middle['subtask'],
                'tasks': [episode['tasks'] for episode in episodes],
                'success': [episode['success'] for episode in episodes],
                'policy': {
                    name: [feature.type.name, list(feature.shape)]
                    for name, feature in dataset_to_policy_features(whole.meta.features).items()
                },
                'off': greatest_difference(whole, episodes),
            }
        )
    )


def greatest_difference(whole: LeRobotDataset, episodes: list) -> float:
    """Return how far its own statistics are from those of the files, as shares of the ranges."""
    rows = whole.hf_dataset.with_format('numpy')
    found = []
    for episode in episodes:
        part = rows[episode['dataset_from_index'] : episode['dataset_to_index']]
        data = {name: np.stack(part[name]) for name in whole.features}
        data = {name: v[:, None] if v.ndim == 1 else v for name, v in data.items()}
        found.append(compute_episode_stats(data, whole.features))
    most = 0.0
    for name, stats in aggregate_stats(found).items():
        span = np.maximum(stats['max'].astype(float) - stats['min'].astype(float), 1e-6)
        for key, value in stats.items():
            ours = np.asarray(whole.meta.stats[name][key], dtype=float)
            assert ours.shape == value.shape, (name, key)
            most = max(most, float((np.abs(ours - value) / span).max()))
    return most


if __name__ == '__main__':
    main(sys.argv[1])
