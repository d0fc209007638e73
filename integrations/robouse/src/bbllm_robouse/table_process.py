"""
The simulated table of bbllm for agents of Robo Use, in a process of its own.

It reads a JSON request a line and writes a JSON reply a line. Agents have skills alone: each call
goes through the approval gate, the safety envelope and the constraints of the task, as on an arm,
and the table is judged by the scorers of bbllm.
"""

import base64
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bbllm.api.approved_world import Approve, ApprovedWorld
from bbllm.arm.envelope import load_envelope
from bbllm.core.approval import Answer, ApprovalMode, ApprovalRequest
from bbllm.core.errors import BbllmError, ConfigError
from bbllm.core.skill_calls import CallError, check_call
from bbllm.core.tasks import make_task
from bbllm.core.types import Outcome, SkillCall
from bbllm.worlds.tabletop.tabletop import TabletopWorld
from bbllm_bench.safety.safety import SafetyRecorder
from bbllm_bench.scene_sampling.generator import make_case
from bbllm_bench.scorers.scoring import moves_of, score_table
from bbllm_bench.suites.suite import load_suite

AGENT = 'an agent of Robo Use'


def by_program(request: ApprovalRequest) -> Answer:
    """Allow what the gate asks for, as a program; only a simulated robot takes such an answer."""
    return Answer(granted=True, by='bbllm_robouse', automatic=True)


def by_nobody(request: ApprovalRequest) -> Answer:
    """Allow nothing."""
    return Answer(granted=False, by='bbllm_robouse', automatic=True, reason='nothing is allowed')


def by_person(request: ApprovalRequest) -> Answer:
    """Ask a person at the terminal of the run; raises OSError where there is none."""
    with open('/dev/tty', 'r+', encoding='utf-8') as terminal:  # noqa: PTH123
        print(request.title, *request.lines, sep='\n  ', file=terminal)
        terminal.write('Type y to allow it: ')
        terminal.flush()
        return Answer(granted=terminal.readline().strip() == 'y', by='a person at the terminal')


APPROVALS: Mapping[str, Approve] = {
    'program': by_program,
    'nobody': by_nobody,
    'person': by_person,
}
"""Who answers the gate, by the word of a task."""


class AgentTable:
    """
    One case of a suite of tables.

    Args:
        suite: Name of the suite.
        task: Name of the task.
        seed: Of the case.
        never: Constraints of the task beside those of the suite, such as
            `touch the white cylinder`.
        approve: Who answers the approval gate.

    Raises:
        BbllmError: There is no such suite or task, or a constraint cannot be read.
    """

    def __init__(
        self,
        suite: str,
        task: str,
        *,
        seed: int,
        never: Sequence[str] = (),
        approve: Approve = by_program,
    ):
        self.case = make_case(load_suite(suite), task, seed=seed, trial=0)
        envelope = load_envelope().stricter(tuple(never), ())
        self._safety = SafetyRecorder(self.case.table)
        self.table = TabletopWorld(
            self.case.table,
            seed=self.case.noise_seed,
            wrap_driver=self._safety.wrap,
            safety=envelope,
        )
        self.answers: list[str] = []

        def asked(request: ApprovalRequest) -> Answer:
            reply = approve(request)
            answer = reply if isinstance(reply, Answer) else Answer(granted=reply, by=AGENT)
            self.answers.append(answer.line_about(request))
            return answer

        self.world = ApprovedWorld(
            self.table,
            asked,
            make_task(self.case.instruction),
            AGENT,
            envelope.never,
            mode=ApprovalMode.STEP,
        )
        self._before = self.table.truth()
        self._outcomes: list[Outcome] = []

    def execute(self, skill: str, arguments: Sequence[str]) -> Outcome:
        """Execute one call; a skill or an object that there is not is REJECTED."""
        call = SkillCall(skill, tuple(arguments))
        try:
            outcome = self.world.execute(check_call(call, self.world.observe()))
        except CallError as error:
            outcome = error.outcome
        self._outcomes.append(outcome)
        return outcome

    def observe(self) -> dict[str, Any]:
        """Return what an agent sees, as JSON values: names, poses [m], relations and skills."""
        scene = self.world.observe()
        objects = {
            item.name: {
                'kind': item.kind.value,
                'color': item.color,
                'pos': [round(value, 4) for value in item.pose.position_m],
                'size': [round(value, 4) for value in item.size_m],
            }
            for item in scene.objects
        }
        return {
            'holding': scene.held,
            'objects': objects,
            'facts': [str(fact) for fact in scene.facts],
            'frame': 'x away from the robot, y to its left, z up; the table top is at z = 0',
        }

    def skills(self) -> list[dict[str, Any]]:
        """Return name, parameters and summary of each skill."""
        return [asdict(skill) for skill in self.table.skills]

    def score(self) -> dict[str, Any]:
        """Return whether the goal is met, condition by condition, once all rests."""
        self.table.settled()
        moves = moves_of(self._outcomes)
        score = score_table(self.case, self._before, self.table.truth(), moves)
        conditions = {each.text: each.holds for each in score.conditions}
        return {
            'passed': score.passed and not self._safety.count(),
            'reason': score.reason,
            'conditions': conditions,
            'unsafe': self._safety.count(),
            'approvals': self.answers,
        }

    def picture(self) -> str:
        """Return a JPEG file of the table in base64; raises BbllmError where none can be drawn."""
        take = self.table.features.picture
        assert take is not None  # every simulated table has a camera
        return base64.b64encode(take().data).decode()

    def reference(self) -> list[list[str]]:
        """Return the calls that search has found for a puzzle; none for other tasks."""
        calls: list[list[str]] = []
        for name, target in self.case.solution:
            calls += [['pick', name], ['place', target]]
        return calls

    def close(self) -> None:
        """End the simulation."""
        self.table.close()


def open_table(request: Mapping[str, Any]) -> AgentTable:
    """Return the table that a request names; raises BbllmError."""
    word = str(request.get('approval', 'program'))
    if word not in APPROVALS:
        raise ConfigError(f'approval is one of {", ".join(APPROVALS)}, not {word!r}.')
    return AgentTable(
        str(request['suite']),
        str(request['task']),
        seed=int(request['seed']),
        never=tuple(request.get('never') or ()),
        approve=APPROVALS[word],
    )


def answer(table: AgentTable, request: Mapping[str, Any]) -> Any:
    """Return the reply to one request of the backend."""
    match request['op']:
        case 'skill':
            outcome = table.execute(request['name'], request['args'])
            return {
                'status': outcome.status.name,
                'code': outcome.code.name,
                'message': outcome.message,
                'duration_s': round(outcome.duration_s, 2),
            }
        case 'observe':
            return table.observe()
        case 'skills':
            return table.skills()
        case 'score':
            return table.score()
        case 'picture':
            return table.picture()
        case 'reference':
            return table.reference()
        case 'instruction':
            return table.case.instruction
    raise ConfigError(f'{request["op"]!r} is no request of a backend.')


def serve(lines: Callable[[], str], write: Callable[[str], object]) -> None:
    """Answer requests, the first of which names the table, until there are no more."""
    table: AgentTable | None = None
    try:
        while line := lines():
            try:
                request = json.loads(line)
                if table is None:
                    table = open_table(request)
                    reply: dict[str, Any] = {'result': table.case.instruction}
                else:
                    reply = {'result': answer(table, request)}
            except (BbllmError, OSError, KeyError, TypeError, ValueError) as error:
                reply = {'error': f'{type(error).__name__}: {error}'}
            write(json.dumps(reply) + '\n')
    finally:
        if table is not None:
            table.close()


def main() -> None:
    """Serve one table on standard input and output; all else goes to standard error."""
    output, sys.stdout = sys.stdout, sys.stderr

    def write(text: str) -> None:
        output.write(text)
        output.flush()

    serve(sys.stdin.readline, write)


if __name__ == '__main__':
    main()
