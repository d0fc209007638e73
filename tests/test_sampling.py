"""The lists of tests name tests that there are."""

import pytest

from sampling import case_of, entries, is_left_out

ENTRY = {'a.py::test_a': {'keep': ['one', 'two-*']}}


@pytest.mark.parametrize(
    ('nodeid', 'left_out'),
    [
        ('a.py::test_a[one]', False),
        ('a.py::test_a[two-[x]]', False),
        ('a.py::test_a[three]', True),
        ('a.py::test_b[three]', False),
        ('a.py::test_b', False),
    ],
)
def test_cases_that_are_not_kept_are_left_out(nodeid: str, left_out: bool) -> None:
    assert is_left_out(nodeid, ENTRY) is left_out


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
        cases = [case_of(nodeid)[1] for nodeid in collected if case_of(nodeid)[0] == test]
        for pattern in entry['keep']:
            only = {test: {'keep': [pattern]}}
            assert [c for c in cases if not is_left_out(f'{test}[{c}]', only)], (test, pattern)
        assert [c for c in cases if is_left_out(f'{test}[{c}]', sampled)], test
