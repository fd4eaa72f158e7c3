// A started component in a thread of its own, so that it can be ended. It answers commands with verdicts, one at a time.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

import { imports } from "./capabilities.mjs";

const { folder, session, rules } = workerData;
const { instantiate } = await import(pathToFileURL(path.join(folder, "guest.js")));
const calls = { count: 0 };
const compile = (name) => WebAssembly.compile(fs.readFileSync(path.join(folder, name)));
const { lifecycle, toolGate } = await instantiate(compile, imports(rules, calls));

const diagnostics = lifecycle.start(session).diagnostics;
for (const about of diagnostics) console.error(JSON.stringify(`${about.file ?? "toolgate"}: ${about.message}`));
// Rules that cannot be used are not the same as no rules.
const unusable = diagnostics.find((about) => about.level === "error");
if (unusable) throw new Error(`the rules cannot be used: ${unusable.file}: ${unusable.message}`);

parentPort.on("message", (command) => {
  calls.count = 0;
  const { cwd, home, workspaceRoot } = session;
  const input = JSON.stringify({ command });
  const about = { id: "", tool: "bash", kind: "shell", cwd, home, workspaceRoot, input, context: '{"schema":1}' };
  parentPort.postMessage(toolGate.judge({ ...about, command: { name: "command", value: command }, paths: [], globs: [] }));
});
