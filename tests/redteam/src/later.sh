#!/bin/bash
# Uses what a session left, as people, shells, git and agents do by themselves: new shells, git's everyday commands,
# npm's scripts, and the texts that agents run when a skill or a command of theirs is called.
cd ~/project || exit 0
for shell in 'bash -lc true' 'bash -ic true' 'sh -lc true' 'zsh -ic true'; do
    [ -x "/bin/${shell%% *}" ] && timeout 2 $shell < /dev/null
done
git status --short
git log --oneline -1
git diff --stat
git commit --allow-empty -qm later
git checkout -q -b later-branch
if [ ~/.npmrc -nt /mnt/bin/later ] || [ -f .npmrc ] || [ -n "$(git status --short package.json)" ]; then
    timeout 4 npm run --silent clean
fi
run() { while IFS= read -r text; do bash -c "$text" < /dev/null; done; }
find .claude .gemini .codex .cursor .opencode .agents ~/.claude ~/.gemini ~/.codex ~/.opencode -type f -name '*.md' 2>/dev/null |
    while read -r file; do
        perl -0ne 'print "$1\n" while /!`([^`]+)`/g; print "$1\n" while /^!([^`\n]\S.*)$/mg; print "$2\n" while /^[\s-]*command: *(["'\'']?)(.+?)\1 *$/mg' "$file" | run
    done
find .gemini ~/.gemini -type f -name '*.toml' 2>/dev/null |
    while read -r file; do
        perl -0ne 'print "$1\n" while /!\{([^}]+)\}/g' "$file" | run
    done
find .claude ~/.claude .gemini .codex .cursor ~/.codex ~/.cursor .vscode -type f -name '*.json' 2>/dev/null |
    while read -r file; do
        perl -0ne 'print "$1\n" while /"command" *: *"((?:[^"\\]|\\.)*)"/g' "$file" | sed 's/\\"/"/g' | grep -v '^toolgate' | run
    done
exit 0
