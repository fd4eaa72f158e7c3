//! What a verdict spends its time on, apart: reading commands, and searching texts with regular expressions.
//!
//! The same functions are timed natively and as a core module, which has no component's border around it: the difference is
//! what WebAssembly costs such code, and nothing else.

use std::sync::OnceLock;

use fancy_regex::Regex;
use toolgate_shell::{Facts, parse};

/// Patterns of the kinds that rule files have: words, alternatives, classes, bounded repetitions. None needs look-around, so
/// that it is the regex crate's engines that are timed.
const PATTERNS: &[&str] = &[
    r"\brm\s+-[a-zA-Z]*[rf][a-zA-Z]*\s",
    r"\bgit\s+(push|reset|clean|checkout)\b.*(--force|--hard|-f)\b",
    r"(curl|wget)\s[^|;]*\|\s*(sudo\s+)?(ba|z|da)?sh\b",
    r"\bchmod\s+(-R\s+)?0?777\b",
    r"(?i)\b(drop|truncate)\s+(table|database)\s+\w+",
    r"\b[A-Z_]{3,}=[^\s]{8,}",
    r"\bdd\s.*\bof=/dev/(sd|nvme|hd)[a-z0-9]+",
    r"\S+\.(pem|key|p12|pfx)\b",
];

fn patterns() -> &'static [Regex] {
    static BUILT: OnceLock<Vec<Regex>> = OnceLock::new();
    BUILT.get_or_init(|| PATTERNS.iter().filter_map(|one| Regex::new(one).ok()).collect())
}

/// Reads a command as the guard does before it judges; the number of commands in it.
pub fn walk(text: &str) -> usize {
    parse(text, &Facts::new("/home/dev/project").home("/home/dev")).commands.len()
}

/// Searches it with every pattern; how many are found. The first call builds them.
pub fn search(text: &str) -> usize {
    patterns().iter().filter(|one| one.is_match(text).unwrap_or_default()).count()
}

/// What the host calls. A text is put into a buffer of the module's own first.
#[cfg(target_family = "wasm")]
mod border {
    // An export's name has to be kept, which the compiler counts as unsafe.
    #![allow(unsafe_code)]

    use std::alloc::System;
    use std::cell::RefCell;

    use toolgate_pools::Pools;

    /// As the guest has it.
    #[global_allocator]
    static HEAP: Pools<System> = Pools::new(System);

    thread_local! {
        static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }

    /// Where a text of this length is to be put.
    #[unsafe(no_mangle)]
    extern "C" fn room(length: usize) -> *mut u8 {
        TEXT.with_borrow_mut(|text| {
            text.resize(length, 0);
            text.as_mut_ptr()
        })
    }

    fn with(work: impl Fn(&str) -> usize) -> usize {
        TEXT.with_borrow(|text| std::str::from_utf8(text).map_or(usize::MAX, work))
    }

    #[unsafe(no_mangle)]
    extern "C" fn walk() -> usize {
        with(super::walk)
    }

    #[unsafe(no_mangle)]
    extern "C" fn search() -> usize {
        with(super::search)
    }
}
