"""Toolgate's guard in a Python program: ask before every tool call, and run the call only if there is no objection."""

import functools
import json
import sys
import threading

from wasmtime import Config, Engine, Store
from wasmtime.component import Component, ComponentInstanceType, FuncType, Linker, OptionType, Variant

from capabilities import Host, record

PACKAGE = "toolgate:plugin/{}@0.1.0"
# The limits of the contract. Seconds are for a whole call, a start included.
DEADLINE = 5.0
MEMORY = 256 << 20
STACK = 1 << 20
HOST_CALLS = 1_000
# The longest text that is judged, in bytes. The kernel gives a command 2 MiB at most.
INPUT = 3 << 20
# The longest answer of a hook, about, in characters.
ANSWER = 4 << 20

# wasmtime 50 takes any value for an absent one, so that the `err` of `result<option<string>, error>` could not be answered.
OptionType.add_classes = lambda self, known: (known.add(type(None)), self.payload.add_classes(known))


class Guard:
    """The compiled component. Compiling takes seconds: one for all sessions of a program."""

    def __init__(self, path):
        config = Config()
        config.wasm_component_model = True
        config.epoch_interruption = True
        config.max_wasm_stack = STACK
        self.engine = Engine(config)
        self.component = Component.from_file(self.engine, path)


class Gate:
    """Judges the calls of one session. A call that fails is a block, and the next one gets a new instance."""

    def __init__(self, guard, cwd, home, workspace_root, rules, own=()):
        """`rules` as in `capabilities.Host`; `own` are paths that no call may change, like this program's own."""
        self.guard = guard
        context = json.dumps({"schema": 1, "own": list(own)})
        self.session = record(role="gate", cwd=cwd, home=home, workspace_root=workspace_root, context=context)
        self.rules = rules
        self.instance = None

    def judge(self, command):
        """The verdict on a shell command: `decision` (`pass`, `ask`, `block`), `reason`, `findings`. It never raises."""
        if len(command.encode(errors="replace")) > INPUT:
            return block("host:input", f"the command has more than {INPUT} bytes and is not judged")
        try:
            return verdict(self.within_deadline(functools.partial(self.ask, command)))
        except Exception as error:
            self.instance = None
            reason = " ".join(str(error).split()) or type(error).__name__
            return block("host:failure", f"{reason}; calls that cannot be checked are blocked")

    def within_deadline(self, work):
        """In a thread of its own, as the epoch ends the component but not a file system that hangs."""
        done = []

        def run():
            try:
                done.append((work(), None))
            except BaseException as error:
                done.append((None, error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(DEADLINE)
        if not done:
            self.guard.engine.increment_epoch()
            raise TimeoutError(f"the component took longer than {DEADLINE:g} s")
        result, error = done[0]
        if error is not None:
            raise error
        return result

    def ask(self, command):
        if self.instance is None:
            self.instance = Instance(self.guard, Host(self.rules))
            started = self.instance.call("lifecycle", "start", self.session)
            unusable = check_started(started)
            if unusable:
                raise ValueError(unusable)
        cwd, home, root = (getattr(self.session, name) for name in ("cwd", "home", "workspace-root"))
        # fmt: off
        call = record(
            id="", tool="bash", kind="shell", command=record(name="command", value=command), paths=[], globs=[],
            cwd=cwd, home=home, workspace_root=root, input=json.dumps({"command": command}), context='{"schema":1}',
        )
        # fmt: on
        return self.instance.call("tool-gate", "judge", call)


class Instance:
    """A started component with a store of its own."""

    def __init__(self, guard, host):
        self.store = Store(guard.engine)
        self.store.set_limits(memory_size=MEMORY)
        self.store.set_epoch_deadline(1)
        self.calls = 0
        linker = Linker(guard.engine)
        with linker.root() as root:
            for name, item in guard.component.type.imports(guard.engine).items():
                with root.add_instance(name) as instance:
                    self.link(guard, name, item.ty, instance, host.functions())
        self.instance = linker.instantiate(self.store, guard.component)

    def link(self, guard, name, kind, instance, functions):
        if not isinstance(kind, ComponentInstanceType):
            raise TypeError(f"the component asks for {name}, which is not in the contract")
        interface = name.removeprefix("toolgate:plugin/").partition("@")[0]
        for function, item in kind.exports(guard.engine).items():
            kind = item.ty
            if isinstance(kind, FuncType):
                answer = functions.get((interface, function)) or functools.partial(denied, interface, kind.result)
                instance.add_func(function, functools.partial(self.counted, answer))

    def counted(self, answer, _store, *arguments):
        self.calls += 1
        if self.calls > HOST_CALLS:
            raise RuntimeError(f"the component made more than {HOST_CALLS} host calls")
        return answer(*arguments)

    def call(self, interface, function, *arguments):
        self.calls = 0
        self.store.set_epoch_deadline(1)
        place = self.instance.get_export_index(self.store, PACKAGE.format(interface))
        index = place and self.instance.get_export_index(self.store, function, place)
        if not index:
            raise TypeError(f"the component has no {interface}.{function}")
        return self.instance.get_func(self.store, index)(self.store, *arguments)


def denied(interface, result, *_arguments):
    return Variant("denied", f"{interface} is not granted") if result else None


def check_started(started):
    """What keeps the guard from judging, if anything does; warnings are shown. Rules that cannot be used are not the same
    as no rules."""
    if isinstance(started, str):
        return f"the guard does not start: {started}"
    unusable = None
    for about in started.diagnostics:
        text = f"{about.file or 'toolgate'}: {about.message}"
        print(ascii(text)[1:-1], file=sys.stderr)
        if about.level == "error":
            unusable = unusable or f"the rules cannot be used: {text}"
    return unusable


def verdict(answer):
    """The component's answer as plain data; raises if it is not one that may be given."""
    decision, reason = answer.decision.tag, answer.decision.payload
    if decision not in ("pass", "ask", "block"):
        raise ValueError("the component rewrote the call, which it is not granted")
    findings = [
        {
            "rule": one.rule,
            "action": one.action,
            "reason": one.reason,
            "evidence": [{name: getattr(at, name) for name in ("field", "start", "end", "text")} for at in one.evidence],
        }
        for one in answer.findings
    ]
    whole = {"decision": decision, "reason": reason, "findings": findings}
    if len(json.dumps(whole, ensure_ascii=False)) > ANSWER:
        raise ValueError("the component answered with more data than is taken")
    return whole


def block(rule, reason):
    finding = {"rule": rule, "action": "block", "reason": reason, "evidence": []}
    return {"decision": "block", "reason": reason, "findings": [finding]}
