"""Writes the topics of a stack without ROS."""

from collections.abc import Callable, Collection
from pathlib import Path

from bbllm.bags.bag_file import BagFile
from bbllm.bags.definitions import definition_of
from bbllm.bags.templates import encoder_of
from bbllm.bags.topics import WRITTEN
from bbllm.core.constants import NAMESPACE


class TopicWriter(BagFile):
    """A new file with some of the topics `WRITTEN`, which are named without their namespace."""

    def __init__(
        self, path: Path, names: Collection[str] = tuple(WRITTEN), namespace: str = NAMESPACE
    ) -> None:
        super().__init__(path)
        self.namespace = namespace
        self._encoders: dict[str, Callable[[object], bytes]] = {}
        for name in names:
            message, quality = WRITTEN[name].message, WRITTEN[name].quality
            self.add_topic(f'/{namespace}/{name}', message, definition_of(message), str(quality))

    def add(self, name: str, data: bytes, time_s: float) -> None:
        """Write an encoded message of a topic and a time since the epoch [s]."""
        self.write(f'/{self.namespace}/{name}', data, round(time_s * 1e9))

    def add_fields(self, name: str, fields: object, time_s: float) -> None:
        """Encode the fields of a message, and write it."""
        message = WRITTEN[name].message
        if message not in self._encoders:
            self._encoders[message] = encoder_of(message)
        self.add(name, self._encoders[message](fields), time_s)
