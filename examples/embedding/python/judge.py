"""python judge.py [--json] [--cwd DIR] [--component FILE] COMMAND | --batch

Says what would become of a shell command. Exit codes: 0 pass, 1 ask, 2 block and everything that went wrong. With --batch
each line of standard input is an object of `command` and, if it likes, `id` and `cwd`; the answers are those of
`toolgate check --batch`. A line that makes no sense ends it, with 2.
"""

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPONENT = HERE.parents[2] / "target/component/guest.wasm"
CODES = {"pass": 0, "ask": 1, "block": 2}

USERS = ("damage-control-rules.yaml", "toolgate.yaml", "toolgate.yml")
PI = ".pi/damage-control-rules.yaml"
PROJECTS = (PI, "toolgate.yaml", "toolgate.yml", ".toolgate.yaml", ".toolgate.yml")


def project_root(folder):
    """The nearest folder with a repository or rules, else the folder itself."""
    marks = (".git", *PROJECTS)
    return next((place for place in (folder, *folder.parents) if any(os.path.lexists(place / m) for m in marks)), folder)


def rule_files(home, config, cwd, root):
    """The user's, then those of the project: pairs of layer and path. They need not exist."""
    users = [*(config / name for name in USERS), home / PI]
    folders = sorted({cwd, root} - {home})
    projects = [folder / name for folder in folders for name in PROJECTS]
    return [("user", str(path)) for path in users] + [("project", str(path)) for path in projects]


class Gates:
    """A gate for each folder that a call may start in, and one compiled component."""

    def __init__(self, component):
        from gate import Gate, Guard

        self.make, self.guard, self.gates = Gate, Guard(component), {}
        self.home = Path(os.environ.get("HOME") or Path.home())
        config = os.environ.get("XDG_CONFIG_HOME", "")
        self.config = (Path(config) if config.startswith("/") else self.home / ".config") / "toolgate"
        self.own = [str(self.config), str(HERE), str(component)]

    def judge(self, command, cwd):
        if cwd not in self.gates:
            folder = Path(cwd)
            root = project_root(folder)
            rules = rule_files(self.home, self.config, folder, root)
            self.gates[cwd] = self.make(self.guard, cwd, str(self.home), str(root), rules, self.own)
        return self.gates[cwd].judge(command)


def answer(verdict, id=None):
    """As `toolgate check --batch` has it."""
    finding = next(iter(verdict["findings"]), None) if verdict["decision"] != "pass" else None
    return {
        "id": id,
        "decision": verdict["decision"],
        "rule": finding and finding["rule"],
        "reason": verdict["reason"],
        "evidence": finding["evidence"] if finding else [],
    }


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def batch(gates, cwd):
    for line in sys.stdin:
        line = json.loads(line)
        print(compact(answer(gates.judge(line["command"], line.get("cwd", cwd)), line.get("id"))), flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?")
    parser.add_argument("--batch", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("--component", type=Path, default=COMPONENT)
    given = parser.parse_args()
    if given.batch == (given.command is not None):
        parser.error("either a command or --batch")
    gates = Gates(given.component.resolve())
    cwd = os.path.abspath(given.cwd)
    if given.batch:
        return batch(gates, cwd)
    verdict = gates.judge(given.command, cwd)
    if given.json:
        print(compact({**answer(verdict), "findings": verdict["findings"]}))
    else:
        print(verdict["decision"])
        for finding in verdict["findings"]:
            # Nothing of it moves the cursor of whoever reads it.
            print(ascii(f"{finding['action']} {finding['rule']}: {finding['reason']}")[1:-1])
    return CODES[verdict["decision"]]


if __name__ == "__main__":
    try:
        code = main()
    except Exception as error:
        # Python's own exit code is 1, which is that of a question.
        print(f"nothing is judged: {type(error).__name__}: {error}", file=sys.stderr)
        code = CODES["block"]
    sys.exit(code)
