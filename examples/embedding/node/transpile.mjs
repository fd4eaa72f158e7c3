// node transpile.mjs COMPONENT FOLDER: makes JavaScript and core modules of a component, once for each version of it.
//
// `@bytecodealliance/jco-transpile` is the part of jco that does it, without what else is in jco's command line.

import fs from "node:fs/promises";
import path from "node:path";

import { transpile } from "@bytecodealliance/jco-transpile";

const [component, folder] = process.argv.slice(2);
if (!folder) throw new Error("usage: node transpile.mjs COMPONENT FOLDER");

const options = { name: "guest", instantiation: "async", nodejsCompat: false, wasiShim: false, emitTypescriptDeclarations: false };
const { files } = await transpile(component, options);
await fs.mkdir(folder, { recursive: true });
for (const [name, content] of Object.entries(files)) await fs.writeFile(path.join(folder, path.basename(name)), content);
await fs.writeFile(path.join(folder, "package.json"), '{"type":"module"}\n');
