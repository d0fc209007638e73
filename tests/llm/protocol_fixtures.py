"""
What servers answer otherwise than OpenAI's protocol states, each as the requests of one call.

Made from their public documentation and issue trackers, looked up on 2026-11-23 and from the types
of the `openai` package 3.52.0; the words are ours where no exact text matters. Not recorded from
the servers. docs/models.md lists them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from bbllm.core.errors import (
    EndlessReplyError,
    ModelDeclinedError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    PromptTooLongError,
)
from bbllm.core.protocols import Usage
from bbllm.testing import Behaviour, Handler, chunk, sends, streams

CALL = '{"pass": false, "skill": "pick", "args": ["red_cube"], "numbers": []}'


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """How one server answers, and what is to come of it."""

    name: str
    answers: tuple[Behaviour, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    text: str = ''
    """The reply, '' where there is an error instead."""
    error: type[ModelError] | None = None
    message: str = ''
    """Regular expression that its text matches."""
    usage: Usage | None = None
    sent: Mapping[str, object] = field(default_factory=dict)
    """Parameters of the last request; None for one that it must not have."""
    reports: tuple[str, ...] = ()
    """Words of the notices, in order."""


def refused(code: int, body: object) -> Behaviour:
    return sends(json.dumps(body), 'application/json', code)


def error(status: int, message: str, **more: object) -> Behaviour:
    """Refuse as OpenAI does."""
    body = {'message': message, 'type': 'invalid_request_error', 'param': None, 'code': None}
    return refused(status, {'error': body | more})


def replies(*pieces: Mapping[str, object], **usage: object) -> Behaviour:
    """Stream deltas, the reason of the end, and counts."""
    events: list[object] = [
        {**chunk(''), 'choices': [{'index': 0, 'delta': piece, 'finish_reason': None}]}
        for piece in pieces
    ]
    events.append(chunk('', finish='tool_calls' if 'tool_calls' in pieces[-1] else 'stop'))
    return streams(*events, {**chunk(''), 'choices': [], 'usage': usage or None})


def tool_call(arguments: str, index: int = 0) -> dict[str, object]:
    function = {'name': 'reply' if arguments.startswith('{') else None, 'arguments': arguments}
    return {'tool_calls': [{'index': index, 'type': 'function', 'function': function}]}


def ends(finish: str, text: str = '0: pi', **usage: object) -> Behaviour:
    last = {**chunk(text, finish=finish)}
    return streams(chunk(''), last, {**chunk(''), 'choices': [], 'usage': usage or None})


TEXT = {'content': '0: wait'}
COUNTS = {'prompt_tokens': 1200, 'completion_tokens': 80, 'total_tokens': 1280}

OPENAI = (
    Fixture(
        name='openai: a reasoning model wants max_completion_tokens and no temperature',
        answers=(
            error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                param='max_tokens',
                code='unsupported_parameter',
            ),
            error(
                400,
                "Unsupported value: 'temperature' does not support 0.5 with this model. Only the "
                'default (1) value is supported.',
                param='temperature',
                code='unsupported_value',
            ),
            replies(
                TEXT,
                **COUNTS,
                prompt_tokens_details={'cached_tokens': 1024},
                completion_tokens_details={'reasoning_tokens': 64},
            ),
        ),
        text='0: wait',
        usage=Usage(1200, 80, cached_tokens=1024, reasoning_tokens=64),
        sent={'max_completion_tokens': 2048, 'max_tokens': None, 'temperature': None},
        reports=('max_completion_tokens is sent instead', 'does not take temperature 0.5'),
    ),
    Fixture(
        name='openai: with an effort, no temperature is sent to begin with',
        answers=(replies(TEXT),),
        settings={'effort': 'low'},
        text='0: wait',
        sent={'reasoning_effort': 'low', 'temperature': None},
    ),
    Fixture(
        name='openai: an effort that the model does not know is not replaced by another',
        answers=(
            error(
                400,
                "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. "
                "Supported values are: 'low', 'medium', and 'high'.",
                param='reasoning_effort',
                code='unsupported_value',
            ),
        ),
        settings={'effort': 'xhigh'},
        error=ModelRefusedError,
        message=r"Supported values are: 'low'.*Check .*`effort`",
    ),
    Fixture(
        name='openai: the model declines in a field of its own',
        answers=(replies({'refusal': 'I cannot '}, {'refusal': 'help with that.'}),),
        error=ModelDeclinedError,
        message='declined to answer: I cannot help with that',
    ),
    Fixture(
        name='openai: the reply is cut at the limit of tokens',
        answers=(ends('length', prompt_tokens=9, completion_tokens=2048, total_tokens=2057),),
        error=EndlessReplyError,
        message='did not end within max_tokens = 2048',
    ),
    Fixture(
        name='openai: the prompt is longer than the context',
        answers=(error(400, 'Too long.', param='messages', code='context_length_exceeded'),),
        error=PromptTooLongError,
        message='longer context',
    ),
)
AZURE = (
    Fixture(
        name='azure: the filter stops a prompt',
        answers=(
            error(
                400,
                "The response was filtered due to the prompt triggering the service's content "
                'management policy.',
                code='content_filter',
                innererror={'code': 'ResponsibleAIPolicyViolation'},
            ),
        ),
        error=ModelDeclinedError,
        message='content filter stopped the prompt',
    ),
    Fixture(
        name='azure: the first event has verdicts and no choice, and the filter stops a reply',
        answers=(
            streams(
                {'id': '', 'model': '', 'choices': [], 'prompt_filter_results': [{}]},
                chunk('0: '),
                chunk('', finish='content_filter'),
            ),
        ),
        error=ModelDeclinedError,
        message='content filter stopped it',
    ),
    Fixture(
        name='azure: an older version of the interface takes no stream_options',
        answers=(
            error(400, 'Unrecognized request argument supplied: stream_options'),
            replies(TEXT),
        ),
        text='0: wait',
        usage=Usage(),
        sent={'stream_options': None},
        reports=('tokens will be counted as 0',),
    ),
)
GEMINI = (
    Fixture(
        name='gemini: errors come in a list',
        answers=(
            refused(
                400,
                [
                    {
                        'error': {
                            'code': 400,
                            'message': 'The input token count (9) exceeds the maximum number of '
                            'tokens allowed (8).',
                            'status': 'INVALID_ARGUMENT',
                        }
                    }
                ],
            ),
        ),
        error=PromptTooLongError,
        message=r'\(bad request\): The input token count \(9\)',
    ),
    Fixture(
        name='gemini: reasoning is counted in the total only',
        answers=(replies(TEXT, prompt_tokens=100, completion_tokens=20, total_tokens=420),),
        text='0: wait',
        usage=Usage(100, 320, reasoning_tokens=300),
    ),
    Fixture(
        name='gemini: an effort that a model lacks',
        answers=(refused(400, [{'error': {'code': 400, 'message': 'Thinking level is wrong'}}]),),
        settings={'effort': 'none'},
        error=ModelRefusedError,
        message='Thinking level is wrong. Check .*`effort`',
    ),
)
ANTHROPIC = (
    Fixture(
        name='anthropic: response_format is ignored, and the reply is a line of text',
        answers=(replies({'content': '<rob0>[pick] <red_cube>'}),),
        text='<rob0>[pick] <red_cube>',
    ),
    Fixture(
        name='anthropic: a tool may be called after some words',
        answers=(
            replies({'content': 'I pick it up.'}, tool_call(CALL[:20]), tool_call(CALL[20:])),
        ),
        settings={'reply_format': 'tool'},
        text=CALL,
        sent={'tool_choice': 'required', 'response_format': None},
    ),
    Fixture(
        name='anthropic: the prompt is longer than the context',
        answers=(error(400, 'prompt is too long: 215035 tokens > 200000 maximum'),),
        error=PromptTooLongError,
        message='215035 tokens',
    ),
    Fixture(
        name='anthropic: a model without a temperature',
        answers=(error(400, '`temperature` is deprecated for this model.'), replies(TEXT)),
        text='0: wait',
        sent={'temperature': None},
        reports=('does not take temperature',),
    ),
    Fixture(
        name='anthropic: prompt and limit together are longer than the context',
        answers=(error(400, 'input length and `max_tokens` exceed context limit: 9 + 8 > 10'),),
        error=PromptTooLongError,
        message='lower `max_tokens`',
    ),
)
VLLM = (
    Fixture(
        name='vllm: the error is not wrapped, and names the context',
        answers=(
            refused(
                400,
                {
                    'object': 'error',
                    'message': "This model's maximum context length is 4096 tokens. However, you "
                    'requested 4548 tokens (2500 in the messages, 2048 in the completion).',
                    'type': 'BadRequestError',
                    'param': None,
                    'code': 400,
                },
            ),
        ),
        error=PromptTooLongError,
        message='maximum context length is 4096',
    ),
    Fixture(
        name='vllm: reasoning comes as `reasoning`, before the reply',
        answers=(replies({'reasoning': 'Hm. 0: wrong'}, TEXT),),
        text='0: wait',
    ),
    Fixture(
        name='vllm: neither schemas nor tools, so that text is left',
        answers=(
            error(400, 'The JSON schema has features that are not supported by xgrammar'),
            error(400, '"required" tool choice requires --tool-call-parser to be set'),
            replies({'content': '<pass>'}),
        ),
        text='<pass>',
        sent={'tools': None, 'tool_choice': None, 'response_format': None},
        reports=('arguments of a tool instead', 'read as plain text'),
    ),
)
LLAMA = (
    Fixture(
        name='llama.cpp: the prompt is longer than the context',
        answers=(
            refused(
                400,
                {
                    'error': {
                        'code': 400,
                        'message': 'the request exceeds the available context size',
                        'type': 'exceed_context_size_error',
                        'n_prompt_tokens': 14429,
                        'n_ctx': 8192,
                    }
                },
            ),
        ),
        error=PromptTooLongError,
        message='available context size',
    ),
    Fixture(
        name='llama.cpp: the same from a version that answers 500',
        answers=(error(500, 'the request exceeds the available context size'),),
        error=PromptTooLongError,
        message='500 .*available context size',
    ),
    Fixture(
        name='llama.cpp: the same as a reply with status 200',
        answers=(refused(200, {'error': {'code': 400, 'message': 'n_ctx is too small'}}),),
        error=PromptTooLongError,
        message='n_ctx is too small',
    ),
    Fixture(
        name='llama.cpp: reasoning comes as `reasoning_content`',
        answers=(replies({'reasoning_content': 'Hm.'}, {'reasoning_content': None, **TEXT}),),
        text='0: wait',
    ),
    Fixture(
        name='llama.cpp: the template begins the reasoning, so that only its end is in the text',
        answers=(replies({'content': 'Hm. 0: wrong\n</think>\n\n0: wait'}),),
        text='0: wait',
    ),
    Fixture(
        name='llama.cpp: the context is full in mid-reply',
        answers=(ends('length', prompt_tokens=4000, completion_tokens=96, total_tokens=4096),),
        error=PromptTooLongError,
        message='after 96 tokens, fewer than max_tokens = 2048',
    ),
    Fixture(
        name='llama.cpp: reasoning without end and without regard to the limit',
        answers=(replies(*[{'reasoning_content': 'and so on ' * 20}] * 9),),
        settings={'max_tokens': 100},
        error=EndlessReplyError,
        message='before it wrote an answer.*`effort`',
    ),
)
OLLAMA = (
    Fixture(
        name='ollama: a model without tools, where tools are the only choice',
        answers=(error(400, 'library/small:1b does not support tools', type='api_error'),),
        settings={'reply_format': 'tool'},
        error=ModelRefusedError,
        message='does not support tools.*`schema`',
    ),
    Fixture(
        name='ollama: tool_choice is ignored, and the reply is text',
        answers=(replies({'content': CALL}),),
        settings={'reply_format': 'tool'},
        text=CALL,
    ),
    Fixture(
        name='ollama: a model that was not pulled',
        answers=(error(404, "model 'gpt-4o' not found, try pulling it first"),),
        error=ModelRefusedError,
        message='The server has: gpt-4o',
    ),
    Fixture(
        name='ollama: an effort for a model that does not reason',
        answers=(error(400, '"small:1b" does not support thinking', type='api_error'),),
        settings={'effort': 'high'},
        error=ModelRefusedError,
        message='does not support thinking. Check .*`effort`',
    ),
)
LM_STUDIO = (
    Fixture(
        name='lm studio: no json_object, where that is the only choice; errors are a text',
        answers=(
            refused(400, {'error': "'response_format.type' must be 'json_schema' or 'text'"}),
        ),
        settings={'reply_format': 'json_object'},
        error=ModelRefusedError,
        message="must be 'json_schema' or 'text'",
    ),
    Fixture(
        name='lm studio: the prompt is longer than the context, as an event of the stream',
        answers=(
            streams(
                {
                    'error': 'The number of tokens to keep from the initial prompt is greater '
                    'than the context length.'
                },
                then=Handler.end_stream,
            ),
        ),
        error=PromptTooLongError,
        message='greater than the context length',
    ),
    Fixture(
        name='lm studio: the model crashes in mid-stream',
        answers=(streams(chunk('0: '), {'error': 'The model has crashed.'}),),
        settings={'retries': 0},
        error=ModelUnavailableError,
        message='The model has crashed',
    ),
)
OTHERS = (
    Fixture(
        name='deepseek: cached tokens in a field of its own; json_object with its schema',
        answers=(replies({'content': CALL}, **COUNTS, prompt_cache_hit_tokens=960),),
        settings={'reply_format': 'json_object'},
        text=CALL,
        usage=Usage(1200, 80, cached_tokens=960),
        sent={'response_format': {'type': 'json_object'}},
    ),
)
WITHOUT_SYSTEM = tuple(
    Fixture(
        name=f'no system message: {text}',
        answers=(error(status, text, **more), replies({'content': '<pass>'})),
        settings={'reply_format': 'text'},
        text='<pass>',
        sent={'messages': [{'role': 'user', 'content': 'You plan.\n\nStack the cubes.'}]},
        reports=('takes no system message',),
    )
    for status, text, more in (
        (400, 'System role not supported', {}),  # Gemma 2 in vLLM
        (500, 'Only user and assistant roles are supported!', {}),  # Mistral 7B in llama.cpp
        (400, 'Conversation roles must alternate user/assistant/user/assistant/...', {}),
        (
            400,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            {'param': 'messages[0].role', 'code': 'unsupported_value'},  # o1-mini of OpenAI
        ),
    )
)


FIXTURES: tuple[Fixture, ...] = (
    *WITHOUT_SYSTEM,
    *(*OPENAI, *AZURE, *GEMINI, *ANTHROPIC, *VLLM, *LLAMA, *OLLAMA, *LM_STUDIO, *OTHERS),
)
