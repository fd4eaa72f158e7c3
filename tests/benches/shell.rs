//! What reading a command costs: the engine's whole walk beside a parser's parse alone, and texts of growing length.

// The macros make undocumented functions.
#![allow(missing_docs)]

use std::io::BufReader;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toolgate_shell::{Facts, parse};

/// Commands of the length and kind that agents send.
const COMMANDS: &[(&str, &str)] = &[
    ("short", "cargo test"),
    ("typical", "cd src && grep -rn \"fn main\" --include='*.rs' . | head -20"),
    ("wrapped", "sudo -u root env A=1 sh -c 'cd /srv && rm -rf \"$A\"/old'"),
    ("loop", "for f in a.txt b.txt; do sed -i 's/x/y/' \"$f\" && echo \"$f done\"; done"),
];

fn commands(criterion: &mut Criterion) {
    for (name, command) in COMMANDS {
        let mut group = criterion.benchmark_group(format!("shell/{name}"));
        let facts = Facts::new("/home/dev/project").home("/home/dev");
        group.bench_function("walk", |bencher| bencher.iter(|| parse(command, &facts)));
        let options = brush_parser::ParserOptions::default();
        let source = brush_parser::SourceInfo::default();
        group.bench_function("brush-parser alone", |bencher| {
            bencher.iter(|| {
                brush_parser::Parser::new(BufReader::new(command.as_bytes()), &options, &source).parse_program()
            });
        });
        group.finish();
    }
}

fn lengths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shell/length");
    group.sample_size(10);
    // Lines that do something, and lines that only carry text.
    for (name, line) in
        [("commands", "mkdir -p a/b && cp \"$HOME/x\" a/b\n"), ("text", "one line of a document, as it is\n")]
    {
        for length in [1 << 10, 1 << 14, 1 << 18, 1 << 20] {
            let lines = line.repeat(length / line.len());
            let text = if name == "text" { format!("cat > notes <<'EOF'\n{lines}EOF\n") } else { lines };
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("{name}/{} KiB", length >> 10), |bencher| {
                let facts = Facts::new("/home/dev/project").home("/home/dev");
                bencher.iter(|| parse(&text, &facts));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, commands, lengths);
criterion_main!(benches);
