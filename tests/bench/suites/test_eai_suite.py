"""The tasks of the Embodied Agent Interface, from data of our own in its form, and its own."""

from pathlib import Path

import pytest

from bbllm.core.errors import ConfigError
from bbllm.core.types import SkillCall
from bbllm.planners.common.step_grammar import call_of
from bbllm.planners.domains.household.actions import house_skills, shown_to_body
from bbllm.planners.domains.languages import HOUSEHOLD
from bbllm.worlds.household.household import Household, Mode
from bbllm.worlds.household.vocabulary import Action, Relation
from bbllm.worlds.household.world import HouseholdWorld
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.suites import eai_suite
from bbllm_bench.suites.eai_suite import script_of
from bbllm_bench.suites.house_goals import GraphEdge, GraphGoal
from bbllm_bench.suites.household import judge_household
from bbllm_bench.suites.suite import Suite, load_suite
from bbllm_bench.suites.task_spec import SuiteFileError
from bbllm_planners.fltrnn.memory_graph import MemoryGraph
from bbllm_planners.prog_prompt import prompting as prog_prompt
from tests.bench.eai_data import BOOK, CURTAIN, DESK, HALL, LAMP, ME, STUDY, write_eai


@pytest.fixture
def eai(tmp_path: Path) -> Suite:
    return load_suite('eai', data=write_eai(tmp_path))


def test_each_program_with_a_goal_that_can_be_reached_is_a_task(eai: Suite) -> None:
    assert [(task.name, task.label, task.split) for task in eai.tasks] == [
        ('turn_on_light_1_1', '1_1', 'turn_on_light'),
        ('read_book_3_2', '3_2', 'read_book'),
    ]
    assert eai.mode is Mode.EAI
    assert 'Left out: turn_on_light_2_1 (no goal); read_book_688_1 (one glass' in eai.description
    assert eai.tasks[0].instruction == (
        'Turn on light. At the end: lamp_1000 is on. Among the actions: touch or push.'
    )
    assert eai.tasks[1].instruction == (
        'Read book. At the end: character_65 holds in the right hand book_1001; character_65 is '
        'inside study_11. Among the actions: grab, then read or lookat.'
    )


def test_planners_offer_every_action_and_read_the_names_of_single_objects(eai: Suite) -> None:
    case = make_case(eai, 'read_book_3_2', seed=0, trial=0)
    worlds = {
        mode: HouseholdWorld(case.house.build(), mode=mode, visibility=case.house.sight)
        for mode in (Mode.EAI, Mode.FRESH)
    }
    offered = {
        mode: [
            {skill.name for skill in house_skills(scene)},
            {skill.name for skill in HOUSEHOLD.low_level_actions(scene)},
            {skill.name for skill in prog_prompt.offered(scene)},
            set(MemoryGraph(scene).arity),
        ]
        for mode, scene in ((mode, world.observe()) for mode, world in worlds.items())
    }
    step = 'read the book_1001'

    assert all({'read', 'lookat', 'type', 'lie'} <= each for each in offered[Mode.EAI])
    assert not any({'read', 'type', 'lie'} & each for each in offered[Mode.FRESH])
    assert call_of(step, shown_to_body(worlds[Mode.EAI].observe())) == SkillCall(
        'read', ('book_1001',)
    )
    assert call_of(step, shown_to_body(worlds[Mode.FRESH].observe())) is None


def test_a_planner_is_shown_what_the_program_changes_or_names_and_the_rooms(eai: Suite) -> None:
    case = make_case(eai, 'read_book_3_2', seed=0, trial=3)

    assert case.house.shown == (HALL, STUDY, ME, LAMP, BOOK)
    assert set(case.house.build().nodes) >= {DESK, CURTAIN}
    world = HouseholdWorld(case.house.build(), mode=case.house.mode, visibility=case.house.sight)
    assert sorted(world.observe().names) == [
        'book_1001',
        'character_65',
        'hall_10',
        'lamp_1000',
        'study_11',
    ]
    assert make_case(eai, 'read_book_3_2', seed=1, trial=0).scene == case.scene


def test_the_annotated_programs_reach_their_goals(eai: Suite) -> None:
    for task in eai.tasks:
        goal = task.house_goal
        assert isinstance(goal, GraphGoal)
        home = Household(eai.houses[task.name][0].graph, mode=eai.mode)
        assert not judge_household(goal, home.graph, frozenset()).passed
        done = [line.action for line in script_of(goal) if home.step(line).succeeded]
        assert judge_household(goal, home.graph, frozenset(), done=done).passed


@pytest.mark.parametrize(
    ('done', 'faults'),
    [
        ('GRAB READ', ['', '']),
        ('FIND GRAB WALK LOOKAT READ', ['', '']),
        ('READ GRAB', ['', 'Not done: read or lookat.']),
        ('READ', ['Not done: grab.', 'Not done: grab.']),
    ],
)
def test_actions_count_in_their_order_and_none_after_a_missing_one(
    eai: Suite, done: str, faults: list[str]
) -> None:
    wanted = eai.task('read_book_3_2').house_goal
    assert isinstance(wanted, GraphGoal)
    goal = GraphGoal(kind='graph', actions=wanted.actions)
    graph = eai.houses['read_book_3_2'][0].graph

    score = judge_household(goal, graph, frozenset(), done=[Action[n] for n in done.split()])

    assert [condition.text for condition in score.conditions] == [
        'done: grab',
        'done: read or lookat',
    ]
    assert [condition.fault for condition in score.conditions] == faults


def test_every_edge_of_a_goal_counts_and_a_fault_names_the_objects(eai: Suite) -> None:
    graph = eai.houses['read_book_3_2'][0].graph
    edges = (
        GraphEdge(from_id=BOOK, relation=Relation.ON, to_id=DESK),
        GraphEdge(from_id=ME, relation=Relation.FACING, to_id=LAMP),
    )

    score = judge_household(GraphGoal(kind='graph', edges=edges), graph, frozenset())

    assert [condition.text for condition in score.conditions] == [
        'book_1001 is on desk_1002',
        'character_65 faces lamp_1000',
    ]
    assert score.reason == 'It is not so: character_65 faces lamp_1000.'


def test_the_error_without_the_data_names_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SuiteFileError, match=r'There is no resources/.* pip install --no-deps'):
        load_suite('eai', data=tmp_path)
    monkeypatch.setattr(eai_suite, 'PACKAGE', 'virtualhome_eval_that_is_not_here')
    with pytest.raises(SuiteFileError, match=r'eai-eval is not installed.*--data DIR'):
        load_suite('eai')


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    folder = write_eai(tmp_path)
    (file,) = folder.rglob('file3_2.json')
    file.write_text('{')
    with pytest.raises(ConfigError, match=r'file3_2.json is not valid JSON'):
        make_case(load_suite('eai', data=folder), 'read_book_3_2', seed=0, trial=0)
    (file,) = folder.rglob('file3_2.txt')
    file.unlink()
    with pytest.raises(SuiteFileError, match=r'file3_2.txt cannot be read'):
        load_suite('eai', data=folder)


def test_the_published_data_give_337_tasks() -> None:
    pytest.importorskip('virtualhome_eval', reason=f'not installed: {eai_suite.WHERE_TO_GET}')

    suite = load_suite('eai')

    assert len(suite.tasks) == 337
    goal = suite.task('wash_clothes_27_2').house_goal
    assert isinstance(goal, GraphGoal)
    home = Household(suite.houses['wash_clothes_27_2'][0].graph, mode=suite.mode)
    done = [line.action for line in script_of(goal) if home.step(line).succeeded]
    assert judge_household(goal, home.graph, frozenset(), done=done).passed
