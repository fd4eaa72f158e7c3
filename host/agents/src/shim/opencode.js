// toolgate-shim opencode 1
// Written by `toolgate install opencode`; an edit is lost at the next one. This plugin of OpenCode
// carries events to Toolgate, which judges them. Nothing is decided here, but one thing: without an
// answer, tool calls are blocked.
const PROGRAM = "";

const EVENTS = ["session.created", "session.idle", "session.deleted"];

// The only export: OpenCode drops a file, and goes on without it, if it exports anything else than
// plugins. For the same reason this function does nothing that can fail.
export const Toolgate = async (plugin) => {
	const waiting = []; // reports for the next result that the model is shown; `session` is whose, if it matters
	const host = new Host("opencode", {
		// There is no dialog that a plugin can open, no status line and no place for a journal.
		notify(frame) {
			const variant = frame.level === "warning" || frame.level === "error" ? frame.level : "info";
			if (frame.level === "debug") return;
			plugin?.client?.tui?.showToast?.({ body: { message: String(frame.message), variant } })?.catch?.(() => {});
		},
		message(frame) {
			if (typeof frame.text === "string") waiting.push({ text: frame.text });
		},
	});
	const payload = (rest) => ({ ...rest, directory: plugin?.directory, worktree: plugin?.worktree, hasUI: false });

	return {
		"tool.execute.before": async (input, output) => {
			const event = payload({ input, output: { args: output?.args } });
			const verdict = await judge(host, "tool.execute.before", event, undefined, "args");
			if (verdict?.replace) replace(output.args, verdict.replace);
			if (verdict?.reason) throw new Error(verdict.reason);
		},
		// What is thrown here would turn a call that went well into one that failed.
		"tool.execute.after": async (input, output) => {
			try {
				// A subtask that failed has no output at all; images and files are left out.
				const { title, output: text, metadata, content } = output ?? {};
				const event = payload({ input, output: { title, output: text, metadata, content: withoutImages(content) } });
				const session = input?.sessionID;
				const keep = (result) => {
					if (typeof result?.append === "string" && result.append) waiting.push({ session, text: result.append });
				};
				keep(await host.observe("tool.execute.after", event, undefined, { wait: CHECK_MS, late: keep }));
				append(output, waiting, session);
			} catch {
				// The result stays as it is.
			}
		},
		event: async ({ event }) => {
			if (!EVENTS.includes(event?.type)) return;
			const input = { sessionID: event.properties?.sessionID, event };
			// What is found at the end of a turn comes with the next result.
			const keep = (result) => {
				if (typeof result?.append === "string" && result.append) waiting.push({ session: input.sessionID, text: result.append });
			};
			const result = await host.observe(event.type, payload({ input }), undefined, { late: keep });
			if (result) keep(result);
		},
		dispose: async () => host.stop(),
	};
};

/** A built-in tool's result is a text; that of an MCP server is a list of parts. */
function append(output, waiting, session) {
	const isText = typeof output?.output === "string";
	if (!isText && !Array.isArray(output?.content)) return;
	for (const report of waiting.splice(0)) {
		if (report.session !== undefined && report.session !== session) waiting.push(report);
		else if (isText) output.output += `\n${report.text}`;
		else output.content.push({ type: "text", text: report.text });
	}
}
