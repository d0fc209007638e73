"""
Keep built interface packages outside the checkout, so that the next one need not build them.

A package is one archive, named by a hash of all that its files depend on but the place of the
checkout, which an archive holds a mark for. Python 3.8 on, standard library only.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

from machine import SetupError

MARK = b'@BBLLM_ROOT@'
KEPT_S = 90 * 24 * 3600.0
"""An archive that no set-up took for so long is removed [s]."""
ELF = b'\x7fELF'


def cache_folder() -> Path:
    """Return where archives are kept: `$XDG_CACHE_HOME/bbllm/interfaces`."""
    base = os.environ.get('XDG_CACHE_HOME', '')
    caches = Path(base) if Path(base).is_absolute() else Path('~/.cache').expanduser()
    return caches / 'bbllm' / 'interfaces'


def clear_cache() -> Path:
    """Remove all archives; return the folder that they were in."""
    folder = cache_folder()
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    return folder


class InterfaceCache:
    """
    The archives of one checkout.

    Each is written under another name and renamed, so that set-ups can run at once, and is used
    only if it is whole, and if nobody but this user can have written it.

    Args:
        root: The checkout, whose path stands in files of the packages.
        install: The folder that has a folder for each package.
    """

    def __init__(self, root: Path, install: Path):
        self._root = os.fsencode(root)
        self._install = install
        self._folder = cache_folder()

    def load(self, name: str, key: str) -> bool:
        """Install a package from its archive; return whether there was one that can be used."""
        archive = self._archive(name, key)
        try:
            if not (_is_own(self._folder) and _is_own(archive)):
                return False
            packed = archive.read_bytes()
        except OSError:  # there is none, or a file is where the folder would be
            return False
        part = self._install / f'.{name}.part'
        shutil.rmtree(part, ignore_errors=True)
        try:
            self._unpack(packed, part)
            shutil.rmtree(self._install / name, ignore_errors=True)
            part.replace(self._install / name)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError):
            with suppress(OSError):
                archive.unlink()  # it is damaged
            return False
        finally:
            shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):  # the cache may be read-only
            os.utime(archive)
        return True

    def save(self, name: str, key: str) -> None:
        """
        Keep an installed package.

        Raises:
            SetupError: It cannot be kept; the package is none the worse for it.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(self._folder):
                raise SetupError(f'{self._folder} can be written to by other users')
            # Made by mkstemp: only this user can write to it.
            handle, part = tempfile.mkstemp(dir=str(self._folder), suffix='.part')
            try:
                with os.fdopen(handle, 'wb') as file:
                    self._pack(name, file)
                Path(part).replace(self._archive(name, key))
            finally:
                with suppress(FileNotFoundError):
                    Path(part).unlink()
            self._remove_old()
        except OSError as error:
            raise SetupError(f'{self._folder}: {error.strerror}') from error

    def _unpack(self, packed: bytes, folder: Path) -> None:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for member in archive.infolist():
                path = folder / _inside(member.filename)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(member).replace(MARK, self._root))

    def _pack(self, name: str, file: IO[bytes]) -> None:
        base = self._install / name
        with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            for path in sorted(base.rglob('*')):
                # Bytecode names the file that it was made from.
                if path.is_dir() or path.suffix == '.pyc':
                    continue
                data = path.read_bytes()
                if self._root in data and data.startswith(ELF):
                    raise SetupError(f'{path.name} holds the path of this checkout')
                packed.writestr(str(path.relative_to(base)), data.replace(self._root, MARK))

    def _archive(self, name: str, key: str) -> Path:
        return self._folder / f'{name}-{key}.zip'

    def _remove_old(self) -> None:
        for path in self._folder.iterdir():
            with suppress(OSError):  # another set-up may have removed it
                if path.stat().st_mtime < time.time() - KEPT_S:
                    path.unlink()


def _is_own(path: Path) -> bool:
    """Return whether this user alone can have written to a file or a folder."""
    info = path.stat()
    return info.st_uid == os.geteuid() and not info.st_mode & 0o022


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or '..' in path.parts:
        raise ValueError(f'{name} is outside of the package')
    return path
