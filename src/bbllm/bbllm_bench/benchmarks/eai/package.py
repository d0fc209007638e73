"""
The Embodied Agent Interface as it is installed: files that are read, a program that is started.

Its package and Fast Downward, which its evaluator of transition models starts, are in an
environment of their own (`make eai`). Nothing of either is imported here.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.paths import config_dir
from bbllm_bench.suites.eai_suite import VERSION

PACKAGE = 'eai-eval'
"""Pinned by requirements/eai_bench.txt: figures of another version are none of this benchmark."""
INTERPRETER = 'BBLLM_EAI_PYTHON'
"""Environment variable that names an interpreter in place of that of `make eai`."""
PLANNER = Path('simulation/evolving_graph/pddlgym_planners/FD/fast-downward.py')
"""Where the evaluator looks for Fast Downward; where it is not, it would download one."""
LOOK_S = 60.0
"""How long the interpreter may take to state what it has, on a busy machine [s]."""
LOGS = 'logs'
"""The folder that its program makes where it works."""
_LOOK = """
import importlib.metadata, importlib.util, json
try:
    version = importlib.metadata.version('eai-eval')
    print(json.dumps([version, importlib.util.find_spec('virtualhome_eval').origin]))
except (importlib.metadata.PackageNotFoundError, AttributeError):
    print(json.dumps(['', '']))
"""
_MAIN = """
import sys
from virtualhome_eval.evaluation.transition_modeling.scripts import evaluate_results as module
processes, pool = int(sys.argv.pop(1)), module.Pool
module.Pool = lambda **_: pool(processes)
from eai_eval.cli import main
main()
"""
"""Its command line, with as many planners at once as there are cores: its fixed 32 make each miss
its limit of 100 s wall clock on a small machine."""


class EvaluationError(BbllmError):
    """The benchmark's program came to no end of its own; contains its last words."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The benchmark in its environment."""

    python: Path
    folder: Path
    """Of its module `virtualhome_eval`."""

    def need_planner(self) -> None:
        """Raise ConfigError where Fast Downward is not there."""
        if not (self.folder / PLANNER).is_file():
            raise ConfigError(
                f'Fast Downward is missing: there is no {self.folder / PLANNER}, which the '
                f'evaluator of transition_modeling starts. {_how_to()}'
            )

    def file(self, name: str) -> Path:
        """Return one of its files; raises ConfigError where it is missing."""
        path = self.folder / name
        if not path.is_file():
            raise ConfigError(f'{PACKAGE} lacks its file {path}. {_how_to()}')
        return path

    def run(self, mode: str, module: str, out: Path, timeout_s: float, *more: str) -> str:
        """
        Run its command line in a new folder *out*, and return its log.

        Raises:
            ConfigError: The folder cannot be made.
            EvaluationError: The program failed, or did not end in time.
        """
        cores = len(os.sched_getaffinity(0))
        command: list[str | Path] = [
            self.python,
            '-c',
            _MAIN,
            str(cores),
            '--dataset',
            'virtualhome',
            '--mode',
            mode,
        ]
        command += ['--eval-type', module, '--output-dir', '.', '--num-workers', '1', *more]
        try:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
        except OSError as error:
            raise ConfigError(f'{out} cannot be made ({error.strerror}).') from error
        what = f'The program of {PACKAGE} ({mode}, {module})'
        # Without our keys; the seed makes its order of sets, and so its prompts, the same again.
        environment = {
            'PATH': os.pathsep.join([str(self.python.parent), os.environ.get('PATH', os.defpath)]),
            'HOME': str(self.python.parent.parent),
            'PYTHONHASHSEED': '0',
            'PYTHONUNBUFFERED': '1',  # or its last words are not the last line
        }
        with (out / 'output.txt').open('wb') as output:
            process = subprocess.Popen(
                command,
                cwd=out,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout_s)
            except subprocess.TimeoutExpired as error:
                raise EvaluationError(f'{what} did not end within {timeout_s:g} s.') from error
            finally:
                with suppress(ProcessLookupError):  # its workers too
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        log = ''.join(path.read_text('utf-8') for path in sorted(out.glob(f'{LOGS}/*.log')))
        if code:
            last = (out / 'output.txt').read_text('utf-8', errors='replace').split('\n')
            case = re.findall(r'file_id is (\w+)', log)
            raise EvaluationError(
                f'{what} ended with code {code}{f" at case {case[-1]}" if case else ""}: '
                f'{next(filter(None, reversed(last)), "no output")}. All that it printed is in '
                f'{out / "output.txt"}.'
            )
        return log


def find_installed() -> Installed:
    """
    Return the benchmark in its environment.

    Raises:
        ConfigError: It is not installed, or is of another version.
    """
    named = os.environ.get(INTERPRETER)
    python = Path(named) if named else config_dir().parent / 'build' / 'eai' / 'bin' / 'python'
    if not python.exists():
        raise ConfigError(f'{PACKAGE} is not installed: there is no {python}. {_how_to()}')
    try:
        done = subprocess.run(
            [python, '-I', '-c', _LOOK],
            capture_output=True,
            text=True,
            timeout=LOOK_S,
            check=True,
        )
        version, origin = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ConfigError(
            f'{python} did not state within {LOOK_S:g} s which {PACKAGE} it has ({error}). '
            f'{_how_to()}'
        ) from error
    if version != VERSION:
        has = f'has {PACKAGE} {version}' if version else f'has no {PACKAGE}'
        raise ConfigError(f'{python} {has}, and figures are those of {VERSION}. {_how_to()}')
    return Installed(python, Path(origin).parent)


def _how_to() -> str:
    return (
        f'In a clone of the repository: make eai. Elsewhere, set {INTERPRETER} to a Python that '
        f'has {PACKAGE} {VERSION}, as requirements/eai_bench.txt installs it.'
    )
