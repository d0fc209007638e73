"""
Writes data sets in the layout of LeRobotDataset v3.0, with pyarrow alone.

    data/chunk-000/file-000.parquet           one row a frame, one row group an episode
    meta/episodes/chunk-000/file-000.parquet  one row an episode: where it is, and its statistics
    meta/tasks.parquet, meta/subtasks.parquet texts by index
    meta/info.json, meta/stats.json           columns, counts, statistics of all frames

Names, types and limits are those of lerobot 0.4.4: `lerobot/datasets/utils.py` (paths, default
features, `create_empty_dataset_info`) and `lerobot/datasets/lerobot_dataset.py` (what is written
of an episode, `CODEBASE_VERSION`, `subtask_index`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bbllm_bench.demonstrations.statistics import Column, Stats, joined, stats_of

VERSION = 'v3.0'
FILES_IN_CHUNK, FILE_MB, VIDEO_MB = 1000, 100, 200
"""What lerobot goes by where it appends to a data set: files of a chunk, and their size [MB]."""
DATA = 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet'
FIRST = 'chunk-000/file-000.parquet'
"""Of the frames and of the episodes there is one file each."""
PLACES = tuple(
    f'{part}/{of}_index' for part in ('data', 'meta/episodes') for of in ('chunk', 'file')
)
"""Columns of an episode: in which files its frames and its row are."""
INDEX = '__index_level_0__'
"""How pandas calls an index without a name, which lerobot reads the texts from."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What a column is."""

    dtype: str
    """`float32`, `int64` or `bool`."""
    names: tuple[str, ...] | None = None
    """Of its components; None where it is a single number."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.names),) if self.names else (1,)

    def described(self) -> dict[str, object]:
        """Return its entry in info.json."""
        names = None if self.names is None else list(self.names)
        return {'dtype': self.dtype, 'shape': list(self.shape), 'names': names}

    def array(self, values: Column) -> pa.Array:
        """Return values of shape (n,) or (n, d) as a column of a file."""
        flat = pa.array(values.astype(self.dtype).reshape(-1))
        size = self.shape[0]
        return flat if self.names is None else pa.FixedSizeListArray.from_arrays(flat, size)

    @property
    def type(self) -> pa.DataType:
        """The type of the column in a file."""
        kind = pa.from_numpy_dtype(np.dtype(self.dtype))
        return kind if self.names is None else pa.list_(kind, self.shape[0])


INDEXES = {
    'timestamp': Feature('float32'),
    **{
        name: Feature('int64')
        for name in ('frame_index', 'episode_index', 'index', 'task_index', 'subtask_index')
    },
}
"""The columns that the writer fills in."""


class LeRobotWriter:
    """
    Writes one data set; use it as a context manager, which closes the files.

    Args:
        folder: It exists and has nothing of a data set yet.
        features: The columns of a frame beside `INDEXES`.
        more: Types of further columns of an episode, by their names.
        fps: Frames a second.
        robot_type: What info.json calls the robot.
    """

    def __init__(
        self,
        folder: Path,
        features: Mapping[str, Feature],
        more: Mapping[str, pa.DataType],
        *,
        fps: int,
        robot_type: str,
    ) -> None:
        self._folder = folder
        self._features = {**features, **INDEXES}
        self._rows_schema = _episode_schema(self._features, more)
        self._fps, self._robot_type = fps, robot_type
        self._tasks, self._subtasks = dict[str, int](), dict[str, int]()
        self._stats: dict[str, list[Stats]] = {name: [] for name in self._features}
        # In the order of the columns of a file.
        types = {name: feature.type for name, feature in self._features.items()}
        self._frames_schema = pa.schema(types)
        self._rows: list[Mapping[str, object]] = []
        self.episodes = self.frames = 0

    def __enter__(self) -> 'LeRobotWriter':
        path = self._file('data')
        self._data = pq.ParquetWriter(path, self._frames_schema, compression='snappy')
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._data.close()
        if kind is None:
            self._write_meta()

    def add(
        self,
        columns: Mapping[str, Column],
        *,
        task: str,
        subtasks: Sequence[str],
        more: Mapping[str, object],
    ) -> None:
        """
        Append an episode.

        Args:
            columns: The given features, n rows each.
            task: In words.
            subtasks: In words, one a frame.
            more: Values of the further columns of the episode.
        """
        n = len(subtasks)
        begin, end = self.frames, self.frames + n
        indexes: dict[str, Column] = {
            'timestamp': np.arange(n) / self._fps,
            'frame_index': np.arange(n),
            'episode_index': np.full(n, self.episodes),
            'index': np.arange(begin, end),
            'task_index': np.full(n, _index(self._tasks, task)),
            'subtask_index': np.array([_index(self._subtasks, text) for text in subtasks]),
        }
        values = {**columns, **indexes}
        rows = {
            name: values[name].astype(feature.dtype) for name, feature in self._features.items()
        }
        table = {name: self._features[name].array(rows[name]) for name in self._features}
        self._data.write_table(pa.table(table, self._frames_schema))
        stats = {name: stats_of(column) for name, column in rows.items()}
        for name, found in stats.items():
            self._stats[name].append(found)
        row: dict[str, object] = {
            'episode_index': self.episodes,
            'tasks': [task],
            'length': n,
            **dict.fromkeys(PLACES, 0),
            'dataset_from_index': begin,
            'dataset_to_index': end,
            **more,
            **{
                f'stats/{name}/{key}': value.tolist()
                for name, of in stats.items()
                for key, value in of.items()
            },
        }
        self._rows.append(row)
        self.episodes, self.frames = self.episodes + 1, end

    def _file(self, name: str) -> Path:
        path = self._folder / name / FIRST
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _write_meta(self) -> None:
        meta = self._folder / 'meta'
        rows = pa.Table.from_pylist(self._rows, self._rows_schema)
        pq.write_table(rows, self._file('meta/episodes'))
        pq.write_table(_texts('task_index', self._tasks), meta / 'tasks.parquet')
        pq.write_table(_texts('subtask_index', self._subtasks), meta / 'subtasks.parquet')
        stats = {
            name: {key: value.tolist() for key, value in joined(parts).items()}
            for name, parts in self._stats.items()
        }
        info = {
            'codebase_version': VERSION,
            'robot_type': self._robot_type,
            'total_episodes': self.episodes,
            'total_frames': self.frames,
            'total_tasks': len(self._tasks),
            'chunks_size': FILES_IN_CHUNK,
            'data_files_size_in_mb': FILE_MB,
            'video_files_size_in_mb': VIDEO_MB,
            'fps': self._fps,
            'splits': {'train': f'0:{self.episodes}'},
            'data_path': DATA,
            'video_path': None,
            'features': {name: feature.described() for name, feature in self._features.items()},
        }
        for name, content in (('stats', stats), ('info', info)):
            text = json.dumps(content, indent=4, ensure_ascii=False)
            (meta / f'{name}.json').write_text(text, encoding='utf-8')


def _episode_schema(features: Mapping[str, Feature], more: Mapping[str, pa.DataType]) -> pa.Schema:
    own = {
        'episode_index': pa.int64(),
        'tasks': pa.list_(pa.string()),
        **dict.fromkeys(('length', *PLACES), pa.int64()),
        **dict.fromkeys(('dataset_from_index', 'dataset_to_index'), pa.int64()),
    }
    stats = {
        f'stats/{name}/{key}': pa.list_(pa.from_numpy_dtype(kind))
        for name, feature in features.items()
        for key, kind in _kinds_of_stats(feature).items()
    }
    return pa.schema({**own, **more, **stats})


def _kinds_of_stats(feature: Feature) -> dict[str, np.dtype[Any]]:
    """Return the types of a column's statistics; the least of whole numbers is a whole one."""
    example = stats_of(np.zeros(1, dtype=feature.dtype))
    number = np.dtype(np.float64)
    return {
        name: number if value.dtype.kind == 'f' else value.dtype for name, value in example.items()
    }


def _index(texts: dict[str, int], text: str) -> int:
    """Return the index of a text, a new one where it is new."""
    return texts.setdefault(text, len(texts))


def _texts(name: str, texts: Mapping[str, int]) -> pa.Table:
    """Return a table of indexes that pandas reads with the texts as its index."""
    table = pa.table({
        name: pa.array(list(texts.values()), pa.int64()),
        INDEX: pa.array(list(texts), pa.string()),
    })  # fmt: skip
    text = {'pandas_type': 'unicode', 'numpy_type': 'object', 'metadata': None}
    number = {'pandas_type': 'int64', 'numpy_type': 'int64', 'metadata': None}
    pandas: dict[str, Any] = {
        'index_columns': [INDEX],
        'column_indexes': [
            {'name': None, 'field_name': None, **text, 'metadata': {'encoding': 'UTF-8'}}
        ],
        'columns': [
            {'name': name, 'field_name': name, **number},
            {'name': None, 'field_name': INDEX, **text},
        ],
        'creator': {'library': 'pyarrow', 'version': pa.__version__},
        'pandas_version': '2.0.0',
    }
    return table.replace_schema_metadata({'pandas': json.dumps(pandas)})
