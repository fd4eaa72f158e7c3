//! Reference pages that are generated: the contract as one HTML page with every world, interface, function and type and their
//! docs, and the generated pages of the [book].
//!
//! The page of the contract needs nothing but itself. `wit-bindgen-markdown` writes a page for one world; the contract has several.

pub mod book;
mod escape;
mod html;
mod prose;

use std::path::Path;

use wit_parser::{Interface, PackageId, Resolve, World, WorldItem};

use escape::escape;
use html::Page;

/// A version of the contract.
pub struct Version {
    resolve: Resolve,
    package: PackageId,
    frozen: bool,
}

impl Version {
    /// Reads the version that a folder holds. A file `frozen` in it says that it stays as it is.
    ///
    /// # Errors
    /// The folder holds no package, or one that does not parse.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(folder).map_err(|error| format!("{}: {error:#}", folder.display()))?;
        Ok(Version { resolve, package, frozen: folder.join("frozen").exists() })
    }

    /// What begins every anchor of this version, like `0.1.0`.
    pub fn number(&self) -> String {
        let name = &self.resolve.packages[self.package].name;
        name.version.as_ref().map_or_else(|| name.name.clone(), ToString::to_string)
    }

    fn docs(&self) -> Option<&str> {
        self.resolve.packages[self.package].docs.contents.as_deref()
    }

    fn worlds(&self) -> impl Iterator<Item = &World> {
        self.resolve.packages[self.package].worlds.values().map(|id| &self.resolve.worlds[*id])
    }

    fn interfaces(&self) -> impl Iterator<Item = (&str, &Interface)> {
        let all = self.resolve.packages[self.package].interfaces.iter();
        all.map(|(name, id)| (name.as_str(), &self.resolve.interfaces[*id]))
    }

    /// The names of a world's imports or exports that are interfaces.
    fn names<'a>(&'a self, items: impl Iterator<Item = &'a WorldItem>) -> Vec<&'a str> {
        let interface = |item: &WorldItem| match item {
            WorldItem::Interface { id, .. } => self.resolve.interfaces[*id].name.as_deref(),
            _ => None,
        };
        items.filter_map(interface).collect()
    }
}

/// The versions in the folders of a folder, the newest first.
///
/// # Errors
/// The folder cannot be read, or one in it does not hold a version.
pub fn versions(folder: &Path) -> Result<Vec<Version>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(unreadable)?.collect();
    let mut folders: Vec<_> = entries.map_err(unreadable)?.iter().map(std::fs::DirEntry::path).collect();
    // Others are packages of their own, which describe themselves.
    let is_version = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"v"));
    folders.retain(|path| path.is_dir() && is_version(path));
    let versions: Result<Vec<_>, _> = folders.iter().map(|path| Version::read(path)).collect();
    let mut versions = versions?;
    versions.sort_by(|one, other| {
        let of = |version: &Version| version.resolve.packages[version.package].name.version.clone();
        of(other).cmp(&of(one))
    });
    Ok(versions)
}

/// All of it as one HTML page.
pub fn page(versions: &[Version]) -> String {
    let contents: String = versions.iter().map(contents).collect();
    let body: String = versions.iter().map(|version| Page::new(version).whole()).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Toolgate: the contract</title>\n\
         <style>\n{}</style>\n<nav>\n{contents}</nav>\n<main>\n<h1>Toolgate: the contract</h1>\n{body}</main>\n</html>\n",
        include_str!("page.css")
    )
}

/// All of it as HTML for a page of Markdown, where an empty line would end it.
pub fn fragment(versions: &[Version]) -> String {
    let body: String = versions.iter().map(|version| Page::new(version).whole()).collect();
    let lines =
        body.lines().map(|line| if line.trim().is_empty() { "<!-- -->\n".to_owned() } else { format!("{line}\n") });
    lines.collect()
}

fn contents(version: &Version) -> String {
    let number = version.number();
    let link = |anchor: String, name: &str| format!("<li><a href=\"#{anchor}\">{}</a></li>\n", escape(name));
    let worlds = version.worlds().map(|world| link(format!("{number}.world.{}", world.name), &world.name));
    let interfaces = version.interfaces().map(|(name, _)| link(format!("{number}.{name}"), name));
    format!(
        "<b><a href=\"#{number}\">{number}</a></b>\n<p>Worlds</p>\n<ul>\n{}</ul>\n<p>Interfaces</p>\n<ul>\n{}</ul>\n",
        worlds.collect::<String>(),
        interfaces.collect::<String>()
    )
}
