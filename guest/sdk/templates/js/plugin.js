// A plugin for toolgate: asks before a package is published.

export const lifecycle = {
  prepare() {},
  start() {
    return { status: 'asks before a package is published', diagnostics: [] };
  },
  shutdown() {},
};

export const toolGate = {
  judge(call) {
    const commands = JSON.parse(call.context).analysis?.commands ?? [];
    if (!commands.some(publishes)) return { decision: { tag: 'pass' }, findings: [] };
    const reason = 'publishes a package, which cannot be undone';
    const finding = { rule: 'publish', plugin: '', action: 'ask', reason, evidence: [] };
    return { decision: { tag: 'ask', val: reason }, findings: [finding] };
  },
};

function publishes(command) {
  return command.runs !== 'never' && command.name?.split('/').pop() === 'npm' && command.args[0] === 'publish';
}
