"""Which source needs what: errors at the start, in words, and catalogues."""

from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.types import Kind
from bbllm.scene.catalogue import load_catalogue
from bbllm.scene.scene_file import load_scene
from bbllm_ros.parameters.scene_sources import (
    SceneSource,
    parse_cameras,
    parse_sources,
    read_sources,
)


def written(folder: Path, text: str) -> str:
    path = folder / 'things.yaml'
    path.write_text(text)
    return str(path)


def test_sources_that_will_not_do_are_errors_that_state_what_is_needed() -> None:
    with pytest.raises(UnknownNameError, match=r"'detection'.*Did you mean 'detections'"):
        parse_sources('detection')
    with pytest.raises(ConfigError, match='stands alone'):
        parse_sources('objects,static')
    with pytest.raises(ConfigError, match='Known scenes: empty_table, first_day, fruit'):
        read_sources('static', '', '')
    with pytest.raises(ConfigError, match="'apriltag' needs the parameter catalogue"):
        read_sources('apriltag', 'tabletop', '')


def test_static_takes_objects_furniture_and_places_from_the_file() -> None:
    config = read_sources('static', 'tabletop', '')

    assert config.things == load_scene('tabletop').movables
    assert {'table', 'location_A'} <= {item.name for item in config.fixed}


def test_pictures_need_objects_to_find() -> None:
    with pytest.raises(ConfigError, match='parameter catalogue'):
        read_sources('camera', '', '')

    for scene, catalogue in (('tabletop', ''), ('', 'tabletop')):
        config = read_sources('camera', scene, catalogue)
        assert config.sources == {SceneSource.CAMERA}
        assert 'red_cube' in config.catalogue.names
        assert not config.things  # where they are, the pictures tell


def test_cameras_are_named_by_what_their_topics_begin_with() -> None:
    assert parse_cameras('table_camera') == ('table_camera',)
    assert parse_cameras(' /camera/camera, hand_camera') == ('/camera/camera', 'hand_camera')


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        (' , ', 'cameras is empty'),
        ('left,left', 'has a camera twice'),
        ('left//right', "'left//right' names no camera"),
        ('7up', "'7up' names no camera"),
        ('camera/', "'camera/' names no camera"),
        ('x' * 200, 'names no camera'),
    ],
)
def test_names_of_cameras_that_could_be_no_topics_are_refused(text: str, wording: str) -> None:
    with pytest.raises(ConfigError, match=wording):
        parse_cameras(text)


def test_cameras_take_the_file_for_what_no_camera_sees_and_as_a_catalogue() -> None:
    config = read_sources('detections', 'tabletop', '')

    assert config.things == ()
    assert {'table', 'location_A'} <= {item.name for item in config.fixed}
    assert 'red_cube' in config.catalogue.names


def test_cameras_without_a_file_see_a_bare_table() -> None:
    config = read_sources('detections', '', '')

    assert [item.name for item in config.fixed] == ['table']
    assert config.catalogue.names == ()


def test_catalogue_wins_over_the_scene_file(tmp_path: Path) -> None:
    path = written(tmp_path, 'objects: [{name: red_cube, kind: cube, size: 0.05}]')

    config = read_sources('detections', 'tabletop', path)

    red = config.catalogue.named('red_cube')
    assert red.size_m == (0.05, 0.05, 0.05)
    assert 'blue_cube' in config.catalogue.names


def test_catalogue_of_the_tabletop_agrees_with_its_scene() -> None:
    catalogue, scene = load_catalogue('tabletop'), load_scene('tabletop')

    assert catalogue.names == tuple(item.name for item in scene.movables)
    for item in scene.movables:
        entry = catalogue.named(item.name)
        assert (entry.kind, entry.size_m, entry.color) == (item.kind, item.size_m, item.color)


def test_catalogue_finds_objects_by_name_class_and_tag(tmp_path: Path) -> None:
    text = """
objects:
  - name: can
    kind: cylinder
    size: [0.06, 0.1]
    class_id: tin_can
    tag: {frame: 'tag36h11:7', xyz: [0, 0, -0.05], rpy_deg: [180, 0, 0]}
"""
    catalogue = load_catalogue(written(tmp_path, text))

    can = catalogue.named('can')
    assert catalogue.named('tin_can') is can is catalogue.tagged('tag36h11:7')
    assert (can.kind, can.size_m) == (Kind.CYLINDER, (0.06, 0.06, 0.1))
    assert can.tag is not None
    assert can.tag.T_tag_centre.position_m == (0, 0, -0.05)
    assert can.tag.T_tag_centre.quat_xyzw == pytest.approx((1.0, 0.0, 0.0, 0.0))
    assert catalogue.named('pear') is None


@pytest.mark.parametrize(
    ('text', 'wording'),
    [
        ('objects: []', 'at least 1 item'),
        ('description: nothing', "the field 'objects' is missing"),
        ('objects: [{name: a, kind: ball}]', r'objects\[0\] \(a\): kind'),
        ('objects: [{name: a, kind: cube, colour: red}]', "did you mean 'color'"),
        ('objects: [{name: a, kind: cube, size: [1, 2]}]', r'one length or \[x, y, z\]'),
        ('objects: [{name: a, kind: cube}, {name: a, kind: cube}]', "the name 'a' twice"),
        (
            'objects: [{name: a, kind: cube, class_id: c}, {name: b, kind: cube, class_id: c}]',
            "the class_id 'c' twice: for a and for b",
        ),
        (
            'objects: [{name: a, kind: cube, class_id: "c\\nObey"}]',
            'visible characters in one line',
        ),
        ('objects: [', 'not valid YAML'),
        ('- a', 'is no catalogue'),
    ],
)
def test_catalogue_that_will_not_do_is_an_error_that_names_the_place(
    tmp_path: Path, text: str, wording: str
) -> None:
    with pytest.raises(ConfigError, match=wording):
        load_catalogue(written(tmp_path, text))


def test_catalogue_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(UnknownNameError, match=r'no catalogue named .* Known: tabletop'):
        load_catalogue('table_top_things')
    with pytest.raises(ConfigError, match='cannot be read'):
        load_catalogue('/nowhere/things.yaml')
