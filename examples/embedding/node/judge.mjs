// node judge.mjs [--json] [--cwd DIR] [--component FOLDER] COMMAND | --batch
//
// Says what would become of a shell command. Exit codes: 0 pass, 1 ask, 2 block and everything that went wrong. With
// --batch each line of standard input is an object of `command` and, if it likes, `id` and `cwd`; the answers are those of
// `toolgate check --batch`. FOLDER is what `transpile.mjs` made.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const COMPONENT = path.join(HERE, "../../../target/embed/guest");
const CODES = { pass: 0, ask: 1, block: 2 };

const USERS = ["damage-control-rules.yaml", "toolgate.yaml", "toolgate.yml"];
const PI = ".pi/damage-control-rules.yaml";
const PROJECTS = [PI, "toolgate.yaml", "toolgate.yml", ".toolgate.yaml", ".toolgate.yml"];

const home = process.env.HOME || os.homedir();
const given = process.env.XDG_CONFIG_HOME ?? "";
const config = path.join(given.startsWith("/") ? given : path.join(home, ".config"), "toolgate");

/// The nearest folder with a repository or rules, else the folder itself.
function projectRoot(folder) {
  for (let place = folder; ; place = path.dirname(place)) {
    const there = (name) => fs.lstatSync(path.join(place, name), { throwIfNoEntry: false });
    if ([".git", ...PROJECTS].some(there)) return place;
    if (place === path.dirname(place)) return folder;
  }
}

/// The user's, then those of the project: pairs of layer and path. They need not exist.
function ruleFiles(cwd, root) {
  const users = [...USERS.map((name) => path.join(config, name)), path.join(home, PI)];
  const folders = [...new Set([cwd, root])].filter((folder) => folder !== home).sort();
  const projects = folders.flatMap((folder) => PROJECTS.map((name) => path.join(folder, name)));
  return [...users.map((file) => ["user", file]), ...projects.map((file) => ["project", file])];
}

/// A gate for each folder that a call may start in.
class Gates {
  #gates = new Map();

  constructor(make, component) {
    this.make = make;
    this.component = component;
  }

  judge(command, cwd) {
    if (!this.#gates.has(cwd)) {
      const workspaceRoot = projectRoot(cwd);
      const own = [config, HERE, this.component];
      const gate = new this.make(this.component, { cwd, home, workspaceRoot }, ruleFiles(cwd, workspaceRoot), own);
      this.#gates.set(cwd, gate);
    }
    return this.#gates.get(cwd).judge(command);
  }

  async close() {
    await Promise.all([...this.#gates.values()].map((gate) => gate.close()));
  }
}

/// As `toolgate check --batch` has it.
function answer({ decision, reason, findings }, id = null) {
  const finding = decision === "pass" ? undefined : findings[0];
  return { id, decision, rule: finding?.rule ?? null, reason, evidence: finding?.evidence ?? [] };
}

async function batch(gates, cwd) {
  for await (const text of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const line = JSON.parse(text);
    console.log(JSON.stringify(answer(await gates.judge(line.command, line.cwd ?? cwd), line.id)));
  }
  return 0;
}

async function one(gates, cwd, command, json) {
  const verdict = await gates.judge(command, cwd);
  if (json) {
    console.log(JSON.stringify({ ...answer(verdict), findings: verdict.findings }));
  } else {
    console.log(verdict.decision);
    for (const { action, rule, reason } of verdict.findings) {
      // Nothing of it moves the cursor of whoever reads it.
      console.log(`${action} ${rule}: ${reason}`.replace(/[^\x20-\x7e]/g, (char) => JSON.stringify(char).slice(1, -1)));
    }
  }
  return CODES[verdict.decision];
}

async function main() {
  const text = { type: "string" };
  const flag = { type: "boolean" };
  const options = { batch: flag, json: flag, cwd: text, component: text };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== (values.batch ? 0 : 1)) throw new Error("either a command or --batch");
  const { Gate } = await import("./gate.mjs");
  const gates = new Gates(Gate, path.resolve(values.component ?? COMPONENT));
  const cwd = path.resolve(values.cwd ?? ".");
  try {
    return values.batch ? await batch(gates, cwd) : await one(gates, cwd, positionals[0], values.json);
  } finally {
    await gates.close();
  }
}

// Node's own exit code is 1, which is that of a question.
process.exitCode = CODES.block;
try {
  process.exitCode = await main();
} catch (error) {
  console.error(`nothing is judged: ${error}`);
  process.exitCode = CODES.block;
}
