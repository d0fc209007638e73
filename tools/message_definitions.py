"""
Write the definitions of messages that bags contain and that are written without ROS.

    python tools/message_definitions.py

Takes those of Jazzy from the installed packages and those of bbllm from src/bbllm_interfaces,
without their comments. tests/bags compares the file with both.
"""

from __future__ import annotations

import re
from pathlib import Path

from bbllm.bags.definitions import FILE, LINE, parts_of
from bbllm.bags.topics import WRITTEN_TYPES

ROOT = Path(__file__).resolve().parent.parent


def source_text(name: str) -> str:
    """Return the definition of a message, `package/Name`, without comments."""
    package, _, message = name.partition('/')
    folder = ROOT / 'src' / package
    if not folder.is_dir():
        from ament_index_python.packages import get_package_share_directory

        folder = Path(get_package_share_directory(package))
    text = (folder / 'msg' / f'{message}.msg').read_text('utf-8')
    lines = [re.sub(r'\s*#.*', '', line) for line in text.splitlines()]
    return '\n'.join(line for line in lines if line.strip())


def definitions() -> dict[str, str]:
    """Return the definitions of all messages that are written, by name."""
    waiting, found = [name.replace('/msg/', '/') for name in WRITTEN_TYPES], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = source_text(name)
            waiting += parts_of(name, found[name])
    return dict(sorted(found.items()))


def file_text() -> str:
    """Return what belongs into the file of the package."""
    return f'{LINE}\n'.join(f'MSG: {name}\n{text}\n' for name, text in definitions().items())


if __name__ == '__main__':
    FILE.write_text(file_text(), 'utf-8')
    print(FILE)
