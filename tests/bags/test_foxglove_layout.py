"""The layout for Foxglove shows topics and fields that bags have."""

import json
from collections.abc import Iterator
from typing import Any

from bbllm.bags.definitions import PRIMITIVES, shipped_fields
from bbllm.bags.topics import WRITTEN
from bbllm.core.constants import NAMESPACE
from bbllm_ros.stack.namespaced_files import in_namespace
from tests.doubles.foxglove_paths import LAYOUT, NAMED, MessagePath, paths_of


def placed(layout: Any) -> Iterator[str]:
    if isinstance(layout, str):
        yield layout
    else:
        yield from placed(layout['first'])
        yield from placed(layout['second'])


def test_every_panel_is_placed_once() -> None:
    assert sorted(placed(LAYOUT['layout'])) == sorted(LAYOUT['configById'])


def test_every_path_names_a_field_that_the_message_of_its_topic_has() -> None:
    found = [path for path in paths_of(LAYOUT) if path.topic.removeprefix(NAMED) in WRITTEN]
    assert {path.topic for path in found} >= {NAMED + 'joint_states', NAMED + 'plan'}
    for path in found:
        kind = WRITTEN[path.topic.removeprefix(NAMED)].message.replace('/msg/', '/')
        for field, indexed in path.fields:
            assert kind not in PRIMITIVES, path
            kind, is_list = shipped_fields(kind)[field]
            assert is_list == indexed, path


def test_curves_are_numbers() -> None:
    plots = [panel for name, panel in LAYOUT['configById'].items() if name.startswith('Plot!')]
    for text in (item['value'] for plot in plots for item in plot['paths']):
        path = MessagePath.parse(text)
        kind = WRITTEN[path.topic.removeprefix(NAMED)].message.replace('/msg/', '/')
        for field, _ in path.fields:
            kind, _ = shipped_fields(kind)[field]
        assert kind == 'float64', text


def test_the_layout_can_be_had_for_another_namespace() -> None:
    moved = json.loads(in_namespace(json.dumps(LAYOUT), 'robot1'))
    topics = {path.topic for path in paths_of(moved)}
    assert not any(f'/{NAMESPACE}/' in topic for topic in topics)
    assert len(topics) == len({path.topic for path in paths_of(LAYOUT)})
