"""A plugin for toolgate: asks before a package is published."""

import json

from wit_world import exports
from wit_world.exports.lifecycle import Started
from wit_world.imports.types import Action, Decision_Ask, Decision_Pass, Finding, Verdict


class Lifecycle(exports.Lifecycle):
    def prepare(self):
        pass

    def start(self, session):
        return Started("asks before a package is published", [])

    def shutdown(self, reason):
        pass


class ToolGate(exports.ToolGate):
    def judge(self, call):
        analysis = json.loads(call.context).get("analysis") or {}
        if any(publishes(command) for command in analysis.get("commands", [])):
            reason = "publishes a package, which cannot be undone"
            return Verdict(Decision_Ask(reason), [Finding("publish", "", Action.ASK, reason, [])])
        return Verdict(Decision_Pass(), [])


def publishes(command):
    name = (command["name"] or "").rsplit("/", 1)[-1]
    return command["runs"] != "never" and name == "npm" and command["args"][:1] == ["publish"]
