"""`bbllm bench eai-export` and `eai-score`, on data of our own and, where installed, on EAI."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from bbllm.core.errors import ConfigError
from bbllm.testing.model_server import ModelServer, replies, status
from bbllm_bench.benchmarks.eai.export import STAND_INS
from bbllm_bench.benchmarks.eai.modules import Module
from bbllm_bench.benchmarks.eai.package import INTERPRETER, find_installed
from tests.bench.eai_data import write_eai
from tests.benchmarks.eai_environment import make_environment

Run = Callable[..., Result]


@pytest.fixture(scope='module')
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp('eai'))


@pytest.fixture
def out(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(INTERPRETER, str(python))
    monkeypatch.setenv('OPENAI_API_KEY', 'secret-of-this-test')
    return tmp_path / 'answers'


def answers(out: Path, module: Module, model: str) -> dict[str, Any]:
    rows = json.loads((out / 'virtualhome' / module / f'{model}_outputs.json').read_text())
    assert all(set(row) == {'identifier', 'llm_output'} for row in rows)
    return {row['identifier']: row['llm_output'] for row in rows}


def config_for(server: ModelServer, folder: Path) -> Path:
    path = folder / 'llm.yaml'
    section = f'{{provider: openai, model: gpt-4o, base_url: "{server.url}", retries: 0}}'
    path.write_text(f'brain: {section}\nbody: {{provider: offline}}\n')
    return path


def test_annotations_are_answers_in_the_form_of_the_challenge(bbllm: Run, out: Path) -> None:
    modules = 'goal_interpretation,action_sequencing,transition_modeling'
    done = bbllm(
        'bench', 'eai-export', '--brain', 'expert', '--module', modules, '--out', str(out)
    )

    assert done.exit_code == 0, done.output
    assert json.loads(answers(out, Module.GOAL, 'expert')['3_2']) == {
        'node goals': [],
        'edge goals': [
            {'from_name': 'character', 'relation': 'HOLDS_RH', 'to_name': 'book'},
            {'from_name': 'character', 'relation': 'INSIDE', 'to_name': 'study'},
        ],
        'action goals': [
            {'action': 'GRAB', 'description': ''},
            {'action': 'READ', 'description': ''},
        ],
    }
    assert answers(out, Module.ACTION, 'expert')['1_1'] == (
        '{"WALK": ["lamp", "1000"], "WALK": ["lamp", "1000"], "TOUCH": ["lamp", "1000"], '
        '"SWITCHON": ["lamp", "1000"]}'
    )
    assert json.loads(answers(out, Module.TRANSITION, 'expert')['1_1'])['output'] == (
        '(:action touch\n  :parameters (?char - character ?obj - object)\n'
        '  :precondition (next_to ?char ?obj)\n  :effect ()\n)'
    )


def test_subgoals_without_annotations_are_refused(bbllm: Run, out: Path) -> None:
    done = bbllm('bench', 'eai-export', '--brain', 'expert', '--out', str(out))

    assert done.exit_code == 2
    assert 'subgoal_decomposition has no annotated answers' in done.output


def test_a_model_is_asked_once_for_each_case_and_again_only_where_it_did_not_answer(
    bbllm: Run, out: Path, tmp_path: Path
) -> None:
    words = ('bench', 'eai-export', '--out', str(out))
    with ModelServer(replies('one'), replies('two'), status(401, 'no more')) as server:
        asked = (*words, '--llm-config', str(config_for(server, tmp_path)))
        broken = bbllm(*asked)
        half = bbllm('bench', 'eai-score', str(out))
        server.will(replies('{}'))
        before = len(server.bodies)
        whole = bbllm(*asked, '--jobs', '4')
        sent = [body['messages'] for body in server.bodies[before:]]
        again = bbllm(*asked)

    assert (broken.exit_code, half.exit_code) == (1, 2), broken.output
    assert 'half-finished' in half.output
    assert (whole.exit_code, again.exit_code) == (0, 0), whole.output
    assert len(sent) == 8 - 2  # two had been answered
    assert server.bodies[before + len(sent) :] == []
    assert answers(out, Module.GOAL, 'gpt-4o') == {'1_1': 'one', '3_2': 'two'}
    assert [{'role': 'system', 'content': 'You plan.'}] in [each[:-1] for each in sent]
    export = json.loads((out / 'export.json').read_text())
    assert export['benchmark'] == 'eai-eval 1.0.5'
    assert export['modules']['goal_interpretation']['servers'] == ['fake-1']

    replayed = tmp_path / 'replayed'
    done = bbllm(
        'bench', 'eai-export', '--replay', str(out / 'talk.jsonl'), '--out', str(replayed)
    )
    assert done.exit_code == 0, done.output
    for module in Module:
        assert answers(replayed, module, 'gpt-4o') == answers(out, module, 'gpt-4o')


def test_what_a_model_declines_is_an_empty_answer_that_is_counted(
    bbllm: Run, out: Path, tmp_path: Path
) -> None:
    with ModelServer(replies('', finish='content_filter'), replies('{"WALK": []}')) as server:
        config = str(config_for(server, tmp_path))
        module = ('--module', 'action_sequencing', '--cases', '2', '--seed', '3')
        done = bbllm('bench', 'eai-export', '--out', str(out), '--llm-config', config, *module)

    assert done.exit_code == 0, done.output
    assert list(answers(out, Module.ACTION, 'gpt-4o').values()) == ['', '{"WALK": []}']
    scored = bbllm('bench', 'eai-score', str(out), '--json')
    assert scored.exit_code == 0, scored.output
    (found,) = json.loads(scored.stdout)['scored']
    assert found['metrics'] == {'goal_evaluation.task_success_rate': 50.0}
    assert (found['n'], found['without_answer']) == (2, 1)
    assert found['counts'] == {'judged': 2, 'parsing error': 1, 'executable': 1}


def test_actions_that_a_planner_carried_out_are_answers(
    bbllm: Run, out: Path, tmp_path: Path
) -> None:
    run = str(tmp_path / 'run')
    models = ('--brain', 'expert', '--body', 'expert')
    data = str(write_eai(tmp_path / 'data'))
    played = bbllm(
        *('bench', 'eai', '--planner', 'base_llm', *models, '--data', data),
        *('--trials', '1', '-k', '0', '--jobs', '1', '--out', run),
    )
    assert played.exit_code == 0, played.output

    done = bbllm('bench', 'eai-export', '--plans', run, '--out', str(out))

    assert done.exit_code == 0, done.output
    found = answers(out, Module.ACTION, 'base_llm')
    assert list(found) == ['1_1', '3_2']
    assert '"TOUCH": ["lamp", "1000"], "SWITCHON": ["lamp", "1000"]' in found['1_1']


def test_answers_that_are_not_those_of_the_export_are_not_scored(bbllm: Run, out: Path) -> None:
    words = ('bench', 'eai-export', '--module', 'action_sequencing', '--out', str(out))
    assert bbllm(*words, '--brain', 'empty').exit_code == 0
    folder = out / 'virtualhome' / 'action_sequencing'

    other_model = bbllm(*words, '--brain', 'expert')
    assert other_model.exit_code == 2
    assert 'model = empty, and now it is expert' in other_model.output
    (folder / 'gpt_outputs.json').write_text('[]')
    beside = bbllm('bench', 'eai-score', str(out))
    assert beside.exit_code == 2
    assert 'answers of another model, gpt_outputs.json' in beside.output
    (folder / 'gpt_outputs.json').unlink()
    (folder / 'empty_outputs.json').write_text('[{"identifier": "1_1", "llm_output": ""}]')
    cut = bbllm('bench', 'eai-score', str(out))
    assert cut.exit_code == 2
    assert 'has 1 answers, and not those of the 4 cases' in cut.output


def test_an_evaluator_that_fails_is_named_with_the_case(bbllm: Run, out: Path) -> None:
    words = ('bench', 'eai-export', '--module', 'action_sequencing', '--out', str(out))
    assert bbllm(*words, '--brain', 'empty').exit_code == 0
    path = out / 'virtualhome/action_sequencing/empty_outputs.json'
    rows = json.loads(path.read_text())
    rows[1]['llm_output'] = 'crash'
    path.write_text(json.dumps(rows))

    done = bbllm('bench', 'eai-score', str(out))

    assert done.exit_code == 1
    text = ' '.join(done.output.split())
    assert f'at case {rows[1]["identifier"]}: TypeError: what no evaluator expects' in text


def test_a_missing_planner_is_not_downloaded(bbllm: Run, out: Path) -> None:
    words = ('bench', 'eai-export', '--module', 'transition_modeling', '--out', str(out))
    assert bbllm(*words, '--brain', 'expert').exit_code == 0

    done = bbllm('bench', 'eai-score', str(out))

    assert done.exit_code == 2
    assert 'Fast Downward is missing' in done.output
    assert 'make eai' in done.output


def test_another_version_or_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INTERPRETER, str(make_environment(tmp_path / 'old', '1.0.4')))
    with pytest.raises(
        ConfigError, match=r'has eai-eval 1\.0\.4, and figures are those of 1\.0\.5'
    ):
        find_installed()
    monkeypatch.setenv(INTERPRETER, str(tmp_path / 'no_python'))
    with pytest.raises(ConfigError, match=r'not installed: there is no .*make eai'):
        find_installed()


def test_a_model_that_answers_no_such_prompts_is_refused(bbllm: Run, out: Path) -> None:
    done = bbllm('bench', 'eai-export', '--brain', 'offline', '--out', str(out))

    assert done.exit_code == 2
    assert all(f'--brain {name}' in ' '.join(done.output.split()) for name in STAND_INS)


@pytest.fixture(scope='module')
def installed() -> None:
    try:
        find_installed().need_planner()
    except ConfigError as error:
        pytest.skip(str(error))


def score_of(bbllm: Run, folder: Path, brain: str, module: Module, cases: int) -> dict[str, Any]:
    words = ('--module', module, '--cases', str(cases), '--seed', '3701', '--out', str(folder))
    done = bbllm('bench', 'eai-export', '--brain', brain, *words)
    assert done.exit_code == 0, done.output
    done = bbllm('bench', 'eai-score', str(folder), '--json')
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)['scored']
    return dict(found)


@pytest.mark.usefixtures('installed')
def test_its_evaluator_gives_nothing_for_empty_answers(bbllm: Run, tmp_path: Path) -> None:
    found = score_of(bbllm, tmp_path, 'empty', Module.SUBGOAL, 3)

    assert found['metrics']['goal_evaluation.task_success_rate'] == 0
    assert found['metrics']['trajectory_evaluation.grammar_error.parsing'] == 1
    assert found['counts'] == {'NotParseable': 3}


@pytest.mark.slow
@pytest.mark.usefixtures('installed')
def test_its_evaluators_accept_its_annotations(bbllm: Run, tmp_path: Path) -> None:
    goals = score_of(bbllm, tmp_path / 'goals', 'expert', Module.GOAL, 10)
    models = score_of(bbllm, tmp_path / 'models', 'expert', Module.TRANSITION, 5)
    plans = score_of(bbllm, tmp_path / 'plans', 'expert', Module.ACTION, 5)

    assert goals['metrics']['all_precision'] == 100
    assert goals['metrics']['all_recall'] > 80  # of two glasses an answer can name one
    assert models['metrics']['overall.f1'] == 100
    assert models['metrics']['overall.planner_success_rate'] == 100
    # Some annotated programs have actions that its reader does not take.
    assert plans['metrics']['trajectory_evaluation.execution_success_rate'] > 50
