//! Everything of the contract is on its page, with what is said of it; and the page leads nowhere else.

use std::path::Path;

use toolgate_docs::{page, versions};
use wit_parser::{Docs, Resolve, TypeDefKind};

fn contract() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

fn whole() -> String {
    page(&versions(&contract()).expect("the versions"))
}

/// Letters and digits alone: what Markdown and HTML do to a text does not touch them.
fn letters(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "").replace("&amp;", "&");
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The page without its tags.
fn text(page: &str) -> String {
    let outside = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, after)| after));
    letters(&outside.collect::<Vec<_>>().join(" "))
}

/// What follows each occurrence of a text, up to the quote.
fn quoted<'a>(page: &'a str, before: &str) -> Vec<&'a str> {
    page.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Every item that has an anchor, with its doc.
fn items(resolve: &Resolve) -> Vec<(String, &Docs)> {
    let mut items = Vec::new();
    for (_, world) in &resolve.worlds {
        items.push((format!("world.{}", world.name), &world.docs));
    }
    for (id, interface) in &resolve.interfaces {
        let name = interface.name.as_deref().expect("a name");
        items.push((name.to_owned(), &interface.docs));
        items.extend(interface.functions.values().map(|one| (format!("{name}.{}", one.name), &one.docs)));
        for (item, ty) in &interface.types {
            let def = &resolve.types[*ty];
            let at = |part: &str| format!("{name}.{item}.{part}");
            match &def.kind {
                TypeDefKind::Type(wit_parser::Type::Id(other))
                    if resolve.types[*other].owner != wit_parser::TypeOwner::Interface(id) =>
                {
                    continue;
                }
                TypeDefKind::Record(all) => items.extend(all.fields.iter().map(|one| (at(&one.name), &one.docs))),
                TypeDefKind::Variant(all) => items.extend(all.cases.iter().map(|one| (at(&one.name), &one.docs))),
                TypeDefKind::Enum(all) => items.extend(all.cases.iter().map(|one| (at(&one.name), &one.docs))),
                _ => {}
            }
            items.push((format!("{name}.{item}"), &def.docs));
        }
    }
    items
}

#[test]
fn every_item_is_there_with_what_is_said_of_it() {
    let page = whole();
    let anchors = quoted(&page, " id=\"");
    let shown = text(&page);
    let mut resolve = Resolve::default();
    resolve.push_dir(contract().join("v0.1")).expect("the contract");
    let items = items(&resolve);
    assert!(items.len() > 200, "{} items", items.len());
    for (anchor, docs) in items {
        assert!(anchors.contains(&format!("0.1.0.{anchor}").as_str()), "{anchor} is not on the page");
        let docs = letters(docs.contents.as_deref().unwrap_or_default());
        assert!(!docs.is_empty() && shown.contains(&docs), "what is said of {anchor} is not on the page: {docs}");
    }
}

#[test]
fn every_link_leads_to_an_item_of_the_page() {
    let page = whole();
    let anchors = quoted(&page, " id=\"");
    let links = quoted(&page, "href=\"");
    assert!(links.len() > 300, "{} links", links.len());
    for link in &links {
        let anchor = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads outside"));
        assert!(anchors.contains(&anchor), "{link} leads nowhere");
    }
    let mut once = anchors.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), anchors.len(), "an anchor is there twice");
    assert!(!page.contains("src=") && !page.contains("url(") && !page.contains("@import"), "it needs something else");
}

#[test]
fn names_in_a_doc_are_links_and_markup_is_text() {
    let folder = std::env::temp_dir().join(format!("toolgate-docs-{}", std::process::id()));
    let version = folder.join("v7");
    std::fs::create_dir_all(&version).expect("a folder");
    let wit = "/// Wise <script>alert(1)</script> & *much*\npackage a:b@7.0.0;\n/// See `two.go`, `go`, `point` and `nothing`.\n\
               interface one { /// Goes.\n go: func(to: option<string>) -> result<_, string>; }\n\
               interface two { record point { x: u8 } go: func(at: point); }\n";
    std::fs::write(version.join("a.wit"), wit).expect("a file");
    let open = page(&versions(&folder).expect("the version"));
    std::fs::write(version.join("frozen"), "").expect("a file");
    let frozen = page(&versions(&folder).expect("the version"));
    std::fs::remove_dir_all(&folder).expect("nothing is left");
    for (expected, there) in [
        ("Wise &lt;script&gt;alert(1)&lt;/script&gt; &amp; <em>much</em>", true),
        ("<script", false),
        ("<a href=\"#7.0.0.two.go\"><code>two.go</code></a>", true),
        ("<a href=\"#7.0.0.one.go\"><code>go</code></a>", true),
        ("<code>nothing</code>", true),
        ("go: func(to: option&lt;string&gt;) -&gt; result&lt;_, string&gt;", true),
        ("go: func(at: <a href=\"#7.0.0.two.point\">point</a>)", true),
        ("Open: it may still change.", true),
    ] {
        assert_eq!(open.contains(expected), there, "{expected}");
    }
    assert!(frozen.contains("Frozen: it stays as it is.") && !frozen.contains("Open:"));
}

#[test]
fn a_folder_that_holds_no_version_is_said() {
    let Err(error) = versions(Path::new("/nonexistent")) else { panic!("it was read") };
    assert!(error.starts_with("/nonexistent: "), "{error}");
}
