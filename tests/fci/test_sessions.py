"""One client at a time: when one has gone."""

import socket

from bbllm_fci.sessions import has_hung_up


def test_a_client_is_gone_once_it_has_hung_up_whatever_it_sent() -> None:
    ours, theirs = socket.socketpair()

    assert not has_hung_up(ours)
    theirs.sendall(b'unread')
    assert not has_hung_up(ours)
    theirs.close()
    assert has_hung_up(ours)
    ours.close()
    assert has_hung_up(ours)
