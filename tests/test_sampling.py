"""The lists of tests name tests that there are."""

from pathlib import Path

import pytest

from tests.sampling import case_of, entries, is_left_out, left_out_files


def test_each_file_that_is_left_out_is_there_and_has_a_reason(repository: Path) -> None:
    files = left_out_files(entries())

    assert files
    assert all((repository / name).is_file() and entries()[name]['reason'] for name in files)


def test_each_entry_has_its_reason_keeps_cases_and_leaves_some_out(
    collected: frozenset[str],
) -> None:
    files = {nodeid.partition('::')[0] for nodeid in collected}
    sampled = {
        test: entry for test, entry in entries().items() if test.partition('::')[0] in files
    }
    if not sampled:
        pytest.skip('needs the tests of the list beside it: make test')

    for test, entry in sampled.items():
        assert entry['reason']
        if '::' not in test:
            continue
        cases = [case_of(nodeid)[1] for nodeid in collected if case_of(nodeid)[0] == test]
        for pattern in entry['keep']:
            only = {test: {'keep': [pattern]}}
            assert [c for c in cases if not is_left_out(f'{test}[{c}]', only)], (test, pattern)
        assert [c for c in cases if is_left_out(f'{test}[{c}]', sampled)], test
