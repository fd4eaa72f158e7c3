'use strict';

const IGNORE = ['.gitignore', '.prettierignore'];

async function load(tool) {
  const prettier = await tool('prettier');
  // Version 2 does not look at .gitignore.
  const names = Number.parseInt(prettier.version, 10) < 3 ? IGNORE.slice(1) : IGNORE;

  async function ignored(file) {
    for (const at of folders(file)) {
      for (const ignorePath of names.map((name) => path.join(at, name)).filter((name) => fs.existsSync(name))) {
        if ((await prettier.getFileInfo(file, { ignorePath, resolveConfig: false })).ignored) return true;
      }
    }
    return false;
  }

  /** What prettier would format the file with; undefined if it would not. */
  async function options(file) {
    if (await ignored(file)) return undefined;
    const config = (await prettier.resolveConfig(file, { editorconfig: true })) ?? {};
    const info = await prettier.getFileInfo(file, { plugins: config.plugins, resolveConfig: false });
    const parser = config.parser ?? info.inferredParser;
    return info.ignored || !parser ? undefined : { ...config, parser, filepath: file };
  }

  return async (files, answer) => {
    await prettier.clearConfigCache();
    const one = [...new Map(files.map((file) => [path.dirname(file), file])).values()];
    answer.configs = () => Promise.all(one.map((file) => prettier.resolveConfigFile(file)));
    for (const file of files) {
      const found = await options(file);
      if (found) await verify(prettier, file, found, answer);
    }
  };
}

async function verify(prettier, file, options, answer) {
  const source = fs.readFileSync(file, 'utf8');
  answer.files += 1;
  try {
    if (!(await prettier.check(source, options))) answer.unformatted.push(file);
  } catch (error) {
    const start = error?.loc?.start;
    if (!start) throw error;
    // The first line is the sentence, what follows shows the code.
    const [message] = error.message.split('\n');
    report(answer, { file, line: start.line, column: start.column, severity: 'error', message });
  }
}

