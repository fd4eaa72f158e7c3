"""Tries the packages: installs each into an empty place with the tool that users have, runs the program with an empty home
folder, and removes it again.

The tools need no network: npm has a registry on the loopback interface, pip a folder. If a tool is not installed, its
package is skipped, which is printed; in CI it is an error.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import formula
import npm
from product import NAME, PLATFORMS, npm_name, say
from registry import Registry

# Long enough for pip on a slow machine.
TIMEOUT = 300


class TrialError(Exception):
    """What a package did wrong."""


class Missing(Exception):
    """A tool that is not installed."""


def check(holds, message):
    if not holds:
        raise TrialError(message)


def tool(name):
    path = shutil.which(name)
    if path is None:
        raise Missing(name)
    return path


def files(folder):
    """Everything below a folder that is no folder, relative to it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


@dataclass
class Place:
    """An empty place for a package, with a home folder and a project."""

    root: Path
    # Folders of programs that the package's own program needs.
    programs: list = field(default_factory=list)

    def __post_init__(self):
        for folder in [self.prefix, self.home, self.project]:
            folder.mkdir(parents=True)

    prefix = property(lambda self: self.root / "prefix")
    home = property(lambda self: self.root / "home")
    project = property(lambda self: self.root / "project")

    @property
    def environment(self):
        path = os.pathsep.join([*self.programs, "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
        # A resident host would outlive the trial.
        return {"PATH": path, "HOME": str(self.home), "LC_ALL": "C", "TOOLGATE_NO_SERVE": "1"}

    def run(self, *command, expected=0, **options):
        options = {"cwd": self.project, "env": self.environment, "timeout": TIMEOUT} | options
        done = subprocess.run(command, capture_output=True, text=True, **options)
        said = f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        check(expected is None or done.returncode == expected, said)
        return done


@dataclass(frozen=True)
class Installed:
    """An installed program."""

    # The words that run it.
    command: list
    # The file of the program.
    file: Path


def payload(command, folder):
    return json.dumps(
        {
            "session_id": "s",
            "cwd": str(folder),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "t",
        }
    )


def use(build, place, installed):
    """Whatever a user does first. Nothing of it may change a setting of an agent."""

    def run(*words, **options):
        return place.run(*installed.command, *words, **options)

    def hook(command):
        return run("hook", "claude", input=payload(command, place.project)).stdout

    version = run("--version").stdout.strip()
    check(version == f"{NAME} {build.version}", f"--version prints {version!r}")

    answer = json.loads(hook("rm -rf ~"))["hookSpecificOutput"]
    check(answer["permissionDecision"] == "deny", f"`rm -rf ~` is not denied: {answer}")
    answer = hook("ls")
    check(answer.strip() == "", f"`ls` does not pass: {answer}")

    text = run("install", "claude", "--dry-run").stdout
    check(str(installed.file) in text or f"{NAME}-hook-claude" in text, f"the hook would run another program:\n{text}")
    report = json.loads(run("doctor", "claude", "--json", expected=1).stdout)
    check(report["version"] == build.version, f"doctor reports {report['version']}")
    check(Path(report["program"]) == installed.file.resolve(), f"doctor found {report['program']}")
    check(not report["agents"][0]["installed"], "a dry run installed the hook")
    check(not (place.home / ".claude").exists(), "a dry run wrote settings")


def pages(place, folder, entries):
    """Completions are scripts that their shell can read, and manuals have the page of the command."""
    for path in ["share/bash-completion/completions/toolgate", "share/man/man1/toolgate.1"]:
        check(any(path in entry for entry in entries), f"there is no {path}")
    for shell, part in [("bash", "bash-completion"), ("zsh", "zsh"), ("fish", "fish")]:
        script = next(folder / entry for entry in entries if f"share/{part}/" in entry)
        if shutil.which(shell):
            place.run(shutil.which(shell), "-n", script)


@contextlib.contextmanager
def archive(build, packages, place):
    name = packages / formula.archive(build, build.platform)
    place.run(tool("tar"), "-xzf", name, "-C", place.prefix, "--strip-components=1")
    held = files(place.prefix)
    pages(place, place.prefix, held)
    yield Installed([place.prefix / "bin" / NAME], place.prefix / "bin" / NAME)
    for path in held:
        (place.prefix / path).unlink()
    check(not files(place.prefix), f"the program wrote beside itself: {files(place.prefix)}")


@contextlib.contextmanager
def npm_package(build, packages, place):
    node, program = tool("node"), tool("npm")
    place.programs = [str(Path(node).parent), str(Path(program).parent)]
    absent = [npm.platform_manifest(build, one, build.needs) for one in PLATFORMS if one != build.platform]
    folder = place.prefix / "node_modules"
    binary = folder / npm_name(build.platform) / "bin" / NAME
    with Registry(packages.glob("*.tgz"), absent) as registry:
        quiet = ["--no-audit", "--no-fund", "--no-update-notifier", f"--registry={registry.url}"]
        place.run(program, "install", NAME, "--ignore-scripts", *quiet, cwd=place.prefix)
        check("-/absent" not in registry.asked, "npm downloaded the program of another platform")
        scoped = [path.name for path in (folder / f"@{NAME}").iterdir()]
        check(scoped == [build.platform.npm], f"npm installed {scoped}")
        place.run(tool("npx"), "--no-install", NAME, "--version", cwd=place.prefix)
        fetched = place.run(tool("npx"), "--yes", f"--registry={registry.url}", f"{NAME}@{build.version}", "--version")
        check(build.version in fetched.stdout, f"npx prints {fetched.stdout!r}")
        yield Installed([folder / ".bin" / NAME], binary)
        launcher(place, folder / ".bin" / NAME, binary)
        place.run(program, "uninstall", NAME, *quiet, cwd=place.prefix)
    held = files(place.prefix) - {"package.json", "package-lock.json", "node_modules/.package-lock.json"}
    check(not held, f"npm left {held}")


def launcher(place, script, binary):
    """The script passes signals on, and fails with the exit code of a denial."""
    hook = subprocess.Popen(
        [script, "hook", "claude"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place.project, env=place.environment
    )
    end = time.monotonic() + TIMEOUT
    while str(hook.pid) not in place.run("ps", "-A", "-o", "ppid=").stdout.split() and time.monotonic() < end:
        time.sleep(0.1)
    # The script has started the program, which has to read its arguments yet.
    time.sleep(1)
    hook.send_signal(signal.SIGTERM)
    code = hook.wait(TIMEOUT)
    hook.stdin.close()
    check(code == 2, f"after SIGTERM the hook ends with {code}, which denies nothing")
    aside = binary.with_name("aside")
    binary.rename(aside)
    missing = place.run(script, "--version", expected=2).stderr
    check("npm install @toolgate/" in missing, f"of a missing package it prints {missing!r}")
    aside.rename(binary)


@contextlib.contextmanager
def wheel(build, packages, place):
    place.run(sys.executable, "-m", "venv", place.prefix)
    before = files(place.prefix)
    pip = [place.prefix / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    place.run(*pip, "install", "--no-compile", "--no-index", "--find-links", packages, NAME)
    yield Installed([place.prefix / "bin" / NAME], place.prefix / "bin" / NAME)
    place.run(*pip, "uninstall", "--yes", NAME)
    # What pip compiles of itself while it runs.
    held = {path for path in files(place.prefix) - before if "__pycache__" not in path}
    check(not held, f"pip left {held}")


@contextlib.contextmanager
def deb(build, packages, place):
    program, file = tool("dpkg"), next(packages.glob("*.deb"))
    administration = place.prefix / "var/lib/dpkg"
    for folder in ["info", "updates"]:
        (administration / folder).mkdir(parents=True)
    for name in ["status", "available"]:
        (administration / name).touch()
    # The libraries that it depends on are not in the new root.
    dpkg = [program, f"--root={place.prefix}", "--force-depends", "--force-script-chrootless", f"--log={place.root}/log"]
    if os.geteuid() != 0:
        dpkg = [tool("fakeroot"), *dpkg, "--force-not-root"]
    place.run(*dpkg, "--install", file)
    held = files(place.prefix)
    pages(place, place.prefix, held)
    place.run(*dpkg, "--verify", NAME)
    yield Installed([place.prefix / "usr/bin" / NAME], place.prefix / "usr/bin" / NAME)
    place.run(*dpkg, "--purge", NAME)
    held = {path for path in files(place.prefix) if not path.startswith("var/lib/dpkg/")}
    check(not held and NAME not in (administration / "status").read_text(), f"dpkg left {held or 'its status'}")


def run(build, packages, make):
    """Tries everything that is in a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        # A path through a link is not the one that programs report.
        scratch = Path(scratch).resolve()
        place = Place(scratch / "sums")
        sums = ["sha256sum"] if shutil.which("sha256sum") else ["shasum", "-a", "256"]
        place.run(*sums, "--check", "--strict", "SHA256SUMS", cwd=packages)
        make(build, scratch / "again")
        ours, again = files(packages), files(scratch / "again")
        differ = [one for one in ours | again if one not in ours & again or differs(packages, scratch / "again", one)]
        check(not differ, f"made again, these are not the same: {', '.join(differ)}")
        print("the same bytes when made again")
        trials = {"tar": archive, "npm": npm_package, "pip": wheel} | ({"dpkg": deb} if build.platform.deb else {})
        for name, trial in trials.items():
            try:
                place = Place(scratch / name)
                with trial(build, packages, place) as installed:
                    use(build, place, installed)
                    size = sum((place.prefix / path).lstat().st_size for path in files(place.prefix))
                print(f"{name}: installed ({size:,} bytes), used, removed")
            except Missing as missing:
                check(not os.environ.get("CI"), f"{missing} is not installed; in CI that is an error")
                say(f"skipped: {name}: {missing} is not installed")


def differs(one, other, name):
    return (one / name).read_bytes() != (other / name).read_bytes()
