// Toolgate's guard in a Node program: ask before every tool call, and run the call only if there is no objection.

import { Worker } from "node:worker_threads";

// The limits of the contract. Milliseconds for a whole call, a start included.
const DEADLINE = 5000;
// The longest text that is judged, in bytes. The kernel gives a command 2 MiB at most.
const INPUT = 3 << 20;
// The longest answer of a hook, about, in characters.
const ANSWER = 4 << 20;

/// Judges the calls of one session. A call that fails is a block, and the next one gets a new worker with a new instance.
export class Gate {
  #data;
  #worker;
  #waiting;
  #last = Promise.resolve();

  /// `folder` holds what jco made of the component; `rules` as in `capabilities.mjs`; `own` are paths that no call may
  /// change, like this program's own.
  constructor(folder, { cwd, home, workspaceRoot }, rules, own = []) {
    const context = JSON.stringify({ schema: 1, own });
    this.#data = { folder, rules, session: { role: "gate", cwd, home, workspaceRoot, context } };
  }

  /// The verdict on a shell command: `decision` (`pass`, `ask`, `block`), `reason`, `findings`. It never rejects.
  judge(command) {
    // One after the other: a verdict belongs to the command that the worker was given last.
    this.#last = this.#last.then(() => this.#judge(command));
    return this.#last;
  }

  /// Ends the worker.
  async close() {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #judge(command) {
    if (Buffer.byteLength(command) > INPUT) {
      return block("host:input", `the command has more than ${INPUT} bytes and is not judged`);
    }
    try {
      return verdict(await this.#ask(command));
    } catch (error) {
      await this.close();
      return block("host:failure", `${String(error.message ?? error)}; calls that cannot be checked are blocked`);
    }
  }

  async #ask(command) {
    this.#worker ??= this.#start();
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        timer = setTimeout(() => reject(new Error(`the component took longer than ${DEADLINE / 1000} s`)), DEADLINE);
        this.#worker.postMessage(command);
      });
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }

  #start() {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { workerData: this.#data });
    // What one says that was given up is no answer to a later call.
    const current = (act) => (value) => this.#worker === worker && act(value);
    const gone = (error) => {
      this.#worker = undefined;
      this.#waiting?.reject(error);
    };
    worker.on("message", current((answer) => this.#waiting?.resolve(answer)));
    worker.on("error", current(gone));
    worker.on("exit", current(() => gone(new Error("the worker is gone"))));
    return worker;
  }
}

/// The component's answer as plain data; throws if it is not one that may be given.
function verdict({ decision: { tag: decision, val: reason = null }, findings }) {
  if (!["pass", "ask", "block"].includes(decision)) {
    throw new Error("the component rewrote the call, which it is not granted");
  }
  const plain = ({ rule, action, reason, evidence }) => ({ rule, action, reason, evidence });
  const whole = { decision, reason, findings: findings.map(plain) };
  if (JSON.stringify(whole).length > ANSWER) {
    throw new Error("the component answered with more data than is taken");
  }
  return whole;
}

function block(rule, reason) {
  return { decision: "block", reason, findings: [{ rule, action: "block", reason, evidence: [] }] };
}
