// The shims against `host.mjs`, with stand-ins for pi and OpenCode. Needs Node 20, and for the
// extension of pi one that strips types (22.18; older ones with --experimental-strip-types).
// Run: node --test tests/shims/shims.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

const source = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const shim = (name) => source(`../../host/agents/src/shim/${name}`) + source("../../host/agents/src/shim/host.js");
const folder = mkdtempSync(join(tmpdir(), "toolgate-shims-"));
const onUnix = process.platform !== "win32";
process.env.TOOLGATE_PROGRAM = "/bin/true"; // what runs is not for the environment to say
delete process.env.TMUX;

/** Limits of the shims, for tests that wait until they are over. Others keep the real ones. */
const SHORT = { HELLO_MS: 300, ANSWER_MS: 1_500, RESULT_MS: 300, CHECK_MS: 300 };

before(() => {
	writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** A program that is `host.mjs` under this name. */
function program(name = "host") {
	const path = join(mkdtempSync(join(folder, "host-")), name);
	writeFileSync(join(path, "..", "package.json"), '{"type":"module"}');
	writeFileSync(path, `#!${process.execPath}\n${source("host.mjs")}`, { mode: 0o755 });
	return path;
}

/** The path of a shim as the installer would write it, but for these constants. */
function written(name, path, constants = {}) {
	let text = shim(name).replace('const PROGRAM = "";', `const PROGRAM = ${JSON.stringify(path)};`);
	for (const [constant, value] of Object.entries(constants)) {
		text = text.replace(new RegExp(`const ${constant} = [^;]+;`), `const ${constant} = ${value};`);
	}
	const file = join(folder, `shim-${++files}.${name.endsWith(".ts") ? "mts" : "mjs"}`);
	writeFileSync(file, text);
	return file;
}

const load = async (name, path, limits) => import(pathToFileURL(written(name, path, limits)));

/** What a host heard, a frame an entry. */
function heard(path) {
	if (!existsSync(`${path}.log`)) return [];
	// What comes after the last line end may be half a line.
	return readFileSync(`${path}.log`, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

const starts = (path) => heard(path).filter((entry) => entry.pid).length;

/** Calls until it is true; the time limit of the test ends it otherwise. */
async function until(condition) {
	while (!condition()) await new Promise((done) => setTimeout(done, 5));
}

class Pi {
	handlers = {};
	renderers = new Map(); // by the kind of message
	tools = new Map(["bash", "read"].map((name) => [name, { name, sourceInfo: { source: "builtin" } }]));
	session = "session-1";
	shown = [];
	hasUI = true;
	answers = []; // of the user, to one dialog after the other; none is no answer
	dialogs = 0;

	async load(path, limits) {
		(await load("pi.ts", path, limits)).default(this);
		return this;
	}
	on(event, handler) { this.handlers[event] = handler; }
	registerMessageRenderer(kind, renderer) { this.renderers.set(kind, renderer); }
	getAllTools() { return [...this.tools.values()]; }
	registerTool(tool) { this.tools.set(tool.name, { ...tool, sourceInfo: { source: "local" } }); }
	appendEntry(...entry) { this.shown.push(["entry", ...entry]); }
	sendMessage(...message) { this.shown.push(["message", ...message]); }

	context(signal) {
		return {
			cwd: "/project",
			mode: "rpc",
			hasUI: this.hasUI,
			signal,
			sessionManager: { getSessionId: () => this.session },
			ui: {
				notify: (...rest) => this.shown.push(["notify", ...rest]),
				setStatus: (...rest) => this.shown.push(["status", ...rest]),
				confirm: (title, text, { timeout, signal }) => new Promise((done) => {
					assert.equal(++this.dialogs, 1, "one dialog at a time");
					const close = (answer) => { this.dialogs--; done(answer); };
					const answer = this.answers.shift();
					if (answer !== undefined) return setImmediate(async () => close(await answer));
					const timer = setTimeout(close, timeout, false);
					signal.addEventListener("abort", () => { clearTimeout(timer); close(false); });
				}),
			},
		};
	}
	emit(type, event, signal) {
		return this.handlers[type]({ type, ...event }, this.context(signal));
	}
	/** What became of a call: `{ runs }` with the command, or `{ blocked }` with the reason. */
	async call(command, signal) {
		const input = typeof command === "string" ? { command, timeout: 5 } : command;
		const verdict = await this.emit("tool_call", { toolCallId: `call ${command}`, toolName: "bash", input }, signal);
		return verdict?.block ? { blocked: verdict.reason } : { runs: input.command };
	}
	async result(command) {
		const event = { toolCallId: "call", toolName: "bash", input: { command }, content: [{ type: "text", text: "output" }], isError: false };
		return this.emit("tool_result", event);
	}
	async userBash(command) {
		const verdict = await this.emit("user_bash", { command, excludeFromContext: false, cwd: "/project" });
		return verdict ? { blocked: verdict.result.output, exit: verdict.result.exitCode } : { runs: command };
	}
	/** The names of the tools that were added or replaced. */
	added() { return this.getAllTools().filter((tool) => tool.execute).map((tool) => tool.name); }
	/** What became of a command in the shared terminal: its text and details, or the error that was thrown. */
	async run(command, signal) {
		try {
			const { content, details } = await this.tools.get("bash").execute(`call ${command}`, { command }, signal, undefined, this.context(signal));
			assert.equal(content.length, 1);
			return { text: content[0].text, details };
		} catch (error) {
			return { error: error.message };
		}
	}
	end() { return this.handlers.session_shutdown && this.emit("session_shutdown", { reason: "quit" }); }
}

class OpenCode {
	toasts = [];

	async load(path, limits) {
		const module = await load("opencode.js", path, limits);
		assert.deepEqual(Object.keys(module), ["Toolgate"], "OpenCode drops a plugin with any other export");
		const client = { tui: { showToast: async ({ body }) => this.toasts.push(body) } };
		this.hooks = await module.Toolgate({ directory: "/project", worktree: "/project", client });
		return this;
	}
	async call(command) {
		const args = typeof command === "string" ? { command, description: "" } : command;
		try {
			await this.hooks["tool.execute.before"]({ tool: "bash", sessionID: "session", callID: "call" }, { args });
		} catch (error) {
			return { blocked: error.message };
		}
		return { runs: args.command };
	}
	async result(command, output = { title: "", metadata: {}, output: "output" }, sessionID = "session") {
		await this.hooks["tool.execute.after"]({ tool: "bash", sessionID, callID: "call", args: { command } }, output);
		return output;
	}
	end() { return this.hooks?.dispose(); }
}

const noTypes = await load("pi.ts", "").then(() => false, (error) => `this Node does not run TypeScript: ${error.message}`);
const agents = [["pi", Pi, noTypes], ["opencode", OpenCode, false]];

/** A test for each agent; what it starts is ended. */
function each(title, run) {
	for (const [name, Agent, unable] of agents) {
		test(`${name}: ${title}`, { skip: unable || !onUnix, timeout: 20_000 }, async () => {
			const agent = new Agent();
			try {
				await run(agent, name);
			} finally {
				await agent.end();
			}
		});
	}
}

/** A test of pi alone. */
function pi(title, run, limits) {
	test(`pi: ${title}`, { skip: noTypes || !onUnix, timeout: 20_000 }, async () => {
		const host = program();
		const agent = await new Pi().load(host, limits);
		try {
			await run(agent, host);
		} finally {
			await agent.end();
		}
	});
}

function matches(actual, expected, title) {
	for (const [key, value] of Object.entries(expected)) {
		if (value instanceof RegExp) assert.match(String(actual[key]), value, title);
		else assert.deepEqual(actual[key], value, title);
	}
	assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), title);
}

const runs = (command) => ({ runs: command });
const blocked = (reason) => ({ blocked: reason });

// Each: the calls, one after the other, and what becomes of them.
const CALLS = [
	["echo hi", runs("echo hi")],
	["find victim -delete", blocked(/^it would delete the victim$/)],
	["unreasoned", blocked(/^blocked by Toolgate$/)],
	["rewrite", runs("echo rewritten")],
	["in pieces", runs("in pieces")],
	["show", runs("show")],
	["die", blocked(/^Toolgate is not running: .* ended \(7\)\. .*`toolgate doctor/), "echo hi", runs("echo hi")],
	["half a line", blocked(/ended \(0\)/), "echo hi", runs("echo hi")],
	["garbage", blocked(/something else than JSON: "thread 'main' panicked"/), "echo hi", runs("echo hi")],
	["two versions", blocked(/another version/), "echo hi", runs("echo hi")],
	["hang", blocked(/no answer in time/), "echo hi", runs("echo hi")],
	["complain", blocked(/no answer in time: line 2 has no event/), "echo hi", runs("echo hi")],
	["no object", blocked(/no readable answer/), "echo hi", runs("echo hi")],
	["other answer", blocked(/invalid; run `toolgate install/), "echo hi", runs("echo hi")],
	["other block", blocked(/is invalid/)],
	["other id", blocked(/no answer in time/)],
	[{ command: "x".repeat(17 * 1024 * 1024) }, blocked(/larger than/), "echo hi", runs("echo hi")],
	[{ command: 1n }, blocked(/BigInt/), "echo hi", runs("echo hi")],
];
for (const [first, ...rest] of CALLS) {
	const steps = [first, ...rest];
	const limits = String(rest[0].blocked).includes("in time") ? SHORT : {};
	each(`calls ${typeof first === "string" ? first : "that cannot be sent"}`, async (agent) => {
		await agent.load(program(), { ...limits, HELLO_MS: 5_000 });
		for (let step = 0; step < steps.length; step += 2) {
			matches(await agent.call(steps[step]), steps[step + 1], String(steps[step]).slice(0, 40));
		}
	});
}

// Each: the program that the shim was given, and the reason why nothing runs.
const PROGRAMS = [
	["no program", () => "", /not written by `toolgate install/],
	["a program on the search path", () => "toolgate", /not written by `toolgate install/],
	["a program that is gone", () => join(folder, "gone"), /cannot be run \(ENOENT\)/],
	["a folder", () => folder, /cannot be run \(EACCES\)/],
	["a program with a NUL", () => "/bin/true\0", /null bytes/],
	["a program that ends at once", () => program("short"), /ended \(3\): the rules cannot be read/],
	["a program that says nothing", () => program("mute"), /did not start within 0.3 seconds/],
	["a program for another agent", () => program("rude"), /did not say hello/],
];
for (const [title, path, reason] of PROGRAMS) {
	each(title, async (agent) => {
		await agent.load(path(), title.includes("nothing") ? SHORT : {});
		matches(await agent.call("echo hi"), blocked(reason), title);
		assert.equal((await agent.result("checked"))?.content?.length ?? 1, 1);
	});
}

each("parallel calls get their own answers", async (agent) => {
	await agent.load(program());
	const commands = ["later", "find victim -delete", "rewrite", "echo hi"];
	const ends = await Promise.all(commands.map((command) => agent.call(command)));
	matches(ends[0], runs("later"));
	matches(ends[1], blocked(/victim/));
	matches(ends[2], runs("echo rewritten"));
	matches(ends[3], runs("echo hi"));
});

each("a host that dies takes every open call with it", async (agent) => {
	await agent.load(program());
	for (const end of await Promise.all([agent.call("hang"), agent.call("hang"), agent.call("die")])) {
		matches(end, blocked(/ended \(7\)/));
	}
});

each("a host that is stuck with one call only is kept", async (agent) => {
	const host = program();
	await agent.load(host, { ANSWER_MS: 1_500 });
	const stuck = agent.call("hang");
	matches(await agent.call("later"), runs("later"));
	matches(await stuck, blocked(/no answer in time/));
	matches(await agent.call("echo hi"), runs("echo hi"));
	assert.equal(starts(host), 1);
	assert.ok(heard(host).some((frame) => frame.cancel));
});

each("a host killed between two calls is started again", async (agent) => {
	const host = program();
	await agent.load(host);
	await agent.call("echo hi");
	process.kill(heard(host)[0].pid, "SIGKILL");
	const next = await agent.call("find victim -delete");
	assert.ok(next.blocked, "not run, whether the death was noticed or not");
	await until(() => !alive(heard(host)[0].pid));
	matches(await agent.call("find victim -delete"), blocked(/victim/));
});

each("a host that always dies is not restarted for a while", async (agent) => {
	const host = program();
	await agent.load(host);
	for (let call = 0; call < 5; call++) matches(await agent.call("die"), blocked(/ended \(7\)/));
	matches(await agent.call("die"), blocked(/not restarted/));
	assert.equal(starts(host), 5);
});

each("the host ends with the agent", async (agent) => {
	const host = program();
	await agent.load(host);
	await agent.call("echo hi");
	await agent.end();
	await until(() => !alive(heard(host)[0].pid));
});

// The agent's process ends by itself although nobody ended the host, even one that does not listen.
each("the host does not keep the agent alive", async (_, name) => {
	const host = program();
	const file = written(name === "pi" ? "pi.ts" : "opencode.js", host);
	const calls = name === "pi"
		? `const on = {}; shim.default({ on: (event, handler) => { on[event] = handler; } });
			await on.tool_call({ input: { command: "echo hi" } }, { cwd: "/" });`
		: `const hooks = await shim.Toolgate({});
			await hooks["tool.execute.before"]({}, { args: { command: "echo hi" } });`;
	const script = join(folder, `agent-${++files}.mjs`);
	writeFileSync(script, `const shim = await import(${JSON.stringify(pathToFileURL(file).href)}); ${calls}`);
	const child = spawn(process.execPath, [...process.execArgv.filter((flag) => /strip-types/.test(flag)), script], { stdio: ["ignore", "ignore", "pipe"] });
	let errors = "";
	child.stderr.on("data", (text) => { errors += text; });
	const code = await new Promise((done) => child.on("close", done));
	assert.equal(code, 0, errors);
	await until(() => !alive(heard(host)[0].pid));
});

function alive(pid) {
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	// A process that ended is still there until somebody asks for its exit code.
	const stat = `/proc/${pid}/stat`;
	return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
}

// ---- pi ----

// Each: what the user answers, and what becomes of the call.
const ANSWERS = [
	[true, runs("git push")],
	[false, blocked(/^the user said no$/)],
	[undefined, blocked(/^the user said no$/)],
	["yes", blocked(/^the user said no$/)],
];
for (const [answer, expected] of ANSWERS) {
	pi(`a question answered with ${answer}`, async (agent) => {
		agent.answers = [answer];
		matches(await agent.call("git push"), expected);
		agent.answers = [answer];
		matches(await agent.userBash("git push"), expected.runs ? expected : { ...expected, exit: 126 });
	});
}

pi("the time that the user takes is not the host's", async (agent) => {
	agent.answers = [new Promise((done) => setTimeout(done, 1_600, true))];
	matches(await agent.call("slow question"), runs("slow question"));
}, { ANSWER_MS: 1_500 });

pi("without a user interface nobody is asked", async (agent) => {
	agent.hasUI = false;
	matches(await agent.call("git push"), blocked(/^git push wants a yes$/));
});

pi("questions of parallel calls come one after the other", async (agent) => {
	agent.answers = [true, false, true];
	const ends = await Promise.all(["git push 1", "git push 2", "git push 3"].map((command) => agent.call(command)));
	matches(ends[0], runs("git push 1"));
	matches(ends[1], blocked(/said no/));
	matches(ends[2], runs("git push 3"));
});

pi("a host that dies closes its question", async (agent) => {
	matches(await agent.call("die while asking"), blocked(/ended \(7\)/));
	await until(() => agent.dialogs === 0);
});

pi("a call that the user cancels is given up", async (agent, host) => {
	const user = new AbortController();
	const call = agent.call("hang", user.signal);
	await until(() => heard(host).some((frame) => frame.event === "tool_call"));
	user.abort();
	matches(await call, blocked(/cancelled/));
	await until(() => heard(host).some((frame) => frame.cancel));
	matches(await agent.call("hang", user.signal), blocked(/cancelled/));
});

// Each: a command of the user's own, and what becomes of it.
const USER_BASH = [
	["echo hi", runs("echo hi")],
	["find victim -delete", { blocked: /^it would delete the victim$/, exit: 126 }],
	["die", { blocked: /ended \(7\)/, exit: 126 }],
	["hang", { blocked: /no answer in time/, exit: 126 }],
	["rewrite", { blocked: /is invalid/, exit: 126 }],
];
for (const [command, expected] of USER_BASH) {
	pi(`the user's own ${command}`, async (agent) => matches(await agent.userBash(command), expected), { ANSWER_MS: 1_500 });
}

// Each: a command, and what is appended to its result.
const RESULTS = [
	["echo hi", undefined],
	["checked", "report"],
	["checked late", undefined],
	["lost result", undefined],
	["stuck result", undefined],
];
for (const [command, appended] of RESULTS) {
	pi(`the result of ${command}`, async (agent) => {
		const result = await agent.result(command);
		assert.deepEqual(result?.content, appended && [{ type: "text", text: "output" }, { type: "text", text: appended }]);
		assert.deepEqual(result?.details, appended && { toolgate: { issues: 1 } });
		assert.equal(result?.isError, undefined);
	}, appended ? {} : { RESULT_MS: 300, CHECK_MS: 300 });
}

pi("a report that is too late for the result is a message", async (agent) => {
	await agent.result("checked late");
	await until(() => agent.shown.length > 0);
	const message = { customType: "toolgate-diagnostics", content: "late report", display: true, details: undefined };
	assert.deepEqual(agent.shown, [["message", message, { deliverAs: "steer" }]]);
}, { RESULT_MS: 300, CHECK_MS: 300 });

pi("a host that says nothing holds up one result, not each", async (agent) => {
	await agent.result("stuck result");
	const from = performance.now();
	for (let call = 0; call < 20; call++) await agent.result("stuck result");
	assert.ok(performance.now() - from < 5_000, "twenty waits would take ten seconds");
}, { RESULT_MS: 500, CHECK_MS: 500 });

pi("what the host shows", async (agent) => {
	await agent.call("show");
	assert.deepEqual(agent.shown, [
		["notify", "loaded", "warning"],
		["status", "toolgate", "on"],
		["entry", "toolgate-log", { number: 1 }],
		["message", { customType: "toolgate-diagnostics", content: "hint", display: true, details: undefined }, { deliverAs: "followUp" }],
	]);
	agent.shown = [];
	const { blocked } = await agent.call("die");
	assert.deepEqual(agent.shown, [["status", "toolgate", undefined], ["notify", blocked, "error"]], "a status goes with its host");
});

pi("a user interface that throws changes no verdict", async (agent) => {
	let thrown = 0;
	agent.appendEntry = agent.sendMessage = () => { thrown++; throw new Error("stale"); };
	matches(await agent.call("show"), runs("show"));
	await agent.result("checked late");
	await until(() => thrown === 3);
	matches(await agent.call("echo hi"), runs("echo hi"));
}, { RESULT_MS: 300, CHECK_MS: 300 });

pi("the start of a session brings context", async (agent) => {
	await agent.emit("session_start", { reason: "startup" });
	const message = { customType: "toolgate-context", content: "this project has rules", display: false };
	assert.deepEqual(agent.shown, [["message", message, { deliverAs: "nextTurn" }]]);
});

pi("payloads are small and say where they come from", async (agent, host) => {
	await agent.call("echo hi");
	const update = { toolCallId: "a", toolName: "bash", args: {}, partialResult: { content: [{ type: "text", text: "x".repeat(9_000) }] } };
	for (let count = 0; count < 50; count++) agent.emit("tool_execution_update", update);
	agent.emit("tool_execution_update", { ...update, toolCallId: "b" });
	const image = { type: "image", mimeType: "image/png", data: "A".repeat(9_000) };
	await agent.emit("tool_execution_end", { toolCallId: "a", toolName: "read", result: { content: [image] }, isError: false });
	await agent.emit("agent_end", { messages: ["x".repeat(9_000)] });

	await agent.call("echo \ud800");

	const frames = heard(host).filter((frame) => frame.event);
	const sent = (event) => frames.filter((frame) => frame.event === event);
	assert.deepEqual(sent("tool_call")[0].payload, {
		event: { type: "tool_call", toolCallId: "call echo hi", toolName: "bash", input: { command: "echo hi", timeout: 5 } },
		cwd: "/project", hasUI: true, mode: "rpc", session: "session-1",
	});
	assert.equal(sent("tool_call")[1].payload.event.input.command, "echo \ufffd");
	assert.deepEqual(sent("tool_execution_update").map((frame) => frame.payload.event.toolCallId), ["a", "b"]);
	assert.equal(sent("tool_execution_update")[0].payload.event.partial.text.length, 4_000);
	assert.deepEqual(sent("tool_execution_end")[0].payload.event.result.content, [{ type: "image", mimeType: "image/png", data: "" }]);
	assert.deepEqual(sent("agent_end")[0].payload.event, { type: "agent_end", again: false });
	assert.ok(frames.every((frame) => frame.size < 5_000), "no frame is large");
}, { UPDATE_MS: 60_000 });

// Each: a report, the width, whether it is unfolded, and its lines.
const REPORTS = [
	["one\ntwo\n", 20, false, [" one", " two"]],
	["abcdefgh", 5, false, [" abcd", " efgh"]],
	["日本語", 5, false, [" 日本", " 語"]],
	["\u001b[31mred\u001b[0m\ttab\r", 20, false, [" red    tab"]],
	["rm\b\b\u202els\u0007", 20, false, [" rmls"]],
	["1\n2\n3\n4\n5\n6\n7\n8\n9\n10", 20, false, [" 1", " 2", " 3", " 4", " 5", " 6", " 7", " 8", " … 2 more lines"]],
	["1\n2\n3\n4\n5\n6\n7\n8\n9", 20, true, [" 1", " 2", " 3", " 4", " 5", " 6", " 7", " 8", " 9"]],
	["日", 2, false, [" "]],
	[[{ type: "text", text: "parts" }, { type: "image" }], 20, false, [" parts"]],
	[undefined, 20, false, [" "]],
];
pi("reports are drawn within the width", (agent) => {
	assert.deepEqual([...agent.renderers.keys()], ["toolgate-diagnostics", "pi-lens-diagnostics", "tmux-activity"]);
	const renderer = agent.renderers.get("toolgate-diagnostics");
	const theme = { fg: (_, text) => text };
	for (const [content, width, expanded, lines] of REPORTS) {
		assert.deepEqual(renderer({ content }, { expanded, outputPad: 1 }, theme).render(width), lines);
	}
});

// Each: the lines that came with a message, the width, whether it is unfolded, and what is shown with the colours.
const DRAWN = [
	[{ folded: [[{ text: "ok", style: "success" }, { text: " all", style: "" }]] }, 20, false, [" <success>ok<customMessageText> all"]],
	[{ folded: [[{ text: "one", style: "dim" }]], unfolded: [[{ text: "one two", style: "dim" }]] }, 5, true, [" <dim>one ", " <dim>two"]],
	[{ folded: [[{ text: "\u001b[2Jx\ny\u202e", style: "no such key" }]] }, 20, false, [" <customMessageText>x y"]],
	[{ folded: [] }, 20, false, [" <customMessageText>plain"]],
	[{ folded: [null, [null, { text: 5 }]] }, 20, false, [" ", " <customMessageText><customMessageText>5"]],
];
pi("a message that comes with its lines is drawn by them", (agent) => {
	const fg = (key, text) => {
		if (key === "no such key") throw new Error("unknown");
		return `<${key}>${text}`;
	};
	for (const [details, width, expanded, lines] of DRAWN) {
		const shown = agent.renderers.get("pi-lens-diagnostics")({ content: "plain", details }, { expanded, outputPad: 1 }, { fg });
		assert.deepEqual(shown.render(width), lines);
	}
});

pi("what is found at the end of a run sends the agent on, once", async (agent) => {
	agent.session = "found at the end";
	await agent.emit("agent_end", {});
	const message = { customType: "toolgate-diagnostics", content: "mend a.ts", display: true };
	assert.deepEqual(agent.shown, [["message", message, { deliverAs: "followUp", triggerTurn: true }]]);
	await agent.emit("agent_end", {});
	assert.equal(agent.shown.length, 1);
});

test("pi: an older one without renderers gets its gates", { skip: noTypes }, async () => {
	const agent = new Pi();
	agent.registerMessageRenderer = undefined;
	await agent.load("");
	matches(await agent.call("echo hi"), blocked(/Toolgate is not running/));
});

// ---- pi with the shared terminal ----

/** A test of pi in a tmux session, after the start of its session, with the host of that name. */
function shared(title, run, { name = "host", tmux = "/tmp/tmux-0/default,1,0", border, constants = {}, before } = {}) {
	test(`pi: ${title}`, { skip: noTypes || !onUnix, timeout: 20_000 }, async () => {
		const host = program(name);
		const agent = new Pi();
		before?.(agent);
		if (border) process.env.TOOLGATE_BORDER = border;
		await agent.load(host, { TERMINAL: true, ...constants });
		delete process.env.TOOLGATE_BORDER;
		if (tmux) process.env.TMUX = tmux;
		try {
			await agent.emit("session_start", { reason: "startup" });
			await run(agent, host);
		} finally {
			delete process.env.TMUX;
			await agent.end();
		}
	});
}

const NOTICE = "The terminal is not shared: pi uses its own `bash`.";
const notices = (agent) => agent.shown.filter(([kind]) => kind === "notify").map(([, text]) => text);

// Each: the session, which of its tools pi takes, what the user is told, and what the host is started with.
const SESSIONS = [
	["a session in tmux", {}, ["bash", "read_terminal"], [], ["--terminal"]],
	["a session with verdicts in the border", { border: "1" }, ["bash", "read_terminal"], [], ["--terminal", "--border"]],
	["a session with a border and no terminal", { border: "1", constants: { TERMINAL: false } }, [], [], []],
	["a session outside tmux", { tmux: "" }, [], [], ["--terminal"]],
	["a session with the usual terminal", { constants: { TERMINAL: false } }, [], [], []],
	["plugins with tools", { tmux: "", name: "plugins", constants: { TERMINAL: false } }, ["notes_add", "Other-1"], [], []],
	["a host that offers bash unasked", { name: "greedy", constants: { TERMINAL: false } }, ["notes_add"], [`Skipped tools of Toolgate: "bash".`], []],
	["no tools", { name: "empty" }, [], [NOTICE], ["--terminal"]],
	["no list of tools", { name: "unlisted" }, [], [NOTICE], ["--terminal"]],
	["tools that come too late", { name: "slow", constants: { TOOLS_MS: 300 } }, [], [NOTICE], ["--terminal"]],
	["a host that ends", { name: "short" }, [], [/the rules cannot be read/, NOTICE], ["--terminal"]],
	["an older pi", { before: (agent) => { agent.getAllTools = undefined; } }, undefined, [/^The terminal is not shared.* Skipped tools of Toolgate: "bash", "read_terminal"\.$/], ["--terminal"]],
	["a pi that another extension gave its bash", { before: (agent) => agent.registerTool({ name: "bash" }) }, ["read_terminal"], [`${NOTICE} Skipped tools of Toolgate: "bash".`], ["--terminal"]],
	[
		"tools that are none of the terminal's",
		{ name: "odd" },
		["__proto__", "Bash", "read_terminal"],
		[`${NOTICE} Skipped tools of Toolgate: "read", "bash\\n", "", ["bash"], , "${"x".repeat(65)}", "no_schema", "no_description".`],
		["--terminal"],
	],
];
for (const [title, how, added, told, options] of SESSIONS) {
	shared(`the terminal of ${title}`, (agent, host) => {
		if (added) assert.deepEqual(agent.added(), added);
		matches(notices(agent).filter((text, at, all) => all.indexOf(text) === at), told);
		assert.deepEqual(heard(host)[0].options, options);
	}, how);
}

shared("a tool of the terminal is declared as the host says", (agent, host) => {
	const { execute, sourceInfo, ...bash } = agent.tools.get("bash");
	const parameters = { type: "object", properties: {} };
	assert.deepEqual(bash, { name: "bash", label: "bash", description: "bash in the terminal. More of it.", promptSnippet: "bash in the terminal", parameters });
	const { payload } = heard(host).find((frame) => frame.event === "tools");
	assert.deepEqual(payload, { event: { type: "tools" }, cwd: "/project", hasUI: true, mode: "rpc", session: "session-1" });
});

// Each: a command that is run in the terminal, and its result.
const RUNS = [
	["echo hi", { text: "ran echo hi", details: { exitCode: 0 } }],
	["exit 2", { error: "gone" }],
	["sudo rm", { error: "it would remove" }],
	["vim", { error: "vim waits" }],
	["later", { text: "done later", details: {} }],
	["die", { error: /ended \(7\).* It may still be running\.$/ }],
	["no object", { error: /no readable answer/ }],
	["no text", { error: /is invalid/ }],
	["a verdict", { error: /is invalid/ }],
	["perhaps an error", { error: /is invalid/ }],
	["x".repeat(17 * 1024 * 1024), { error: /larger than/ }],
];
for (const [command, expected] of RUNS) {
	shared(`the terminal runs ${command.slice(0, 20)}`, async (agent) => {
		matches(await agent.run(command), expected);
		matches(await agent.run("echo hi"), RUNS[0][1]);
	}, { constants: { ANSWER_MS: 100 } });
}

shared("the frame of a run", async (agent, host) => {
	await agent.run("echo hi");
	const { payload } = heard(host).find((frame) => frame.event === "tool_run");
	const event = { type: "tool_run", toolName: "bash", toolCallId: "call echo hi", input: { command: "echo hi" } };
	assert.deepEqual(payload, { event, cwd: "/project", hasUI: true, mode: "rpc", session: "session-1" });
});

shared("runs at once get their own results", async (agent) => {
	const results = await Promise.all(["later", "echo 1", "exit 2", "echo 2"].map((command) => agent.run(command)));
	assert.deepEqual(results.map(({ text, error }) => text ?? error.slice(0, 4)), ["done later", "ran echo 1", "gone", "ran echo 2"]);
});

shared("a run that the user cancels", async (agent, host) => {
	const user = new AbortController();
	const run = agent.run("hang", user.signal);
	await until(() => heard(host).some((frame) => frame.event === "tool_run"));
	user.abort();
	matches(await run, { error: "Command aborted" });
	await until(() => heard(host).some((frame) => frame.cancel));
	matches(await agent.run("hang", user.signal), { error: "Command aborted" });
	matches(await agent.run("echo hi"), RUNS[0][1]);
	const { id } = heard(host).find((frame) => frame.event === "tool_run");
	assert.deepEqual(heard(host).filter((frame) => frame.cancel).map((frame) => frame.id), [id]);
});

shared("the end of the session ends a run, and waits for the host's end", async (agent, host) => {
	const run = agent.run("hang");
	await agent.end();
	matches(await run, { error: /the session has ended/ });
	assert.ok(!alive(heard(host)[0].pid));
});

shared("a host that does not end is not waited for", (agent) => agent.end(), { name: "deaf", constants: { END_MS: 300 } });

shared("calls are judged although the terminal is shared, and a run delays no verdict", async (agent) => {
	const run = agent.run("later");
	matches(await agent.call("find victim -delete"), blocked(/victim/));
	matches(await agent.call("echo hi"), runs("echo hi"));
	matches(await run, { text: "done later", details: {} });
});

// ---- OpenCode ----

const toolResult = () => ({ content: [{ type: "text", text: "output" }] });
test("opencode: reports on results", { skip: !onUnix, timeout: 20_000 }, async () => {
	const agent = await new OpenCode().load(program());
	assert.equal((await agent.result("echo hi")).output, "output");
	assert.equal((await agent.result("checked")).output, "output\nreport");
	assert.deepEqual((await agent.result("checked", toolResult())).content[1], { type: "text", text: "report" });
	assert.equal(await agent.result("checked", null), null);
	assert.equal((await agent.result("echo hi", { output: "output" }, "another")).output, "output", "not its session");
	assert.equal((await agent.result("echo hi")).output, "output\nreport", "what had no place waits for the next");
	assert.equal((await agent.result("lost result")).output, "output");
	await agent.end();
});

test("opencode: a late report goes with the next result", { skip: !onUnix, timeout: 20_000 }, async () => {
	const agent = await new OpenCode().load(program(), { RESULT_MS: 300, CHECK_MS: 300 });
	assert.equal((await agent.result("checked late")).output, "output");
	let next;
	await until(() => next?.output !== "output" || void agent.result("echo hi").then((output) => { next = output; }));
	await agent.end();
});

test("opencode: what the host shows", { skip: !onUnix, timeout: 20_000 }, async () => {
	const agent = await new OpenCode().load(program());
	await agent.call("show");
	assert.deepEqual(agent.toasts, [{ message: "loaded", variant: "warning" }]);
	assert.equal((await agent.result("echo hi")).output, "output\nhint");
	await agent.end();
});

test("opencode: events", { skip: !onUnix, timeout: 20_000 }, async () => {
	const host = program();
	const agent = await new OpenCode().load(host);
	for (const type of ["session.created", "message.part.updated", "session.idle", "session.deleted"]) {
		await agent.hooks.event({ event: { type, properties: { sessionID: "session" } } });
	}
	await agent.hooks.event({});
	const frames = heard(host).filter((frame) => frame.event);
	assert.deepEqual(frames.map((frame) => frame.event), ["session.created", "session.idle", "session.deleted"]);
	assert.deepEqual(frames[1].payload, {
		input: { sessionID: "session", event: { type: "session.idle", properties: { sessionID: "session" } } },
		directory: "/project", worktree: "/project", hasUI: false,
	});
	await agent.end();
});

test("opencode: a plugin that is given nothing still blocks", async () => {
	const { Toolgate } = await load("opencode.js", "");
	const hooks = await Toolgate(undefined);
	await assert.rejects(hooks["tool.execute.before"](undefined, undefined), /Toolgate is not running/);
	await hooks["tool.execute.after"](undefined, undefined);
});

test("each shim has the line of the program once, and names itself first", () => {
	for (const [file, agent] of [["pi.ts", "pi"], ["opencode.js", "opencode"]]) {
		assert.equal(shim(file).split('\nconst PROGRAM = "";\n').length, 2, file);
		assert.equal(shim(file).split("\nconst TERMINAL = false;\n").length, agent === "pi" ? 2 : 1, file);
		assert.match(shim(file), new RegExp(`^// toolgate-shim ${agent} \\d+\n`));
	}
});
