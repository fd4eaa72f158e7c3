//! What is done once, when the component is packaged.

use super::HEAP;
use toolgate_rules::call::{Call, Field, ToolKind};

/// Shell texts of the kind that agents run all day.
const TEXTS: &[&str] = &[
    "cd a && cat b | grep -c \"$X\" > c",
    "git status --short && git diff HEAD~1 -- src | head -n 50",
    "git add -A && git commit -m \"Say why (and not how)\" && git push origin HEAD",
    "cargo test --workspace 2>&1 | tail -n 20; echo $?",
    "npm run build -- --watch=false || exit 1",
    "for file in src/*.c; do echo \"$file\"; wc -l < \"$file\"; done",
    "rm -rf build/ && mkdir -p build && cp -r assets/. build/ && mv build/a build/b",
    "find . -name '*.rs' -not -path './target/*' | xargs grep -n 'x y' | sort | uniq -c",
    "python3 - <<'E'\nprint(1)\nE",
    "cat > notes.md <<E\n$(date)\nE",
    "X=$(ls | head -1); if [ -f \"$X\" ]; then sed -i 's/a/b/' \"$X\"; fi",
    "curl -s https://example.org/data.json | jq .items[]",
    "sudo -n true; env A=b timeout 5 sh -c 'make -j2 all'",
    "rm -rf ~/x; git push --force; cat .env",
];

/// Calls of the kind that agents make all day. The first use of a pattern builds what the later ones share, so that it is there
/// from the start; and the code that they run lies together in what is shipped.
pub(super) fn everyday() -> impl Iterator<Item = Call> {
    let field = |name: &str, value: &str| Field { name: name.into(), value: value.into() };
    let call = |kind| Call {
        kind,
        cwd: "/home/user/project".into(),
        home: Some("/home/user".into()),
        workspace: "/home/user/project".into(),
        ..Call::default()
    };
    let shell = move |text: &&str| Call { command: Some(field("command", text)), ..call(ToolKind::Shell) };
    let file = move |kind| Call {
        paths: vec![field("file_path", "/home/user/project/src/main.rs")],
        contents: vec![field("content", "fn main() {\n    println!(\"a\");\n}\n")],
        ..call(kind)
    };
    TEXTS.iter().map(shell).chain([ToolKind::Read, ToolKind::Write, ToolKind::Search].map(file))
}

/// How much memory follows what is prepared, in bytes: more than a call needs as a rule, so that the memory need not grow first.
const BEHIND: usize = 256 << 10;

/// The chunks of the allocator behind the small pieces are 16 bytes and more, of which 4 are its own. What asks for this gets the
/// smallest.
const SMALLEST: usize = 8;

/// What everyday calls have of the stack, in bytes, and more.
const STACK: usize = 256 << 10;

/// A page of WebAssembly, in bytes.
const PAGE: usize = 64 << 10;

/// Gives away for good what is free between the allocations so far, so that all later ones lie side by side behind them.
///
/// A prepared component starts with its memory mapped from a file, and the first write to a page of it costs a copy of the
/// page. Memory that was freed while rules were compiled lies in small pieces on most of these pages, and an allocator takes
/// the pieces first.
///
/// All of it becomes zeros, as memory begins: what is kept of a component that has prepared itself is what differs from that, and
/// what was freed would be most of it.
pub(super) fn close_holes() {
    HEAP.clear();
    let end = std::arch::wasm32::memory_size::<0>() * PAGE;
    let mut behind = 0;
    let mut within = |place: usize| {
        behind = place;
        place + BEHIND <= end
    };
    while HEAP.give_away(BEHIND, &mut within) {}
    assert!(behind + BEHIND > end, "there is memory for the preparation");
    let mut size = BEHIND / 2;
    while size >= SMALLEST {
        if !HEAP.give_away(size, |place| place < behind) {
            size /= 2;
        }
    }
}

/// Makes zeros of what the calls so far have left on the stack.
#[inline(never)]
pub(super) fn clear_stack() {
    std::hint::black_box([0_u8; STACK]);
}
