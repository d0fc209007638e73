"""Writes the topics of a stack without ROS."""

from collections.abc import Callable, Collection
from pathlib import Path

from bbllm.bags.bag_file import BagFile
from bbllm.bags.definitions import definition_of
from bbllm.bags.templates import encoder_of
from bbllm.bags.topics import WRITTEN
from bbllm.core.constants import NAMESPACE


class TopicWriter:
    """A new file with some of the topics `WRITTEN`; as `BagFile`, it raises nothing."""

    def __init__(
        self, path: Path, names: Collection[str] = tuple(WRITTEN), namespace: str = NAMESPACE
    ) -> None:
        self.namespace = namespace
        self._file = BagFile(path)
        self._topics = {name: f'/{namespace}/{name}' for name in names}
        self._encoders: dict[str, Callable[[object], bytes]] = {}
        for name, topic in self._topics.items():
            message, quality = WRITTEN[name].message, WRITTEN[name].quality
            self._file.add_topic(topic, message, definition_of(message), str(quality))

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def broken(self) -> str:
        """Why not everything was written, in one sentence; empty where it was."""
        return self._file.broken

    @property
    def is_open(self) -> bool:
        return self._file.is_open

    def write(self, name: str, data: bytes, time_s: float) -> None:
        """Write an encoded message of a topic and a time since the epoch [s]."""
        self._file.write(self._topics[name], data, round(time_s * 1e9))

    def write_fields(self, name: str, fields: object, time_s: float) -> None:
        """Encode the fields of a message, and write it."""
        message = WRITTEN[name].message
        if message not in self._encoders:
            self._encoders[message] = encoder_of(message)
        self.write(name, self._encoders[message](fields), time_s)

    def flush(self) -> None:
        """Give whole chunks to the system."""
        self._file.flush()

    def close(self) -> None:
        """Write the index of the file; it takes nothing more."""
        self._file.close()
