"""A plain agent: a call at a time, its result in the conversation, until it reports the end."""

import json
from typing import Any

import pytest

from bbllm.api.approved_world import ApprovedWorld
from bbllm.core.approval import Answer, ApprovalRequest
from bbllm.core.arguments import KINDS
from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, EventKind, Limits, LineDiscarded
from bbllm.core.protocols import ModelRequest, Reply, ToolCall
from bbllm.core.skill_calls import CallError
from bbllm.core.types import Code, Skill, SkillCall, Task
from bbllm.planners.common.tool_calls import skill_call_of, tool_of
from bbllm.testing import ScriptedModel
from bbllm_planners.agent.planner import Agent
from tests.doubles.box_table import BoxTable
from tests.planners.chosen import chosen
from tests.planners.small_house import SmallHouse

NOBODY: Any = None
TASK = Task('t', 'put the red cube on location_B')
PLACES = {'red_cube': (0.4, 0.1), 'blue_cube': (0.5, 0.2), 'location_B': (0.5, -0.1)}


def call(name: str, *extra: ToolCall, **arguments: object) -> Reply:
    """Return a reply that calls a tool, in the protocol."""
    calls = (ToolCall(name, json.dumps(arguments)), *extra)
    return Reply(text='', model='m', calls=calls)


DONE = call('done', report='It is there.')
PLAN = [call('pick', object='red_cube'), call('place', target='location_B'), DONE]


def play(model: ScriptedModel, world: Any = None, *, task: Task = TASK, **options: str) -> Episode:
    run = EpisodeRun(task, planner='p', brain='b', body='b', limits=Limits(steps=20))
    planner = Agent(run.model(model, 'brain'), NOBODY, options=chosen('agent', **options))
    return run.execute(planner, BoxTable(PLACES) if world is None else world)


def results(request: ModelRequest) -> list[str]:
    return [message.content for message in request.messages if message.role == 'tool']


def calls_of(episode: Episode) -> list[str]:
    return [str(e.data) for e in episode.events if e.kind is EventKind.CALL]


def test_each_call_is_executed_and_its_result_ends_the_next_request() -> None:
    model = ScriptedModel(PLAN)

    episode = play(model)

    assert episode.ending is Ending.FINISHED, episode.message
    assert calls_of(episode) == ['pick(red_cube)', 'place(location_B)']
    assert [len(request.messages) for request in model.requests] == [2, 4, 6]
    assert all(result.startswith('succeeded') for result in results(model.requests[-1]))
    names = [tool.name for tool in model.requests[0].tools]
    assert {'pick', 'place', 'look', 'done', 'give_up'} <= {*names}
    assert {'answer', 'ask_person'}.isdisjoint(names)  # no person gave the task
    # The tools are the same all the time, and each request begins as the one before.
    assert len({request.declared_tools for request in model.requests}) == 1
    before, after = model.requests[0].messages, model.requests[1].messages
    assert [m.content for m in after[: len(before)]] == [m.content for m in before]


def test_a_call_in_text_is_taken_as_well() -> None:
    text = '{{"name": "{}", "arguments": {}}}'.format
    model = ScriptedModel(
        [
            text('pick', '{"object": "red_cube"}'),
            text('place', '{"target": "location_B"}'),
            text('done', '{"report": "So."}'),
        ]
    )

    assert play(model).ending is Ending.FINISHED


def test_a_failure_comes_back_with_its_code_and_the_reason() -> None:
    model = ScriptedModel([call('place', target='location_B'), *PLAN])

    episode = play(model)

    assert episode.ending is Ending.FINISHED, episode.message
    assert 'REJECTED, OCCUPIED' in results(model.requests[1])[0]
    assert 'Nothing can be placed' in results(model.requests[1])[0]
    assert episode.feedback_loops == 1


@pytest.mark.parametrize(
    ('wrong', 'code', 'words'),
    [
        (call('grasp_all', object='red_cube'), Code.UNKNOWN_SKILL, 'The tools are: '),
        (call('pick', thing='red_cube'), Code.BAD_ARGUMENTS, '{"object": "<object>"}'),
        (call('pick', object=['red_cube']), Code.BAD_ARGUMENTS, 'none of a text'),
    ],
)
def test_a_call_of_no_tool_is_not_tried_and_the_result_states_what_would_do(
    wrong: Reply, code: Code, words: str
) -> None:
    model = ScriptedModel([wrong, *PLAN])

    episode = play(model)

    assert episode.ending is Ending.FINISHED, episode.message
    assert calls_of(episode) == ['pick(red_cube)', 'place(location_B)']
    assert results(model.requests[1])[0].startswith(f'not tried, {code.name}')
    assert words in results(model.requests[1])[0]
    (line,) = [e.data for e in episode.events if isinstance(e.data, LineDiscarded)]
    assert line.code is code


def test_arguments_that_are_no_json_are_sent_back_as_json() -> None:
    broken = Reply(text='', model='m', calls=(ToolCall('pick', '{"object": '),))
    model = ScriptedModel([broken, *PLAN])

    assert play(model).ending is Ending.FINISHED
    (sent,) = model.requests[1].messages[2].calls
    assert json.loads(sent.arguments) == {}


def test_of_several_calls_the_first_is_executed_and_the_others_are_reported() -> None:
    second = ToolCall('place', '{"target": "location_B"}')
    model = ScriptedModel([call('pick', second, object='red_cube'), *PLAN[1:]])

    episode = play(model)

    assert calls_of(episode) == ['pick(red_cube)', 'place(location_B)']
    assert len(model.requests[1].messages[2].calls) == 1
    assert any(isinstance(e.data, LineDiscarded) for e in episode.events)


def test_to_look_moves_nothing_and_describes_the_scene() -> None:
    model = ScriptedModel([call('look'), *PLAN])

    episode = play(model)

    assert episode.ending is Ending.FINISHED
    assert 'blue_cube' in results(model.requests[1])[0]
    assert results(model.requests[1])[0].startswith('<data>')


def test_to_look_only_ends_the_episode() -> None:
    episode = play(ScriptedModel([call('look')] * 5))

    assert episode.ending is Ending.GAVE_UP
    assert len(episode.model_calls) == 3


def test_it_gives_up_with_its_reason() -> None:
    episode = play(ScriptedModel([call('give_up', reason='There is no oven.')]))

    assert (episode.ending, episode.message) == (Ending.GAVE_UP, 'There is no oven.')


def test_words_without_a_call_are_asked_about_once() -> None:
    model = ScriptedModel(['I would pick it.', *PLAN])

    assert play(model).ending is Ending.FINISHED
    assert 'calls no tool' in model.requests[1].messages[-1].content


def test_nothing_moves_that_a_person_does_not_approve() -> None:
    asked: list[str] = []

    def approve(request: ApprovalRequest) -> Answer:
        asked.append('\n'.join((request.title, *request.lines)))
        return Answer(granted=False, reason='not that one', by='a person')

    table = BoxTable(PLACES)
    model = ScriptedModel([PLAN[0], call('give_up', reason='It is not allowed.')])
    run = EpisodeRun(TASK, planner='agent', brain='b', body='b', limits=Limits())
    world = ApprovedWorld(table, approve, TASK, 'b')
    world.emit, world.interrupt = run.emit, run.interruption()
    run._sinks.append(world.observe_event)
    planner = Agent(run.model(model, 'brain'), NOBODY, options=chosen('agent'))

    episode = run.execute(planner, world)

    assert 'pick(red_cube)' in ' '.join(asked) or 'pick red_cube' in ' '.join(asked)
    assert table.calls == []
    assert episode.ending is Ending.GAVE_UP
    assert 'NOT_APPROVED' in results(model.requests[1])[0]
    assert any('not that one' in m.content for m in model.requests[1].messages)


def test_a_remark_is_a_message_behind_the_call_that_it_came_with() -> None:
    run = EpisodeRun(TASK, planner='p', brain='b', body='b', limits=Limits())
    model = ScriptedModel(PLAN)

    class Speaking(BoxTable):
        def execute(self, call: SkillCall) -> Any:
            if call.skill == 'pick':
                run.add_feedback('put it down gently')
            return super().execute(call)

    episode = run.execute(
        Agent(run.model(model, 'brain'), NOBODY, options=chosen('agent')), Speaking(PLACES)
    )

    assert episode.ending is Ending.FINISHED
    assert model.requests[1].messages[-1].content == 'The person added: put it down gently'


def test_old_calls_are_left_out_where_the_context_is_short() -> None:
    looking = [call('look'), call('wait', seconds=0.1)] * 8
    whole = ScriptedModel([*looking, *PLAN])
    short = ScriptedModel([*looking, *PLAN], prompt_limit_tokens=2500)

    assert play(whole).ending is play(short).ending is Ending.FINISHED
    last = short.requests[-1]
    assert len(last.messages) < len(whole.requests[-1].messages)
    assert 'calls are left out here' in last.messages[1].content
    assert last.messages[2].role == 'assistant'


def test_in_a_house_it_works_by_the_names_of_low_level_plans() -> None:
    steps = [
        call('move', object='salmon1'),
        call('pickup', object='salmon1'),
        call('move', object='fridge1'),
        call('open', object='fridge1'),
        call('placein', object='salmon1', place='fridge1'),
        DONE,
    ]
    model, house = ScriptedModel(steps), SmallHouse()

    episode = play(model, house, task=Task('t', 'put salmon1 in the fridge'))

    assert episode.ending is Ending.FINISHED, episode.message
    assert house.has('salmon_13', 'inside', 'fridge_33')


@pytest.mark.parametrize('kind', KINDS)
def test_a_tool_declares_the_kind_of_each_parameter(kind: str) -> None:
    tool = tool_of(Skill('push', ('object', kind), 'Pushes.', ('shove',)))

    assert tool.description == 'Pushes. Also called shove.'
    properties: Any = tool.parameters['properties']
    assert properties[kind] == KINDS[kind].schema
    assert properties['object']['type'] == 'string'
    assert tool.parameters['required'] == ['object', kind]


def test_numbers_and_poses_are_arguments() -> None:
    place = Skill('place', ('target',))
    push = Skill('push', ('object', 'direction', 'distance'))

    given = {'object': 'a', 'direction': 'left', 'distance': 0.1}
    assert skill_call_of(ToolCall('push', json.dumps(given)), [push]).args == ('a', 'left', '0.1')
    pose = ToolCall('Place', '{"target": [0.4, -0.1, 0.02]}')
    assert skill_call_of(pose, [place]) == SkillCall('place', ('0.4 -0.1 0.02',))
    with pytest.raises(CallError):
        skill_call_of(ToolCall('place', '[' * 3000), [place])
