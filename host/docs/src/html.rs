//! A version of the contract as HTML. Anchors are `VERSION.INTERFACE.ITEM.PART` and `VERSION.world.WORLD`.

use std::collections::HashSet;

use wit_parser::{Docs, Function, Handle, Interface, Type, TypeDef, TypeDefKind, TypeId, TypeOwner, World};

use crate::Version;
use crate::escape::escape;
use crate::prose::prose;

pub(super) struct Page<'a> {
    version: &'a Version,
    number: String,
    /// Every anchor of an interface or of something in it, without the version.
    anchors: HashSet<String>,
}

impl<'a> Page<'a> {
    pub(super) fn new(version: &'a Version) -> Self {
        let mut anchors = HashSet::new();
        for (name, interface) in version.interfaces() {
            anchors.insert(name.to_owned());
            anchors.extend(interface.functions.keys().map(|function| format!("{name}.{function}")));
            for (item, id) in &interface.types {
                let def = &version.resolve.types[*id];
                if !borrowed(version, def) {
                    anchors.insert(format!("{name}.{item}"));
                    anchors.extend(parts(def).into_iter().map(|part| format!("{name}.{item}.{}", part.name)));
                }
            }
        }
        Page { version, number: version.number(), anchors }
    }

    /// All of the version.
    pub(super) fn whole(&self) -> String {
        let number = &self.number;
        let state = if self.version.frozen { "Frozen: it stays as it is." } else { "Open: it may still change." };
        let worlds: String = self.version.worlds().map(|world| self.world(world)).collect();
        let interfaces: String = self.version.interfaces().map(|(name, one)| self.interface(name, one)).collect();
        format!(
            "<h2 id=\"{number}\">Version {number}</h2>\n<p class=\"state\">{state}</p>\n{}{worlds}{interfaces}",
            prose(self.version.docs(), |name| self.find("", name))
        )
    }

    fn world(&self, world: &World) -> String {
        let list = |title: &str, names: Vec<&str>| {
            let links: Vec<_> = names.into_iter().map(|name| self.link(name, name)).collect();
            let links = if links.is_empty() { "nothing".to_owned() } else { links.join(", ") };
            format!("<dt>{title}</dt><dd>{links}</dd>\n")
        };
        format!(
            "<section id=\"{}.world.{}\">\n<h3><i>world</i> {}</h3>\n{}<dl class=\"row\">\n{}{}</dl>\n</section>\n",
            self.number,
            world.name,
            escape(&world.name),
            prose(world.docs.contents.as_deref(), |name| self.find("", name)),
            list("imports", self.version.names(world.imports.values())),
            list("exports", self.version.names(world.exports.values())),
        )
    }

    fn interface(&self, name: &str, interface: &Interface) -> String {
        let own = interface.types.iter().map(|(item, id)| (item, &self.version.resolve.types[*id]));
        let own = own.filter(|(_, def)| !borrowed(self.version, def));
        let types: String = own.map(|(item, def)| self.type_item(name, item, def)).collect();
        let functions: String = interface.functions.values().map(|one| self.function(name, one)).collect();
        format!(
            "<section id=\"{}.{name}\">\n<h3><i>interface</i> {}</h3>\n{}{}{functions}{types}</section>\n",
            self.number,
            escape(name),
            self.used_by(name),
            self.docs(name, &interface.docs),
        )
    }

    /// Which worlds import or export an interface. What all of them use for its types only says nothing.
    fn used_by(&self, name: &str) -> String {
        let worlds = |title: &str, uses: &dyn Fn(&World) -> Vec<&'a str>| {
            let using = self.version.worlds().filter(|world| uses(world).contains(&name));
            let link = |world: &World| format!("<a href=\"#{}.world.{}\">{}</a>", self.number, world.name, world.name);
            let links: Vec<_> = using.map(link).collect();
            if links.is_empty() { String::new() } else { format!("{title} {}. ", links.join(", ")) }
        };
        let imported = worlds("Imported by", &|world| self.version.names(self.items(world, true)));
        let exported = worlds("Exported by", &|world| self.version.names(self.items(world, false)));
        if imported.is_empty() && exported.is_empty() {
            return String::new();
        }
        format!("<p class=\"state\">{imported}{exported}</p>\n")
    }

    fn items(&self, world: &World, imports: bool) -> impl Iterator<Item = &'a wit_parser::WorldItem> + use<'a> {
        let found = self.version.worlds().find(|one| one.name == world.name);
        found.into_iter().flat_map(move |world| if imports { world.imports.values() } else { world.exports.values() })
    }

    fn function(&self, interface: &str, function: &Function) -> String {
        let params: Vec<_> =
            function.params.iter().map(|param| format!("{}: {}", escape(&param.name), self.name(&param.ty))).collect();
        let result = function.result.as_ref().map_or_else(String::new, |ty| format!(" -&gt; {}", self.name(ty)));
        let name = &function.name;
        format!(
            "<article id=\"{}.{interface}.{name}\">\n<h4><code>{}: func({}){result}</code></h4>\n{}</article>\n",
            self.number,
            escape(name),
            params.join(", "),
            self.docs(interface, &function.docs),
        )
    }

    fn type_item(&self, interface: &str, name: &str, def: &TypeDef) -> String {
        let number = &self.number;
        let is = match &def.kind {
            TypeDefKind::Type(ty) => format!(" = {}", self.name(ty)),
            _ if parts(def).is_empty() => format!(" = {}", self.shape(def)),
            _ => String::new(),
        };
        let part = |part: &Part<'_>| {
            let ty = part.ty.map_or_else(String::new, |ty| {
                let ty = self.name(ty);
                if part.case { format!("({ty})") } else { format!(": {ty}") }
            });
            format!(
                "<dt id=\"{number}.{interface}.{name}.{}\"><code>{}{ty}</code></dt>\n<dd>{}</dd>\n",
                part.name,
                escape(part.name),
                self.docs(interface, part.docs)
            )
        };
        let parts: String = parts(def).iter().map(part).collect();
        let parts = if parts.is_empty() { parts } else { format!("<dl>\n{parts}</dl>\n") };
        format!(
            "<article id=\"{number}.{interface}.{name}\">\n<h4><i>{}</i> <code>{}{is}</code></h4>\n{}{parts}</article>\n",
            def.kind.as_str(),
            escape(name),
            self.docs(interface, &def.docs),
        )
    }

    fn docs(&self, interface: &str, docs: &Docs) -> String {
        prose(docs.contents.as_deref(), |name| self.find(interface, name))
    }

    /// Where a name leads that is said in an interface: to something of its own, or to something of any interface's.
    fn find(&self, interface: &str, name: &str) -> Option<String> {
        let of_types = format!("types.{name}");
        let named = [format!("{interface}.{name}"), name.to_owned(), of_types];
        named.into_iter().find(|anchor| self.anchors.contains(anchor)).map(|anchor| format!("{}.{anchor}", self.number))
    }

    fn link(&self, anchor: &str, text: &str) -> String {
        format!("<a href=\"#{}.{anchor}\">{}</a>", self.number, escape(text))
    }

    /// A type as WIT writes it, with links.
    fn name(&self, ty: &Type) -> String {
        let Type::Id(id) = ty else { return primitive(ty).to_owned() };
        let def = &self.version.resolve.types[origin(self.version, *id)];
        match (&def.name, def.owner) {
            (Some(name), TypeOwner::Interface(owner)) => {
                let owner = self.version.resolve.interfaces[owner].name.as_deref().unwrap_or_default();
                self.link(&format!("{owner}.{name}"), name)
            }
            _ => self.shape(def),
        }
    }

    fn shape(&self, def: &TypeDef) -> String {
        let of = |name: &str, types: &[Option<&Type>]| {
            let types: Vec<_> = types.iter().map(|ty| ty.map_or_else(|| "_".to_owned(), |ty| self.name(ty))).collect();
            format!("{name}&lt;{}&gt;", types.join(", "))
        };
        match &def.kind {
            TypeDefKind::Option(ty) => of("option", &[Some(ty)]),
            TypeDefKind::List(ty) => of("list", &[Some(ty)]),
            TypeDefKind::Map(key, value) => of("map", &[Some(key), Some(value)]),
            TypeDefKind::FixedLengthList(ty, length) => format!("list&lt;{}, {length}&gt;", self.name(ty)),
            TypeDefKind::Tuple(tuple) => of("tuple", &tuple.types.iter().map(Some).collect::<Vec<_>>()),
            TypeDefKind::Result(result) => match (&result.ok, &result.err) {
                (None, None) => "result".to_owned(),
                (ok, None) => of("result", &[ok.as_ref()]),
                (ok, err) => of("result", &[ok.as_ref(), err.as_ref()]),
            },
            TypeDefKind::Future(ty) => of("future", &[ty.as_ref()]),
            TypeDefKind::Stream(ty) => of("stream", &[ty.as_ref()]),
            TypeDefKind::Handle(Handle::Own(id)) => self.name(&Type::Id(*id)),
            TypeDefKind::Handle(Handle::Borrow(id)) => of("borrow", &[Some(&Type::Id(*id))]),
            TypeDefKind::Type(ty) => self.name(ty),
            kind => kind.as_str().to_owned(),
        }
    }
}

/// A field or a case.
struct Part<'a> {
    name: &'a str,
    ty: Option<&'a Type>,
    docs: &'a Docs,
    case: bool,
}

fn parts(def: &TypeDef) -> Vec<Part<'_>> {
    let part = |name, ty, docs, case| Part { name, ty, docs, case };
    match &def.kind {
        TypeDefKind::Record(all) => {
            all.fields.iter().map(|one| part(one.name.as_str(), Some(&one.ty), &one.docs, false)).collect()
        }
        TypeDefKind::Variant(all) => {
            all.cases.iter().map(|one| part(one.name.as_str(), one.ty.as_ref(), &one.docs, true)).collect()
        }
        TypeDefKind::Enum(all) => all.cases.iter().map(|one| part(one.name.as_str(), None, &one.docs, true)).collect(),
        TypeDefKind::Flags(all) => all.flags.iter().map(|one| part(one.name.as_str(), None, &one.docs, true)).collect(),
        _ => Vec::new(),
    }
}

/// Whether an interface has a type by `use` alone.
fn borrowed(version: &Version, def: &TypeDef) -> bool {
    matches!(&def.kind, TypeDefKind::Type(Type::Id(id)) if version.resolve.types[*id].owner != def.owner)
}

/// Where a type that is used was made.
fn origin(version: &Version, mut id: TypeId) -> TypeId {
    while let def = &version.resolve.types[id]
        && let (true, TypeDefKind::Type(Type::Id(inner))) = (borrowed(version, def), &def.kind)
    {
        id = *inner;
    }
    id
}

fn primitive(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S8 => "s8",
        Type::S16 => "s16",
        Type::S32 => "s32",
        Type::S64 => "s64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Char => "char",
        Type::String => "string",
        Type::ErrorContext => "error-context",
        Type::Id(_) => "",
    }
}
