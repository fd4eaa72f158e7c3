# Every task, one line each. `just --list` shows them.
set shell := ["bash", "-euo", "pipefail", "-c"]

# The build scripts and tests look for what the recipes leave here.
export CARGO_TARGET_DIR := justfile_directory() / "target"

# The ground truth needs Linux; elsewhere it says that it is left out.
export TOOLGATE_TRUTH := env("TOOLGATE_TRUTH", if os() == "linux" { "" } else { "skip" })

# Where the real tools for the check daemon are. What is missing there fails, unless the set-up said why.
export TOOLGATE_CHECKS_TOOLS := justfile_directory() / "target/checks-tools"

# Tests that skip something write a line each to this file.
export TOOLGATE_SKIPPED := justfile_directory() / "target/skipped.txt"

# The same members and features in every call, so that nothing is compiled twice.
all := "--release --locked --workspace"
# The same for `cargo run`, which does not take the last.
run := "--release --locked"
guest := "target/wasm32-unknown-unknown/guest/toolgate_guest.wasm"
bake := "./target/release/toolgate-bake"

# Build the command and judge a few commands
demo:
    cargo run {{run}} --bin toolgate -- demo

# Everything that CI runs, and how long each step took
test:
    @.ci/steps deny setup checks-setup build lint shims embed docs book plugins test-programs tests

# The test programs of all crates, not run
[private]
test-programs:
    cargo test {{all}} --no-run

# The test programs run, after what `just test` builds before; the slowest are listed
[private]
tests:
    rm -f "$TOOLGATE_SKIPPED"
    TOOLGATE_NEW_NODE="$(.ci/node -p process.execPath)" .ci/tests
    @.ci/skipped

# What runs by night, as it takes long and covers what rarely breaks: the component as `cargo component` makes it and built once
# more elsewhere, the specs, the libraries without some of their features, the packages, and the crates
nightly: reproducible component specs features packages-test crates

# The specs of programs against the `--help` of those that are installed, in a sandbox
specs: setup
    cargo run {{run}} -p toolgate-commands --example compare-help

# The libraries for who embeds, as little of them as there can be: it compiles wasmtime once more
features:
    .ci/features

# What comes in from outside: licences, sources, duplicates, what runs at build time; advisories where they can be had
deny:
    @.ci/deny

# The shims of pi and OpenCode, in a Node that reads TypeScript, with a host of the tests' own
shims:
    @.ci/node --test tests/shims/shims.test.mjs

# The guard in a Python and in a Node program, beside `toolgate check`
embed: build
    @.ci/embed

# The contract on one page: target/docs/contract.html
docs:
    cargo build {{all}} --bin toolgate-docs
    ./target/release/toolgate-docs contract wit target/docs/contract.html

# The book: docs and the reference pages that are generated, in target/book. Installs mdBook once
book: build
    cargo build {{all}} --bin toolgate-docs
    ./target/release/toolgate-docs book . target/release/toolgate target/book-src
    @.ci/book

# Write the screens of the README and of the book again, from runs of the command
screens: build
    TOOLGATE_UPDATE=1 cargo test {{all}} --test command screens::

# Make sure that the Wasm target, strace, bubblewrap, tmux, zsh and faketime are there
setup:
    @.ci/wasm setup
    @.ci/tools strace bwrap:bubblewrap tmux zsh faketime

# The formatters, linters, compilers and language servers that the tests of the check daemon run. Downloads them once
checks-setup:
    @.ci/checks

# Whether the guest is the same bytes wherever it is built: once more, from nothing, in another folder
reproducible: build
    .ci/reproducible

# The example plugins and the templates, each with its language's own tools, in target/plugins. Downloads once
plugins: setup
    @.ci/plugins

# The command and the programs for its build and tests, in target/release; the build scripts compile the guest. What a call runs is
# put together, for which the command is linked twice
build: setup
    cargo build {{all}} --lib --bin toolgate --bin toolgate-bake --bin toolgate-lens --bin toolgate-layout
    ./target/release/toolgate-layout target/release/toolgate target/layout
    cargo build {{all}} --bin toolgate

# The packages that people's tools install, all from this build, in target/packages: archive, npm, wheel, .deb, formula, SBOM
packages: build
    @.ci/packages

# Each package installed into an empty place, used with an empty home folder, and removed again
packages-test: packages
    @.ci/packages test

# The crates for crates.io, packaged, built without the repository, and used: the command, an embedder, a plugin. In target/crates
crates: build
    @.ci/crates

# A release of this commit: bumps the version, dates the changelog, runs `just test`, commits and tags. Pushes nothing
release VERSION:
    @.ci/release {{VERSION}}

# Formatting and clippy
lint:
    cargo fmt --all --check
    cargo clippy {{all}} --all-targets -- -D warnings

# What `cargo component` makes of the guest passes the tests of the component, too
component: build
    command -v cargo-component >/dev/null || cargo install --locked cargo-component@0.21.1
    .ci/wasm component build --locked --profile guest --target wasm32-unknown-unknown -p toolgate-guest
    {{bake}} {{guest}} target/cargo-component
    TOOLGATE_TEST_COMPONENT="$CARGO_TARGET_DIR/cargo-component/guest.wasm" cargo test {{all}} --test system component::

# The shell engine against real bash: COUNT generated scripts and those written by hand, as a table
truth COUNT="3000" SEED="1" SHOWN="20": setup
    cargo run {{run}} --example truth -- {{COUNT}} {{SEED}} {{SHOWN}}

# The guard over labelled commands, by scope and family; --missed and --touched list the wrong ones
guard-score *ARGUMENTS:
    cargo run {{run}} --example guard-score -- {{ARGUMENTS}}

# The guard over recorded sessions of agents: FILEs of JSON lines with command, cwd and workspace; --touched, --wrong, --json
guard-agents *ARGUMENTS:
    cargo run {{run}} --example guard-agents -- {{ARGUMENTS}}

# The guard over what packages hold, ours and many more; --touched lists what is not left alone. Downloads once
guard-benign *ARGUMENTS:
    mkdir -p target/benign && cp tests/guard/benign/* target/benign
    npm install --prefix target/benign --ignore-scripts --no-audit --no-fund --legacy-peer-deps --loglevel=error
    cargo run {{run}} --example guard-benign -- --manifest target/benign/Cargo.toml --packages target/benign/node_modules {{ARGUMENTS}}

# The guard against what commands really do: COUNT composed cases, each run in a throw-away home folder
guard-truth COUNT="3000" SEED="1" SHOWN="20" *MORE: setup
    cargo run {{run}} --example guard-truth -- {{COUNT}} {{SEED}} {{SHOWN}} {{MORE}}

# Attacks in several calls: COUNT sessions, each call judged by the built program and run in a throw-away home folder; --shown N, --json FILE, --kind N
redteam COUNT="3000" SEED="1" *MORE: build
    cargo run {{run}} --example redteam -- {{COUNT}} {{SEED}} {{MORE}}

# Saving what a call changes, beside cp and git stash create
bench-undo:
    cargo run {{run}} --example saving -p toolgate-undo

# Instructions of a call that changes nothing, with saving and without: needs valgrind
count-undo: build
    @.ci/count-undo

# Runs generated commands that the hook lets pass, undoes them, and compares what there is with what there was
undo COUNT="2000" SEED="1" *MORE: build
    cargo run {{run}} --example undo -- {{COUNT}} {{SEED}} {{MORE}}

# The loop of a plugin's author: build it, run its cases, wait for a change. PLUGIN is its folder
dev PLUGIN *ARGUMENTS: build
    ./target/release/toolgate plugin dev {{PLUGIN}} {{ARGUMENTS}}

# The real agents, offline: each scenario without the guard and with it, as a table. --markdown prints that of docs/reference/agents.md
agents *ARGUMENTS: build
    cargo run {{run}} --bin agents -- {{ARGUMENTS}}

# What becomes of calls while all that Toolgate leans on is killed, stopped and spoilt, as a table. --only BOUNDARY, --markdown
faults *ARGUMENTS: build
    cargo run {{run}} --bin faults -- {{ARGUMENTS}}

# The check daemon beside the one that it stands in for: the same questions, cold STARTS times and warm QUESTIONS times
bench-checks STARTS="3" QUESTIONS="5": checks-setup
    cargo build {{all}} --bin toolgate-lens
    cargo run {{run}} --example bench-checks -- {{STARTS}} {{QUESTIONS}}

# The shared terminal beside the calls of tmux that it stands in for: `true`, so many TIMES
bench-terminal TIMES="50": build
    cargo run {{run}} --example bench-terminal -- {{TIMES}}

# What a warm verdict costs, through WebAssembly and without it, in so many ROUNDS; sessions and threads
bench-warm ROUNDS="21": build
    cargo run {{run}} --example bench-warm -- {{ROUNDS}}

# The hook beside those of other guards: the same payloads in one run. --cases, --markdown, --rounds N. Installs them once
bench-peers *ARGUMENTS: build
    .ci/peers
    cargo build {{all}} --bin peer-runner
    cargo run {{run}} --bin bench-peers -- {{ARGUMENTS}}

# Write again what real panes of bash and zsh show, for the tests of the component
record: setup
    cargo run {{run}} --example record

# Fuzz TARGET for so many SECONDS, with cargo-fuzz: a nightly toolchain if there is one, else the features of nightly in this one
fuzz TARGET="shell" SECONDS="1200":
    @.ci/fuzz {{TARGET}} {{SECONDS}}

# Criterion benches, in one run; figures are only worth comparing within it
bench *ARGUMENTS: build
    cargo bench --locked --workspace --bench gate --bench process --bench shell --bench guard -- {{ARGUMENTS}}
