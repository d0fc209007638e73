"""Forms of feedback: what repair prompts, and the data beside them, state of a failure."""

from typing import Any, get_args

import pytest

from bbllm.core.episode import EpisodeRun
from bbllm.core.events import Ending, Episode, FeedbackReceived, RepairBegun
from bbllm.core.protocols import StepFailure
from bbllm.core.types import Code, Outcome, PlanStep, SkillCall, Status, Task
from bbllm.planners.brain_body.prompting import FeedbackForm, Prompts
from bbllm.testing import ScriptedModel
from tests.planners.chosen import built
from tests.planners.symbolic_table import SymbolicTabletop

TASK = 'put the red cube on location_A'
STEP = 'place red_cube on location_A'
PLAN = f'0: pick red_cube\n1: {STEP}\n2: Done'
SENTENCE, RAW = 'It slipped.', 'gripper: width 0.0'
FORMS: tuple[FeedbackForm, ...] = get_args(FeedbackForm)


class SlippingTable(SymbolicTabletop):
    """A table on which the first place fails."""

    def __init__(self) -> None:
        objects = {
            'red_cube': (0.40, 0.12),
            'blue_cube': (0.48, 0.20),
            'location_A': (0.54, -0.18),
        }
        super().__init__(objects)
        self.slips = 1

    def execute(self, call: SkillCall) -> Outcome:
        if call.skill != 'place' or not self.slips:
            return super().execute(call)
        self.slips -= 1
        return Outcome(
            call=call,
            status=Status.FAILED,
            code=Code.GRASP_FAILED,
            message=SENTENCE,
            raw=RAW,
        )


def play(form: str, *replies: str, slips: int = 1) -> tuple[ScriptedModel, Episode]:
    model, table = ScriptedModel(replies), SlippingTable()
    table.slips = slips
    name = f'brain_body:feedback={form}'
    run = EpisodeRun(Task('t', TASK), planner=name, brain='b', body='b')
    return model, run.execute(built(run, name, model, ScriptedModel()), table)


def feedback_of(prompt: str) -> list[str]:
    """Return the lines of a prompt on what failed, that of the real scene last."""
    last = prompt.rpartition('Error step: ')[2].splitlines()
    return [line for line in last if line and line != 'Explanation:']


@pytest.mark.parametrize('form', FORMS)
def test_a_repair_prompt_states_what_its_form_has_and_no_more(form: FeedbackForm) -> None:
    model, episode = play(form, PLAN, f'New plan:\n1: {STEP}\n2: Done')

    assert episode.ending is Ending.FINISHED, episode.message
    _, repair = model.requests
    number, feedback, *controller, left = feedback_of(repair.prompt)
    expected = {'full': SENTENCE, 'none': 'none', 'code': 'GRASP_FAILED'}
    assert feedback == f'Feedback: {expected[form]}'
    assert number == '1'
    assert controller == ([f'Controller: {RAW}'] if form == 'full' else [])
    assert left == 'Left after this reply: 2 repairs of a step that fails.'
    # The record has the whole cause whatever the Brain is sent.
    causes = [e.data.cause for e in episode.events if isinstance(e.data, RepairBegun)]
    assert causes == [SENTENCE]


def test_the_first_plan_is_asked_for_in_the_same_words_in_all_forms() -> None:
    prompts = {play(form, '0: Done')[0].requests[0].prompt for form in FORMS}

    assert len(prompts) == 1


@pytest.mark.parametrize(
    ('form', 'shown_text'),
    [
        ('full', SENTENCE),
        ('none', 'failed'),
        ('code', 'GRASP_FAILED'),
    ],
)
def test_earlier_failures_and_the_data_of_stand_ins_follow_the_form(
    form: str, shown_text: str
) -> None:
    again = f'New plan:\n1: {STEP}\n2: Done'
    model, _ = play(form, PLAN, again, again, slips=2)

    repair = model.requests[2].messages[-1]
    assert f'- <data>step 1 ({STEP}): {shown_text}</data>' in repair.content
    assert repair.request is not None
    kept: list[Any] = [repair.request.failures, repr(repair.request.failures)]
    if form != 'full':
        assert (SENTENCE in kept[1]) is False
        assert RAW not in kept[1]
        assert ('GRASP_FAILED' in kept[1]) is (form == 'code')
        assert all(item.outcome is item.code is None for item in kept[0])


@pytest.mark.parametrize('form', FORMS)
def test_words_of_people_and_what_is_no_failed_step_stay_in_all_forms(form: FeedbackForm) -> None:
    step = PlanStep(2, 'Done')
    remarks = (FeedbackReceived('faster'),)
    unfinished = StepFailure(step, 'The task is not done.', human=remarks, tried=False)
    failed = StepFailure(step, 'no', human=remarks)

    prompts = Prompts(form=form)
    assert prompts.reported(unfinished) == unfinished
    assert prompts.reported(failed).human == remarks


@pytest.mark.parametrize(
    ('form', 'code', 'text'),
    [
        ('code', Code.UNKNOWN_OBJECT, 'UNKNOWN_OBJECT'),
        ('code', None, 'no code'),
    ],
)
def test_a_step_that_reached_no_world_has_the_code_of_its_call_or_none(
    form: FeedbackForm, code: Code | None, text: str
) -> None:
    failure = StepFailure(PlanStep(0, 'pick it'), 'There is no it.', code=code)

    assert Prompts(form=form).reported(failure) == StepFailure(failure.step, text)
