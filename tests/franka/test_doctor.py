"""`bbllm doctor --fr3` at franka-sim, which this project did not write."""

from tests.franka.checks.reports import doctor


def test_a_server_of_others_is_checked_and_its_missing_tool_is_named(address: str) -> None:
    found = doctor(address)

    assert found.exit_code == 0, found
    assert {name for name in ('fci', 'mode', 'hand', 'load') if found.levels[name] == 'ok'} == {
        *('fci', 'mode', 'hand', 'load')
    }
    # It reports an end effector without mass.
    assert (found.levels['tool'], found.findings['tool']['text'][:7]) == ('warn', '0.00 kg')
