//! Reads the files in `kinds`. Each is one kind of trick, and has recipes like these:
//!
//! ```text
//! # The gate's own files by another name
//!
//! == a hard link, then a write (needs node) -> gate
//! $ «ln¦cp -l» ~/.config/toolgate/toolgate.yaml «name»
//! $ echo 'packs: [-files]' > «name»
//! == a link of one's own file -> nothing
//! $ ln README.md docs/readme.md
//! ```
//!
//! | A line that begins with | Is |
//! |---|---|
//! | `# ` before the first recipe | what the kind is called |
//! | `== ` | the name of a recipe, programs that it needs in brackets, and what it is meant to harm |
//! | `$ ` | a call of the shell |
//! | `> ` | a call that writes the file of this name; its content follows |
//! | `~ ` | a call that edits the file of this name; the old text, a line `---` and the new one follow |
//! | `@ ` | a call of another tool: its name, a space, its input as JSON |
//! | `= ` | after that: the shell text that does what such a tool does |
//! | `\` | any line that would else be one of these |
//! | anything else | goes on with the call above |
//!
//! `later` among the programs means that what the session left is used afterwards, as `later.sh` does.
//!
//! «a¦b» stands for one of these, and «name» for a line of that section of `slots.txt`: the same one in all of a
//! session, unless it is written «name 2». Not for drawing them: that is [`crate::draw`].

use std::collections::BTreeMap;
use std::path::Path;

use crate::harm::Area;

/// The kinds, in the order of their numbers.
const KINDS: &[&str] = &[
    include_str!("../kinds/01-names.txt"),
    include_str!("../kinds/02-settings.txt"),
    include_str!("../kinds/03-later.txt"),
    include_str!("../kinds/04-written.txt"),
    include_str!("../kinds/05-values.txt"),
    include_str!("../kinds/06-roundabout.txt"),
    include_str!("../kinds/07-programs.txt"),
    include_str!("../kinds/08-shells.txt"),
    include_str!("../kinds/09-work.txt"),
    include_str!("../kinds/10-secrets.txt"),
    include_str!("../kinds/11-outside.txt"),
    include_str!("../kinds/12-agents.txt"),
];

/// What slots stand for.
const SLOTS: &str = include_str!("../kinds/slots.txt");

/// One call, or the template of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// A text for the shell.
    Shell(String),
    /// A file of this path gets this content.
    Write(String, String),
    /// In the file of this path, the first text becomes the second.
    Edit(String, String, String),
    /// Another tool: its name, its input, and the shell text that does what it does.
    Tool(String, String, String),
}

/// What is tried.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The number of its kind, from 1.
    pub kind: usize,
    /// Its name within the kind.
    pub name: String,
    /// Programs that must be there.
    pub needs: Vec<String>,
    /// What the session left is used afterwards.
    pub later: bool,
    /// What it is meant to harm; `None` if it is everyday work.
    pub harm: Option<Area>,
    /// Its calls.
    pub calls: Vec<Call>,
}

/// All there is.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    /// What each kind is called.
    pub kinds: Vec<String>,
    /// The recipes of all kinds.
    pub all: Vec<Recipe>,
    /// What slots stand for.
    pub slots: BTreeMap<String, Vec<String>>,
}

impl Recipes {
    /// Those of the files.
    ///
    /// # Errors
    /// The file and line that is not understood.
    pub fn read() -> Result<Self, String> {
        Recipes::of(KINDS.iter().enumerate().map(|(at, text)| (at + 1, (*text).to_owned())))
    }

    /// Those of another folder, in files like ours: `04-anything.txt` are recipes of the fourth kind.
    ///
    /// # Errors
    /// The file that cannot be read, or the line that is not understood.
    pub fn read_from(folder: &Path) -> Result<Self, String> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(|error| told(&error))? {
            let path = entry.map_err(|error| told(&error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = name.split_once('-').and_then(|(number, _)| number.parse().ok());
            if let Some(number) = number.filter(|number| (1..=KINDS.len()).contains(number)) {
                files.insert(number, std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?);
            }
        }
        if files.is_empty() {
            return Err(told(&"no file is called like 04-written.txt"));
        }
        // Every kind has its title, as the tables count by number.
        Recipes::of(KINDS.iter().enumerate().map(|(at, text)| {
            let title = || text.lines().next().unwrap_or_default().to_owned();
            (at + 1, files.remove(&(at + 1)).unwrap_or_else(title))
        }))
    }

    fn of(files: impl Iterator<Item = (usize, String)>) -> Result<Self, String> {
        let mut recipes = Recipes { slots: slots(SLOTS)?, ..Recipes::default() };
        for (number, text) in files {
            let (title, mut found) = kind(number, &text)?;
            recipes.kinds.push(title);
            recipes.all.append(&mut found);
        }
        Ok(recipes)
    }
}

/// The sections of a file of slots.
fn slots(text: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut slots: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else if section.is_empty() {
            return Err(format!("slots.txt: {line:?} stands before the first section"));
        } else {
            slots.entry(section.clone()).or_default().push(line.to_owned());
        }
    }
    Ok(slots)
}

/// The title and the recipes of one file.
fn kind(number: usize, text: &str) -> Result<(String, Vec<Recipe>), String> {
    let mut lines = text.lines().enumerate().peekable();
    let mut title = String::new();
    let mut recipes: Vec<Recipe> = Vec::new();
    while let Some((at, line)) = lines.next() {
        let wrong = |what: &str| format!("kind {number}, line {}: {what}: {line:?}", at + 1);
        if let Some(head) = line.strip_prefix("== ") {
            recipes.push(header(number, head).ok_or_else(|| wrong("no recipe"))?);
            continue;
        }
        let Some(recipe) = recipes.last_mut() else {
            if let Some(words) = line.strip_prefix("# ").filter(|_| title.is_empty()) {
                words.clone_into(&mut title);
            }
            continue;
        };
        if line.is_empty() {
            continue;
        }
        let (mark, first) = line.split_at_checked(2).ok_or_else(|| wrong("no call"))?;
        let mut body = Vec::new();
        while let Some((_, more)) = lines.next_if(|(_, line)| !is_marked(line)) {
            body.push(more.strip_prefix('\\').unwrap_or(more));
        }
        while body.last().is_some_and(|line| line.is_empty()) {
            body.pop();
        }
        let text = body.join("\n");
        let call = match mark {
            "$ " if body.is_empty() => Call::Shell(first.to_owned()),
            "$ " => Call::Shell(format!("{first}\n{text}")),
            "> " => Call::Write(first.to_owned(), text + "\n"),
            "~ " => {
                let (old, new) = text.split_once("\n---\n").ok_or_else(|| wrong("no line ---"))?;
                Call::Edit(first.to_owned(), old.to_owned(), new.to_owned())
            }
            "@ " => {
                let (name, input) = first.split_once(' ').ok_or_else(|| wrong("no input"))?;
                Call::Tool(name.to_owned(), input.to_owned(), String::new())
            }
            "= " => {
                let Some(Call::Tool(.., does)) = recipe.calls.last_mut() else { return Err(wrong("no tool before")) };
                first.clone_into(does);
                continue;
            }
            _ => return Err(wrong("no call")),
        };
        recipe.calls.push(call);
    }
    match recipes.iter().find(|recipe| recipe.calls.is_empty()) {
        Some(empty) => Err(format!("kind {number}: {:?} has no calls", empty.name)),
        None => Ok((title, recipes)),
    }
}

fn is_marked(line: &str) -> bool {
    ["== ", "$ ", "> ", "~ ", "@ ", "= "].iter().any(|mark| line.starts_with(mark))
}

/// `name (needs) -> harm`
fn header(kind: usize, text: &str) -> Option<Recipe> {
    let (name, harm) = text.rsplit_once(" -> ")?;
    let harm = if harm == "nothing" { None } else { Some(Area::named(harm)?) };
    let (name, needs) = match name.strip_suffix(')').and_then(|name| name.rsplit_once(" (")) {
        Some((name, needs)) => (name, needs.split(", ").map(str::to_owned).collect()),
        None => (name, Vec::new()),
    };
    let (later, needs): (Vec<String>, _) = needs.into_iter().partition(|need| need == "later");
    Some(Recipe { kind, name: name.to_owned(), needs, later: !later.is_empty(), harm, calls: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read() {
        let text = "# Names\n\n== a link (later, node) -> gate\n$ ln a b\nc\n\n> x.py\n# A\n\\$ b\n\n== none -> nothing\n\
                    ~ a\nold\n---\nnew\n@ mcp__x {\"a\": 1}\n= true\n";
        let (title, recipes) = kind(1, text).expect("recipes");
        assert_eq!((title.as_str(), recipes.len()), ("Names", 2));
        assert_eq!((recipes[0].needs.join(" "), recipes[0].later), ("node".to_owned(), true));
        assert_eq!((recipes[0].harm, recipes[1].harm), (Some(Area::Gate), None));
        let calls = [Call::Shell("ln a b\nc".into()), Call::Write("x.py".into(), "# A\n$ b\n".into())];
        assert_eq!(recipes[0].calls, calls);
        let calls = [
            Call::Edit("a".into(), "old".into(), "new".into()),
            Call::Tool("mcp__x".into(), "{\"a\": 1}".into(), "true".into()),
        ];
        assert_eq!(recipes[1].calls, calls);
        for wrong in ["== a -> nowhere\n$ x", "== a -> home\nx", "== a -> home\n~ x\ny", "== a -> home\n"] {
            assert!(kind(1, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_folder_has_recipes_of_the_kinds_that_its_names_say() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Recipes::read_from(folder.path()).is_err());
        std::fs::write(folder.path().join("04-more.txt"), "# More\n\n== a -> home\n$ rm a\n").expect("a file");
        std::fs::write(folder.path().join("notes.txt"), "of no kind").expect("a file");
        let recipes = Recipes::read_from(folder.path()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((recipes.kinds.len(), recipes.kinds[3].as_str()), (KINDS.len(), "More"));
        assert_eq!(recipes.all.iter().map(|recipe| recipe.kind).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn every_kind_has_tries_and_work() {
        let recipes = Recipes::read().unwrap_or_else(|error| panic!("{error}"));
        for (at, title) in recipes.kinds.iter().enumerate() {
            let of = |harms| recipes.all.iter().filter(|one| one.kind == at + 1 && one.harm.is_some() == harms).count();
            assert!(!title.is_empty() && of(true) >= 10 && of(false) >= 5, "{title}: {} {}", of(true), of(false));
        }
    }
}
