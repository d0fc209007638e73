"""The front door: `import bbllm` has the documented names, and `Robot` does tasks."""

import ast
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import bbllm
from bbllm import (
    Robot,
    ScenePicture,
    SkillCall,
    World,
    WorldFeatures,
    errors,
    events,
    run_episode,
)
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.paths import episodes_dir
from bbllm.core.types import Code
from bbllm.testing import Pace, PacedModel, ScriptedModel
from tests.doubles.paper_world import PaperWorld

PUBLIC = {
    *('Fact', 'Kind', 'Pose', 'SceneObject'),
    *('Task', 'Scene', 'Skill', 'SkillCall', 'Outcome', 'Status', 'Plan', 'PlanStep'),
    *('Planner', 'World', 'ChatModel', 'Message', 'Reply', 'EpisodeContext'),
    *('ModelRequest', 'ModelWrapper', 'WorldFeatures', 'WorldWrapper', 'ScenePicture'),
    *('Robot', 'run_episode', 'load_planner', 'load_suite', 'errors', 'events'),
}
PNG = b'\x89PNG\r\n\x1a\n and so on'
STACK = 'stack the red cube on the blue cube'
OFFLINE = {'brain': 'offline', 'body': 'offline'}
LIGHT = """
import sys, bbllm
from bbllm import SkillCall, Task, events
assert bbllm.__version__ and 'Robot' in dir(bbllm)
heavy = {'mujoco', 'numpy', 'scipy', 'pydantic', 'openai', 'rclpy'} & set(sys.modules)
sys.exit(f'imported: {heavy}' if heavy else 0)
"""


def test_public_names_are_those_documented_resolve_and_type_checkers_see_them() -> None:
    tree = ast.parse(Path(bbllm.__file__).read_text())
    seen = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]

    assert set(bbllm.__all__) == PUBLIC
    assert all(getattr(bbllm, name) is not None for name in PUBLIC)
    assert {alias.name for node in seen for alias in node.names} >= PUBLIC


def test_import_loads_no_large_library() -> None:
    done = subprocess.run(
        [sys.executable, '-c', LIGHT], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 0, done.stderr


@pytest.fixture
def world() -> PaperWorld:
    return PaperWorld('tabletop')


def test_robot_does_a_task_and_keeps_a_journal(world: PaperWorld) -> None:
    received: list[events.Event] = []
    with Robot(world, **OFFLINE) as robot:
        episode = robot.do(STACK, on_event=received.append)

        assert episode.ending is events.Ending.FINISHED, episode.message
        assert robot.episode is episode
        assert tuple(received) == episode.events
    assert (episodes_dir() / f'{episode.id}.jsonl').is_file()


class PicturedPaper(PaperWorld):
    """A world on paper with a camera."""

    features = WorldFeatures(picture=lambda: ScenePicture(data=PNG, view='from above'))


def test_a_robot_shows_a_planner_the_pictures_of_its_world() -> None:
    brain = ScriptedModel(['0: pick red_cube\n1: Done'])
    with Robot(PicturedPaper('tabletop'), **OFFLINE) as robot:
        episode = run_episode(STACK, 'brain_body:image=before', robot, brain=brain)

    assert episode.ending is events.Ending.FINISHED, episode.message
    assert brain.requests[0].messages[-1].images == (PNG,)


def test_a_robot_without_camera_ends_a_task_that_needs_pictures(world: PaperWorld) -> None:
    with Robot(world, **OFFLINE) as robot:
        episode = run_episode(STACK, 'brain_body:image=before', robot, brain=ScriptedModel())

    assert 'This world has no camera' in episode.message


def test_plan_moves_nothing_and_is_an_error_where_there_is_none(world: PaperWorld) -> None:
    world.on_call = lambda: pytest.fail('something moved')
    robot = Robot(world, **OFFLINE)

    plan = str(robot.plan(STACK)).splitlines()

    assert plan[:2] == ['0: pick red_cube', '1: place red_cube on blue_cube']
    with pytest.raises(errors.TaskError, match='There is no plan'):
        robot.plan('sing a song')


@pytest.mark.parametrize(
    'call', ['pick(red_cube)', ' pick ( red_cube ) ', SkillCall('pick', ('red_cube',))]
)
def test_call_is_executed_and_other_text_is_an_error_with_the_form(
    world: PaperWorld, call: SkillCall | str
) -> None:
    robot = Robot(world, **OFFLINE)

    assert robot.execute(call).succeeded
    assert robot.observe().held == 'red_cube'
    assert robot.execute('return_to_base').succeeded
    with pytest.raises(errors.ParseError, match=r'pick\(red_cube\)'):
        robot.execute('pick the red cube')


def test_events_come_while_the_task_runs(world: PaperWorld) -> None:
    robot = Robot(world, **OFFLINE)
    reached = threading.Event()
    world.on_call = lambda: reached.wait(10.0)

    for event in robot.events(STACK):
        if isinstance(event.data, SkillCall):
            reached.set()  # the call waits for this, so its event was here before its end

    assert robot.episode is not None
    assert robot.episode.ending is events.Ending.FINISHED


def test_second_task_at_a_time_is_refused_and_leaving_the_iterator_stops_the_robot(
    world: PaperWorld,
) -> None:
    robot = Robot(world, **OFFLINE)
    world.on_call = lambda: world.stopped.wait(10.0)

    stream = robot.events(STACK)
    while not isinstance(next(stream).data, SkillCall):
        pass
    with pytest.raises(errors.WorldError, match='another task'):
        robot.do(STACK)
    stream.close()

    assert world.stopped.is_set()
    assert robot.episode is not None
    assert robot.episode.ending is events.Ending.CANCELLED


def test_denied_plan_moves_nothing(world: PaperWorld) -> None:
    world.on_call = lambda: pytest.fail('something moved')
    asked: list[ApprovalRequest] = []

    def deny(request: ApprovalRequest) -> bool:
        asked.append(request)
        return False

    episode = Robot(world, approve=deny, **OFFLINE).do(STACK)

    assert asked[0].steps[:2] == ('pick red_cube', 'place red_cube on blue_cube')
    assert 'deterministic stand-in' in asked[0].title
    assert episode.ending is events.Ending.WENT_IN_CIRCLES
    assert len(asked) == 1
    codes = [e.data.code for e in episode.events if isinstance(e.data, bbllm.Outcome)]
    assert set(codes) == {Code.NOT_APPROVED}
    assert any(isinstance(e.data, events.ApprovalAnswered) for e in episode.events)


def test_answer_of_a_person_is_recorded_with_name_and_reason(world: PaperWorld) -> None:
    denial = Answer(granted=False, reason='the cube is glued', by='ann')

    episode = Robot(world, approve=lambda request: denial, **OFFLINE).do(STACK)

    answers = [e.data for e in episode.events if isinstance(e.data, events.ApprovalAnswered)]
    assert {(x.by, x.reason, x.automatic) for x in answers} == {
        ('ann', 'the cube is glued', False)
    }
    outcome = next(e.data for e in episode.events if isinstance(e.data, bbllm.Outcome))
    assert outcome.message == 'A person did not approve this plan: the cube is glued.'


@pytest.mark.parametrize('asks', [False, True])
def test_a_plan_begins_while_it_is_written_unless_a_person_reads_it_first(
    world: PaperWorld, asks: bool
) -> None:
    plan = '0: pick red_cube\n1: place red_cube on blue_cube\n2: return to base\n3: Done'
    brain = PacedModel(ScriptedModel([plan]), Pace(first_token_s=0.0, tokens_per_s=200.0))
    asked: list[ApprovalRequest] = []
    approve = (lambda request: not asked.append(request)) if asks else None

    robot = Robot(world, brain=brain, body='offline', goal='no', approve=approve)
    episode = robot.do(STACK)

    kinds = [event.kind for event in episode.events]
    assert kinds.count(events.EventKind.CALL) == 3
    assert (events.EventKind.PLAN_GROWN in kinds) is not asks
    assert [len(request.steps) for request in asked] == ([3] if asks else [])


def test_approved_plan_is_asked_for_once(world: PaperWorld) -> None:
    asked: list[ApprovalRequest] = []
    episode = Robot(world, approve=lambda request: not asked.append(request), **OFFLINE).do(STACK)

    assert episode.ending is events.Ending.FINISHED, episode.message
    assert [request.kind.value for request in asked] == ['plan']


class TwoCalls:
    """A planner that needs no model."""

    def __init__(self, brain: bbllm.ChatModel, body: object, *, k: int):
        self.k = k

    def run(self, task: bbllm.Task, world: World, context: bbllm.EpisodeContext) -> None:
        for text in ('pick(red_cube)', 'place(blue_cube)'):
            skill, _, args = text.rstrip(')').partition('(')
            step = bbllm.PlanStep(0, text)
            context.emit(events.PlanMade.of(bbllm.Plan((step,)), 0))
            context.emit(events.StepBegun.of(step))
            assert world.execute(SkillCall(skill, (args,))).succeeded


def test_own_planner_runs_on_a_robot_as_its_world(world: PaperWorld) -> None:
    episode = run_episode(STACK, TwoCalls, Robot(world, **OFFLINE), brain='offline')

    assert (episode.planner, episode.steps) == ('TwoCalls', 2)
    assert episode.ending is events.Ending.FINISHED


class Silent:
    """A Brain that always gives the same reply."""

    name = 'silent'
    supports_schema = False

    def ask(self, request: bbllm.ModelRequest, on_text: object = None) -> bbllm.Reply:
        return bbllm.Reply(text='CANNOT: I do not know how.', model=self.name)


def test_own_model_is_brain_and_body(world: PaperWorld) -> None:
    episode = run_episode(STACK, 'brain_body', world, brain=Silent())

    assert (episode.brain, episode.ending) == ('silent', events.Ending.GAVE_UP)
    assert episode.body.startswith('silent')


@pytest.mark.ros
@pytest.mark.parametrize(
    ('given', 'sent'),
    [({}, ['', 'no']), ({'goal': 'auto'}, ['auto', 'no'])],
)
def test_a_stack_is_sent_a_goal_only_where_one_was_given(
    given: dict[str, str], sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bbllm_ros.stack import session

    goals: list[object] = []

    class Client:
        def __init__(self, namespace: str):
            self.namespace, self.node, self.group, self.approvals = namespace, None, None, None
            self.scene = self.execute = self.close = self.wait_ready = lambda *_: None

        def run_task(self, *args: object, goal: str, **options: object) -> None:
            goals.append(goal)
            raise errors.TaskError('enough')

    monkeypatch.setattr(session, 'StackClient', Client)
    monkeypatch.setattr(session, 'StopClient', lambda node, group: None)
    robot = Robot('ros', **given)  # type: ignore[arg-type]

    for goal in (None, 'no'):
        with pytest.raises(errors.TaskError, match='enough'):
            robot.do('tidy up', goal=goal)

    assert goals == sent


def test_scenes_come_from_pictures_alone_where_they_are_the_sources() -> None:
    with Robot('sim', sources='camera', goal='no', **OFFLINE) as robot:
        episode = robot.do(STACK)
        seen = {item.name: item.pose.position_m for item in robot.observe().objects}

    assert episode.ending is events.Ending.FINISHED
    assert seen['red_cube'][2] - seen['blue_cube'][2] == pytest.approx(0.04, abs=0.005)


@pytest.mark.parametrize(
    ('choice', 'text'),
    [
        ({'world': 'simm'}, "Did you mean 'sim'"),
        ({'world': 'plus_sign'}, r"Robot\('sim', scene='plus_sign'\)"),
        ({'world': 'studio'}, r"Robot\('household', scene='studio'\)"),
        ({'world': 'sim', 'planner': 'brain_bodi'}, "Did you mean 'brain_body'"),
        ({'world': 'sim', 'planner': 42}, 'planner cannot be 42'),
        ({'world': 'sim', 'planner': 'llm_pop', 'brain': 'offline'}, 'offline'),
        ({'world': 'sim', 'scene': 'plus_sgn'}, "Did you mean 'plus_sign'"),
        ({'world': 'sim', 'namespace': 'bbllm_real'}, r"Robot\('ros', namespace"),
        ({'world': 'ros', 'brain': 'offline', 'seed': 1}, 'cannot take brain, seed'),
        ({'world': 'sim', 'brain': Silent(), 'record': 'x.jsonl'}, 'by their names'),
        ({'world': PaperWorld('tabletop'), 'seed': 1}, 'would belong to the world'),
        ({'world': 'sim', 'sources': 'camra'}, "Did you mean 'camera'"),
        ({'world': 'sim', 'trouble': 'light'}, "sources='camera' in Python"),
        ({'world': 'sim', 'sources': 'camera', 'trouble': 'lihgt'}, "Did you mean 'light'"),
        ({'world': 'household', 'sources': 'camera'}, 'does not have sources'),
        ({'world': 'ros', 'sources': 'camera'}, 'cannot take sources'),
        ({'world': PaperWorld('tabletop'), 'sources': 'camera'}, 'would belong to the world'),
    ],
)
def test_what_cannot_be_had_is_an_error_with_what_can(
    choice: dict[str, object], text: str
) -> None:
    with pytest.raises(errors.BbllmError, match=text):
        Robot(**choice)  # type: ignore[arg-type]


def test_constraints_stand_in_the_prompt_of_a_plan_and_not_in_that_of_a_goal() -> None:
    def answer(request: bbllm.ModelRequest) -> str:
        return 'none' if request.prompt.endswith('Conditions:') else '0: Done'

    brain = ScriptedModel([answer, answer])
    box = '0.2 0.5 0 0.6 0.9 0.3'
    with Robot('sim', never='touch the white cylinder', keep_out=box, brain=brain) as robot:
        robot.do('put the red cube on the white cylinder')

    line = (
        'A call that breaks this is refused: never touch the white cylinder; '
        'never enter x 0.2 to 0.6, y 0.5 to 0.9, z 0 to 0.3 m (box_1), with arm, hand or object'
    )
    prompts = {request.prompt.splitlines()[-1]: request.prompt for request in brain.requests}
    assert line in prompts['Step-by-step plan:'].splitlines()
    assert line not in prompts['Conditions:']


def test_a_task_that_needs_what_may_not_be_touched_ends_with_the_constraint() -> None:
    asked: list[ApprovalRequest] = []
    never, cylinder = 'touch the white cylinder', 'white_cylinder'
    with Robot(
        'sim', never=never, approve=lambda request: not asked.append(request), **OFFLINE
    ) as robot:
        before = robot.observe().object(cylinder)
        episode = robot.do('put the red cube on the white cylinder')
        after = robot.observe().object(cylinder)

        reported = f"the constraint 'never touch {cylinder}' forbids place({cylinder})"
        assert episode.ending is events.Ending.GAVE_UP
        assert reported in episode.message
        assert episode.never == ('never touch the white cylinder',)
        assert asked == []  # its rehearsal failed, so that nobody was asked to approve it
        assert after.pose.position_m == pytest.approx(before.pose.position_m, abs=1e-3)

        assert robot.do('put the red cube on location_B').ending is events.Ending.FINISHED
        (result,) = asked[0].rehearsal
        assert asked[0].never == (f'never touch the white cylinder ({cylinder})',)
        assert result.startswith('3 of 3 simulations succeeded, 3 calls in ')


def test_a_plan_is_not_rehearsed_where_nobody_wants_it() -> None:
    asked: list[ApprovalRequest] = []
    with Robot(
        'sim', approve=lambda request: not asked.append(request), rehearse=False, **OFFLINE
    ) as robot:
        episode = robot.do('put the red cube on location_B')
    assert episode.ending is events.Ending.FINISHED
    assert asked[0].rehearsal == ()
    assert not any(isinstance(e.data, events.PlanRehearsed) for e in episode.events)


def test_a_rehearsal_predicts_the_table_and_is_on_record() -> None:
    with Robot('sim', rehearse=1, **OFFLINE) as robot:
        episode = robot.do('put the red cube on location_B')
        after = robot.observe()
    (result,) = [e.data for e in episode.events if isinstance(e.data, events.PlanRehearsed)]
    assert (result.samples, result.succeeded, result.calls) == (1, 1, 3)
    scenes = [e.data for e in episode.events if isinstance(e.data, events.SceneRecorded)]
    assert [data.moment for data in scenes] == ['before', 'predicted', 'after']
    predicted = scenes[1].scene.object('red_cube').pose.position_m
    assert predicted == pytest.approx(after.object('red_cube').pose.position_m, abs=0.002)


def test_boxes_and_a_safety_file_hold_for_a_simulated_arm(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text('never: [move any cylinder]')
    box = '0.4 0.1 0 0.5 0.2 0.3'
    with Robot('sim', safety=path, keep_out=box, **OFFLINE) as robot:
        outcomes = [robot.execute(f'pick({name})') for name in ('black_cylinder', 'red_cube')]

    assert [outcome.code for outcome in outcomes] == [Code.UNSAFE] * 2
    assert "'never move black_cylinder' forbids" in outcomes[0].message
    assert 'leads through box_1' in outcomes[1].message


@pytest.mark.parametrize(
    ('world', 'options', 'sentence'),
    [
        (
            'sim',
            {'never': 'eat the cube'},
            "'eat the cube' is no constraint; write `touch OBJECT`",
        ),
        ('sim', {'never': ['touch the cat']}, "'never touch the cat' cannot be kept: it names no"),
        ('sim', {'keep_out': '1 2 3'}, "'1 2 3' is no box; write two opposite corners"),
        (
            'household',
            {'never': 'touch the tv'},
            'does not have never. An arm that is simulated in this process does',
        ),
        (PaperWorld('tabletop'), {'safety': 'safety_slow'}, 'safety would belong to the world'),
        (
            'ros',
            {'never': 'touch the cube'},
            'cannot take never',
        ),
    ],
)
def test_constraints_that_cannot_be_kept_are_refused(
    world: str | World, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        Robot(world, **options, **OFFLINE)

    assert sentence in str(caught.value)
