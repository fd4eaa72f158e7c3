"""The libraries and the system that an executable needs, from its own headers: ELF and Mach-O, 64 bits, little-endian."""

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """What must be there for a program to start."""

    # File names of shared libraries. None are needed by a static program.
    libraries: tuple = ()
    # The newest version of the GNU C Library of which it needs a symbol.
    glibc: tuple | None = None
    # The oldest version of macOS.
    macos: tuple | None = None

    @property
    def is_static(self):
        return not self.libraries


def needs(path):
    """The needs of the program in a file."""
    data = path.read_bytes()
    if data[:6] == b"\x7fELF\x02\x01":
        return _elf(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _mach_o(data)
    raise ValueError(f"{path} is neither ELF nor Mach-O of 64 bits")


LOAD, DYNAMIC = 1, 2
NEEDED, STRINGS, VERSIONS, VERSION_COUNT = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF
# A version whose symbols are all weak may be missing.
WEAK = 2


def _elf(data):
    (table,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    segments = []
    for at in range(table, table + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, at)
        segments.append((kind, offset, address, length))
    dynamic = next(((offset, length) for kind, offset, _, length in segments if kind == DYNAMIC), None)
    if dynamic is None:
        return Needs()

    def offset_of(address):
        return next(
            address - start + offset
            for kind, offset, start, length in segments
            if kind == LOAD and start <= address < start + length
        )

    entries = list(struct.iter_unpack("<qQ", data[dynamic[0] : dynamic[0] + dynamic[1] // 16 * 16]))
    value = dict(entries).get
    strings = offset_of(value(STRINGS))

    def text(at):
        return data[strings + at : data.index(0, strings + at)].decode()

    versions, at = [], value(VERSIONS) and offset_of(value(VERSIONS))
    for _ in range(value(VERSION_COUNT) or 0):
        _, count, _, first, following = struct.unpack_from("<HHIII", data, at)
        auxiliary = at + first
        for _ in range(count):
            _, flags, _, name, step = struct.unpack_from("<IHHII", data, auxiliary)
            if not flags & WEAK:
                versions.append(text(name))
            auxiliary += step
        at += following
    glibc = [tuple(map(int, name[6:].split("."))) for name in versions if name[:6] == "GLIBC_" and name[6].isdigit()]
    libraries = tuple(text(value) for tag, value in entries if tag == NEEDED)
    return Needs(libraries, max(glibc, default=None))


LOAD_DYLIB, MINIMUM, BUILD_VERSION = 0xC, 0x24, 0x32


def _mach_o(data):
    (count,) = struct.unpack_from("<I", data, 16)
    at, libraries, macos = 32, [], None
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == LOAD_DYLIB:
            start = at + struct.unpack_from("<I", data, at + 8)[0]
            libraries.append(data[start : data.index(0, start)].decode())
        if command in (MINIMUM, BUILD_VERSION):
            (version,) = struct.unpack_from("<I", data, at + (8 if command == MINIMUM else 12))
            macos = (version >> 16, version >> 8 & 0xFF)
        at += size
    return Needs(tuple(libraries), macos=macos)
