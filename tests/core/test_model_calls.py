from __future__ import annotations

import pytest

from bbllm.core.errors import ModelUnavailableError
from bbllm.core.events import ModelCall
from bbllm.core.model_calls import on_account
from bbllm.core.protocols import Embeddings, Reply, Usage


@pytest.mark.parametrize(
    'given',
    [
        Reply(text='x', model='m-2', usage=Usage(5, 2), duration_s=1.5, retries=1),
        Embeddings(vectors=((1.0,),), model='m-2', usage=Usage(5, 2), duration_s=1.5, retries=1),
    ],
)
def test_what_a_call_cost_is_told(given: Reply | Embeddings) -> None:
    calls: list[ModelCall] = []

    found: object = on_account(lambda: given, calls.append, role='brain', name='asked')

    assert found is given
    assert calls == [
        ModelCall(
            role='brain',
            model='m-2',
            prompt_tokens=5,
            completion_tokens=2,
            duration_s=1.5,
            retries=1,
        )
    ]


@pytest.mark.parametrize('error', [ModelUnavailableError('down'), KeyboardInterrupt()])
def test_calls_that_fail_count_too(error: BaseException) -> None:
    calls: list[ModelCall] = []

    def fail() -> Reply:
        raise error

    with pytest.raises(type(error)):
        on_account(fail, calls.append, role='body', name='s')
    assert [(call.role, call.model, call.prompt_tokens) for call in calls] == [('body', 's', 0)]
