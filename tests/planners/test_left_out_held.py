"""Lines that are left out count as often as one reply has them, however often it is repeated."""

from __future__ import annotations

from bbllm.planners.common.reply_diagnostics import RejectedLine, ReplyDiagnostics

FLY, SWIM = RejectedLine('fly(mug1)', 'No.'), RejectedLine('swim(mug1)', 'No.')


def counted(*replies: list[RejectedLine]) -> list[str]:
    told: list[str] = []
    left_out = ReplyDiagnostics(lambda line: told.append(line.text))
    for reply in replies:
        left_out.of_reply(reply)
    return told


def test_a_line_counts_as_often_as_the_reply_has_it() -> None:
    assert counted([FLY, SWIM, FLY]) == ['fly(mug1)', 'swim(mug1)', 'fly(mug1)']


def test_what_later_replies_repeat_counts_once_and_what_they_add_counts_too() -> None:
    assert counted([FLY], [FLY], [FLY]) == ['fly(mug1)']
    assert counted([FLY], [FLY], [FLY, FLY]) == ['fly(mug1)'] * 2
    assert counted([FLY, FLY], [SWIM], [FLY, FLY]) == ['fly(mug1)', 'fly(mug1)', 'swim(mug1)']
