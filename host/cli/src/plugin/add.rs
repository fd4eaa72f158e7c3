//! A new plugin, or a newer version of one: shown, agreed to, copied.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::plugin::store::{Installed, Store, Version, check_name, same};
use toolgate_host::{Capability, Granted, plain};

use super::component_file::Source;
use super::{Add, list, words};
use crate::confirmation;
use crate::output::{self, DIM, print};

/// What is said where nothing is added.
const OTHERWISE: &str = "no plugin was added";

pub(super) fn run(arguments: &Add) -> Result<ExitCode, Failure> {
    // First, so that an agent learns nothing here but that.
    confirmation::present(OTHERWISE)?;
    let source = Source::find(&arguments.from)?;
    let name = arguments.name.clone().unwrap_or_else(|| source.name.clone());
    check_name(&name).map_err(|why| Failure::new(exit::USAGE, format!("{why}; choose one with --name")))?;
    let plugin = source.compile(&name)?;
    let version = source.version(&plugin);
    let store = Store::of_user()?;
    let before = store.list()?.into_iter().find(|one| one.name == name);
    let granted = granted(arguments, &version, before.as_ref(), plugin.has_gate())?;
    let offer = Offer { name: &name, version: &version, before: before.as_ref(), granted: &granted };
    let agreed = confirmation::agrees(&offer.question()?, OTHERWISE);
    if let (Err(refused), Some(before)) = (&agreed, &before)
        && !offer.more().is_empty()
    {
        store.keep(&source.bytes)?;
        store.update(|all| {
            same(all, before)?.held = Some(version.clone());
            Ok(())
        })?;
        let message = format!(
            "{}; the new version is held back and the old one stays active; `toolgate plugin grant {name}` activates it",
            refused.message
        );
        return Err(Failure::new(refused.code, message));
    }
    agreed?;
    store.keep(&source.bytes)?;
    let installed = Installed { name: name.clone(), version: version.clone(), granted: granted.clone(), held: None };
    store.update(|all| match &before {
        Some(before) => same(all, before).map(|one| *one = installed.clone()),
        None if all.iter().any(|one| one.name == name) => {
            Err(Failure::new(exit::DATA, format!("{name} was added in the meantime; nothing was changed")))
        }
        None => {
            all.push(installed.clone());
            Ok(())
        }
    })?;
    if arguments.json {
        return print(|out| writeln!(out, "{}", list::json(&installed, None)));
    }
    let mut out = anstream::stdout();
    output::told(writeln!(out, "{name} is active; toolgate plugin remove {name} removes it"))?;
    if plugin.has_observer() || plugin.has_permission_gate() {
        let again = "Installed hooks may lack events that it needs: toolgate install AGENT adds them";
        output::told(writeln!(out, "{again}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What it is to have: what is named, else what the version before had and whatever it asks for newly. What it asked for
/// before and did not get it does not get by a newer version.
fn granted(arguments: &Add, version: &Version, before: Option<&Installed>, judges: bool) -> Result<Granted, Failure> {
    let capabilities: BTreeSet<Capability> = match (&arguments.only, before) {
        (Some(only), _) => only.iter().flatten().copied().collect(),
        (None, Some(before)) => version.asks_beyond(before).union(&kept(version, before)).copied().collect(),
        (None, None) => version.asks.clone(),
    };
    asked_for(version, &capabilities)?;
    let old = before.map(|before| before.granted.clone()).unwrap_or_default();
    let folders = arguments.limits.folders()?;
    if folders.is_some() && !capabilities.contains(&Capability::Files) {
        return Err(Failure::new(exit::USAGE, "--folder restricts files, which is not granted"));
    }
    if arguments.limits.rewrite && !judges {
        return Err(Failure::new(exit::USAGE, "--rewrite is for gate plugins"));
    }
    let rewrite = arguments.limits.rewrite || (old.rewrite && judges);
    Ok(Granted::to(capabilities).rewriting(rewrite).within(folders.or(old.folders)))
}

/// Makes sure that nothing is granted that is not asked for.
pub(super) fn asked_for(version: &Version, granted: &BTreeSet<Capability>) -> Result<(), Failure> {
    let other: BTreeSet<Capability> = granted.difference(&version.asks).copied().collect();
    match other.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(exit::USAGE, format!("it does not ask for {}", words::names(&other)))),
    }
}

/// What a newer version still asks for of what the one before had.
fn kept(version: &Version, before: &Installed) -> BTreeSet<Capability> {
    version.asks.intersection(&before.granted.capabilities).copied().collect()
}

/// What is put before a person.
pub(super) struct Offer<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a Version,
    pub(super) before: Option<&'a Installed>,
    pub(super) granted: &'a Granted,
}

impl Offer<'_> {
    fn more(&self) -> BTreeSet<Capability> {
        self.before.map(|before| self.version.asks_beyond(before)).unwrap_or_default()
    }

    /// Everything that there is to know before a yes, and the question.
    pub(super) fn question(&self) -> Result<String, Failure> {
        let mut text = Vec::new();
        self.show(&mut text).map_err(Failure::output)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn show(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Offer { name, version, before, granted } = self;
        words::version(out, name, version)?;
        if let Some(before) = before {
            let (old, new) = (words::short(&before.version.digest), words::short(&version.digest));
            if old != new {
                writeln!(out, "  {DIM}replaces{DIM:#}  version {old}")?;
            }
        }
        let more = self.more();
        let fresh: BTreeSet<Capability> = granted.capabilities.intersection(&more).copied().collect();
        let rest: BTreeSet<Capability> = granted.capabilities.difference(&more).copied().collect();
        let refused: BTreeSet<Capability> = version.asks.difference(&granted.capabilities).copied().collect();
        words::capabilities(out, "may", &rest)?;
        words::capabilities(out, "new: may", &fresh)?;
        words::limits(out, granted)?;
        if !refused.is_empty() {
            writeln!(out, "  {DIM}may not{DIM:#}   {}, which it asks for", words::names(&refused))?;
        }
        if version.asks.is_empty() {
            writeln!(out, "  {DIM}asks for{DIM:#}  nothing")?;
        }
        write!(out, "Type {{word}} to let {} do this in every session:", plain(name))
    }
}
