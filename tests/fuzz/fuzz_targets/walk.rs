//! Any text, walked: no panic, no endless work, spans that lie in the text.
#![no_main]

use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use toolgate_shell::{Facts, Look, Presence, detect_files, parse};

/// A file system that answers from the path alone, so that every answer comes up.
struct Somewhere;

impl Look for Somewhere {
    fn look(&self, path: &str) -> Presence {
        match path.len() % 5 {
            _ if path == "/w" => Presence::Folder,
            0 => Presence::Absent,
            1 => Presence::File,
            2 => Presence::Folder,
            3 => Presence::Other,
            _ => Presence::Unknown,
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for facts in [
        Facts::new("/w").home("/home/u"),
        Facts::new("/w").home("/home/u").variable("A", "x y").complete().files(Rc::new(Somewhere)),
    ] {
        let script = parse(text, &facts);
        for command in &script.commands {
            let words = command.words.iter().map(|word| word.span);
            for span in words.chain([command.span]).chain(command.effects.iter().map(|effect| effect.span)) {
                assert!(span.start <= span.end && span.end <= text.len(), "{span:?} in {text:?}");
                assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{span:?} in {text:?}");
            }
        }
    }
    detect_files(text, &Facts::new("/w"));
});
