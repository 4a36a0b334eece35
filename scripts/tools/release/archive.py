"""Archives that are the same whenever and wherever they are made of the same files. Used by scripts/release.py."""

import gzip
import io
import tarfile


def pack(path, top, files, time):
    """Writes the .tar.gz `path`: each of `files` (name in the archive: path here) in the directory `top`."""
    path.write_bytes(compress(tar({f"{top}/{name}": file for name, file in files.items()}, time)))


def tar(files, time):
    """A tar of `files` (name in it: path here, or bytes), in the order of their names, owned by root, and of one time
    in seconds since 1970."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, file in sorted(files.items()):
            content, is_program = (file, False) if isinstance(file, bytes) else (file.read_bytes(), is_executable(file))
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), time, 0o755 if is_program else 0o644
            entry.uname = entry.gname = "root"
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def is_executable(path):
    return bool(path.stat().st_mode & 0o100)


def compress(content):
    """A .gz with neither name nor time."""
    return gzip.compress(content, 9, mtime=0)
