'use strict';

const SOURCE = /\.[cm]?[jt]sx?$/;
const TYPED = /\.[cm]?tsx?$/;
/** Programs that are kept. Each holds the syntax trees of all its files. */
const PROGRAMS = 4;

async function load(tool, folder) {
  const ts = await tool('typescript');
  const kept = new Map();

  function configured(config, answer) {
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (found) => explain(ts, found, config, answer) };
    return ts.getParsedCommandLineOfConfigFile(config, { noEmit: true }, host);
  }

  /** The programs that may know the file: those of the nearest configuration first, each before what it refers to. */
  function* candidates(file, parsed, answer) {
    for (const at of folders(file)) {
      const pending = [path.join(at, 'tsconfig.json')].filter((config) => fs.existsSync(config));
      const known = new Set(pending);
      for (const config of pending) {
        if (!parsed.has(config)) parsed.set(config, configured(config, answer));
        const found = parsed.get(config);
        if (!found) continue;
        yield [config, found];
        for (const reference of found.projectReferences ?? []) {
          const next = ts.resolveProjectReferencePath(reference);
          if (!known.has(next) && fs.existsSync(next)) pending.push(next);
          known.add(next);
        }
      }
    }
  }

  function owner(file, parsed, programs, answer) {
    const found = [];
    for (const candidate of candidates(file, parsed, answer)) {
      if (candidate[1].fileNames.includes(file)) return program(ts, kept, programs, candidate);
      found.push(candidate);
    }
    for (const candidate of found) {
      // A file that none names may be imported by one that is named.
      const state = program(ts, kept, programs, candidate);
      if (state.program.getSourceFile(file)) return state;
    }
    return undefined;
  }

  /** Reads the program that most files will be in. */
  async function warm(answer) {
    if (await wanted()) return;
    const config = path.join(folder, 'tsconfig.json');
    const found = fs.existsSync(config) && configured(config, answer);
    if (!found) return;
    const { program: read } = program(ts, kept, new Map(), [config, found]);
    if (await wanted()) return;
    const [first] = found.fileNames.map((file) => read.getSourceFile(file));
    // The first file that is checked has the types of the libraries read.
    if (first) read.getSemanticDiagnostics(first);
  }

  return async (files, answer) => {
    if (!files.length) return warm(answer);
    const [parsed, programs] = [new Map(), new Map()];
    const used = new Set();
    for (const file of files.filter((file) => SOURCE.test(file))) {
      const state = owner(file, parsed, programs, answer);
      const source = state?.program.getSourceFile(file);
      if (source) {
        answer.files += 1;
        used.add(state);
        examine(ts, state, source, answer);
      } else if (TYPED.test(file)) {
        answer.notes.push(`${path.relative(root, file)} belongs to no tsconfig.json`);
      }
    }
    for (const { program, config, errors } of used) {
      const general = [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
      for (const found of ts.sortAndDeduplicateDiagnostics(general)) explain(ts, found, config, answer);
    }
  };
}

function examine(ts, { program, options }, source, answer) {
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  const declares = options.declaration || options.composite;
  if (!found.length && declares) found.push(...program.getDeclarationDiagnostics(source));
  for (const diagnostic of ts.sortAndDeduplicateDiagnostics(found)) explain(ts, diagnostic, source.fileName, answer);
}

function explain(ts, { file, start, code, category, messageText }, otherwise, answer) {
  const at = file && start !== undefined ? file.getLineAndCharacterOfPosition(start) : undefined;
  const message = ts.flattenDiagnosticMessageText(messageText, '\n');
  const severity = ['warning', 'error'][category] ?? 'info';
  const where = { file: file?.fileName ?? otherwise, line: at && at.line + 1, column: at && at.character + 1 };
  report(answer, { ...where, severity, message, rule: `TS${code}` });
}

/** The program of a configuration as its files are now, once a request. */
function program(ts, kept, programs, [config, { fileNames, options, projectReferences, errors }]) {
  if (programs.has(config)) return programs.get(config);
  const key = JSON.stringify(options);
  const old = kept.get(config);
  const state = old?.key === key ? old : { key, config, sources: new Map() };
  const host = compilerHost(ts, options, state.sources);
  const oldProgram = state.program;
  state.program = ts.createProgram({ rootNames: fileNames, options, projectReferences, host, oldProgram });
  Object.assign(state, { options, errors });
  kept.delete(config);
  kept.set(config, state);
  if (kept.size > PROGRAMS) kept.delete(kept.keys().next().value);
  programs.set(config, state);
  return state;
}

/** A host that keeps the syntax trees of files that have not changed, and nothing else. */
function compilerHost(ts, options, sources) {
  const host = ts.createCompilerHost(options);
  // As tsc itself does: a tenth of the time, and no error is lost.
  host.jsDocParsingMode = ts.JSDocParsingMode?.ParseForTypeErrors;
  // Whether an import leads somewhere else by now can only be known by looking; in packages it does not change
  // without the package manager.
  host.hasInvalidatedResolutions = (file) => !file.includes('/node_modules/');
  // A referenced project is seen through its sources, so it need not have been built.
  host.useSourceOfProjectReferenceRedirect = () => true;
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, language, onError) => {
    const { text, changed } = stamp(name);
    // What was written a moment ago may be written again without a new time.
    const late = Date.now() - changed < TICK;
    const format = typeof language === 'object' ? language.impliedNodeFormat : undefined;
    const old = sources.get(name);
    if (old && old.version === text && old.source.impliedNodeFormat === format) return old.source;
    const source = read(name, language, onError);
    if (source) sources.set(name, { source, version: late ? undefined : text });
    else sources.delete(name);
    return source;
  };
  return host;
}

