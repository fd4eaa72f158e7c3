// The part that all workers share: requests come in as one JSON object a line, `{id, files}`, and go out as
// `{id, files, problems, unformatted, notes, failed, cut, rss}` or, if this process is out of date, `{id, stale}`.
// It all goes over file descriptor 0, a socket: whatever a plugin prints or reads elsewhere cannot get between.
// The tool's own part comes before this one and defines `load(tool, folder, root)`, which gives a `check(files, answer)`;
// with no files that only loads what will be needed, and lets go of that once a request waits.

const fs = require('node:fs');
const { Session } = require('node:inspector');
const net = require('node:net');
const path = require('node:path');
const { createRequire, enableCompileCache, flushCompileCache } = require('node:module');
const { Readable } = require('node:stream');
const { fileURLToPath, pathToFileURL } = require('node:url');

const PROBLEMS = 1000;
const TEXT = 2000;
/** File times may be this much older than the moment of the change: the clock that stamps files ticks slowly. */
const TICK = 50;

const [, folder, root, cache] = process.argv;
const started = Date.now();
const requireHere = createRequire(path.join(folder, 'worker.cjs'));

/** The tool as the project has it, CommonJS or not. */
async function tool(name) {
  try {
    return requireHere(name);
  } catch (error) {
    if (error.code !== 'ERR_REQUIRE_ESM') throw error;
    const loaded = await import(pathToFileURL(requireHere.resolve(name)).href);
    return loaded.default ?? loaded;
  }
}

/** The folders from that of `file` up to the root of the project. */
function folders(file) {
  const found = [];
  for (let at = path.dirname(file); ; at = path.dirname(at)) {
    found.push(at);
    if (at === root || at === path.dirname(at)) return found;
  }
}

/** The nearest of these names beside `file` or above it. */
function nearest(file, names) {
  for (const at of folders(file)) {
    const name = names.find((name) => fs.existsSync(path.join(at, name)));
    if (name) return path.join(at, name);
  }
  return undefined;
}

function text(value) {
  const said = String(value);
  return said.length > TEXT ? `${said.slice(0, TEXT)}…` : said;
}

function place(number) {
  return Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : 0;
}

/** Adds a problem: `line` and `column` from 1, anything else for the whole. */
function report(answer, { file, line, column, severity, message, rule }) {
  if (answer.problems.length >= PROBLEMS) {
    answer.cut += 1;
    return;
  }
  const named = rule ? { rule: text(rule) } : {};
  answer.problems.push({ file, line: place(line), column: place(column), severity, message: text(message), ...named });
}

// What has been loaded stays loaded, so a process is out of date once a file that was loaded has changed, or one that
// decides what is loaded: packages are known by their `package.json` and by what package managers leave behind.

const MARKERS = ['.package-lock.json', '.modules.yaml', '.yarn-state.yml', '.yarn-integrity'];
const inputs = new Map();
let seen = '';

/** How a file is, as a text that is another one after every change, and when it changed last, in ms. */
function stamp(file) {
  try {
    const { mtimeNs, ctimeNs, size, ino } = fs.statSync(file, { bigint: true });
    return { text: [mtimeNs, ctimeNs, size, ino].join(' '), changed: Number(ctimeNs / 1000000n) };
  } catch {
    return { text: 'none', changed: 0 };
  }
}

/** Remembers how a file is. One that changed after the start may have been loaded as it was before: no state fits. */
function watch(file) {
  if (inputs.has(file)) return;
  const { text, changed } = stamp(file);
  inputs.set(file, changed < started - TICK ? text : undefined);
}

function stale() {
  for (const [file, text] of inputs) if (stamp(file).text !== text) return true;
  return false;
}

/** Everything that Node has loaded. Only its debugger knows of ES modules. */
function loaded() {
  const files = new Set(Object.keys(requireHere.cache));
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params: { url } }) => {
    if (url.startsWith('file:')) files.add(fileURLToPath(url.replace(/[?#].*/, '')));
    else if (path.isAbsolute(url)) files.add(url);
  });
  session.post('Debugger.enable');
  session.post('Debugger.disable');
  session.disconnect();
  return files;
}

/** Takes note of what decides about the next answer. `configs` are the configuration files that this one went by. */
function settle(files, configs) {
  for (const at of new Set(files.flatMap(folders))) watch(path.join(at, 'package.json'));
  for (const marker of MARKERS) watch(path.join(folder, 'node_modules', marker));
  // Asking the debugger takes a while; without new modules or configuration there is nothing new.
  const now = [Object.keys(requireHere.cache).length, ...configs].join('\n');
  if (now === seen) return;
  seen = now;
  configs.forEach(watch);
  for (const file of loaded()) {
    const inside = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file);
    watch(inside ? path.join(inside[0], 'package.json') : file);
  }
  // For the next process. By itself Node does this where a process ends, and this one is mostly killed.
  flushCompileCache?.();
}

let check;
/** Requests that are not answered yet. */
let pending = 0;

/** Whether another request has come in while one is at work, which has to let go for that to be seen. */
async function wanted() {
  // One turn may end before it looks at what has come in.
  for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
  return pending > 1;
}

async function answer({ id, files }) {
  if (stale()) return { id, stale: true };
  const said = { id, files: 0, problems: [], unformatted: [], notes: [], failed: false, cut: 0, configs: () => [] };
  try {
    check ??= await load(tool, folder, root);
    await check(files, said);
  } catch (error) {
    said.failed = true;
    said.notes.push(text(String(error?.message ?? error).replace(/\s+/g, ' ').trim()));
  }
  return { ...said, rss: process.memoryUsage.rss() };
}

async function serve(line) {
  const request = JSON.parse(line);
  const { configs, ...said } = await answer(request);
  const sent = new Promise((resolve) => channel.write(`\n${JSON.stringify(said)}\n`, resolve));
  await sent;
  // What was only loaded is settled with the request that waits. Whatever cannot be loaded stays that way here.
  const loaded = !request.files.length;
  if (loaded && said.failed) process.exit();
  if (loaded && (await wanted())) return;
  if (configs && !said.failed) settle(request.files, (await configs()).filter(Boolean));
}

// From Node 22.10 on. Code is found again by its content, and by the version of Node.
if (cache && flushCompileCache) enableCompileCache(cache);
process.chdir(folder);
const channel = new net.Socket({ fd: 0, readable: true, writable: true });
let rest = '';
let queue = Promise.resolve();
channel.setEncoding('utf8');
// Who looks for input finds none.
Object.defineProperty(process, 'stdin', { value: Readable.from([]) });
channel.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  pending += lines.length;
  for (const line of lines) queue = queue.then(() => serve(line)).finally(() => (pending -= 1));
});
for (const event of ['end', 'error']) channel.on(event, () => process.exit());
