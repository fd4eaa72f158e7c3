// What the guard may reach, in Node: it looks at the file system, tells the time, writes to the log. It never writes.
//
// The contract is wit/v0.1/capabilities.wit; each function here is one of its functions, with the limits that it names.
// An error is thrown: the payload of `types.error`. Whatever is not here is denied.

import fs from "node:fs";
import path from "node:path";
import { debuglog } from "node:util";

const PATHS = 4096;
const CONFIG_FILE = 1 << 20;
const SCRIPT_FILE = 256 << 10;
const LOG_MESSAGE = 4096;
const HOST_CALLS = 1000;
// As far as Linux goes.
const LINKS = 40;

const ABSENT = ["ENOENT", "ENOTDIR"];
const absent = (error) => ABSENT.includes(error.code);
const other = (error) => ({ tag: "other", val: error.message });
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// NODE_DEBUG=toolgate shows it.
const log = debuglog("toolgate");

/// The imports of a session's component. `rules` are pairs of layer (`user`, `project`) and path, the user's first.
/// `calls.count` is how many host calls were made; whoever calls a hook sets it to 0.
export function imports(rules, calls) {
  const granted = {
    files: {
      stat: (paths) => many(look, paths),
      resolve: (paths) => many(resolve, paths),
      readConfig: (name) => readConfig(rules, name),
      readScript,
    },
    git: { branch },
    clock: { now: () => BigInt(Date.now()), monotonic: () => BigInt(Math.floor(performance.now())) },
    // There are no other components.
    extensions: { provided: () => '{"schema":1,"components":[]}' },
    // Quoted, so that it cannot pass for anything but a message.
    log: { write: (level, message) => log("%s: %s", level, JSON.stringify(message.slice(0, LOG_MESSAGE))) },
  };
  const names = ["clock", "daemon", "extensions", "files", "git", "journal", "log", "message", "terminal", "types", "ui"];
  return Object.fromEntries(names.map((name) => [`toolgate:plugin/${name}`, all(name, granted[name] ?? {}, calls)]));
}

/// An interface whose every other function says that it is denied.
function all(name, granted, calls) {
  const counted = (answer) => (...given) => {
    calls.count += 1;
    if (calls.count > HOST_CALLS) throw new RangeError(`the component made more than ${HOST_CALLS} host calls`);
    return answer(...given);
  };
  const denied = () => {
    throw { tag: "denied", val: `${name} is not granted` };
  };
  return new Proxy({}, { get: (_, key) => counted(Object.hasOwn(granted, key) ? granted[key] : denied) });
}

function many(one, paths) {
  if (paths.length > PATHS) throw { tag: "too-large", val: BigInt(PATHS) };
  return paths.map(one);
}

function look(path) {
  try {
    const found = fs.lstatSync(path, { bigint: true });
    const kind = found.isSymbolicLink() ? "symlink" : found.isDirectory() ? "directory" : found.isFile() ? "file" : "other";
    return { kind, size: found.size, modified: found.mtimeMs > 0n ? found.mtimeMs : 0n };
  } catch (error) {
    // That it may not be looked at does not say that nothing is there.
    return absent(error) ? undefined : { kind: "hidden", size: 0n, modified: 0n };
  }
}

/// The links of the nearest existing ancestor resolved, and the rest appended. A link whose target does not exist is
/// followed by hand, as writing there makes the target.
function resolve(path) {
  for (let links = 0; links < LINKS; links += 1) {
    const real = existing(path);
    if (real) return { path: real, exists: true };
    const target = link(path);
    if (target) {
      path = joined(parent(path), target);
      continue;
    }
    let ancestor = path;
    const rest = [];
    for (;;) {
      const name = parts(ancestor).at(-1);
      if (name === undefined || name === "..") return undefined;
      rest.unshift(name);
      ancestor = parent(ancestor);
      const real = existing(ancestor);
      if (real) return { path: joined(real, rest.join("/")), exists: false };
      const target = link(ancestor);
      if (target) {
        path = [joined(parent(ancestor), target), ...rest].join("/");
        break;
      }
    }
  }
  return undefined;
}

// Not those of `node:path`, which take `a/..` for nothing: behind a link it is not.
const parts = (path) => path.split("/").filter((part) => part !== "" && part !== ".");
const parent = (path) => `/${parts(path).slice(0, -1).join("/")}`;
const joined = (folder, rest) => (rest.startsWith("/") ? rest : `${folder === "/" ? "" : folder}/${rest}`);

const existing = (path) => tried(() => fs.realpathSync.native(path, "buffer"));
const link = (path) => tried(() => fs.readlinkSync(path, "buffer"));

function tried(look) {
  try {
    return utf8.decode(look());
  } catch {
    return undefined;
  }
}

function readConfig(rules, name) {
  if (name !== "rules") throw { tag: "not-found", val: `no configuration file named ${name}` };
  return rules.map(([layer, path]) => ({ path, layer, content: configFile(path) })).filter((file) => file.content);
}

/// The bytes of a rule file, an error, or nothing if it is not there.
function configFile(path) {
  try {
    // Opening a pipe would wait for whoever writes to it.
    if (!fs.statSync(path).isFile()) return { tag: "err", val: { tag: "other", val: "it is not a regular file" } };
    return { tag: "ok", val: bounded(path, CONFIG_FILE) };
  } catch (error) {
    if (absent(error)) return undefined;
    return { tag: "err", val: error.tag ? error : other(error) };
  }
}

function readScript(path) {
  let content;
  try {
    if (!fs.statSync(path).isFile()) throw { tag: "invalid", val: "it is not a regular file" };
    content = bounded(path, SCRIPT_FILE);
  } catch (error) {
    if (error.tag) throw error;
    throw absent(error) ? { tag: "not-found", val: error.message } : other(error);
  }
  // Shells run a script whatever bytes are in it; what is no script at all begins differently.
  if (!content.subarray(0, 2).equals(Buffer.from("#!")) && content.subarray(0, 512).includes(0)) {
    throw { tag: "invalid", val: "it is not text" };
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(content).replaceAll("\0", "");
}

function bounded(path, limit) {
  const content = Buffer.alloc(limit + 1);
  const file = fs.openSync(path);
  try {
    let length = 0;
    for (let read = -1; read !== 0 && length <= limit; length += read) {
      read = fs.readSync(file, content, length, limit + 1 - length, null);
    }
    if (length > limit) throw { tag: "too-large", val: BigInt(limit) };
    return content.subarray(0, length);
  } finally {
    fs.closeSync(file);
  }
}

/// The branch that is checked out, as git keeps it in plain files. `.git` is a folder, or a file that names one.
function branch(folder) {
  const nowhere = { tag: "unavailable", val: `${folder} is not in a git worktree` };
  let root = folder;
  while (!fs.existsSync(path.join(root, ".git"))) {
    if (root === path.dirname(root)) throw nowhere;
    root = path.dirname(root);
  }
  let git = path.join(root, ".git");
  try {
    if (fs.statSync(git).isFile()) {
      const text = small(git);
      if (!text.startsWith("gitdir:")) throw nowhere;
      git = path.resolve(root, text.slice("gitdir:".length).trim());
    }
    const before = "ref: refs/heads/";
    const head = small(path.join(git, "HEAD"));
    return head.startsWith(before) ? head.slice(before.length) : undefined;
  } catch {
    throw nowhere;
  }
}

function small(path) {
  if (!fs.statSync(path).isFile()) throw new TypeError("it is not a regular file");
  return utf8.decode(bounded(path, 4096)).trim();
}
