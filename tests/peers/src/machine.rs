//! What it was measured on, and how busy that was.

use std::fs;
use std::thread;

/// The processor, how many of it there are, and the kernel.
pub fn describe() -> String {
    let first = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let processors = first("/proc/cpuinfo");
    let named = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = named.map_or("an unnamed processor", |(_, name)| name.trim());
    let count = thread::available_parallelism().map_or(1, usize::from);
    let kernel = first("/proc/sys/kernel/osrelease");
    format!("{model}, {count} cores, Linux {}", kernel.trim())
}

/// How many processes wanted a core in the last minute, on average.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
