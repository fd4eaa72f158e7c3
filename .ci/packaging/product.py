"""The product in every package: its version, its platform and its files.

All of it comes from one build in cargo's target folder. Nothing here knows the format of a package.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import executable
import licences
from crates import Crates

ROOT = Path(__file__).resolve().parents[2]
NAME = "toolgate"

# Where each shell looks for completions below a prefix. Of a shell without such a place, nothing is packaged:
# `toolgate completions` prints its completions as well.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/toolgate",
    "zsh": "share/zsh/site-functions/_toolgate",
    "fish": "share/fish/vendor_completions.d/toolgate.fish",
}


class PackagingError(Exception):
    """Why a package cannot be made, and what to do."""


def say(message):
    """Prints a message with the script's name."""
    print(f"packages: {message}", file=sys.stderr)


def output(*command, **options):
    """The standard output of a program; a failure ends everything."""
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    except FileNotFoundError as error:
        raise PackagingError(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise PackagingError(f"{' '.join(map(str, command))}: {error.stderr.strip()}") from error
    return done.stdout


@dataclass(frozen=True)
class Platform:
    """A system that programs are built for, by the names that package managers have for it."""

    target: str
    npm: str
    wheel: str
    deb: str | None

    @property
    def is_linux(self):
        return "-linux-" in self.target


PLATFORMS = [
    Platform("x86_64-unknown-linux-gnu", npm="linux-x64", wheel="x86_64", deb="amd64"),
    Platform("aarch64-unknown-linux-gnu", npm="linux-arm64", wheel="aarch64", deb="arm64"),
    Platform("x86_64-apple-darwin", npm="darwin-x64", wheel="x86_64", deb=None),
    Platform("aarch64-apple-darwin", npm="darwin-arm64", wheel="arm64", deb=None),
]


@dataclass(frozen=True)
class Entry:
    """A file in a package."""

    data: bytes
    executable: bool = False


class Product:
    """Toolgate, as far as it is the same on every platform."""

    @cached_property
    def crates(self):
        return Crates(ROOT, self.host)

    @cached_property
    def host(self):
        """Cargo's name for this machine's platform."""
        lines = output("rustc", "-vV", cwd=ROOT).splitlines()
        return next(line.split()[1] for line in lines if line.startswith("host: "))

    @cached_property
    def about(self):
        """The manifest of the command."""
        return self.crates.own(NAME)

    @property
    def version(self):
        return self.about["version"]

    @property
    def description(self):
        return self.about["description"]

    @property
    def licence(self):
        return self.about["license"]

    @property
    def repository(self):
        return self.about["repository"]

    @cached_property
    def time(self):
        """The time of every file, in seconds: two runs on the same build give the same bytes."""
        given = os.environ.get("SOURCE_DATE_EPOCH")
        return int(given or output("git", "log", "-1", "--format=%ct", cwd=ROOT))

    @cached_property
    def readme(self):
        """The README with links that work outside of the repository."""
        files = f"{self.repository}/blob/v{self.version}"
        text = re.sub(r"\]\((?!https?:|#)", f"]({files}/", (ROOT / "README.md").read_text())
        return Entry(text.encode())

    @cached_property
    def licence_files(self):
        return {name: Entry((ROOT / name).read_bytes()) for name in ["LICENSE-APACHE", "LICENSE-MIT"]}


class Build(Product):
    """The product for one platform: the program, and everything that it prints about itself."""

    def __init__(self):
        self.target_folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        self.program = self.target_folder / "release" / NAME
        self.platform = next((one for one in PLATFORMS if one.target == self.host), None)
        if self.platform is None:
            raise PackagingError(f"no packages for {self.host}; .ci/packaging/product.py lists the platforms")
        if not self.program.is_file():
            raise PackagingError(f"{self.program} is missing; run `just build`")
        found = output(self.program, "--version").strip()
        if found != f"{NAME} {self.version}":
            raise PackagingError(f"{self.program} is {found}, the manifests are {self.version}; run `just build`")

    @cached_property
    def needs(self):
        """The libraries and systems that the program needs."""
        return executable.needs(self.program)

    @cached_property
    def executable(self):
        return Entry(self.program.read_bytes(), executable=True)

    @cached_property
    def notices(self):
        """The licence texts that binaries have to carry."""
        text = {"THIRD-PARTY-LICENSES": Entry(licences.third_party(self).encode())}
        return self.licence_files | text

    @cached_property
    def completions(self):
        shells = COMPLETIONS.items()
        return {path: Entry(output(self.program, "completions", shell).encode()) for shell, path in shells}

    @cached_property
    def manuals(self):
        with tempfile.TemporaryDirectory() as folder:
            output(self.program, "man", "--out", folder)
            pages = {page.name: Entry(page.read_bytes()) for page in sorted(Path(folder).glob("*.1"))}
        if f"{NAME}.1" not in pages:
            raise PackagingError(f"`{NAME} man` wrote no {NAME}.1")
        return pages

    @cached_property
    def prefix(self):
        """The files below a prefix such as /usr/local."""
        texts = self.notices | {"README.md": self.readme, "CHANGELOG.md": Entry((ROOT / "CHANGELOG.md").read_bytes())}
        files = {f"bin/{NAME}": self.executable} | self.completions
        files |= {f"share/man/man1/{name}": page for name, page in self.manuals.items()}
        return files | {f"share/doc/{NAME}/{name}": text for name, text in texts.items()}


def npm_name(platform):
    """The npm package with the program for a platform."""
    return f"@{NAME}/{platform.npm}"


def as_json(value):
    """JSON as it is written to files."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
