//! Writes what a target begins with into a folder, for cargo-fuzz: `fuzz-seeds TARGET FOLDER`. A dictionary is written beside it.

use std::path::Path;

use toolgate_fuzz::{found, targets};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder] = arguments.as_slice() else { return Err("usage: fuzz-seeds TARGET FOLDER".into()) };
    let all = targets();
    let known = || all.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let target =
        all.iter().find(|target| target.name == name).ok_or_else(|| format!("{name}: there are {}", known()))?;
    std::fs::create_dir_all(folder)?;
    for (number, seed) in (target.seeds)().iter().enumerate() {
        std::fs::write(Path::new(folder).join(format!("{number:04}")), seed)?;
    }
    for entry in std::fs::read_dir(found(name)).into_iter().flatten() {
        let entry = entry?;
        std::fs::copy(entry.path(), Path::new(folder).join(entry.file_name()))?;
    }
    let word = |word: &&str| word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
    let words: Vec<String> = target.words.iter().map(|one| format!("\"{}\"\n", word(one))).collect();
    std::fs::write(format!("{folder}.dict"), words.concat())?;
    Ok(())
}
