"""
ONNX files without the package `onnx`: the few messages of onnx.proto3 that a tiny network takes.

Numbers of fields are those of onnx.proto3 (IR version 8, operators of version 13).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

FLOAT, INT64 = 1, 7
Shape = Sequence[int | str]


def _varint(value: int) -> bytes:
    parts = []
    while True:
        parts.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(parts)


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _value(name: str, kind: int, shape: Shape) -> bytes:
    dims = b''.join(
        _bytes(1, _int(1, side) if isinstance(side, int) else _bytes(2, side)) for side in shape
    )
    tensor = _int(1, kind) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def _tensor(name: str, values: np.ndarray) -> bytes:
    kind = FLOAT if values.dtype == np.float32 else INT64
    dims = b''.join(_int(1, side) for side in values.shape)
    return dims + _int(2, kind) + _bytes(8, name) + _bytes(9, values.tobytes())


def _node(op: str, inputs: Sequence[str], output: str, attributes: bytes = b'') -> bytes:
    return (
        b''.join(_bytes(1, name) for name in inputs)
        + _bytes(2, output)
        + _bytes(4, op)
        + (attributes)
    )


def network(
    rows: np.ndarray,
    *,
    metadata: Mapping[str, str] | None = None,
    input_shape: Shape = (1, 3, 640, 640),
    input_type: int = FLOAT,
    output_shape: Shape | None = None,
) -> bytes:
    """
    Return a network whose output is *rows*, scores times the largest value of its input.

    Args:
        rows: Shape (4 + classes, anchors): boxes and scores.
        metadata: Of the file.
        input_shape: As declared; words are sides that are left open.
        input_type: `FLOAT` or another type of ONNX, which is then cast.
        output_shape: As declared; that of the rows by default.
    """
    boxes = rows[np.newaxis, :4].astype(np.float32)
    scores = rows[np.newaxis, 4:].astype(np.float32)
    keep = _bytes(5, _bytes(1, 'keepdims') + _int(3, 0) + _int(20, 2))
    axis = _bytes(5, _bytes(1, 'axis') + _int(3, 1) + _int(20, 2))
    to = _bytes(5, _bytes(1, 'to') + _int(3, FLOAT) + _int(20, 2))
    nodes = (
        _node('Cast', ['images'], 'cast', to),
        _node('ReduceMax', ['cast'], 'largest', keep),
        _node('Mul', ['scores', 'largest'], 'weighted'),
        _node('Concat', ['boxes', 'weighted'], 'output0', axis),
    )
    out = output_shape or (1, *rows.shape)
    graph = (
        b''.join(_bytes(1, node) for node in nodes)
        + _bytes(2, 'tiny')
        + _bytes(5, _tensor('boxes', boxes))
        + _bytes(5, _tensor('scores', scores))
        + _bytes(11, _value('images', input_type, input_shape))
        + _bytes(12, _value('output0', FLOAT, out))
    )
    properties = b''.join(
        _bytes(14, _bytes(1, key) + _bytes(2, value)) for key, value in (metadata or {}).items()
    )
    assert math.prod(rows.shape)
    return _int(1, 8) + _bytes(7, graph) + _bytes(8, _int(2, 13)) + properties
