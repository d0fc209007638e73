"""Suite files: what is read from them, and errors in those that cannot be used."""

import textwrap
from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError, UnknownNameError
from bbllm.core.paths import config_dir
from bbllm.sim.build import rgba_of
from bbllm_bench.oracle.table_goals import COLORS
from bbllm_bench.oracle.vocabulary import WHAT_COUNTS
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites.goals import ColorLine, Conditions, Goal, GridGoal, Triangle
from bbllm_bench.suites.scene_recipe import EDGE_M
from bbllm_bench.suites.suite import list_suites, load_suite, parse_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from bbllm_viewer.viz.colors import HEX
from tests.bench.suite_files import generated, goal, suite, task

# --- Suite files: what is read from them, and what is said of those that cannot be used


REDDISH = ['red', 'pink', 'rose']


def lengths_of(goal: Goal) -> list[str]:
    """Return the limits of a goal as its instruction has to write them."""
    found = [f'{100 * way:g} cm' for way in (getattr(goal, 'margin_m', None),) if way]
    match goal:
        case GridGoal(pitch_m=(least, most)):
            found.append(f'{100 * least:g} to {100 * most:g} cm')
        case ColorLine(gap_m=(least, most), centre=(x, _), centre_m=off):
            found += [f'{100 * least:g} to {100 * most:g} cm', f'{100 * off:g} cm of x = {x:.2f}']
        case Conditions(limits=limits):  # by half the width of the cubes of these suites
            found.append(f'{100 * limits.offset * EDGE_M:g} cm')
        case Triangle(side_edges=(least, most), edge_m=edge, apart_edges=apart, angle_deg=angle):
            found.append(f'{100 * edge * least:g} to {100 * edge * most:g} cm')
            found += [f'{angle:g} degrees', f'within {100 * edge * apart:g} cm']
    return found


@pytest.mark.parametrize('name', ['tabletop', 'tabletop_long', 'tabletop_sessions'])
def test_instructions_have_the_limits_of_their_goals(name: str) -> None:
    for spec in load_suite(name).tasks:
        limits = lengths_of(spec.table_goal)
        assert [text for text in limits if text not in spec.instruction] == [], spec.name
        assert (WHAT_COUNTS in spec.instruction) is bool(limits), spec.name


def test_the_hash_is_of_what_counts_and_not_of_comments() -> None:
    text = (config_dir() / 'suites' / 'tabletop.yaml').read_text()
    path = Path('/x/tabletop.yaml')
    plain = parse_suite(text, path).sha256

    assert parse_suite('# a remark\n' + text, path).sha256 == plain
    assert parse_suite(text.replace('description:', 'description: Also '), path).sha256 == plain
    labelled = text.replace('name: letter_l\n', 'name: letter_l\n    label: L\n')
    assert labelled != text and parse_suite(labelled, path).sha256 == plain
    for old, new in (
        ('still_m: 0.01', 'still_m: 0.02'),
        ('reddish cubes.', 'reddish cubes!'),
        ('count: [5, 7]', 'count: [5, 8]'),
        ('name: letter_l\n', 'name: letter_m\n'),
    ):
        assert old in text
        assert parse_suite(text.replace(old, new), path).sha256 != plain


def test_the_hash_holds_the_content_of_a_fixed_scene(tmp_path: Path) -> None:
    scene = tmp_path / 'mine.yaml'
    hashes = set()
    for x in (0.5, 0.6):
        scene.write_text(f'objects: [{{name: a, kind: cube, xy: [{x}, 0.1]}}]')
        hashes.add(suite(task(scene='mine.yaml'), path=str(tmp_path / 'suite.yaml')).sha256)

    assert len(hashes) == 2


def test_a_suite_is_read_from_any_path_and_its_scenes_lie_beside_it(tmp_path: Path) -> None:
    (tmp_path / 'scenes').mkdir()
    (tmp_path / 'scenes' / 'one.yaml').write_text(
        'objects: [{name: red_cube, kind: cube, xy: [0.5, 0.1]}]\n'
        'locations: [{name: location_A, xy: [0.5, -0.1]}]\n'
    )
    path = tmp_path / 'mine.yaml'
    path.write_text(
        textwrap.dedent("""
            tasks:
              - name: one
                instruction: Put the red cube on location_A.
                difficulty: easy
                least_loops: 0
                goal: {kind: conditions, text: 'on(red_cube, location_A)', level_m: 0.01,
                       tilt_deg: 18}
                scene: scenes/one.yaml
        """)
    )

    for given in (path, str(path)):
        mine = load_suite(given)
        assert mine.name == 'mine'
        assert [item.name for item in mine.scenes['one'].movables] == ['red_cube']


def test_an_unknown_suite_or_task_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"suite named 'tabletp'.*mean 'tabletop'"):
        load_suite('tabletp')
    with pytest.raises(UnknownNameError, match=r"suite tabletop named 'leter_l'.*mean 'letter_l'"):
        load_suite('tabletop').task('leter_l')


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('tasks: [\n  {name: a\n', ('not valid YAML', 'line 3')),
        ('- a', ('is no suite', 'tasks')),
        ('tasks: []', ('a suite needs a task',)),
        ('tsks: []', ("unknown field 'tsks'", "did you mean 'tasks'")),
        ('tasks: 3', ('tasks', 'should be a list')),
        ('tasks: [4]', ('tasks[0]', 'a valid dictionary')),
        ('1: 2\ntasks: []', ('mine.yaml', '1')),
    ],
)
def test_text_that_is_no_suite_is_refused(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(SuiteFileError) as caught:
        parse_suite(text, Path('/x/mine.yaml'))
    for word in ('/x/mine.yaml', *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ('bad', 'words'),
    [
        (task(nme=1), ("unknown field 'nme'", "did you mean 'name'")),
        (task(goal=None), ("'goal' is missing",)),
        (task(instruction=''), ('instruction', 'at least 3 characters')),
        (task(difficulty='harder'), ('difficulty', "'easy', 'medium' or 'hard'")),
        (task(least_loops='x'), ('least_loops', 'integer')),
        (task(goal=3), ('goal', 'a valid dictionary')),
        (task(goal={}), ('goal', "using discriminator 'kind'")),
        (task(goal={'kind': 'plus'}), ("'plus'", "'letter_l', 'color_line'")),
        (task(goal=goal('triangle', margin_m=None)), ('goal: margin_m', 'number')),
        (task(goal=goal('triangle', margn=1)), ("field 'margn'", "mean 'margin_m'")),
        (task(goal=goal('color_line', centre=[0])), ('goal, centre: an item is missing',)),
        (task(goal=goal('color_line', colors='red')), ('goal: colors', 'should be a list')),
        (task(scene=None), ('give one of houses, scene (a fixed one), generate and puzzle',)),
        (task(generate={'objects': [{'kind': 'cube', 'count': 1}]}), ('give one of houses',)),
        (task(scene='plus_sing'), ('scene: There is no scene', "mean 'plus_sign'")),
        (generated(objects=[]), ('generate: a table needs a group',)),
        (generated(objects=[{'kind': 'cube', 'cont': 3}]),
         ('generate, objects[0]', "mean 'count'")),
        (generated(objects=[{'kind': 'cube', 'count': [3, 2]}]),
         ('objects[0]', 'give the least first: [2, 3]')),
        (generated(objects=[{'kind': 'ball', 'count': 1}]), ('kind', "'cube' or 'cylinder'")),
        (generated(objects=[{'kind': 'cube', 'count': 3, 'area': [0.3, 0.2, 0, 1]}]),
         ('least x, greatest x',)),
        (generated(locations=[{'pattern': 'plus', 'count': 3}]), ('plus has 5 places',)),
        (generated(locations=[{'pattern': 'row'}]), ('count is missing', 'row')),
        (generated(locations=[{'count': 3, 'centre': [0.5, 0]}]), ('only a pattern',)),
        (generated(table={'xyz': 1}), ('generate, table', "mean 'xy'")),
    ],
)  # fmt: skip
def test_a_bad_field_is_refused_with_its_task_and_what_would_do(
    bad: dict[str, object], words: tuple[str, ...]
) -> None:
    with pytest.raises(SuiteFileError) as caught:
        suite(task(name='good'), bad)
    message = str(caught.value)
    for word in ('/x/mine.yaml: tasks[1] (a)', *words):
        assert word in message
    assert 'good' not in message


def test_a_task_name_given_twice_is_refused() -> None:
    with pytest.raises(SuiteFileError, match='the task name a is given 2 times'):
        suite(task(), task())


@pytest.mark.parametrize(
    ('bad', 'words'),
    [
        (task(goal=goal('conditions', text='on(red_cub, location_A)')),
         ('the goal conditions needs', "'red_cub'", "mean 'red_cube'", 'The scene has red_cube')),
        (task(goal=goal('conditions', text='on(red_cube, location_Z)')),
         ("'location_Z'", 'location_J')),
        (task(goal=goal('conditions', text='fly(red_cube)')), ('Conditions are on(a, b)',)),
        (task(goal=goal('conditions', text='moved(red_cube)', limits={'ofset': 1})),
         ("mean 'offset'",)),
        (generated() | {'goal': goal('triangle', colors=['reed', 'scarlet', 'pink'])},
         ('triangle needs 3 cubes', 'of the colours reed, scarlet, pink')),
        (
            generated(
                objects=[
                    {
                        'kind': 'cube',
                        'count': 2,
                        'colors': ['red', 'pink', 'rose'],
                        'reach': False,
                    },
                    {'kind': 'cube', 'count': 2, 'colors': [*REDDISH, 'blue']},
                ]
            )
            | {'goal': goal('triangle', colors=REDDISH)},
            ('triangle needs 3 cubes',),
        ),
        (generated() | {'goal': goal('color_line', colors=['red', 'blu'])},
         ('color_line needs only cubes of the colours red, blu',)),
        (task(goal=goal('color_line')), ('color_line needs only cubes', 'red, orange')),
        (task(goal=goal('triangle')), ('triangle needs 3 cubes', 'reed, crimson')),
        (task(goal=goal('conditions', text='side(containers, left)')), ("'containers'",)),
        (task(goal=goal('plus_sign'), scene='empty_table'), ('plus_sign needs 5 cubes',)),
    ],
)  # fmt: skip
def test_a_goal_that_needs_what_its_scene_lacks_is_refused(
    bad: dict[str, object], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_case(suite(bad), 'a', seed=0, trial=0)
    for word in words:
        assert word in str(caught.value)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteFileError, match=r'none\.yaml cannot be read: No such file'):
        load_suite(tmp_path / 'none.yaml')
    with pytest.raises(SuiteFileError, match='cannot be read: Is a directory'):
        load_suite(f'{tmp_path}/')
    (tmp_path / 'bytes.yaml').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(SuiteFileError, match='not UTF-8'):
        load_suite(tmp_path / 'bytes.yaml')


# --- Colours in suite files are those that everybody who meets them knows


@pytest.mark.parametrize(
    'name',
    [name for name in list_suites() if name != 'eai' and not name.startswith('libero')],
)
def test_every_colour_of_a_shipped_suite_is_known_to_pictures_and_offline(name: str) -> None:
    for spec in load_suite(name).tasks:
        for group in spec.generate.objects if spec.generate else ():
            for color in group.palette:
                assert color in HEX
                assert color in COLORS
                # the simulator invents a colour for words that it does not know
                assert rgba_of(color) != rgba_of(f'{color} of no kind')
