//! What a plugin may do: given, taken back, and the end of it.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::plugin::store::{Store, installed, same};
use toolgate_host::{Capability, Granted};

use super::add::{Offer, asked_for};
use super::{Grant, REWRITE, Revoke, words};
use crate::{confirmation, output};

pub(super) fn grant(arguments: &Grant) -> Result<ExitCode, Failure> {
    // First, so that an agent learns nothing here but that.
    confirmation::present("nothing can be granted here")?;
    let store = Store::of_user()?;
    let before = installed(&store, &arguments.name)?;
    let version = before.held.as_ref().unwrap_or(&before.version);
    let wanted: BTreeSet<Capability> = match arguments.capabilities.as_slice() {
        [] => version.asks.clone(),
        named => named.iter().copied().collect(),
    };
    asked_for(version, &wanted)?;
    let old = &before.granted;
    let capabilities = old.capabilities.union(&wanted).filter(|one| version.asks.contains(one)).copied();
    let folders = arguments.limits.folders()?.or_else(|| old.folders.clone());
    let granted = Granted::to(capabilities).rewriting(old.rewrite || arguments.limits.rewrite).within(folders);
    if granted == *old && before.held.is_none() {
        return said(&format!("{} already has these grants", before.name));
    }
    // What is damaged is said before anybody agrees to it.
    store.component(&before.name, version)?;
    let offer = Offer { name: &before.name, version, before: Some(&before), granted: &granted };
    confirmation::agrees(&offer.question()?, "nothing was granted")?;
    store.update(|all| {
        let one = same(all, &before)?;
        (one.version, one.granted, one.held) = (version.clone(), granted.clone(), None);
        Ok(())
    })?;
    let name = &before.name;
    said(&format!("{name} is active; toolgate plugin revoke {name} revokes its grants"))
}

/// It forbids the plugin more, and what judges goes on to judge; but one that sees less may let more pass.
pub(super) fn revoke(arguments: &Revoke) -> Result<ExitCode, Failure> {
    // First, so that an agent learns nothing here but that.
    confirmation::present("nothing can be revoked here")?;
    let store = Store::of_user()?;
    let name = &installed(&store, &arguments.name)?.name;
    store.update(|all| {
        let missing = || Failure::new(exit::NO_INPUT, format!("no plugin named {name} is installed"));
        let granted = &mut all.iter_mut().find(|one| one.name == *name).ok_or_else(missing)?.granted;
        if arguments.capabilities.is_empty() {
            (granted.capabilities, granted.rewrite) = (BTreeSet::new(), false);
        }
        for one in &arguments.capabilities {
            let had = match Capability::named(one) {
                Some(capability) => granted.capabilities.remove(&capability),
                None => one == REWRITE && std::mem::take(&mut granted.rewrite),
            };
            if !had {
                return Err(Failure::new(exit::NO_INPUT, format!("{name} was not granted {one}")));
            }
        }
        Ok(())
    })?;
    let what =
        if arguments.capabilities.is_empty() { "everything".to_owned() } else { arguments.capabilities.join(", ") };
    said(&format!("{what} revoked; {name} stays installed and works without it"))
}

pub(super) fn remove(name: &str) -> Result<ExitCode, Failure> {
    // First, so that an agent learns nothing here but that.
    confirmation::present("no plugin can be removed here")?;
    let store = Store::of_user()?;
    let before = installed(&store, name)?;
    let mut text = Vec::new();
    words::version(&mut text, name, &before.version).map_err(Failure::output)?;
    let question =
        format!("{}Calls are then evaluated without it.\nType {{word}} to remove it:", String::from_utf8_lossy(&text));
    confirmation::agrees(&question, "no plugin was removed")?;
    store.update(|all| {
        same(all, &before)?;
        all.retain(|one| one.name != name);
        Ok(())
    })?;
    said(&format!("{name} removed"))
}

fn said(text: &str) -> Result<ExitCode, Failure> {
    output::told(writeln!(anstream::stdout(), "{text}"))?;
    Ok(ExitCode::SUCCESS)
}
