//! `peer-runner` runs in the place of one program and takes orders on standard input; see [`toolgate_peer_bench::runner`].

use std::io;

fn main() -> io::Result<()> {
    toolgate_peer_bench::runner::obey(io::stdin().lock(), io::stdout().lock())
}
