#!/usr/bin/env node
// Runs the program in the package for this platform. `npm` installs that one as an optional dependency of this package.
"use strict";

const { spawn } = require("node:child_process");
const { optionalDependencies, version } = require("../package.json");

// Agents take this exit code of a hook for a denial, and others for permission to run the call.
const BLOCKED = 2;

const SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR2"];

function fail(message) {
  console.error(`toolgate: ${message}`);
  process.exit(BLOCKED);
}

function program() {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@toolgate/${platform}`;
  if (!(name in optionalDependencies)) {
    const known = Object.keys(optionalDependencies).map((one) => one.split("/")[1]);
    fail(`no program for ${platform}, only for ${known.join(", ")}; build it from source instead`);
  }
  try {
    return require.resolve(`${name}/bin/toolgate`);
  } catch {
    fail(
      `the package ${name} is missing. It is an optional dependency: install again without --omit=optional or ` +
        `--no-optional, without a node_modules folder of another platform, or run: npm install ${name}@${version}`,
    );
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
// The program decides how a signal ends it. Without a listener this process would end first and leave it behind.
for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(`the program cannot be started: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const one of SIGNALS) process.removeAllListeners(one);
  process.kill(process.pid, signal);
});
