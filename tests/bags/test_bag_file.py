"""A file of messages is begun, ended, and read where it breaks off."""

from contextlib import suppress
from pathlib import Path

import pytest
from mcap.exceptions import EndOfFile
from mcap.records import Message
from mcap.stream_reader import StreamReader

from bbllm.bags.bag_file import CHUNK_BYTES, BagFile, check_bag
from bbllm.bags.definitions import definition_of
from bbllm.bags.topics import STRING
from bbllm.core.errors import ConfigError


@pytest.mark.parametrize(
    ('name', 'message'),
    [('bag', r'bag\.mcap$'), ('bag.bag', 'ends with .mcap'), ('there.mcap', 'name another one')],
)
def test_a_bag_that_cannot_be_begun_is_refused_with_what_would_work(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / 'there.mcap').write_text('precious')
    with pytest.raises(ConfigError, match=message):
        check_bag(tmp_path / name)
    assert (tmp_path / 'there.mcap').read_text() == 'precious'


def test_a_bag_in_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    with pytest.raises(ConfigError, match='name a folder'):
        check_bag(tmp_path / 'file' / 'a.mcap')


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    check_bag(tmp_path / 'new' / 'a.mcap')
    assert (tmp_path / 'new').is_dir()


def test_messages_of_ended_chunks_are_read_after_a_crash(tmp_path: Path) -> None:
    bag = BagFile(tmp_path / 'a.mcap')
    bag.add_topic('/words', STRING, definition_of(STRING))
    for i in range(3):
        bag.write('/words', b'\0\1\0\0' + bytes(CHUNK_BYTES), i)
    bag.flush()
    bag.write('/words', b'lost', 3)
    found = []
    # Which nobody has closed.
    with bag.path.open('rb') as file, suppress(EndOfFile):
        for record in StreamReader(file).records:
            found += [record.log_time] if isinstance(record, Message) else []
    assert found == [0, 1, 2]
    bag.close()
