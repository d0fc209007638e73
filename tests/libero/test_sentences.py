"""Which of two sentences a task is asked for by."""

import pytest

from bbllm_libero.worker.sentences import sentence

OF_FILE = ['grab', 'butter', 'and', 'put', 'it', 'into', 'basket']


@pytest.mark.parametrize(
    ('suite', 'wanted'),
    [
        ('libero_object', 'pick up the butter and place it in the basket'),
        ('LIBERO_OBJECT', 'pick up the butter and place it in the basket'),
        ('libero_object_lan', 'grab butter and put it into basket'),
        ('libero_object_task', 'grab butter and put it into basket'),
    ],
)
def test_a_perturbed_task_has_its_own_sentence_and_not_that_of_its_file_name(
    suite: str, wanted: str
) -> None:
    assert sentence(suite, 'pick up the butter and place it in the basket', OF_FILE) == wanted
