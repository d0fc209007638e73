"""State success and informed success: in an episode's result, in figures, tables and reports."""

import dataclasses
from pathlib import Path
from typing import Any

from bbllm.core.events import Ending
from bbllm.core.types import Pose, Scene
from bbllm.llm.config import LlmConfig
from bbllm_bench.log.episodes import EpisodeSpec, RunConfig
from bbllm_bench.log.results import EpisodeKey, EpisodeResult
from bbllm_bench.report.summary import RunSummary, closing_line, summarize_run
from bbllm_bench.report.write import write_report
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.scoring import lost, score
from bbllm_bench.suites.case import Case
from bbllm_bench.suites.suite import load_suite
from tests.bench.made_journals import Journal
from tests.bench.made_results import make_result, make_settings, printed, write_run
from tests.bench.solved_cases import objects_of

SUITE = load_suite('partial')
CASE = make_case(SUITE, 'lighter_on_heavier', seed=0, trial=0)
LIGHT, HEAVY = (s.name for s in sorted(CASE.scene.objects, key=lambda spec: spec.mass))


KNOWING = {'informed': True, 'information': 'every block was weighed'}
GUESSED = {'informed': False, 'information': 'Not weighed: blue_cube.'}

MIXED = (
    make_result('stack', 0),
    make_result('stack', 1),
    make_result('pick_heavier', 0, **KNOWING),
    make_result('pick_heavier', 1, **GUESSED),
    make_result('pick_heavier', 2, 3, 'failed', **GUESSED, false_success=True),
    make_result('pick_heavier', 3, 3, 'lost', informed=False),
)


def summary_of(results: tuple[EpisodeResult, ...], **changes: Any) -> RunSummary:
    tasks = sorted({result.key.task for result in results})
    settings = make_settings(**{'suite': 'partial', 'trials': 4, 'tasks': tasks, **changes})
    return summarize_run(settings, results, [])


def job_of(case: Case) -> EpisodeSpec:
    config = RunConfig(planner='p', llm=LlmConfig())
    return EpisodeSpec(key=EpisodeKey(case.task, 0, 2), case=case, config=config)


def scene_of(case: Case, *, above: str = '', below: str = '') -> Scene:
    """The table at the start, or with one block on another."""
    items = objects_of(case)
    if above:
        x, y, z = items[below].pose.position_m
        items[above] = dataclasses.replace(items[above], pose=Pose(position_m=(x, y, z + 0.04)))
    return Scene(tuple(items.values()), (), (), 0.0)


def scored(after: Scene | None, ending: Ending = Ending.FINISHED) -> EpisodeResult:
    """Score an episode in which both blocks were weighed before the lighter was put down."""
    journal = Journal(CASE).reply().pick(LIGHT).place().pick(HEAVY).place()
    episode = journal.reply().pick(LIGHT).place(HEAVY).reply().episode(ending)
    before = scene_of(CASE)
    return score(job_of(CASE), episode, before=before, after=after, robot_s=1.0, unsafe=0)


def test_who_weighed_first_has_both_kinds_of_success() -> None:
    result = scored(scene_of(CASE, above=LIGHT, below=HEAVY))

    assert (result.verdict, result.informed, result.informed_success) == ('passed', True, True)
    assert result.information == 'every block was weighed'
    assert not result.false_success


def test_an_ending_as_done_with_a_wrong_tower_is_a_false_success() -> None:
    wrong = scene_of(CASE, above=HEAVY, below=LIGHT)

    claim = scored(wrong)
    gave_up = scored(wrong, ending=Ending.GAVE_UP)

    assert (claim.verdict, claim.false_success, claim.informed_success) == (
        'failed',
        True,
        False,
    )
    assert 'there is no tower of' in claim.reason
    assert not gave_up.false_success


def test_what_was_lost_was_not_informed_and_claims_nothing() -> None:
    result = scored(None)

    assert (result.verdict, result.informed, result.false_success) == ('lost', False, False)
    key = EpisodeKey(CASE.task, 0, 2)
    assert lost(key, 'Gone.', 'X', least_loops=1, case=CASE).informed is False
    assert lost(key, 'No table.', 'X', least_loops=1).informed is None


def test_the_table_has_state_informed_and_false_success_where_something_is_needed() -> None:
    text = printed(summary_of(MIXED))
    head, *rows = [line.split() for line in text.splitlines() if line.strip()][1:]

    assert head[:4] == ['task', 'n', 'state', 'informed']
    assert 'false success' in text
    by_task = {row[0]: row for row in rows}
    assert [by_task['pick_heavier'][i] for i in (1, 2, 5)] == ['4', '0.50', '0.25']
    assert [by_task['stack'][i] for i in (1, 2, 5)] == ['2', '1.00', '–']
    assert [by_task['all'][i] for i in (1, 2, 5)] == ['6', '0.67', '–']
    # Both over the same episodes: those of tasks that need something.
    assert ' '.join(by_task['to']) == 'to find out 4 0.50 [0.15, 0.85] 0.25 [0.05, 0.70]'
    assert (
        'Where something had to be found out (K = 3, 4 episodes): '
        'state 0.50 [0.15, 0.85], informed 0.25 [0.05, 0.70].'
    ) in text


def test_the_closing_line_has_informed_success_only_where_a_task_needs_it() -> None:
    line = closing_line(summary_of(MIXED))

    assert 'SR=0.67 ' in line
    assert line.endswith('STATE=0.50 [0.15, 0.85] INFORMED=0.25 [0.05, 0.70] needing=4 n=6')
    assert 'INFORMED' not in closing_line(summary_of(MIXED[:2]))


def report_of(tmp_path: Path, results: tuple[EpisodeResult, ...], **changes: Any) -> str:
    names = sorted({result.key.task for result in results})
    labels = {'pick_heavier': 'T3'}
    tasks = [{'name': name, 'label': labels.get(name, ''), 'least_loops': 1} for name in names]
    changes = {'suite': 'partial', 'trials': 4, 'tasks': tasks, **changes}
    folder = write_run(tmp_path / 'run', results, make_settings(**changes))
    return write_report(folder).read_text()


def test_the_report_has_columns_and_cards_for_it(tmp_path: Path) -> None:
    page = report_of(tmp_path, MIXED)

    assert '<th scope="col">State</th><th scope="col">Informed</th>' in page
    assert 'False<br>success' in page
    assert 'Not informed: Not weighed: blue_cube. The planner ended as if it was done.' in page
    assert 'Informed: every block was weighed.' in page
    assert page.count('T3 pick heavier') > 1  # table and gallery
