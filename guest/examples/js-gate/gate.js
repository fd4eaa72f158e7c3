// Asks before something is published, and before a branch that releases are made of is pushed to.
//
// It reads what the host says of the shell text, in `context.analysis`, and no shell text itself.

import { write } from 'toolgate:plugin/log@0.1.0';

/** Branches that releases are made of. */
const PROTECTED = /^(main|master|release([/-].*)?)$/;

/** Programs that publish, with what comes first after their options. */
const PUBLISHES = {
  npm: ['publish'],
  pnpm: ['publish'],
  yarn: ['publish', 'npm'],
  cargo: ['publish'],
  twine: ['upload'],
};

/** Options whose value is a word of its own. */
const WITH_VALUE = {
  git: ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '-o', '--push-option', '--repo'],
  npm: ['-w', '--workspace', '--prefix', '--registry', '--tag', '--otp', '--access'],
  pnpm: ['-C', '--dir', '--filter', '--registry', '--tag'],
  yarn: ['--cwd'],
  cargo: ['-C', '--config', '--manifest-path', '-p', '--package', '--color', '-Z'],
  twine: ['-r', '--repository'],
};

export const lifecycle = {
  prepare() {},
  start() {
    return { status: 'asks before a release', diagnostics: [] };
  },
  shutdown() {},
};

export const toolGate = {
  judge(call) {
    if (call.kind !== 'shell' || call.command === undefined) return pass();
    const { analysis } = JSON.parse(call.context);
    if (analysis === undefined) {
      write('warning', 'the call came without an analysis');
      return ask(call, 'release-unread', 'What this command does could not be analysed.');
    }
    if (analysis.unparsed) return ask(call, 'release-unread', `This command does not parse: ${analysis.unparsed}.`);
    const findings = analysis.commands.filter((command) => command.runs !== 'never').flatMap((command) => {
      const found = release(command);
      return found === undefined ? [] : [finding(call, command, ...found)];
    });
    if (findings.length === 0) return pass();
    return { decision: { tag: 'ask', val: findings[0].reason }, findings };
  },
};

/** The rule and the reason, if this command releases something; a word that is not known is taken for the worst. */
function release(command) {
  const program = command.name?.split('/').pop();
  if (program === 'git') return pushed(command.args);
  const names = PUBLISHES[program];
  if (names === undefined || command.args.includes('--dry-run')) return undefined;
  const [subcommand, next] = from(program, command.args, names);
  if (subcommand === null) return ['release-publish', `What ${program} is to do is not known before it runs.`];
  if (!names.includes(subcommand) || (subcommand === 'npm' && next !== 'publish')) return undefined;
  return ['release-publish', `${program} ${subcommand} makes a release that cannot be taken back.`];
}

/** The same for git. Only a push counts. */
function pushed(args) {
  const [subcommand, , ...refs] = from('git', args, ['push']);
  if (subcommand === null || args.some((word) => word?.startsWith('alias.'))) {
    return ['release-push', 'What git is to do is not known before it runs.'];
  }
  if (subcommand !== 'push' || args.includes('--dry-run') || args.includes('-n')) return undefined;
  if (args.includes('--all') || args.includes('--mirror')) return ['release-push', 'git push takes every branch along.'];
  // Without a name the branch that is checked out is meant, which no text tells.
  if (refs.length === 0) return ['release-push', 'git push names no branch.'];
  for (const ref of refs) {
    if (ref === null) return ['release-push', 'The branch of git push is not known before it runs.'];
    const branch = ref.replace(/^\+/, '').split(':').pop().replace(/^refs\/heads\//, '');
    if (branch === 'HEAD' || branch.includes('*')) return ['release-push', 'git push names no branch.'];
    if (PROTECTED.test(branch)) return ['release-push', `Releases are made of ${branch}.`];
  }
  return undefined;
}

/**
 * The words from the subcommand on that are no options and no values of options. `null` is one that is not known. After an
 * option any of these names is taken for the subcommand: what is before it may be the value of an option not listed here.
 */
function from(program, args, names) {
  const words = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (WITH_VALUE[program].includes(word)) at += 1;
    else if (word === null || !/^[-+]./.test(word) || (program === 'git' && word.startsWith('+'))) words.push(word);
  }
  const named = /^[-+]/.test(args[0] ?? '') ? words.findIndex((word) => names.includes(word)) : 0;
  return words.slice(Math.max(named, 0));
}

function finding(call, command, rule, reason) {
  const { start, end } = command.span;
  const bytes = new TextEncoder().encode(call.command.value).slice(start, end);
  const evidence = [{ field: call.command.name, start, end, text: new TextDecoder().decode(bytes) }];
  return { rule, plugin: '', action: 'ask', reason, evidence };
}

function ask(call, rule, reason) {
  return { decision: { tag: 'ask', val: reason }, findings: [{ rule, plugin: '', action: 'ask', reason, evidence: [] }] };
}

function pass() {
  return { decision: { tag: 'pass' }, findings: [] };
}
