"""Arguments of calls that are no names: how they are written, and which steps state them."""

import pytest

from bbllm.core.arguments import KINDS, is_value


@pytest.mark.parametrize(
    ('kind', 'text', 'read'),
    [
        ('seconds', '2.50 seconds', '2.5'),
        ('distance', '0.1', '0.1'),
        ('distance', '10 cm', '0.1'),
        ('distance', '100 mm', '0.1'),
        ('distance', '.25 metres', '0.25'),
        ('direction', 'Left', 'left'),
        ('direction', 'to the right', 'right'),
        ('direction', 'away', 'forward'),
        ('direction', 'backwards', 'back'),
        ('degrees', '90', '90'),
        ('degrees', '-45 degrees', '-45'),
        ('degrees', '90 degrees clockwise', '-90'),
        ('degrees', '30° counter-clockwise', '30'),
        ('degrees', '180.04', '180'),
    ],
)
def test_an_argument_gets_one_form(kind: str, text: str, read: str) -> None:
    assert KINDS[kind].read(text) == read
    assert KINDS[kind].read(read) == read
    assert is_value(read)


@pytest.mark.parametrize(
    ('kind', 'text', 'would_do'),
    [
        ('seconds', '0', '2.5'),
        ('distance', '0', '10 cm'),
        ('distance', '0.6', '0.01 to 0.5 m'),
        ('distance', '-0.1', '0.1'),
        ('distance', 'nan', '0.1'),
        ('distance', 'far', '0.1'),
        ('distance', '5 inches', '0.1'),
        ('distance', '1' * 300, '0.1'),
        ('distance', '0.1 0.2', '0.1'),
        ('direction', 'north', 'left, right, forward or back'),
        ('direction', 'red_cube', 'left'),
        ('degrees', '0', '90'),
        ('degrees', '181', '1 to 180'),
        ('degrees', 'a bit', '-45'),
    ],
)
def test_what_is_no_argument_is_refused_with_what_would_do(
    kind: str, text: str, would_do: str
) -> None:
    with pytest.raises(ValueError, match=r'^\'') as caught:
        KINDS[kind].read(text)

    assert would_do in str(caught.value)


@pytest.mark.parametrize(
    ('kind', 'value', 'text', 'states'),
    [
        ('distance', '0.1', 'push it left by 0.1', True),
        ('distance', '0.1', 'push it 10 cm to the left.', True),
        ('distance', '0.1', 'push it 100mm', True),
        ('distance', '0.1', 'push it by 0.10 m', True),
        ('distance', '0.1', 'push it by 1 cm', False),
        ('distance', '0.1', 'push it by 10', False),
        ('distance', '0.1', 'push location_0.1', False),
        ('direction', 'left', 'push it to the left', True),
        ('direction', 'left', 'push it left, past what is right of it', False),
        ('direction', 'forward', 'push it away', True),
        ('direction', 'left', 'push it', False),
        ('degrees', '90', 'turn it by 90 degrees', True),
        ('degrees', '-90', 'turn it by 90 degrees', False),
        ('degrees', '-90', 'turn it by 90 degrees clockwise', True),
        ('degrees', '90', 'turn it by 90 degrees clockwise', False),
        ('degrees', '90', 'turn it 90° anticlockwise', True),
        ('degrees', '-90', 'turn it by -90', True),
    ],
)
def test_a_step_states_a_value_only_in_its_own_words(
    kind: str, value: str, text: str, states: bool
) -> None:
    assert KINDS[kind].states(text, value) is states


def test_names_are_no_values() -> None:
    assert not any(map(is_value, ('red_cube', 'left_cube', '3d_printer', 'location_1', '')))
