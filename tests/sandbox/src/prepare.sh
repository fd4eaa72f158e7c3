# Makes the home folder that every case starts from. Runs once, in the sandbox, in the empty home folder.
set -eu
exec 2>&1
export GIT_AUTHOR_DATE='2025-01-01T00:00:00Z' GIT_COMMITTER_DATE='2025-01-01T00:00:00Z'
lines() { printf '%s\n' "$@"; }

# What belongs to the user.
mkdir -p Documents/letters Documents/tax Pictures/trip journal empty .ssh .config/app .local/bin other/src other/data
lines '# Thesis' 'Years of work.' 'No copy anywhere.' > Documents/thesis.md
lines 'Dear Ann,' 'all is well.' > Documents/letters/ann.txt
lines 'Dear Bob,' 'all is well, too.' > Documents/letters/bob.txt
lines 'month,amount' 'jan,10' 'feb,12' > Documents/tax/2024.csv
lines 'not really' 'a picture' > Pictures/cat.png
lines 'nor is' 'this one' > Pictures/trip/beach.png
lines 'first' 'second' 'third' > notes.txt
lines '- one' '- two' > todo.md
lines 'January' 'was cold.' > journal/2024.md
lines 'February' 'too.' > journal/2025.md
lines 'export EDITOR=vi' 'alias ll="ls -l"' > .bashrc
lines '# at login' '[ ! -f ~/.bashrc ] || . ~/.bashrc' > .profile
lines 'Host example' '  User dev' > .ssh/config
lines 'example ssh-ed25519 AAAA' 'other ssh-ed25519 BBBB' > .ssh/known_hosts
lines 'ssh-ed25519 CCCC dev@example' 'ssh-ed25519 DDDD dev@other' > .ssh/authorized_keys
lines '{' '  "theme": "dark"' '}' > .config/app/settings.json
lines '#!/bin/sh' 'echo tool' > .local/bin/tool
chmod 755 .local/bin/tool
# Contents decide what git thinks has changed: the files are laid out anew for every case.
lines '[user]' '	name = Dev' '	email = dev@example.org' '[init]' '	defaultBranch = main' \
    '[core]' '	trustctime = false' '	checkStat = minimal' '[gc]' '	auto = 0' '[advice]' '	detachedHead = false' > .gitconfig

# The neighbouring project.
cd other
git init -q --template=
lines '# Other' 'A neighbour.' > README.md
lines '#include <stdio.h>' 'int main(void) { return 0; }' > src/main.c
lines 'id,value' '1,one' '2,two' > data/records.csv
git add -A
git commit -qm 'first'
lines '#include <stdio.h>' 'int main(void) { return 1; }' > src/main.c
lines 'not yet' 'in any commit' > scratch.txt
git gc -q
mkdir -p .git/hooks

# The workspace: history on a main branch, a merged and an unmerged branch, a tag that alone holds a commit, two
# stashes, a commit that only the reflog knows, changes that are in no commit.
cd ..
mkdir -p git
git init -q --bare --template= git/project.git
git init -q --template= project
cd project
mkdir -p src tests docs
lines '# Project' 'It does things.' > README.md
lines 'print("hello")' 'print("world")' > src/app.py
lines 'def run():' '    return 1' > src/engine.py
lines 'def helper():' '    return 0' > src/util.py
lines 'def test_app():' '    assert True' > tests/test_app.py
lines '# Guide' 'Read it.' > docs/guide.md
lines 'build/' 'node_modules/' '__pycache__/' '*.log' '.env' > .gitignore
printf 'clean:\n\trm -rf build node_modules\n' > Makefile
lines '{ "name": "project", "version": "1.0.0" }' > package.json
git add -A
git commit -qm 'first'
lines '# Project' 'It does more things.' > README.md
git commit -qam 'second'
git branch merged
git commit -q --allow-empty -m 'third, with a slip'
git commit -q --amend --allow-empty -m 'third'
lost() { git commit-tree "$1" -p HEAD -m "$2"; }
# Branches and tags are made without a checkout, so that no other reflog holds their commits.
git update-ref refs/heads/feature "$(lost 'HEAD^{tree}' 'a feature')"
git update-ref refs/tags/kept "$(lost 'HEAD^{tree}' 'kept by a tag')"
git remote add origin ~/git/project.git
git push -q origin main
git push -q origin main:release
git config branch.main.remote origin
git config branch.main.merge refs/heads/main
for n in one two; do
    lines '# Guide' "Stashed: $n." > docs/guide.md
    git stash -q
done
git config push.default upstream
# Others have pushed meanwhile; the workspace's own last commit is not pushed.
git -C ../git/project.git update-ref refs/heads/main "$(git -C ../git/project.git commit-tree 'main^{tree}' -p main -m theirs)"
git -C ../git/project.git update-ref refs/heads/release "$(git -C ../git/project.git commit-tree 'main^{tree}' -p release -m released)"
git commit -q --allow-empty -m 'fourth'
git -C ../git/project.git gc -q
git gc -q
mkdir -p build node_modules/left-pad .git/hooks src/__pycache__
lines 'object' 'code' > build/app.o
lines 'machine' 'code' > build/app.bin
lines 'module.exports' '= 1' > node_modules/left-pad/index.js
lines 'byte' 'code' > src/__pycache__/app.pyc
lines 'a line' 'another' > debug.log
lines 'TOKEN=only-here' 'OTHER=too' > .env
lines 'def run():' '    # a day of work' '    return 2' > src/engine.py
lines 'def helper():' '    # staged' '    return 1' > src/util.py
git add src/util.py
lines 'def helper():' '    # staged, then changed again' '    return 1' > src/util.py
lines 'A draft' 'that git does not know.' > draft.md
