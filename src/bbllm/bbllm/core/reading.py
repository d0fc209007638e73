"""Reading files that others made: regular ones, and not more of them than was meant to be read."""

import errno
import lzma
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 500_000_000
"""Of a file with lines of an episode or of models, unpacked [bytes]."""
MOST_RATIO = 2_000
"""How many times larger than a packed file its content may be; prompts are 15 to 80 times."""
DECODER_BYTES = 256 * 2**20
"""Memory that a packed file may ask for to be unpacked; `xz -9` asks for 65 MiB [bytes]."""
PIECE = 2**20

_KINDS = {
    stat.S_IFIFO: 'a pipe',
    stat.S_IFSOCK: 'a socket',
    stat.S_IFCHR: 'a device',
    stat.S_IFBLK: 'a device',
}


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to be read; raises OSError, whose `strerror` states why not."""
    # Not blocking, since opening a pipe waits for somebody who writes.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    kind = stat.S_IFMT(os.fstat(file).st_mode)
    if kind == stat.S_IFREG:
        return os.fdopen(file, 'rb')
    os.close(file)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    why = f'it is {_KINDS.get(kind, "special")} and no regular file'
    raise OSError(errno.EINVAL, why, str(path))


def read_regular(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """
    Return the content of a regular file.

    Raises OSError, whose `strerror` states why: also for a pipe, a device and what never ends.
    """
    with open_regular(path) as file:
        # No more is allocated than there is: a file of /proc has no size, but an end.
        data = file.read(min(most_bytes, os.fstat(file.fileno()).st_size or most_bytes) + 1)
    if len(data) > most_bytes:
        raise _too_large(path, f'it has more than {_size(most_bytes)}, the most that is read')
    return data


def read_text(path: Path, most_bytes: int = MOST_BYTES, *, errors: str = 'strict') -> str:
    """Return the text of a regular file; raises OSError as `read_regular`, and UnicodeError."""
    return read_regular(path, most_bytes).decode('utf-8', errors).replace('\r\n', '\n')


def read_xz(path: Path) -> bytes:
    """
    Return the content of an .xz file, unpacked.

    Raises:
        OSError: As `read_regular`, and where that is too much.
        LZMAError: The file is damaged or cut.
    """
    packed = read_regular(path)
    most_bytes = min(MOST_BYTES, MOST_RATIO * len(packed))
    pieces: list[bytes] = []
    size, rest = 0, packed
    while rest:  # a file may consist of several streams
        decoder = lzma.LZMADecompressor(memlimit=DECODER_BYTES)
        while not decoder.eof:
            piece = decoder.decompress(rest, PIECE)
            rest = b''
            if not piece and decoder.needs_input:
                raise lzma.LZMAError('the file ends in the middle')
            pieces.append(piece)
            size += len(piece)
            if size > most_bytes:
                raise _too_large(
                    path,
                    f'its {_size(len(packed))} unpack to more than {_size(most_bytes)}; at most '
                    f'{_size(MOST_BYTES)} are read, and {MOST_RATIO} times the size of the file',
                )
        rest = decoder.unused_data.lstrip(b'\0')  # streams are padded by zeros
    return b''.join(pieces)


def _too_large(path: Path, why: str) -> OSError:
    return OSError(errno.EFBIG, why, str(path))


def _size(n: int) -> str:
    for unit, name in ((10**6, 'MB'), (10**3, 'kB')):
        if n >= unit:
            return f'{n / unit:.3g} {name}'
    return f'{n} bytes'
