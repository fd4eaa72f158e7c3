
// ---- The host: `toolgate serve --stdio AGENT`, spoken to in JSON lines ----
// One process for as long as the agent's lasts. It judges, this only carries. Whatever goes wrong
// with it ends as a rejected request: a caller that gates blocks then, one that observes goes on.

import { spawn } from "node:child_process";
import { isAbsolute } from "node:path";

const HELLO_MS = 5_000;
const ANSWER_MS = 15_000; // open questions to the user do not count
const OBSERVER_MS = 60_000; // how long the answer to an observer is still of use
const RESULT_MS = 2_000; // the longest that an observer holds the agent up
const CHECK_MS = 20_000; // and that the check of changed files does
const QUESTION_MS = 60_000; // for a question that brings no time of its own
const LINE_BYTES = 16 * 1024 * 1024;
const BACKLOG_BYTES = 1024 * 1024; // of lines that the host has not read; updates are dropped then
const STARTS = 5; // at most so many within START_WINDOW_MS
const START_WINDOW_MS = 30_000;

class Host {
	/**
	 * @param agent the agent's name as `toolgate serve --stdio` takes it
	 * @param show what the host may do in the agent: `confirm(question, context, signal)`, a promise
	 *   of a boolean, and `notify`, `status`, `journal`, `message`, each `(frame, context)`
	 * @param options more for its command line
	 */
	constructor(agent, show, options = []) {
		this.agent = agent;
		this.show = show;
		this.options = options;
		this.child = undefined;
		this.greeted = false;
		this.open = new Map(); // requests without an answer, by id
		this.last = 0;
		this.lines = 0; // lines heard from any host so far
		this.starts = [];
		this.stuck = false; // an observer waited in vain, and nothing has been heard since
		this.context = undefined; // the latest, for frames that belong to no request
		this.questions = Promise.resolve(); // one question at a time is all that a user interface can show
		this.complaint = undefined; // what the host last wrote about a line it could not read
	}

	/**
	 * Sends a request; the promise is for its result, an object.
	 * @param options.gates whether a call waits for it: it keeps the agent's process alive then, and
	 *   a host that leaves it without an answer is given up
	 * @param options.limit how long the answer may take, in milliseconds, without open questions to the user
	 * @param options.signal gives up early
	 */
	request(event, payload, context, { gates = false, limit = gates ? ANSWER_MS : OBSERVER_MS, signal } = {}) {
		return new Promise((resolve, reject) => {
			this.context = context;
			const id = ++this.last;
			const line = `${JSON.stringify({ schema: 1, id, event, payload }, wellFormed)}\n`;
			if (Buffer.byteLength(line) > LINE_BYTES) throw new Error(`the call is larger than ${LINE_BYTES} bytes`);
			if (signal?.aborted) throw new Error("it was cancelled");
			this.start();
			const giveUp = () => this.giveUp(id, "it was cancelled");
			signal?.addEventListener("abort", giveUp, { once: true });
			const settled = (settle) => (value) => {
				this.open.delete(id);
				clearTimeout(request.timer);
				signal?.removeEventListener("abort", giveUp);
				request.closed.abort();
				settle(value);
			};
			const request = {
				context,
				gates,
				left: limit,
				asked: 0, // questions that the user has not answered
				closed: new AbortController(),
				resolve: settled(resolve),
				reject: settled(reject),
			};
			this.open.set(id, request);
			this.runClock(id, request);
			this.write(line);
		});
	}

	/**
	 * Sends a request whose answer nobody must wait for. The promise is for the result, or undefined
	 * if it is not there within `wait` milliseconds; it never fails. A later result goes to `late`.
	 */
	async observe(event, payload, context, { wait = RESULT_MS, late } = {}) {
		const lines = this.lines;
		let waiting = true;
		let timer;
		const answer = this.request(event, payload, context)
			.then((result) => (waiting ? result : void late?.(result)))
			.catch(() => undefined);
		const patience = new Promise((done) => {
			timer = setTimeout(() => {
				this.stuck = this.lines === lines;
				done(undefined);
			}, this.stuck ? 0 : wait);
		});
		const result = await Promise.race([answer, patience]);
		waiting = false;
		clearTimeout(timer);
		return result;
	}

	/** Sends what may get lost, and only to a host that runs and reads. */
	tell(event, payload, context) {
		if (!this.child || this.child.stdin.writableLength > BACKLOG_BYTES) return;
		this.request(event, payload, context).catch(() => {});
	}

	/**
	 * Ends the host: by the end of its input, and by force if the agent goes first. The promise is for
	 * its end, or for so many milliseconds if that takes longer.
	 */
	async stop(wait = 0) {
		const { child } = this;
		child?.stdin.end();
		this.leave("the session has ended");
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		let timer;
		const ended = new Promise((done) => child.once("exit", done));
		await Promise.race([ended, new Promise((done) => { timer = setTimeout(done, wait); })]);
		clearTimeout(timer);
	}

	start() {
		if (this.child) return;
		if (!isAbsolute(PROGRAM)) throw new Error(`the file with this code was not written by \`toolgate install ${this.agent}\``);
		const now = Date.now();
		this.starts = this.starts.filter((then) => Math.abs(now - then) < START_WINDOW_MS);
		if (this.starts.length >= STARTS) {
			throw new Error(`${PROGRAM} ended ${STARTS} times within ${START_WINDOW_MS / 1000} seconds and is not restarted for a while`);
		}
		this.starts.push(now);
		const child = spawn(PROGRAM, ["serve", "--stdio", this.agent, ...this.options], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
		this.child = child;
		this.greeted = false;
		this.complaint = undefined;

		let errors = "";
		const ended = (how) => this.fail(child, `${PROGRAM} ${how}${this.why(errors)}`);
		child.on("error", (error) => ended(`cannot be run (${error.code ?? error.message})`));
		child.on("close", (code, signal) => ended(`ended (${signal ?? code})`));
		// A descendant that holds the pipe open delays "close"; what the host wrote last is read by then.
		child.on("exit", (code, signal) => setTimeout(ended, 200, `ended (${signal ?? code})`).unref?.());
		child.stdin.on("error", () => {}); // the end of the process tells
		child.stdout.on("error", () => {});
		child.stderr.setEncoding("utf8").on("data", (text) => { errors = (errors + text).slice(-1000); });
		let rest = "";
		child.stdout.setEncoding("utf8").on("data", (text) => {
			const lines = (rest + text).split("\n");
			rest = lines.pop();
			if (rest.length > LINE_BYTES) lines.push(rest);
			for (const line of lines) {
				if (this.child !== child) return;
				this.lines++;
				this.stuck = false;
				const trouble = this.read(line);
				if (trouble) this.fail(child, `${PROGRAM} ${trouble}: ${JSON.stringify(line.slice(0, 100))}`);
			}
		});

		const kill = () => child.kill();
		process.on("exit", kill);
		child.on("exit", () => process.off("exit", kill));
		child.on("error", () => process.off("exit", kill));
		const greeting = setTimeout(() => {
			if (!this.greeted) ended(`did not start within ${HELLO_MS / 1000} seconds`);
		}, HELLO_MS);
		// Nothing of it keeps the agent's process alive; open requests that gate do.
		for (const handle of [child, child.stdin, child.stdout, child.stderr, greeting]) handle.unref?.();
	}

	/** What the host itself said about its trouble, for the end of a sentence. */
	why(errors) {
		const said = this.complaint ?? errors.trim().split("\n").pop();
		return said ? `: ${said.slice(0, 300)}` : "";
	}

	/** Gives a host up, which may still run. The next request starts another. */
	fail(child, reason) {
		if (this.child !== child) return;
		child.kill("SIGKILL");
		this.leave(reason);
		this.attempt("notify", { message: doesNotRun(this.agent, reason), level: "error" }, this.context);
	}

	leave(reason) {
		this.child = undefined;
		for (const request of [...this.open.values()]) request.reject(new Error(reason));
		this.attempt("status", undefined, this.context);
	}

	write(line) {
		this.child?.stdin.write(line);
	}

	runClock(id, request) {
		const from = Date.now();
		const { child, lines } = this;
		request.timer = setTimeout(() => {
			const reason = `${PROGRAM} gave no answer in time${this.why("")}`;
			this.giveUp(id, reason);
			// One that has answered others meanwhile, or waits for the user, may still be needed.
			const waits = [...this.open.values()].some((other) => other.asked > 0);
			if (request.gates && this.lines === lines && !waits) this.fail(child, reason);
		}, request.left);
		if (!request.gates) request.timer.unref?.();
		request.stopClock = () => {
			clearTimeout(request.timer);
			request.left -= Math.min(request.left, Math.max(0, Date.now() - from));
		};
	}

	giveUp(id, reason) {
		const request = this.open.get(id);
		if (!request) return;
		request.reject(new Error(reason));
		this.write(`${JSON.stringify({ schema: 1, id, cancel: true })}\n`);
	}

	/** Reads a line of the host; returns what is wrong with it. */
	read(line) {
		let frame;
		try {
			frame = JSON.parse(line);
		} catch {
			return "wrote something else than JSON";
		}
		if (!isObject(frame) || frame.schema !== 1) return "speaks another version";
		if (!this.greeted) {
			if (!isObject(frame.hello) || frame.hello.agent !== this.agent) return "did not say hello";
			this.greeted = true;
		} else if ("result" in frame) {
			const request = this.open.get(frame.id);
			if (isObject(frame.result)) request?.resolve(frame.result);
			else request?.reject(new Error(`${PROGRAM} gave no readable answer`));
		} else if ("ask" in frame) {
			this.question(frame);
		} else if (typeof frame.error === "string") {
			this.complaint = frame.error;
		} else {
			for (const kind of ["notify", "status", "journal", "message"]) {
				if (isObject(frame[kind])) this.attempt(kind, frame[kind], this.context);
			}
		}
		return undefined;
	}

	attempt(kind, frame, context) {
		try {
			this.show[kind]?.(frame, context);
		} catch {
			// What is only shown must not get in the way; a context that pi has left throws, too.
		}
	}

	/** Puts a question to the user. Everything but a clear yes is a no; the request waits meanwhile. */
	question(frame) {
		const request = this.open.get(frame.for);
		const { child } = this;
		const answer = (confirmed) => {
			if (this.child === child) this.write(`${JSON.stringify({ schema: 1, answer: frame.ask, confirmed })}\n`);
		};
		if (!request || !this.show.confirm) return answer(false);
		if (request.asked++ === 0) request.stopClock();
		const timeout = Number.isFinite(frame.timeout) && frame.timeout > 0 ? frame.timeout : QUESTION_MS;
		this.questions = this.questions.then(async () => {
			let timer;
			// The agent's own time limit should come first; not every agent has one.
			const late = new Promise((done) => { timer = setTimeout(done, timeout + 1_000, false); });
			const closed = new Promise((done) => request.closed.signal.addEventListener("abort", () => done(false)));
			let confirmed = false;
			try {
				if (!request.closed.signal.aborted) {
					const question = { title: String(frame.title ?? "Toolgate"), text: String(frame.text ?? ""), timeout };
					confirmed = await Promise.race([this.show.confirm(question, request.context, request.closed.signal), late, closed]);
				}
			} catch {
				// A dialog that cannot be shown was not answered with yes.
			}
			clearTimeout(timer);
			answer(confirmed === true);
			if (--request.asked === 0 && !request.closed.signal.aborted) this.runClock(frame.for, request);
		});
	}
}

function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Half a surrogate pair is not to be had in UTF-8: a shell gets this in its place, and so does the host. */
function wellFormed(_, value) {
	return typeof value === "string" ? value.toWellFormed() : value;
}

/** Whether an object has these keys only. An answer with others is of a later version. */
function hasOnly(value, ...keys) {
	return Object.keys(value).every((key) => keys.includes(key));
}

/**
 * The verdict of a gating request: undefined, or `{ reason }` for a block, or `{ replace }` with the
 * new input that the host gave as `field`. Never rejects: what cannot be understood blocks.
 */
async function judge(host, event, payload, context, field, signal) {
	try {
		const result = await host.request(event, payload, context, { gates: true, signal });
		if (hasOnly(result)) return undefined;
		if (hasOnly(result, "block", "reason") && result.block === true) {
			return { reason: typeof result.reason === "string" && result.reason ? result.reason : "blocked by Toolgate" };
		}
		if (field && hasOnly(result, field) && isObject(result[field])) return { replace: result[field] };
		throw new Error(`its answer is invalid; run \`toolgate install ${host.agent}\` again`);
	} catch (error) {
		return { reason: doesNotRun(host.agent, error.message) };
	}
}

function doesNotRun(agent, why) {
	return `Toolgate is not running: ${why}. Calls are blocked until it is; run \`toolgate doctor ${agent}\` to diagnose.`;
}

/** Gives an object the properties of another, in place: the agent goes on with the same object. */
function replace(target, source) {
	for (const key of Object.keys(target)) delete target[key];
	Object.assign(target, source);
}

/** Content parts without the data of images, which the host has no use for. */
function withoutImages(content) {
	if (!Array.isArray(content)) return content;
	return content.map((part) => (isObject(part) && typeof part.data === "string" ? { ...part, data: "" } : part));
}
