"""The wheel for PyPI. It has the program as a script and no Python code, so it fits every Python 3."""

import base64
import hashlib

import packed
from product import NAME, Entry, PackagingError

# A static program runs wherever the kernel does. These are the oldest systems that installers know by these names.
STATIC = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"]
OLDEST = (2, 17)

# Libraries that every system has which the tags stand for (PEP 600).
PROMISED = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1"}


def tags(build):
    """The systems on which the program runs, as installers call them."""
    needs, machine = build.needs, build.platform.wheel
    if needs.macos:
        major, minor = needs.macos
        # Since macOS 11 installers look at the first number only.
        return [f"macosx_{major}_{0 if major > 10 else minor}_{machine}"]
    if needs.is_static:
        return [f"{system}_{machine}" for system in STATIC]
    unknown = {name for name in needs.libraries if not name.startswith("ld-linux")} - PROMISED
    if unknown:
        raise PackagingError(f"no manylinux tag promises {', '.join(sorted(unknown))}")
    major, minor = max(needs.glibc[:2], OLDEST)
    return [f"manylinux_{major}_{minor}_{machine}"]


def _metadata(build, notices):
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {build.version}",
        f"Summary: {build.description}",
        f"License-Expression: {build.licence}",
        *[f"License-File: {name}" for name in notices],
        f"Project-URL: Repository, {build.repository}",
        f"Project-URL: Changelog, {build.repository}/blob/v{build.version}/CHANGELOG.md",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + build.readme.data.decode()


def package(build):
    systems = tags(build)
    folder, notices = f"{NAME}-{build.version}.dist-info", build.notices
    wheel = ["Wheel-Version: 1.0", "Generator: toolgate", "Root-Is-Purelib: false"]
    wheel += [f"Tag: py3-none-{system}" for system in systems]
    files = {
        f"{NAME}-{build.version}.data/scripts/{NAME}": build.executable,
        **{f"{folder}/licenses/{name}": text for name, text in notices.items()},
        f"{folder}/METADATA": Entry(_metadata(build, notices).encode()),
        f"{folder}/WHEEL": Entry(("\n".join(wheel) + "\n").encode()),
    }
    record = f"{folder}/RECORD"
    lines = [f"{path},{_digest(entry.data)},{len(entry.data)}" for path, entry in files.items()]
    files[record] = Entry(("\n".join([*lines, f"{record},,"]) + "\n").encode())
    name = f"{NAME}-{build.version}-py3-none-{'.'.join(systems)}.whl"
    return {name: packed.zipped(files, build.time)}


def _digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
