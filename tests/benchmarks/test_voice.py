"""Figures of speech, and one small run of the benchmark."""

from bbllm_bench.benchmarks.voice.figures import same_command, word_errors


def test_word_errors_count_wrong_missing_and_additional_words() -> None:
    assert word_errors('put the red cube on A', 'But the red cube A now') == (3, 6)
    assert word_errors('ten centimeters', '10 cm.') == (0, 2)
    assert word_errors('stop', '') == (1, 1)


def test_commands_are_the_same_in_spite_of_articles_and_spelling_alone() -> None:
    assert same_command('turn the cube by forty five degrees', 'Turn cubes by 45°.')
    assert not same_command(
        'put the red cube on the blue cube', 'Put the blue cube on the red cube.'
    )
    assert not same_command('move it to the left', 'move it')
