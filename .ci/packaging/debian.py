"""The package for Debian and Ubuntu, built with dpkg-deb.

It has no systemd units: the first hook starts the resident host, which ends after 15 minutes without a call, and its socket
depends on the environment of that hook. A host that systemd started would rarely be the one that hooks ask. It has no
maintainer scripts either: hooks are settings of a user.
"""

import email.utils
import hashlib
import os
import tempfile
from pathlib import Path

import packed
from product import NAME, Entry, PackagingError, output

MAINTAINER = "The Toolgate authors <toolgate@users.noreply.github.com>"

# Packages with the shared libraries that a dynamic program may need.
LIBRARIES = {"libgcc_s.so.1": "libgcc-s1", **dict.fromkeys(["libc.so.6", "libm.so.6", "libdl.so.2"], "libc6")}
LIBRARIES |= dict.fromkeys(["librt.so.1", "libpthread.so.0"], "libc6")

DESCRIPTION = """\
Description: Gate between a coding agent and your machine
 Toolgate judges every tool call of a coding agent before it runs, and
 answers pass, ask or block, with the rule and the words that matched.
 .
 It works with Claude Code, Codex CLI, Gemini CLI, Copilot CLI, OpenCode,
 Factory Droid, pi and Cursor. Run "toolgate setup" to add it to your
 agents, and "toolgate uninstall AGENT" before you remove this package.
"""

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Toolgate
Source: {repository}
Comment: The licences of the crates and libraries that are linked into the
 program are in THIRD-PARTY-LICENSES.gz.{glibc}

Files: *
Copyright: {holder}
License: Apache-2.0 or Expat

License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.

License: Expat
{mit}
"""

GLIBC = """
 The GNU C Library is linked in. Its licence is the GNU Lesser General Public
 License, version 2.1 or later: /usr/share/common-licenses/LGPL-2.1."""


def _depends(needs):
    packages = {}
    for library in needs.libraries:
        if library.startswith("ld-linux"):
            continue
        if library not in LIBRARIES:
            raise PackagingError(f"no package is known for {library}; add it to .ci/packaging/debian.py")
        packages[LIBRARIES[library]] = ""
    if "libc6" in packages and needs.glibc:
        packages["libc6"] = f" (>= {'.'.join(map(str, needs.glibc))})"
    return [f"Depends: {', '.join(name + version for name, version in sorted(packages.items()))}"] if packages else []


def _copyright(build):
    _, notice, text = build.licence_files["LICENSE-MIT"].data.decode().split("\n\n", 2)
    values = {
        "repository": build.repository,
        "holder": notice.removeprefix("Copyright (c) "),
        "mit": "\n".join(f" {line or '.'}" for line in text.strip().splitlines()),
        "glibc": GLIBC if build.needs.is_static else "",
    }
    return Entry(COPYRIGHT.format(**values).encode())


def _changelog(build):
    date = email.utils.formatdate(build.time)
    head = f"{NAME} ({build.version}-1) unstable; urgency=medium"
    text = f"{head}\n\n  * Release {build.version}.\n\n -- {MAINTAINER}  {date}\n"
    return Entry(packed.gzipped(text.encode()))


def _files(build):
    """Debian's places for the files of a prefix, and the files that it asks for."""
    files = {}
    for path, entry in build.prefix.items():
        if path.startswith("share/zsh/site-functions/"):
            path = path.replace("site-functions", "vendor-completions")
        elif path.endswith(".1"):
            path, entry = f"{path}.gz", Entry(packed.gzipped(entry.data))
        elif path.endswith(("THIRD-PARTY-LICENSES", "CHANGELOG.md")):
            path = path.replace("CHANGELOG.md", "changelog") + ".gz"
            entry = Entry(packed.gzipped(entry.data))
        elif "/LICENSE-" in path:
            continue
        files[f"usr/{path}"] = entry
    files[f"usr/share/doc/{NAME}/copyright"] = _copyright(build)
    files[f"usr/share/doc/{NAME}/changelog.Debian.gz"] = _changelog(build)
    return files


def _control(build, files):
    # As dpkg-gencontrol counts: whole kilobytes for each file and folder.
    folders = {parent for path in files for parent in Path(path).parents}
    size = sum(-(-len(entry.data) // 1024) for entry in files.values()) + len(folders)
    lines = [
        f"Package: {NAME}",
        f"Version: {build.version}-1",
        "Section: utils",
        "Priority: optional",
        f"Architecture: {build.platform.deb}",
        *_depends(build.needs),
        "Recommends: git",
        "Suggests: tmux",
        f"Installed-Size: {size}",
        f"Maintainer: {MAINTAINER}",
        f"Homepage: {build.repository}",
    ]
    return Entry(("\n".join(lines) + "\n" + DESCRIPTION).encode())


def package(build):
    files = _files(build)
    sums = "".join(f"{hashlib.md5(entry.data).hexdigest()}  {path}\n" for path, entry in sorted(files.items()))
    control = {"DEBIAN/control": _control(build, files), "DEBIAN/md5sums": Entry(sums.encode())}
    name = f"{NAME}_{build.version}-1_{build.platform.deb}.deb"
    with tempfile.TemporaryDirectory() as scratch:
        staging, result = Path(scratch) / "staging", Path(scratch) / name
        for path, entry in (files | control).items():
            file = staging / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(entry.data)
            file.chmod(0o755 if entry.executable else 0o644)
        for one in [staging, *staging.rglob("*")]:
            if one.is_dir():
                one.chmod(0o755)
            os.utime(one, (build.time, build.time))
        # The number of threads shows in what xz writes, and dpkg-deb on Ubuntu would compress with zstd.
        variables = os.environ | {"SOURCE_DATE_EPOCH": str(build.time), "DPKG_DEB_THREADS_MAX": "1"}
        output("dpkg-deb", "--root-owner-group", "-Zxz", "--build", staging, result, env=variables)
        return {name: result.read_bytes()}
