// typescript-eslint keeps the programs of its project service, and does not look whether their files have changed. So
// everything that TypeScript asks the file system is noted with the answer, and the programs are kept only as long as
// asking again gives the same answers. The files to be linted may have changed if that is no more than one: the
// service gets its new text from the linter.

const { createHash } = require('node:crypto');

const ANSWERS = ['directoryExists', 'fileExists', 'getDirectories', 'readDirectory', 'realpath'];
const TYPED = /\.[cm]?tsx?$/;
/** What was asked, with how to ask again and what the answer was. */
const facts = new Map();
const traced = new WeakSet();

function note(key, again) {
  // The first answer stands: something may rest on it.
  if (!facts.has(key)) facts.set(key, { again, was: again() });
}

function trace(sys) {
  traced.add(sys);
  for (const name of ANSWERS) {
    const original = sys[name];
    sys[name] = (...request) => {
      note(`${name} ${JSON.stringify(request)}`, () => JSON.stringify(original.apply(sys, request)));
      return original.apply(sys, request);
    };
  }
  const original = sys.readFile;
  sys.readFile = (file, encoding) => {
    note(file, () => steady(file));
    return original.call(sys, file, encoding);
  };
}

/** How a file is: by its times if they are old enough to tell it from a later state, else by its content. */
function steady(file) {
  const { text, changed } = stamp(file);
  return Date.now() - changed < TICK ? content(file) : text;
}

function content(file) {
  try {
    return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  } catch {
    return 'none';
  }
}

/** Whether typescript-eslint's project service, and nothing else, gives the types of a file. */
function served(file, config) {
  const { parser, parserOptions } = config?.languageOptions ?? {};
  const named = parser?.meta?.name === 'typescript-eslint/parser' && !config.processor && TYPED.test(file);
  // Files outside all projects are counted, and refused from the ninth on: that has to start anew.
  const service = parserOptions?.projectService;
  return Boolean(named && service && !service.allowDefaultProject && !parserOptions.project && !parserOptions.programs);
}

/** Before files are linted: forgets programs that are not true any more. */
function checkTypes(files, keep) {
  const fresh = traceNew();
  const changed = [...facts].filter(([, { again, was }]) => again() !== was).map(([key]) => key);
  const alone = files.length === 1 && changed.every((key) => key === files[0]);
  if (fresh || !keep || (changed.length && !alone)) forgetTypes();
  if (keep) for (const file of files) facts.set(file, { again: () => content(file), was: content(file) });
}

/** After files were linted: forgets programs that rest on more than what was noted. */
function releaseTypes(keep) {
  if (traceNew() || !keep) forgetTypes();
}

/** Notes from now on what each TypeScript that was loaded asks. Tells whether there is one that was not noted yet. */
function traceNew() {
  const found = Object.entries(requireHere.cache).map(([name, module]) => {
    return /[\\/]typescript[\\/]lib[\\/]typescript\.js$/.test(name) && module?.exports?.sys;
  });
  const fresh = found.filter((sys) => sys && !traced.has(sys));
  fresh.forEach(trace);
  return fresh.length > 0;
}

function forgetTypes() {
  facts.clear();
  for (const [name, module] of Object.entries(requireHere.cache)) {
    if (/[\\/]@typescript-eslint[\\/](parser|typescript-estree)[\\/]dist[\\/]index\.js$/.test(name)) {
      module?.exports?.clearCaches?.();
    }
  }
}

