// Stands in for `toolgate serve --stdio AGENT`. The command that it is asked about says how it
// answers; the name that it is started by says how it starts. It writes what it hears to NAME.log.
import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";

const [, self, , , agent] = process.argv;
const name = basename(self);
const raw = (text) => process.stdout.write(text);
const send = (frame) => raw(`${JSON.stringify({ schema: 1, ...frame })}\n`);
const log = (entry) => appendFileSync(`${self}.log`, `${JSON.stringify(entry)}\n`);
log({ pid: process.pid, options: process.argv.slice(5) });

if (name === "short") {
	process.stderr.write("the rules cannot be read\n");
	process.exit(3);
}
if (name !== "mute") send({ hello: { version: "0.0.0", agent: name === "rude" ? "another" : agent } });

const asked = new Set(); // questions, which are numbered as what they are for
const push = "git push wants a yes";

/** What the host does when it is asked about a command that holds the word. */
const commands = {
	"victim -delete": (id) => result(id, { block: true, reason: "it would delete the victim" }),
	unreasoned: (id) => result(id, { block: true }),
	rewrite: (id, frame) => result(id, { [frame.event === "tool_call" ? "input" : "args"]: { command: "echo rewritten" } }),
	"git push": (id, frame) => (frame.payload.hasUI ? ask(id, 400) : result(id, { block: true, reason: push })),
	"slow question": (id) => ask(id, 10_000),
	"die while asking": (id) => {
		ask(id, 10_000);
		setImmediate(() => process.exit(7));
	},
	die: () => process.exit(7),
	hang: () => {},
	garbage: () => raw("thread 'main' panicked\n"),
	"two versions": (id) => raw(`{"schema":2,"id":${id},"result":{}}\n`),
	"no object": (id) => send({ id, result: null }),
	"other answer": (id) => send({ id, result: { allow: true } }),
	"other block": (id) => send({ id, result: { block: "yes", reason: "no" } }),
	"other id": (id) => send({ id: id + 1000, result: {} }),
	"in pieces": (id) => {
		const line = JSON.stringify({ schema: 1, id, result: {} });
		raw(line.slice(0, 9));
		setImmediate(() => raw(`${line.slice(9)}\n`));
	},
	"half a line": (id) => raw(`{"schema":1,"id":${id},"result":{`, process.exit(0)),
	complain: () => send({ error: "line 2 has no event" }),
	later: (id) => setTimeout(() => result(id, {}), 50),
	show: (id) => {
		send({ notify: { message: "loaded", level: "warning" } });
		send({ status: { key: "toolgate", text: "on" } });
		send({ journal: { kind: "toolgate-log", entry: { number: 1 } } });
		send({ message: { kind: "toolgate-diagnostics", text: "hint", delivery: "follow-up", visible: true } });
		send({ "a kind of a later version": {} });
		result(id, {});
	},
};

const results = {
	"checked late": (id) => setTimeout(() => result(id, { append: "late report" }), 600),
	checked: (id) => result(id, { append: "report", details: { issues: 1 } }),
	"lost result": () => process.exit(7),
	"stuck result": () => {},
};

const tool = (name) => ({ name, description: `${name} in the terminal. More of it.`, input_schema: { type: "object", properties: {} } });

/** What the terminal offers, by the name of the host. */
const offers = {
	odd: [
		...["read", "__proto__", "Bash", "bash\n", "", ["bash"], undefined, "x".repeat(65)].map(tool),
		{ ...tool("no_schema"), input_schema: null },
		{ ...tool("no_description"), description: 5 },
		"bash",
		null,
		tool("read_terminal"),
	],
	empty: [],
	unlisted: { bash: tool("bash") },
	plugins: [tool("notes_add"), tool("Other-1")],
	greedy: [tool("bash"), tool("notes_add")],
};

/** What becomes of a command that runs in the terminal. */
const terminal = {
	"exit 2": (id) => result(id, { text: "gone", is_error: true, details: { exitCode: 2 } }),
	"sudo rm": (id) => result(id, { text: "it would remove", is_error: true }),
	vim: (id) => result(id, { text: "vim waits", is_error: true, details: { exitCode: null } }),
	later: (id) => setTimeout(() => result(id, { text: "done later", is_error: false, details: {} }), 300),
	die: () => process.exit(7),
	hang: () => {},
	"no object": (id) => send({ id, result: null }),
	"no text": (id) => result(id, { is_error: false }),
	"a verdict": (id) => result(id, {}),
	"perhaps an error": (id) => result(id, { text: "done", is_error: "no" }),
};

function ask(id, timeout) {
	asked.add(id);
	send({ ask: id, for: id, title: "Toolgate", text: push, timeout });
}

function result(id, answer) {
	send({ id, result: answer });
}

function commandOf({ event, output, input }) {
	return event?.command ?? event?.input?.command ?? output?.args?.command ?? input?.args?.command ?? "";
}

function answer(table, frame) {
	const command = commandOf(frame.payload);
	const found = Object.keys(table).find((word) => command.includes(word));
	found ? table[found](frame.id, frame) : result(frame.id, table === terminal ? { text: `ran ${command}`, is_error: false, details: { exitCode: 0 } } : {});
}

if (name === "deaf") setInterval(() => {}, 1_000);
createInterface({ input: process.stdin }).on("line", (line) => {
	const frame = JSON.parse(line);
	log({ ...frame, size: line.length });
	if (name === "mute") return;
	if ("answer" in frame) {
		if (asked.delete(frame.answer)) result(frame.answer, frame.confirmed ? {} : { block: true, reason: "the user said no" });
	} else if (frame.cancel) {
		return;
	} else if (["tool_call", "user_bash", "tool.execute.before"].includes(frame.event)) {
		answer(commands, frame);
	} else if (["tool_result", "tool.execute.after"].includes(frame.event)) {
		answer(results, frame);
	} else if (frame.event === "tools") {
		const shares = process.argv.includes("--terminal") && process.env.TMUX;
		if (name !== "slow") result(frame.id, { tools: offers[name] ?? (shares ? [tool("bash"), tool("read_terminal")] : []) });
	} else if (frame.event === "tool_run") {
		answer(terminal, frame);
	} else if (frame.event === "session_start") {
		result(frame.id, { context: "this project has rules" });
	} else if (frame.event === "agent_end" && frame.payload.session === "found at the end" && !frame.payload.event.again) {
		result(frame.id, { append: "mend a.ts" });
	} else {
		result(frame.id, {});
	}
});
