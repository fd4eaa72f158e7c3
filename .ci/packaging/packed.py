"""Archives whose bytes depend on their content only: sorted, owned by root, of one time, without names of this machine."""

import gzip
import io
import tarfile
import time as clock
import zipfile


def _mode(entry):
    return 0o755 if entry.executable else 0o644


def gzipped(data):
    """Like `gzip -9n`."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


def tar_gz(entries, time):
    """A tar archive of files by their paths."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, entry in sorted(entries.items()):
            about = tarfile.TarInfo(path)
            about.size, about.mode, about.mtime = len(entry.data), _mode(entry), time
            about.uname = about.gname = "root"
            archive.addfile(about, io.BytesIO(entry.data))
    return gzipped(buffer.getvalue())


def zipped(entries, time):
    """A zip archive of files by their paths, in the given order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, entry in entries.items():
            about = zipfile.ZipInfo(path, clock.gmtime(time)[:6])
            about.create_system = 3  # Unix, or the mode is not read
            about.external_attr = (0o100000 | _mode(entry)) << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, entry.data, compresslevel=9)
    return buffer.getvalue()
