"""The licences of the crates and libraries in the program. Most of them ask for their text beside a binary."""

import re
from collections import defaultdict
from pathlib import Path

TEXTS = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE)([-._].*)?", re.IGNORECASE)
RULE = "=" * 100

# The LGPL lets a program have the library inside if the user can link it with another version of it.
GLIBC = """\
This program contains the GNU C Library, which is licensed under the GNU Lesser General Public License, version 2.1 or
later, with the text below. To use another version of the library, build the program from its source with that version:
{repository}/tree/v{version}. Built with TOOLGATE_DYNAMIC=1, it uses the library of the system.
"""

# On Debian and Ubuntu, in a package that every system has.
LGPL = Path("/usr/share/common-licenses/LGPL-2.1")


def third_party(build):
    """A list of all crates with their licences, then each text once, with the crates that have it."""
    crates, texts = build.crates, defaultdict(list)
    linked = sorted((one for one in crates.linked if not crates.is_own(one)), key=crates.sort_key)
    lines = []
    for crate in linked:
        package = crates.packages[crate]
        name = f"{package['name']} {package['version']}"
        lines.append(f"{name}  {crates.licence(crate)}")
        for file in sorted(Path(package["manifest_path"]).parent.iterdir()):
            if TEXTS.fullmatch(file.name) and file.is_file():
                texts[file.read_text(errors="replace").strip()].append(name)
    parts = [f"The crates in {build.about['name']} {build.version}, and their licences:\n\n" + "\n".join(lines) + "\n"]
    parts += [f"{RULE}\n{', '.join(dict.fromkeys(names))}\n\n{text}\n" for text, names in texts.items()]
    if build.needs.is_static and build.platform.is_linux:
        note = GLIBC.format(repository=build.repository, version=build.version)
        parts.append(f"{RULE}\n{note}\n{LGPL.read_text()}")
    return "\n".join(parts)
