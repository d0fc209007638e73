"""The folder of answers in the challenge's form, with what they are answers of."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from bbllm.core.errors import ConfigError
from bbllm.files.yaml_files import FileRecord, explain
from bbllm_bench.benchmarks.eai.modules import DATASET, Module
from bbllm_bench.benchmarks.eai.package import PACKAGE
from bbllm_bench.log.files import read_json, write_atomically
from bbllm_bench.suites.eai_suite import VERSION

EXPORT, TALK = 'export.json', 'talk.jsonl'
COMMAND = '`bbllm bench eai-export`'
ENDING = '_outputs.json'


class Answered(FileRecord):
    """What a module was asked, and how far it came."""

    cases: tuple[str, ...]
    """Identifiers."""
    prompts_sha256: str
    done: bool = False
    without_answer: Mapping[str, str] = {}
    """Cases that the model gave nothing usable for, whose answer is empty, with the error."""
    servers: tuple[str, ...] = ()
    """Names that the servers of the model gave themselves."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Export(FileRecord):
    """`export.json`: which answers a folder has."""

    benchmark: str = f'{PACKAGE} {VERSION}'
    model: str
    """As the files of answers are called."""
    answered_by: str
    sample: int | None
    """How many cases of each module; None: all."""
    seed: int
    code: str
    """Version of bbllm that began it."""
    llm: Mapping[str, object] = {}
    """Settings of the model; never a key."""
    modules: Mapping[Module, Answered] = {}

    def with_module(self, module: Module, answered: Answered) -> 'Export':
        return self.model_copy(update={'modules': {**self.modules, module: answered}})

    def write(self, folder: Path) -> None:
        write_atomically(folder / EXPORT, self.model_dump_json(indent=2) + '\n')


def answers_path(folder: Path, module: Module, model: str) -> Path:
    return folder / DATASET / module / f'{model}{ENDING}'


def write_answers(folder: Path, module: Module, model: str, texts: Mapping[str, str]) -> None:
    rows = [{'identifier': case, 'llm_output': text} for case, text in texts.items()]
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    write_atomically(answers_path(folder, module, model), f'{text}\n')


def read_export(folder: Path) -> Export:
    """Return what a folder has; raises ConfigError where it is none of answers."""
    path = folder / EXPORT
    if not path.is_file():
        raise ConfigError(f'{folder} has no {EXPORT}: name the --out of {COMMAND}.')
    data = read_json(path)
    try:
        export = Export.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f'{path}: {explain(error, data)}') from error
    if export.benchmark != f'{PACKAGE} {VERSION}':
        raise ConfigError(
            f'{folder} has answers to {export.benchmark}, and this is {PACKAGE} {VERSION}, whose '
            'prompts may differ: export them anew, into another folder.'
        )
    return export


def check_answers(folder: Path, export: Export, module: Module) -> None:
    """
    Keep the evaluator from scoring anything but the whole answers of this export.

    Raises:
        ConfigError: They are half-finished, changed, or beside those of another model.
    """
    answered, path = export.modules[module], answers_path(folder, module, export.model)
    others = [file.name for file in path.parent.glob(f'*{ENDING}') if file != path]
    if others:
        raise ConfigError(
            f'{path.parent} has answers of another model, {others[0]}, which the evaluator would '
            f'score too; {EXPORT} is about {export.model}. Move them to a folder of their own.'
        )
    if not answered.done:
        raise ConfigError(
            f'{module} is half-finished in {folder}. The command of {COMMAND} that began it goes '
            'on from there; other modules are scored with --module.'
        )
    rows = read_json(path)
    try:
        found = tuple(row['identifier'] for row in rows if isinstance(row['llm_output'], str))
    except (TypeError, KeyError) as error:
        raise ConfigError(f'{path} is no list of answers: {error!r}.') from error
    if found != answered.cases:
        raise ConfigError(
            f'{path} has {len(found)} answers, and not those of the {len(answered.cases)} cases '
            f'that {EXPORT} lists. Export them anew.'
        )
