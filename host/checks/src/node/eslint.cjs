'use strict';

const FLAT = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((ending) => `eslint.config.${ending}`);
const LEGACY = ['.eslintrc', ...['js', 'cjs', 'yaml', 'yml', 'json'].map((ending) => `.eslintrc.${ending}`)];
const JAVASCRIPT = /\.[cm]?jsx?$/;
const COMPILED = /\.([cm]?tsx?|vue|svelte|astro)$/;
/** Plugins that resolve imports keep what they found for half a minute, unless they are told not to. */
const SETTINGS = { 'import/cache': { lifetime: 0 }, 'import-x/cache': { lifetime: 0 } };

async function load(tool, folder) {
  const eslint = await tool('eslint');

  /** Where ESLint would be run for this file and how it is configured there; undefined without configuration. */
  function setting(file) {
    const flat = eslint.loadESLint && nearest(file, FLAT);
    if (flat) return { flat: true, config: flat, cwd: path.dirname(flat) };
    const legacy = nearest(file, LEGACY) ?? packageConfig(file);
    if (!legacy) return undefined;
    const cwd = path.dirname(nearest(file, ['.eslintignore']) ?? nearest(file, ['package.json']) ?? legacy);
    return { flat: false, config: legacy, cwd };
  }

  /** Loads the configuration that most files will have, and the plugins with it. */
  async function warm() {
    if (await wanted()) return;
    const file = path.join(folder, 'index.ts');
    const found = setting(file);
    if (found) await (await engineOf(eslint, found)).calculateConfigForFile(file);
  }

  return async (files, answer) => {
    if (!files.length) return warm();
    const groups = new Map();
    for (const file of files) {
      const found = setting(file);
      if (!found) continue;
      const key = `${found.config} ${found.cwd}`;
      if (!groups.has(key)) groups.set(key, { ...found, files: [] });
      groups.get(key).files.push(file);
    }
    const configs = [...groups.values()].map(({ config }) => config);
    answer.configs = () => configs;
    if (!groups.size) answer.notes.push('there is no configuration for these files');
    try {
      for (const group of groups.values()) await lint(eslint, group, answer);
    } finally {
      process.chdir(folder);
    }
  };
}

function packageConfig(file) {
  const found = folders(file).map((at) => path.join(at, 'package.json'));
  return found.find((file) => {
    try {
      return JSON.parse(fs.readFileSync(file, 'utf8')).eslintConfig;
    } catch {
      return false;
    }
  });
}

async function engineOf(eslint, { flat, cwd }) {
  const ESLint = eslint.loadESLint ? await eslint.loadESLint({ useFlatConfig: flat }) : eslint.ESLint;
  const only = flat ? { warnIgnored: false } : {};
  // A new instance reads configuration anew.
  return new ESLint({ cwd, errorOnUnmatchedPattern: false, overrideConfig: { settings: SETTINGS }, ...only });
}

async function lint(eslint, group, answer) {
  const { flat, cwd, files } = group;
  // Some plugins go by the current folder.
  process.chdir(cwd);
  const engine = await engineOf(eslint, group);
  const wanted = [];
  for (const file of files) if (await lintable(engine, flat, file)) wanted.push(file);
  if (!wanted.length) return;
  const configs = flat ? await Promise.all(wanted.map((file) => engine.calculateConfigForFile(file))) : [];
  const keep = flat && wanted.every((file, at) => served(file, configs[at]));
  checkTypes(wanted, keep);
  const results = await engine.lintFiles(wanted).finally(() => releaseTypes(keep));
  answer.files += results.length;
  for (const { filePath, messages } of results) {
    for (const { fatal, ruleId, severity, line, column, message } of messages) {
      const level = fatal || severity === 2 ? 'error' : 'warning';
      report(answer, { file: filePath, line, column, severity: level, message, rule: ruleId });
    }
  }
}

async function lintable(engine, flat, file) {
  if (await engine.isPathIgnored(file)) return false;
  if (flat) return true;
  // The old engine lints whatever it is told to, Markdown too, and TypeScript without a parser for it.
  return JAVASCRIPT.test(file) || (COMPILED.test(file) && Boolean((await engine.calculateConfigForFile(file)).parser));
}

