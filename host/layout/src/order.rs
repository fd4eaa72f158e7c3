//! The files for the linker.

use std::collections::HashSet;
use std::io::{Seek, Write};
use std::path::Path;

use crate::calls::CALLS;
use crate::image::Image;
use crate::trace::{Entered, Run, entered};

/// One function in so many may lie elsewhere before the order is made again, which has the program linked once more.
const STRAY: usize = 50;

/// Brings the files up to date, and says what became of them. The tracer is `toolgate-layout`.
///
/// # Errors
/// If the program cannot be read, or the files cannot be written.
pub fn write(program: &Path, folder: &Path, tracer: &Path) -> Result<String, Box<dyn std::error::Error>> {
    // It is run in another folder.
    let program = &program.canonicalize()?;
    let folder = &folder.canonicalize()?;
    let (order, link) = (folder.join("toolgate.order"), folder.join("toolgate.link"));
    let image = Image::read(program)?;
    if !image.ordered {
        replace(&link, "")?;
        return Ok("functions stay where the linker puts them: it is none that is known to take an order".to_owned());
    }
    let run = match run(&image, program, tracer) {
        Ok(run) => run,
        // The command is as good, only slower to start. A test says so in CI.
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
    let told = format!("-Xlinker \"--symbol-ordering-file={}\"\n-Wl,--no-warn-symbol-ordering\n", order.display());
    replace(&link, &told)?;
    Ok(format!("{} functions of everyday calls, {stray} of which did not lie with the others", names.len()))
}

/// Leaves a file alone that has this content already, so that nothing is linked again for it.
fn replace(file: &Path, content: &str) -> std::io::Result<()> {
    if std::fs::read(file).is_ok_and(|old| old == content.as_bytes()) { Ok(()) } else { std::fs::write(file, content) }
}

/// Makes the everyday calls, and says what they enter. The tracer is `toolgate-layout`.
///
/// # Errors
/// If a call cannot be watched, does not end well, or is none that the program understands.
pub fn run(image: &Image, program: &Path, tracer: &Path) -> Result<Entered, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let project = home.path().join("project");
    std::fs::create_dir(&project)?;
    let mut known = Entered::default();
    for (arguments, payload) in CALLS {
        let mut input = tempfile::tempfile()?;
        input.write_all(payload.replace("$PROJECT", &project.to_string_lossy()).as_bytes())?;
        input.rewind()?;
        let call = Run { tracer, program, arguments, input, home: home.path() };
        let wrong = |why: &str| format!("{arguments:?}: {payload}: {why}");
        let said = entered(image, call, &mut known).map_err(|error| wrong(&error.to_string()))?;
        if said.contains("(rule host:") {
            return Err(wrong(&said).into());
        }
    }
    Ok(known)
}
