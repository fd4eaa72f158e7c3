// toolgate-shim pi 1
// Written by `toolgate install pi`; an edit is lost at the next one. This extension of pi carries
// events to Toolgate, which judges them, and shows in pi what Toolgate wants shown. Nothing is
// decided here, but one thing: without an answer, tool calls and the user's own commands are blocked.
const PROGRAM = "";
const TERMINAL = false;

import { stripVTControlCharacters } from "node:util";
import type { ExtensionAPI, ExtensionContext, MessageRenderer } from "@earendil-works/pi-coding-agent";

const DIAGNOSTICS = "toolgate-diagnostics"; // kind of the messages that report on checks
const REPORT = "pi-lens-diagnostics"; // and of those that come with their own lines
const CONTEXT = "toolgate-context"; // and of those that tell the model at the start
const ACTIVITY = "tmux-activity"; // and of those that say what the user did in the shared terminal
const UPDATE_MS = 250; // between two updates of one call
const UPDATE_CHARS = 4_000; // of an update's text, from its end
const UPDATE_LINES = 50; // of each window of sub-agents, from its end
const FOLDED_LINES = 8; // of a report that is not unfolded
const BLOCKED_EXIT = 126; // what a shell gives for a command that it may not run
const TOOLS_MS = 5_000; // for the answer that says which tools the host has
const RUN_MS = 2_147_483_647; // for that of such a tool, which has a time limit of its own; no timer takes longer
const END_MS = 3_000; // for the end of a host that has shared the terminal
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export default function toolgate(pi: ExtensionAPI): void {
	// On request, as the border of a pane takes a line of the user's screen.
	const border = process.env.TOOLGATE_BORDER ? ["--border"] : [];
	const host = new Host("pi", display(pi), TERMINAL ? ["--terminal", ...border] : []);
	const updated = new Map<string, number>(); // when the last update of a call was sent
	let sentOn = false; // whether the run that goes on does so for a report of ours

	// The gates come first: an extension whose setup throws is dropped, and pi goes on without it.
	pi.on("tool_call", async (event, ctx) => {
		const verdict = await judge(host, "tool_call", payload(event, ctx), ctx, "input", ctx.signal);
		if (verdict?.replace) replace(event.input, verdict.replace);
		return verdict?.reason ? { block: true, reason: verdict.reason } : undefined;
	});
	// Older versions of pi run the command when this handler throws: it must not.
	pi.on("user_bash", async (event, ctx) => {
		const verdict = await judge(host, "user_bash", payload(event, ctx), ctx);
		if (!verdict?.reason) return undefined;
		return { result: { output: verdict.reason, exitCode: BLOCKED_EXIT, cancelled: false, truncated: false } };
	});

	pi.on("tool_result", async (event, ctx) => {
		updated.delete(event.toolCallId);
		const seen = { ...event, content: withoutImages(event.content) };
		const result = await host.observe("tool_result", payload(seen, ctx), ctx, {
			wait: CHECK_MS,
			// Too late for the result itself, but not for the model's next turn.
			late: (late) => report(pi, late.append, late.details),
		});
		if (typeof result?.append !== "string" || result.append === "") return undefined;
		const content = [...event.content, { type: "text" as const, text: result.append }];
		// The details are what pi draws the result from, so the host's have a place of their own.
		return isObject(result.details) ? { content, details: { ...(event.details as object), toolgate: result.details } } : { content };
	});
	pi.on("tool_execution_update", (event, ctx) => {
		const now = Date.now();
		if (now - (updated.get(event.toolCallId) ?? 0) < UPDATE_MS) return;
		updated.set(event.toolCallId, now);
		const { type, toolCallId, toolName } = event;
		const partial = { text: textOf(event.partialResult?.content).slice(-UPDATE_CHARS), details: activity(event.partialResult?.details) };
		host.tell("tool_execution_update", payload({ type, toolCallId, toolName, partial }, ctx), ctx);
	});
	pi.on("tool_execution_end", (event, ctx) => {
		updated.delete(event.toolCallId);
		const result = { ...event.result, content: withoutImages(event.result?.content) };
		host.tell("tool_execution_end", payload({ ...event, result }, ctx), ctx);
	});

	pi.on("session_start", async (event, ctx) => {
		const tell = (result: Record<string, unknown>) => {
			if (typeof result.context !== "string" || result.context === "") return;
			pi.sendMessage({ customType: CONTEXT, content: result.context, display: false }, { deliverAs: "nextTurn" });
		};
		const result = await host.observe("session_start", payload(event, ctx), ctx, { late: tell });
		if (result) tell(result);
		await offer(pi, host, ctx);
	});
	pi.on("agent_end", async (event, ctx) => {
		// The messages of the whole conversation are left out. What the host sends before its answer
		// still belongs to this run, so it gets the time to look at what was changed.
		const again = sentOn || wasStopped(event.messages);
		sentOn = false;
		const result = await host.observe("agent_end", payload({ type: event.type, again }, ctx), ctx, {
			wait: CHECK_MS,
			late: (late) => report(pi, late.append, late.details),
		});
		if (typeof result?.append !== "string" || result.append === "") return;
		sentOn = true;
		pi.sendMessage({ customType: DIAGNOSTICS, content: result.append, display: true }, { deliverAs: "followUp", triggerTurn: true });
	});
	pi.on("session_shutdown", async (event, ctx) => {
		if (host.child) await host.observe("session_shutdown", payload(event, ctx), ctx, { wait: 1_000 });
		// The host of the next session, which may begin at once, has to find the terminal free.
		await host.stop(TERMINAL ? END_MS : 0);
	});

	for (const kind of [DIAGNOSTICS, REPORT, ACTIVITY]) {
		try {
			pi.registerMessageRenderer(kind, renderReport);
		} catch {
			// Then pi shows the messages in its own way.
		}
	}
}

function payload(event: object, ctx: ExtensionContext) {
	const { cwd, mode } = ctx;
	const session = ctx.sessionManager?.getSessionId?.() ?? ctx.sessionManager?.getSessionFile?.();
	return { event, cwd, hasUI: ctx.hasUI === true, mode, session };
}

/** Gives pi the tools of plugins and of the shared terminal. Whatever goes wrong, it keeps its own `bash`. */
async function offer(pi: ExtensionAPI, host: Host, ctx: ExtensionContext): Promise<void> {
	const shares = TERMINAL && Boolean(process.env.TMUX);
	const result = await host.observe("tools", payload({ type: "tools" }, ctx), ctx, { wait: TOOLS_MS });
	const offered = Array.isArray(result?.tools) ? result.tools.filter(isObject) : [];
	const taken = offered.filter((tool) => add(pi, host, tool, shares));
	const refused = offered.filter((tool) => !taken.includes(tool)).map((tool) => JSON.stringify(tool.name));
	const trouble: string[] = [];
	if (shares && !taken.some((tool) => tool.name === "bash")) trouble.push("The terminal is not shared: pi uses its own `bash`.");
	if (refused.length > 0) trouble.push(`Skipped tools of Toolgate: ${refused.join(", ")}.`);
	if (trouble.length > 0) host.attempt("notify", { message: trouble.join(" "), level: "warning" }, ctx);
}

/** Whether pi takes this tool. Its own `bash` is the only one that gives way, and only to that of the terminal. */
function add(pi: ExtensionAPI, host: Host, tool: Record<string, unknown>, shares: boolean): boolean {
	const { name, description, input_schema: parameters } = tool;
	if (typeof name !== "string" || !TOOL_NAME.test(name) || typeof description !== "string" || !isObject(parameters)) return false;
	try {
		const known = pi.getAllTools().find((other) => other.name === name);
		if (known && (!shares || name !== "bash" || known.sourceInfo.source !== "builtin")) return false;
		pi.registerTool({
			name,
			label: name,
			description,
			promptSnippet: description.split(/\.\s/)[0],
			parameters: parameters as Parameters<ExtensionAPI["registerTool"]>[0]["parameters"],
			execute: async (toolCallId, input, signal, onUpdate, ctx) => {
				onUpdate?.({ content: [], details: undefined }); // pi shows the time that passes from here on
				return run(host, payload({ type: "tool_run", toolName: name, toolCallId, input }, ctx), ctx, signal);
			},
		});
	} catch {
		return false;
	}
	return true;
}

/** The result of a call of such a tool. pi takes only what is thrown for an error. */
async function run(host: Host, call: object, ctx: ExtensionContext, signal: AbortSignal | undefined) {
	let result;
	try {
		result = await host.request("tool_run", call, ctx, { gates: true, limit: RUN_MS, signal });
	} catch (error) {
		if (signal?.aborted) throw new Error("Command aborted");
		throw new Error(`The tool did not answer: ${error.message}. It may still be running.`);
	}
	if (typeof result.text !== "string" || typeof result.is_error !== "boolean") {
		throw new Error("The tool's answer is invalid; run `toolgate install pi` again.");
	}
	if (result.is_error) throw new Error(result.text);
	return { content: [{ type: "text" as const, text: result.text }], details: result.details };
}

/** What the host may do in pi. */
function display(pi: ExtensionAPI) {
	const shown = new Set<string>(); // keys of the status line
	return {
		confirm(question, ctx: ExtensionContext, signal: AbortSignal) {
			if (!ctx.hasUI) return false;
			return ctx.ui.confirm(plain(question.title), plain(question.text), { timeout: question.timeout, signal });
		},
		notify(frame, ctx: ExtensionContext) {
			const level = frame.level === "warning" || frame.level === "error" ? frame.level : "info";
			if (ctx.hasUI && frame.level !== "debug") ctx.ui.notify(plain(String(frame.message)), level);
		},
		/** Without a frame: a host that has ended shows nothing any more. */
		status(frame, ctx: ExtensionContext) {
			if (!ctx.hasUI) return;
			const keys = frame ? [String(frame.key)] : [...shown];
			for (const key of keys) {
				const text = typeof frame?.text === "string" ? plain(frame.text) : undefined;
				ctx.ui.setStatus(key, text);
				if (text === undefined) shown.delete(key);
				else shown.add(key);
			}
		},
		journal(frame) {
			pi.appendEntry(String(frame.kind), frame.entry);
		},
		message(frame) {
			const drawn = Array.isArray(frame.folded) ? { folded: frame.folded, unfolded: frame.unfolded } : undefined;
			const deliverAs = { "follow-up": "followUp", "next-turn": "nextTurn" }[frame.delivery] ?? "steer";
			// `triggerTurn: false` means more to pi than its absence: not to steer a running turn.
			const options = frame.trigger_turn === true ? { deliverAs, triggerTurn: true } : { deliverAs };
			pi.sendMessage(
				{
					customType: String(frame.kind),
					content: String(frame.text),
					display: frame.visible !== false,
					details: drawn ? { ...frame.details, ...drawn } : frame.details,
				},
				options as Parameters<ExtensionAPI["sendMessage"]>[1],
			);
		},
	};
}

function report(pi: ExtensionAPI, text: unknown, details: unknown): void {
	if (typeof text !== "string" || text === "") return;
	pi.sendMessage({ customType: DIAGNOSTICS, content: text, display: true, details }, { deliverAs: "steer" });
}

/** Whether the user, or an error, ended the run: then nothing sends the agent on. */
function wasStopped(messages: unknown): boolean {
	if (!Array.isArray(messages)) return false;
	const last = messages.filter((message) => message?.role === "assistant").pop();
	return ["aborted", "error"].includes(last?.stopReason);
}

function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("\n");
}

/** Without what moves the cursor or turns the text round: a command could hide itself from its reader. */
function plain(text: string): string {
	return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "");
}

/** What sub-agents have done lately, as far as a tool tells it. */
function activity(details: unknown) {
	const windows = (details as { windows?: unknown } | undefined)?.windows;
	if (!Array.isArray(windows)) return undefined;
	const lines = (window: { lines?: unknown }) => (Array.isArray(window?.lines) ? window.lines.slice(-UPDATE_LINES) : []);
	const short = (line: { kind?: unknown; content?: unknown }) => ({
		kind: line?.kind,
		content: typeof line?.content === "string" ? line.content.slice(0, 80) : undefined,
	});
	return { windows: windows.map((window) => ({ lines: lines(window).map(short) })) };
}

/** A report as the host has drawn it, else as plain lines. pi ends with an error if one is wider than the terminal. */
const renderReport: MessageRenderer = (message, options, theme) => {
	const details = message.details as { folded?: unknown; unfolded?: unknown } | undefined;
	const drawn = options.expanded ? details?.unfolded : details?.folded;
	const shown = Array.isArray(drawn) && drawn.length > 0 ? drawn.map(spans) : plainLines(textOf(message.content), options.expanded);
	return {
		render(width: number): string[] {
			const pad = " ".repeat(Math.min(options.outputPad ?? 1, width));
			const wrapped = shown.flatMap((line) => wrap(line, width - pad.length));
			return wrapped.map((line) => pad + line.map((span) => paint(theme, span)).join(""));
		},
		invalidate(): void {},
	};
};

interface Span {
	text: string;
	style: string;
}

function spans(line: unknown): Span[] {
	const list: { text?: unknown; style?: unknown }[] = Array.isArray(line) ? line : [];
	return list.map((span) => ({ text: plain(String(span?.text ?? "")).replaceAll("\n", " "), style: String(span?.style ?? "") }));
}

function plainLines(text: string, expanded: boolean): Span[][] {
	const lines = plain(text).trimEnd().split("\n");
	const shown = expanded ? lines : lines.slice(0, FOLDED_LINES);
	if (shown.length < lines.length) shown.push(`… ${lines.length - shown.length} more lines`);
	return shown.map((text) => [{ text, style: "" }]);
}

/** In the colour of the theme; one that this theme does not have is the usual one. */
function paint(theme: Parameters<MessageRenderer>[2], span: Span): string {
	try {
		return theme.fg((span.style || "customMessageText") as Parameters<typeof theme.fg>[0], span.text);
	} catch {
		return theme.fg("customMessageText", span.text);
	}
}

/** Cuts a line into pieces of so many columns, counting too many rather than too few. */
function wrap(line: Span[], columns: number): Span[][] {
	const pieces: Span[][] = [[]];
	let used = 0;
	for (const { text, style } of line) {
		pieces[pieces.length - 1].push({ text: "", style });
		for (const character of text.replaceAll("\t", "    ")) {
			const wide = character >= " " && character <= "~" ? 1 : 2;
			if (wide > columns) continue;
			if (used + wide > columns) {
				pieces.push([{ text: "", style }]);
				used = 0;
			}
			const piece = pieces[pieces.length - 1];
			piece[piece.length - 1].text += character;
			used += wide;
		}
	}
	return pieces;
}
