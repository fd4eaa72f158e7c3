"""What the guard may reach, in Python: it looks at the file system, tells the time, writes to the log. It never writes.

The contract is wit/v0.1/capabilities.wit; each function here is one of its functions, with the limits that it names. An
error is a `Variant` with the name of a case of `types.error`. Whatever is not here is denied, see `gate.py`.
"""

import json
import logging
import os
import stat
import time
from pathlib import PurePosixPath

from wasmtime.component import Record, Variant

PATHS = 4_096
CONFIG_FILE = 1 << 20
SCRIPT_FILE = 256 << 10
LOG_MESSAGE = 4_096
# As far as Linux goes.
LINKS = 40

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
ABSENT = (FileNotFoundError, NotADirectoryError)

log = logging.getLogger("toolgate")


def record(**fields):
    """A record of the contract, whose field names have dashes."""
    made = Record()
    for name, value in fields.items():
        setattr(made, name.replace("_", "-"), value)
    return made


class Host:
    """The capabilities of one session. `rules` are pairs of layer (`user`, `project`) and path, the user's first."""

    def __init__(self, rules):
        self.rules = rules
        self.started = time.monotonic_ns()

    def functions(self):
        """What answers which import."""
        return {
            ("files", "stat"): lambda paths: many(look, paths),
            ("files", "resolve"): lambda paths: many(resolve, paths),
            ("files", "read-config"): self.read_config,
            ("files", "read-script"): read_script,
            ("git", "branch"): branch,
            ("clock", "now"): lambda: time.time_ns() // 1_000_000,
            ("clock", "monotonic"): lambda: (time.monotonic_ns() - self.started) // 1_000_000,
            # There are no other components.
            ("extensions", "provided"): lambda: '{"schema":1,"components":[]}',
            # Quoted, so that it cannot pass for anything but a message.
            ("log", "write"): lambda level, message: log.log(LEVELS[level], json.dumps(message[:LOG_MESSAGE])),
        }

    def read_config(self, name):
        if name != "rules":
            return Variant("not-found", f"no configuration file named {name}")
        found = ((path, layer, config_file(path)) for layer, path in self.rules)
        return [record(path=path, layer=layer, content=content) for path, layer, content in found if content is not None]


def many(one, paths):
    return Variant("too-large", PATHS) if len(paths) > PATHS else [one(path) for path in paths]


def look(path):
    try:
        found = os.lstat(path)
    except ABSENT:
        return None
    except (OSError, ValueError):
        # That it may not be looked at does not say that nothing is there.
        return record(kind="hidden", size=0, modified=0)
    kinds = ((stat.S_ISLNK, "symlink"), (stat.S_ISDIR, "directory"), (stat.S_ISREG, "file"))
    kind = next((kind for test, kind in kinds if test(found.st_mode)), "other")
    return record(kind=kind, size=found.st_size, modified=max(found.st_mtime_ns // 1_000_000, 0))


def resolve(path):
    try:
        real, exists = real_path(PurePosixPath(path))
        real.encode()
        return record(path=real, exists=exists)
    except (OSError, ValueError):
        return None


def real_path(path):
    """The links of the nearest existing ancestor resolved, and the rest appended. A link whose target does not exist is
    followed by hand, as writing there makes the target."""
    for _ in range(LINKS):
        if real := existing(path):
            return real, True
        if target := link(path):
            path = path.parent / target
            continue
        rest, ancestor = [], path
        while True:
            if ancestor.name in ("", ".."):
                raise ValueError("it cannot be resolved")
            rest.insert(0, ancestor.name)
            ancestor = ancestor.parent
            if real := existing(ancestor):
                return str(PurePosixPath(real, *rest)), False
            if target := link(ancestor):
                path = PurePosixPath(ancestor.parent / target, *rest)
                break
    raise ValueError("too many links")


def existing(path):
    try:
        # The system's own word first: `realpath` takes `file/..` for a folder.
        os.stat(path)
        return os.path.realpath(path, strict=True)
    except OSError:
        return None


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return None


def config_file(path):
    """The bytes of a rule file, an error, or `None` if it is not there."""
    try:
        # Opening a pipe would wait for whoever writes to it.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Variant("other", "it is not a regular file")
        return bounded(path, CONFIG_FILE)
    except ABSENT:
        return None
    except OSError as error:
        return Variant("other", str(error))


def read_script(path):
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Variant("invalid", "it is not a regular file")
        content = bounded(path, SCRIPT_FILE)
    except ABSENT as error:
        return Variant("not-found", str(error))
    except (OSError, ValueError) as error:
        return Variant("other", str(error))
    if isinstance(content, Variant):
        return content
    # Shells run a script whatever bytes are in it; what is no script at all begins differently.
    if not content.startswith(b"#!") and b"\0" in content[:512]:
        return Variant("invalid", "it is not text")
    return content.decode(errors="replace").replace("\0", "")


def bounded(path, limit):
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    return Variant("too-large", limit) if len(content) > limit else content


def branch(folder):
    """The branch that is checked out, as git keeps it in plain files. `.git` is a folder, or a file that names one."""
    nowhere = Variant("unavailable", f"{folder} is not in a git worktree")
    places = (place / ".git" for place in (PurePosixPath(folder), *PurePosixPath(folder).parents))
    git = next((place for place in places if os.path.exists(place)), None)
    if git is None:
        return nowhere
    try:
        if os.path.isfile(git):
            text = small(git)
            if not text.startswith("gitdir:"):
                return nowhere
            git = git.parent / text.removeprefix("gitdir:").strip()
        head = small(git / "HEAD")
    except (OSError, ValueError):
        return nowhere
    before = "ref: refs/heads/"
    return head.removeprefix(before) if head.startswith(before) else None


def small(path):
    if not os.path.isfile(path):
        raise ValueError("it is not a regular file")
    with open(path, "rb") as file:
        return file.read(4_096).decode().strip()
