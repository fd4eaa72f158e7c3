"""The crates that a build consists of, as cargo resolves them."""

import json
import re
import subprocess
from pathlib import Path

# The command, and the guard that its build compiles to WebAssembly and embeds.
PROGRAMS = ["toolgate", "toolgate-guest"]
GUEST = "wasm32-unknown-unknown"


class Crates:
    """The dependency graph. Dependencies of tests are not part of it."""

    def __init__(self, root, target):
        command = ["cargo", "metadata", "--locked", "--format-version=1"]
        command += [f"--filter-platform={target}", f"--filter-platform={GUEST}"]
        data = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout)
        self.packages = {package["id"]: package for package in data["packages"]}
        self._members = set(data["workspace_members"])
        self._nodes = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
        self._lock = (Path(root) / "Cargo.lock").read_text()
        roots = [self.own(name)["id"] for name in PROGRAMS]
        self.linked = self._reach(roots, self._linked)
        self.build_only = self._reach(self.linked, self.dependencies) - self.linked

    def own(self, name):
        """A crate of this repository."""
        return next(self.packages[one] for one in self._members if self.packages[one]["name"] == name)

    def is_own(self, crate):
        return crate in self._members

    def dependencies(self, crate):
        """All crates that a crate is built with."""
        return self._needed(crate, {None, "build"})

    def _linked(self, crate):
        """The dependencies whose code gets into the program: a macro runs in the compiler."""
        return [one for one in self._needed(crate, {None}) if not self._is_macro(one)]

    def _is_macro(self, crate):
        return any("proc-macro" in target["kind"] for target in self.packages[crate]["targets"])

    def _needed(self, crate, kinds):
        needed = [one for one in self._nodes[crate] if any(kind["kind"] in kinds for kind in one["dep_kinds"])]
        return sorted(one["pkg"] for one in needed)

    @staticmethod
    def _reach(start, step):
        found, pending = set(), list(start)
        while pending:
            crate = pending.pop()
            if crate not in found:
                found.add(crate)
                pending.extend(step(crate))
        return found

    def checksum(self, crate):
        """The SHA-256 of a crate's archive in the registry."""
        package = self.packages[crate]
        head = f'name = "{package["name"]}"\nversion = "{package["version"]}"\n'
        found = re.search(re.escape(head) + r'source = "[^"]*"\nchecksum = "([0-9a-f]{64})"', self._lock)
        return found and found[1]

    def licence(self, crate):
        """The SPDX expression. Some crates have the older form with a slash."""
        return re.sub(r"\s*/\s*", " OR ", self.packages[crate]["license"])

    def sort_key(self, crate):
        package = self.packages[crate]
        return package["name"], package["version"]
