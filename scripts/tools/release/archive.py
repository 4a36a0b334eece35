"""Archives that are the same whenever and wherever they are made of the same files. Used by scripts/release.py."""

import gzip
import tarfile


def pack(path, top, files, time):
    """Writes the .tar.gz `path`: each of `files` (name in the archive: path here) in the directory `top`, in
    the order of their names, owned by root, and of one time in seconds since 1970."""
    # Neither name nor time of the .tar.
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, file in sorted(files.items()):
            add(archive, f"{top}/{name}", file, time)


def add(archive, name, file, time):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = file.stat().st_size, time
    entry.mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
    entry.uname = entry.gname = "root"
    with file.open("rb") as content:
        archive.addfile(entry, content)
