//! The files for the linker.

use std::collections::HashSet;
use std::io::{Seek, Write};
use std::path::Path;

use crate::calls::CALLS;
use crate::image::Image;
use crate::trace::{Entered, Run, entered};

/// One function in so many may lie elsewhere before the order is made again, which has the program linked once more.
const STRAY: usize = 50;

/// Brings the files up to date, and says what became of them.
pub(crate) fn write(program: &Path, folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
    // It is run in another folder.
    let program = &program.canonicalize()?;
    let folder = &folder.canonicalize()?;
    let (order, link) = (folder.join("toolgate.order"), folder.join("toolgate.link"));
    let image = Image::read(program)?;
    if !image.ordered {
        replace(&link, "")?;
        return Ok("functions stay where the linker puts them: it is none that is known to take an order".to_owned());
    }
    let run = match run(&image, program) {
        Ok(run) => run,
        // The command is as good, only slower to start. A test says so, too.
        Err(error) => return Ok(format!("functions stay where they are: the command could not be watched: {error}")),
    };
    let names: Vec<&str> =
        run.order.iter().filter_map(|address| image.functions.get(address)).map(String::as_str).collect();
    let old = std::fs::read_to_string(&order).unwrap_or_default();
    let old: HashSet<&str> = old.lines().collect();
    let stray = names.iter().filter(|name| !old.contains(*name)).count();
    if stray * STRAY > names.len() {
        replace(&order, &(names.join("\n") + "\n"))?;
    }
    // A name that is gone by then is no mistake.
    let told = format!("-Wl,--symbol-ordering-file=\"{}\"\n-Wl,--no-warn-symbol-ordering\n", order.display());
    replace(&link, &told)?;
    Ok(format!("{} functions of everyday calls, {stray} of which did not lie with the others", names.len()))
}

/// Leaves a file alone that has this content already, so that nothing is linked again for it.
fn replace(file: &Path, content: &str) -> std::io::Result<()> {
    if std::fs::read(file).is_ok_and(|old| old == content.as_bytes()) { Ok(()) } else { std::fs::write(file, content) }
}

fn run(image: &Image, program: &Path) -> Result<Entered, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let project = home.path().join("project");
    std::fs::create_dir(&project)?;
    let mut known = Entered::default();
    for (agent, payload) in CALLS {
        let mut input = tempfile::tempfile()?;
        input.write_all(payload.replace("$PROJECT", &project.to_string_lossy()).as_bytes())?;
        input.rewind()?;
        let call = Run { program, arguments: &["hook", agent], input, home: home.path() };
        entered(image, call, &mut known).map_err(|error| format!("{agent}: {payload}: {error}"))?;
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// The command as `just build` left it.
    fn built() -> Option<PathBuf> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/toolgate").canonicalize().ok();
        if program.is_none() {
            eprintln!("left out: `just build` has built nothing");
        }
        program
    }

    #[test]
    fn what_a_call_runs_lies_together() {
        let Some(program) = built() else { return };
        let order = program.with_file_name("../layout/toolgate.order");
        let order = std::fs::read_to_string(order).unwrap_or_default();
        if order.is_empty() {
            eprintln!("left out: `just build` has put nothing in order, and said why");
            return;
        }
        let image = Image::read(&program).expect("a program");
        assert!(image.ordered, "an order for a program that takes none");
        let order: HashSet<&str> = order.lines().collect();
        let places: Vec<u64> =
            image.functions.iter().filter(|(_, name)| order.contains(name.as_str())).map(|(place, _)| *place).collect();
        let span = places.last().zip(places.first()).map(|(last, first)| last - first).expect("places");
        assert!(places.len() * 2 > order.len(), "only {} of {} functions are known", places.len(), order.len());
        assert!(span < 4 << 20, "{} functions lie over {span} bytes", places.len());
    }

    #[test]
    fn everyday_calls_are_watched_to_their_end() {
        let Some(program) = built() else { return };
        let image = Image::read(&program).expect("a program");
        let entered = match run(&image, &program) {
            Ok(entered) => entered,
            Err(error) if error.to_string().contains("EPERM") || !image.ordered => {
                return eprintln!("left out: {error}");
            }
            Err(error) => panic!("{error}"),
        };
        let name = |address: &u64| image.functions.get(address).map_or("", String::as_str);
        for part in ["_start", "toolgate4main"] {
            assert!(entered.order.iter().any(|address| name(address).contains(part)), "{part} is not among them");
        }
        assert!(entered.order.len() > 1_000, "{} functions", entered.order.len());
    }

    #[test]
    fn a_file_that_is_no_program_is_an_error() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let folder = tempfile::tempdir().expect("a folder");
        let error = write(file.path(), folder.path()).expect_err("no program");
        assert!(!error.to_string().is_empty());
        assert!(write(&folder.path().join("none"), folder.path()).is_err());
    }
}
