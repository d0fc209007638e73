"""Asks the questions of a model, and grades it by planner."""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from enum import StrEnum

from bbllm.core.cancel import CancelToken
from bbllm.core.errors import (
    ConfigError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    PromptTooLongError,
    ReplayError,
)
from bbllm.core.model_wrapper import ModelWrapper
from bbllm.core.protocols import ChatModel, ModelRequest, OnText, Reply
from bbllm.core.registry import find_provider
from bbllm.llm.models.factory import Models
from bbllm_bench.fitness.questions import QUESTIONS, FitnessQuestion

FIT = 0.9
"""The least share of right answers of a planner for which a model is fit."""
PARTLY = 0.5
AT_ONCE = 4
"""Questions asked at the same time: two requests for each core of a small server."""
CAUSES = (ModelUnavailableError, ModelRefusedError, ReplayError)
"""Errors that say nothing of the model, but a prompt longer than its context does."""


class Grade(StrEnum):
    """How fit a model is for a planner."""

    FIT = 'fit'
    PARTLY = 'partly'
    NOT = 'not'


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A question that was not answered, and what came instead."""

    question: str
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerFitness:
    """How a model answered the questions of one planner."""

    planner: str
    """Its name, or `body`."""
    grade: Grade
    right: int
    asked: int
    wrong: tuple[WrongAnswer, ...]


def examine(
    models: Models,
    questions: Sequence[FitnessQuestion] = QUESTIONS,
    *,
    at_once: int = AT_ONCE,
    on_progress: Callable[[int, str], None] = lambda done, what: None,
) -> tuple[PlannerFitness, ...]:
    """
    Ask all questions, and return how fit the models are, by planner in the questions' order.

    Args:
        models: Brain and Body; each has to be a language model, or a recording of one.
        questions: What is asked.
        at_once: How many questions are asked at the same time; 1 for a recording.
        on_progress: Is called with the number of questions done, and the name of a planner.

    Raises:
        ConfigError: A model is a stand-in.
        ModelError: A model could not be asked.
    """
    for model in (models.brain, models.body):
        if find_provider(model.name) is not None:
            raise ConfigError(
                f'`{model.name}` is a stand-in and no language model, so its fitness means '
                'nothing. Name models: --brain NAME --body NAME.'
            )
    brain, body = _Watched(models.brain), _Watched(models.body)
    watched = replace(models, brain=brain, body=body)
    faults: dict[int, str] = {}
    # An episode records what clients warn of, and nobody reads the record of a question.
    warnings = logging.StreamHandler()
    logging.getLogger('bbllm.llm').addHandler(warnings)
    with ThreadPoolExecutor(at_once) as pool:
        asked = {pool.submit(item.fault, watched): i for i, item in enumerate(questions)}
        try:
            for n, future in enumerate(as_completed(asked), start=1):
                faults[asked[future]] = future.result()
                if cause := brain.cause or body.cause:
                    raise cause
                on_progress(n, questions[asked[future]].planner)
        except BaseException:  # Ctrl-C too
            brain.token.cancel('The questions were ended.')
            body.token.cancel('The questions were ended.')
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            logging.getLogger('bbllm.llm').removeHandler(warnings)
    return tuple(_graded(questions, [faults[i] for i in range(len(questions))]))


def _graded(
    questions: Sequence[FitnessQuestion], faults: Sequence[str]
) -> Iterable[PlannerFitness]:
    for planner in dict.fromkeys(item.planner for item in questions):
        own = [
            (item.text, fault)
            for item, fault in zip(questions, faults, strict=True)
            if item.planner == planner
        ]
        wrong = tuple(WrongAnswer(text, fault) for text, fault in own if fault)
        share = 1 - len(wrong) / len(own)
        yield PlannerFitness(
            planner=planner,
            grade=Grade.FIT if share >= FIT else Grade.PARTLY if share >= PARTLY else Grade.NOT,
            right=len(own) - len(wrong),
            asked=len(own),
            wrong=wrong,
        )


class _Watched(ModelWrapper):
    """A model that keeps why it could not be asked, which an episode only puts in words."""

    def __init__(self, inner: ChatModel):
        super().__init__(inner)
        self.cause: ModelError | None = None
        self.token = CancelToken()

    def ask(self, request: ModelRequest, on_text: OnText | None = None) -> Reply:
        cancel = request.cancel
        token = self.token if cancel is None else cancel.with_checks(self.token.raise_if_cancelled)
        try:
            return super().ask(replace(request, cancel=token), on_text)
        except ModelError as error:
            if isinstance(error, CAUSES) and not isinstance(error, PromptTooLongError):
                self.cause = error
            raise
