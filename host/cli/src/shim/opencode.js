// toolgate-shim opencode 1
// Written by `toolgate install opencode`; an edit is lost at the next one. This plugin of OpenCode
// carries events to Toolgate, which judges them. Nothing is decided here, but one thing: without an
// answer, tool calls are blocked.
const PROGRAM = "";

const EVENTS = ["session.created", "session.idle", "session.deleted"];

// The only export: OpenCode drops a file, and goes on without it, if it exports anything else than
// plugins. For the same reason this function does nothing that can fail.
export const Toolgate = async (plugin) => {
	const reports = []; // for the model, and waiting for the next result that it is shown
	const host = new Host("opencode", {
		// There is no dialog that a plugin can open, no status line and no place for a journal.
		notify(frame) {
			const variant = frame.level === "warning" || frame.level === "error" ? frame.level : "info";
			if (frame.level === "debug") return;
			plugin?.client?.tui?.showToast?.({ body: { message: String(frame.message), variant } })?.catch?.(() => {});
		},
		message(frame) {
			if (typeof frame.text === "string") reports.push(frame.text);
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
				const result = await host.observe("tool.execute.after", event, undefined, {
					late: (late) => { if (typeof late.append === "string") reports.push(late.append); },
				});
				if (typeof result?.append === "string") reports.push(result.append);
				append(output, reports);
			} catch {
				// The result stays as it is.
			}
		},
		event: async ({ event }) => {
			if (!EVENTS.includes(event?.type)) return;
			const input = { sessionID: event.properties?.sessionID, event };
			await host.observe(event.type, payload({ input }), undefined);
		},
		dispose: async () => host.stop(),
	};
};

/** A built-in tool's result is a text; that of an MCP server is a list of parts. */
function append(output, reports) {
	if (typeof output?.output === "string") {
		for (const text of reports.splice(0)) output.output += `\n${text}`;
	} else if (Array.isArray(output?.content)) {
		for (const text of reports.splice(0)) output.content.push({ type: "text", text });
	}
}
