"""An environment with a benchmark of our own in the form of the Embodied Agent Interface."""

import json
import sys
import venv
from pathlib import Path

from tests.bench.eai_data import write_eai

PROGRAM = """
import argparse, json, os, pathlib
from virtualhome_eval.evaluation.transition_modeling.scripts import evaluate_results as module

def main():
    assert module.Pool(processes=32) == len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser()
    for name in ('dataset', 'mode', 'eval-type', 'output-dir', 'num-workers', 'llm-response-path'):
        parser.add_argument(f'--{name}')
    given = parser.parse_args()
    out = pathlib.Path(given.output_dir, given.dataset, given.mode, given.eval_type)
    pathlib.Path('logs').mkdir()
    log = pathlib.Path('logs', 'app.log')
    log.write_text('')
    assert 'OPENAI_API_KEY' not in os.environ
    if given.mode == 'generate_prompts':
        out.mkdir(parents=True)
        names = ['1_1', '3_2'] if 'goal' in given.eval_type else ['1_1', '2_1', '3_2', '688_1']
        cases = [{'identifier': x, 'llm_prompt': f'{given.eval_type} {x}?'} for x in names]
        (out / 'helm_prompt.json').write_text(json.dumps(cases))
        return
    folder = pathlib.Path(given.llm_response_path, given.dataset, given.eval_type)
    for path in folder.glob('*_outputs.json'):
        rows = json.loads(path.read_text())
        for row in rows:
            log.write_text(log.read_text() + f"file_id is {row['identifier']}\\n")
            if row['llm_output'] == 'crash':
                raise TypeError('what no evaluator expects')
        log.write_text(log.read_text() + f'Program number: {len(rows)}\\n')
        place = out / path.name.removesuffix('_outputs.json')
        place.mkdir(parents=True)
        empty = sum(not row['llm_output'] for row in rows)
        summary = {'goal_evaluation': {'task_success_rate': 100 * (1 - empty / len(rows))}}
        (place / 'summary.json').write_text(json.dumps(summary))
        errors = {
            row['identifier']: {'error_type': None if row['llm_output'] else 'parsing error'}
            for row in rows
        }
        (place / 'error_info.json').write_text(json.dumps(errors))
"""
EVALUATION = {
    'subgoal_decomposition/prompts/helm_prompts.json': [
        {'identifier': 'scene_1_1_1', 'llm_prompt': 'Subgoals for 1_1?'}
    ],
    'subgoal_decomposition/prompts/system_setup.json': {'system_prompt': 'You plan.'},
    'transition_modeling/prompts/helm_prompts.json': [
        {'identifier': '1_1', 'llm_prompt': 'Actions of the problem of 1_1?'}
    ],
}
ACTION = {
    'action_name': 'touch',
    'action_parameters': '(?char - character ?obj - object)',
    'action_preconditions': '(next_to ?char ?obj)',
    'action_effects': '()',
}


def make_environment(folder: Path, version: str = '1.0.5') -> Path:
    """Return the interpreter of a new environment that has such a package."""
    venv.create(folder, symlinks=True)
    name = f'python{sys.version_info.major}.{sys.version_info.minor}'
    site = folder / 'lib' / name / 'site-packages'
    info = site / f'eai_eval-{version}.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: eai-eval\nVersion: {version}\n')
    (site / 'eai_eval').mkdir()
    (site / 'eai_eval' / '__init__.py').write_text('')
    (site / 'eai_eval' / 'cli.py').write_text(PROGRAM)
    package = site / 'virtualhome_eval'
    write_eai(package)
    for path in (package, package / 'evaluation', package / 'evaluation/transition_modeling'):
        path.mkdir(exist_ok=True)
        (path / '__init__.py').write_text('')
    for file, data in EVALUATION.items():
        path = package / 'evaluation' / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))
    scripts = package / 'evaluation/transition_modeling/scripts'
    scripts.mkdir()
    (scripts / '__init__.py').write_text('')
    (scripts / 'evaluate_results.py').write_text('def Pool(processes):\n    return processes\n')
    resources = package / 'resources/virtualhome'
    (resources / 'id2action.json').write_text(json.dumps({'1_1': ['touch']}))
    (resources / 'gold_action.json').write_text(json.dumps({'touch': ACTION}))
    return folder / 'bin' / 'python'
