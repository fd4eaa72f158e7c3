"""Looks at test runs: names the tests that failed below the result, and notes for rules when all of them passed.

It reads what the host says of the shell text, in ``context.analysis``, and no shell text itself.
"""

import json
import re

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.lifecycle import Started
from wit_world.exports.tool_observer import Addition
from wit_world.imports import journal, log
from wit_world.imports.types import Level, ToolKind

EVENT = "tests-passed"

# How many names are worth repeating.
MOST = 20

# What a runner prints for each test that failed.
FAILED = {
    "pytest": re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE),
    "cargo": re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE),
}

# What it prints for a run: how many passed, and whether any failed.
PASSED = {
    "pytest": re.compile(r"^=*\s?(?P<all>.*\b(?P<count>\d+) passed\b.*) in [\d.:]+s", re.MULTILINE),
    "cargo": re.compile(r"^test result: (?P<all>\w+\. (?P<count>\d+) passed.*)$", re.MULTILINE),
}
BAD = re.compile(r"\b[1-9]\d* (?:failed|errors?)\b|FAILED")


class Lifecycle(exports.Lifecycle):
    def prepare(self):
        pass

    def start(self, session):
        return Started("watches test runs", [])

    def shutdown(self, reason):
        pass


class ToolObserver(exports.ToolObserver):
    def observe(self, outcome):
        commands = analysed(outcome.call)
        runners = {runner for command in commands if (runner := runner_of(command))}
        if not runners:
            return None
        failed = [name for runner in sorted(runners) for name in FAILED[runner].findall(outcome.output)]
        if not failed:
            if len(runners) == 1 and passed(outcome, commands, *runners):
                note()
            return None
        names = list(dict.fromkeys(failed))
        shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
        details = json.dumps({"schema": 1, "failed": names[:MOST]})
        return Addition(f"Failed tests: {shown}", details)


def analysed(call):
    """The commands of the call, as far as the host could read them."""
    if call.kind != ToolKind.SHELL:
        return []
    analysis = json.loads(call.context).get("analysis") or {}
    return [] if analysis.get("unparsed") else analysis.get("commands", [])


def runner_of(command):
    """Which test runner a command is, if it is one."""
    name = (command.get("name") or "").rsplit("/", 1)[-1]
    args = command.get("args", [])
    if name in ("pytest", "py.test") or (name.startswith("python") and args[:2] == ["-m", "pytest"]):
        return "pytest"
    words = [word for word in args if word is None or not word.startswith(("-", "+"))]
    if name == "cargo" and words[:1] == ["test"]:
        return "cargo"
    return None


def passed(outcome, commands, runner):
    """Whether it is certain that tests ran and passed.

    The call is one command, so that its end is the runner's, found by PATH and given no variables; and the runner says
    so itself, as not every agent tells the exit code. ``pytest --version`` ends well, too.
    """
    alone = len(commands) == 1 and commands[0].get("runs") == "certainly"
    if not alone or "/" in commands[0]["name"] or commands[0].get("assignments"):
        return False
    if outcome.is_error or outcome.exit_code not in (None, 0):
        return False
    runs = list(PASSED[runner].finditer(outcome.output))
    return any(int(run["count"]) > 0 for run in runs) and not any(BAD.search(run["all"]) for run in runs)


def note():
    try:
        journal.append("event", json.dumps({"schema": 1, "event": EVENT}))
    except Err as error:
        log.write(Level.WARNING, f"{EVENT} could not be noted: {error.value}")
