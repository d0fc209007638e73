"""What people type, and what they get."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import bbllm as package
from bbllm.api import setup
from bbllm.api.config import planners, scenes
from bbllm.cli.support.requests import beginning
from bbllm.core.events import EventKind, PlanMade, RepairBegun
from bbllm.core.journal import read_episode
from bbllm.core.progress import StepState
from bbllm.core.registry import planner_names
from bbllm.core.tasks import MAX_TASK_CHARACTERS
from bbllm.llm.models.factory import Models
from bbllm.testing import ScriptedModel
from bbllm.worlds.household.houses import load_house
from tests.cli.event_examples import after, call, event, outcome, step

Command = Callable[..., Result]
Script = Callable[..., None]
TASK = 'put the red cube on location_B'
RUN = ('run', TASK, '--world', 'tabletop', '--scene', 'plus_sign')
WATCH = ('run', 'watch tv', '--planner', 'prog_prompt:check=graph,grounding=nearest')
STUDIO = ('run', 'watch tv', '--house', 'studio')
GIVE_UP = 'cannot: there is no such thing on the table'


def only_object(result: Result) -> dict[str, Any]:
    """Return the one JSON object of stdout; fails where there is more or less."""
    return {**json.loads(result.stdout)}


def test_run_reports_each_step_and_with_json_prints_exactly_one_object(
    bbllm: Command, script: Script
) -> None:
    script()
    result = bbllm(*RUN)
    script()
    data = only_object(as_json := bbllm(*RUN, '--json'))

    lines = [line.split(None, 2)[-1] for line in result.stdout.splitlines() if ' s  ' in line]
    assert result.exit_code == 0
    assert 'call      pick(red_cube)' in lines
    assert 'repair    1 at step 2: aqua_cube is out of the workspace of the robot.' in lines
    assert 'ended     FINISHED (goal: not checked)' in lines
    # A missing rendering is a hint and no failure.
    assert 'No picture can be drawn of paper' in result.stdout
    assert (data['ending'], data['feedback_loops'], data['steps']) == ('FINISHED', 1, 5)
    assert 'pick(red_cube)' in as_json.stderr
    kinds = [event.kind for event in read_episode(Path(data['journal'])).events]
    assert kinds[0] is EventKind.STARTED and kinds[-1] is EventKind.ENDED
    assert EventKind.REPAIR in kinds


def test_a_goal_is_shown_before_anything_moves_and_decides_the_exit_code(
    bbllm: Command, script: Script
) -> None:
    plan = '0: pick red_cube\n1: place it on location_B'

    def ran(*args: str, goal: str = 'on(red_cube, location_B)') -> Result:
        script(plan, goal=goal)
        return bbllm(*RUN, '-k', '0', *args)

    met = ran()
    unmet = ran(goal='on(red_cube, location_C)')
    data = only_object(ran('--goal', 'on(red_cube, blue_cube)', '--json', goal=plan))
    wrong = ran('--goal', 'on(red_cub, location_B)')

    assert met.exit_code == 0
    assert met.stdout.index('goal      red_cube is on location_B') < met.stdout.index('call   ')
    assert 'ended     FINISHED (goal: met)' in met.stdout
    assert unmet.exit_code == 1
    assert 'PARTLY_DONE (goal: unmet): The goal is not met: red_cube is' in unmet.stdout
    assert 'goal: unmet' in bbllm('show').stdout
    assert (data['goal'], data['conditions']) == ('unmet', 'on(red_cube, blue_cube)')
    assert wrong.exit_code == 2 and "Did you mean 'red_cube'" in wrong.stderr
    assert '(goal' not in ran('--goal', 'no', goal=plan).stdout
    script(plan, goal='on(red_cube, location_B)')
    shown = bbllm('plan', TASK)
    assert 'goal red_cube is on location_B' in shown.stdout, shown.stderr


def test_a_plan_with_a_passed_step_makes_exit_code_1_and_is_counted(
    bbllm: Command, script: Script
) -> None:
    plan = '0: pick red_cube\n1: place it on location_B\n2: sing a song'
    script(plan)
    data = only_object(bbllm(*RUN, '-k', '0', '--json'))
    script(plan)
    reported = bbllm(*RUN, '-k', '0')

    assert (data['ending'], data['passed_steps']) == ('PARTLY_DONE', 1)
    assert "2: 'sing a song'" in str(data['message'])
    assert reported.exit_code == 1
    assert '2 calls · 1 step passed · 0 repairs' in reported.stdout
    assert '2 calls · 1 step passed · 0 repairs' in bbllm('show').stdout


def test_demo_finds_the_plus_sign_that_stands_there_or_fails(
    bbllm: Command, script: Script
) -> None:
    script('0: pick red_cube\n1: place it on location_B')
    failed = bbllm('demo', '--json')
    data = only_object(failed)
    assert (failed.exit_code, data['ending'], data['check']['passed']) == (1, 'FINISHED', False)

    cubes = ('red', 'blue', 'green', 'yellow', 'orange')
    moves = [f'{c}_cube location_{p}'.split() for c, p in zip(cubes, 'ABCDE', strict=True)]
    steps = [text for cube, place in moves for text in (f'pick {cube}', f'place it on {place}')]
    script('\n'.join(f'{index}: {text}' for index, text in enumerate(steps)))

    result = bbllm('demo')

    assert result.exit_code == 0
    assert 'a plus sign of 5 cubes around green_cube, arms 6.0 cm' in result.stdout


def test_plan_prints_steps_with_their_calls_and_leaves_no_journal(
    bbllm: Command, script: Script, state: Path
) -> None:
    script('0: pick red_cube\n1: place it on location_B\n2: be glad')

    result = bbllm('plan', TASK)

    rows = [line.split() for line in result.stdout.splitlines()[2:]]
    assert 'goal not checked: what the task asks for cannot be checked' in result.stdout
    assert rows[0] == ['0', 'pick', 'red_cube', 'pick(red_cube)']
    assert rows[2][-5:] == ['call:', 'nothing', 'for', 'the', 'robot']
    assert not state.exists()
    script('0: pick red_cube\n1: place it on location_B')
    data = only_object(bbllm('plan', TASK, '--json'))
    assert [step['call'] for step in data['plan']] == ['pick(red_cube)', 'place(location_B)']


def test_plan_names_the_calls_that_would_be_refused(bbllm: Command, script: Script) -> None:
    plan = '0: pick red_cube\n1: pick location_B\n2: place it on location_B'
    script(plan)

    shown = bbllm('plan', TASK)

    assert shown.exit_code == 0
    assert (
        'pick(location_B) would be refused: location_B is a location, and that cannot be picked.'
    ) in shown.stdout
    script(plan)
    data = only_object(bbllm('plan', TASK, '--json'))
    assert [(fault['call'], fault['code']) for fault in data['faults']] == [
        ('pick(location_B)', 'NOT_GRASPABLE')
    ]


def test_a_plan_that_is_interrupted_in_a_model_call_exits_130(
    bbllm: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_ctrl_c(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    script()
    monkeypatch.setattr(ScriptedModel, 'ask', press_ctrl_c)

    result = bbllm('plan', TASK, '--json')

    assert result.exit_code == 130
    assert only_object(result)['error_kind'] == 'Interrupted'


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (('run', '', '--world', 'tabletop'), 'The task is empty'),
        (('run', 'x' * 20_000, '--world', 'tabletop'), f'at most {MAX_TASK_CHARACTERS} are taken'),
        ((*RUN, '--scene', 'plus_sing'), "Did you mean 'plus_sign'?"),
        (('plan', TASK, '--planner', 'brain_bodi'), "Did you mean 'brain_body'?"),
        ((*RUN, '--brain', 'openai'), '$OPENAI_API_KEY is not set'),
        ((*RUN, '--scene', '/nowhere/at_all.yaml'), 'cannot be read: No such file'),
        ((*RUN, '--replay', '/nowhere/talk.jsonl'), '/nowhere/talk'),
        ((*RUN, '--record', '/proc/x/y'), 'cannot be written'),
        (('plan', TASK, '--planner', 'llm_pop', '--brain', 'offline'), 'work with `offline`'),
        (('plan', TASK, '--record', '/'), 'is a folder'),
        (('run', 'watch tv', '--house', 'studyo'), "Did you mean 'studio'?"),
        (('run', 'watch tv', '--house', 'no/such.yaml'), 'no/such.yaml'),
        ((*STUDIO, '--world', 'tabletop'), 'A house has no table'),
        ((*STUDIO, '--scene', 'tower'), 'A house has no table'),
        ((*STUDIO, '--yes'), '--world household needs no approval'),
        ((*STUDIO, '--mode', 'sain'), "Did you mean 'sane'?"),
        ((*STUDIO, '--visibility', 'rooms_sen'), "Did you mean 'rooms_seen'?"),
        (('run', TASK, '--world', 'tabletop', '--mode', 'fresh'), 'A house does: --house NAME'),
        (('run', TASK, '--visibility', 'rooms_seen'), 'A house does: --house NAME'),
        ((*RUN, '--never', 'eat the cube'), 'write `touch OBJECT`, `move OBJECT` or'),
        ((*RUN, '--never', 'touch the cat'), 'which has '),
        (('demo', '--never', 'touch the cat'), '`touch '),
        ((*RUN, '--keep-out', '1 2 3'), 'write two opposite corners in metres'),
        ((*RUN, '--keep-out', '200 500 0 600 900 300'), 'lengths are in metres'),
        (('run', TASK, '--never', 'move any cube'), 'cannot take --never any more'),
        ((*STUDIO, '--never', 'touch the tv'), 'does not have --never'),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2_and_starts_nothing(
    bbllm: Command, state: Path, words: tuple[str, ...], sentence: str
) -> None:
    result = bbllm(*words)

    assert sentence in ' '.join(result.stderr.split())
    assert result.stderr.count('error:') == 1
    assert 'Traceback' not in result.output
    assert result.exit_code == 2
    assert not state.exists()


def test_an_error_with_json_is_one_object_too(bbllm: Command) -> None:
    for words in (('run', TASK, '--world', 'moon'), ('run',), ('show',), ('show', '--no-option')):
        result = bbllm(*words, '--json')
        assert only_object(result)['error']
        assert result.exit_code == 2


def test_a_task_in_another_script_is_taken_as_it_is_and_to_give_up_makes_exit_code_1(
    bbllm: Command, script: Script
) -> None:
    script(GIVE_UP)
    planned = bbllm('plan', TASK)
    assert (planned.exit_code, GIVE_UP.partition(': ')[2] in planned.stdout) == (1, True)
    script(GIVE_UP)
    task = '把红色方块放在蓝色方块上 🟥→🟦'

    result = bbllm('run', task, '--world', 'tabletop', '--json')

    data = only_object(result)
    assert (result.exit_code, data['ending'], data['task']) == (1, 'GAVE_UP', task)
    assert bbllm('show', '--draw').exit_code == 0
    drawn = Path(data['journal']).with_suffix('.svg')
    assert drawn.read_text(encoding='utf-8').count(task) >= 1


def test_nothing_is_drawn_where_nothing_moved_and_drawing_is_stated_where_it_takes_time(
    bbllm: Command, script: Script
) -> None:
    script(GIVE_UP)
    still = bbllm('run', TASK, '--world', 'tabletop', '--json')
    script()
    moved = bbllm('run', TASK, '--world', 'tabletop', '--json')

    data = only_object(still)
    assert (data['robot_s'], data['pictures']) == (0, [])
    assert not Path(data['journal']).with_suffix('.svg').exists()
    assert f'No call was completed, so nothing was drawn; `bbllm show {data["episode_id"]}`' in (
        still.stderr
    )
    assert 'Drawing' not in still.stderr
    assert only_object(moved)['pictures'] != []
    assert 'Drawing the scene before and after ...' in moved.stderr


def test_a_fault_in_the_program_shows_a_sentence_and_keeps_the_traceback(
    bbllm: Command, script: Script, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    script()
    monkeypatch.setattr('bbllm.cli.support.session.write_pictures', lambda *args: 1 / 0)

    result = bbllm('run', TASK, '--world', 'tabletop')

    assert result.exit_code == 1
    assert 'ZeroDivisionError' in result.stderr
    assert 'line' not in result.stderr
    (fault,) = (state.parent / 'faults').iterdir()
    assert 'Traceback (most recent call last)' in fault.read_text()


def test_scenes_planners_and_version_are_listed_and_names_are_completed(bbllm: Command) -> None:
    data = only_object(bbllm('scenes', '--json'))

    assert 'aqua_cube' in data['plus_sign']['objects']
    assert data['studio']['rooms'] == ['livingroom', 'kitchen', 'bathroom', 'home_office']
    listed = bbllm('scenes').stdout
    assert 'plus_sign' in listed and 'studio' in listed
    words = bbllm('plan', '--help-all').output
    assert [name for name in planner_names() if name not in words] == []
    assert bbllm('--version').stdout.strip() == f'bbllm {package.__version__}'
    assert beginning(scenes)('plus') == ['plus_sign']
    assert 'brain_body' in beginning(planners)('')


def test_of_a_planner_that_goes_on_from_what_it_observes_failed_actions_show_as_failed() -> None:
    progress = after(
        event(PlanMade(steps=('PICK a', 'WAIT', 'RESET'), start=0)),
        step(0, 'PICK a'),
        call('pick', 'a'),
        outcome('pick a', 'FAILED', 'It is fixed.'),
        event(RepairBegun(index=1, text='PLACE [1 2 3]', cause='a is fixed.', loop=1)),
        event(PlanMade(steps=('PICK a', 'PLACE [1 2 3]', 'PICK b'), start=1)),
        step(1, 'PLACE [1 2 3]'),
        step(2, 'PICK b'),
    )

    rows = [(row.text, row.state, row.note) for row in progress.rows]
    assert rows[0] == ('PICK a', StepState.FAILED, 'It is fixed.')
    assert rows[-2:] == [
        ('PLACE [1 2 3]', StepState.FAILED, ''),
        ('PICK b', StepState.RUNNING, ''),
    ]


PROGRAM = "\n    # 1: go to the tv\n    find('tv')\n    # 2: switch it on\n    switchon('tv')\n"


@pytest.mark.parametrize(
    ('words', 'chosen'),
    [
        ('--world household', {'scene': 'family_flat', 'mode': 'sane', 'visibility': 'full'}),
        ('--world household --house old_house', {'scene': 'old_house'}),
        (
            '--house studio --mode fresh --visibility rooms_seen',
            {'scene': 'studio', 'mode': 'fresh', 'visibility': 'rooms_seen'},
        ),
        ('--house theirs.json', {'scene': 'theirs.json'}),
    ],
)
def test_a_task_is_done_in_a_house_or_a_graph_of_virtualhome_and_on_record(
    bbllm: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    chosen: dict[str, str],
) -> None:
    models = Models(ScriptedModel(['none', PROGRAM]), ScriptedModel([]), ())
    monkeypatch.setattr(setup, 'make_chosen_models', lambda options: models)
    monkeypatch.chdir(tmp_path)
    Path('theirs.json').write_text(json.dumps(load_house('studio').graph.to_dict()))

    ran = bbllm(*WATCH, *words.split(), '--json')

    assert ran.exit_code == 0, ran.output
    data = json.loads(ran.stdout)
    assert data['ending'] == 'FINISHED'
    assert [Path(path).suffix for path in data['pictures']] == ['.svg', '.png']
    assert '>off → on<' in Path(data['pictures'][0]).read_text(encoding='utf-8')
    events = read_episode(Path(data['journal'])).events
    assert {'world': 'household', **chosen}.items() <= events[0].data.settings.items()
    scene = next(e for e in events if e.kind is EventKind.SCENE).data.scene
    n_all = len(load_house(chosen['scene']).graph.nodes)
    assert (len(scene.objects) < n_all) is (chosen.get('visibility') == 'rooms_seen')
    assert bbllm('show').exit_code == 0


def test_a_wrong_word_is_answered_in_words_of_a_person(bbllm: Command) -> None:
    result = bbllm('run', TASK, '--world', 'tabeltop', '--json')

    assert result.exit_code == 2
    assert 'Value error' not in result.output
    assert "'tabeltop' is not one of 'ros', 'tabletop', 'household'." in result.stderr
