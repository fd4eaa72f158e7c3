//! Statements: imports, loops, functions, and what each language has of its own.

use super::arguments::Args;
use super::classes::is_maker;
use super::cursor::Cursor;
use super::evaluator::Evaluator;
use super::tables::exported;
use super::tokens::{Kind, Token};
use super::value::Value;
use super::{Language, ScriptEffectKind, code};

impl Evaluator {
    pub(super) fn statement(&mut self, c: &mut Cursor<'_>) -> Value {
        if matches!(c.kind(), Some(Kind::Line | Kind::Mark(";" | "," | ")" | "]" | "}"))) {
            c.at += 1;
            return Value::Unknown;
        }
        let found = match self.language {
            Language::Python => self.python_statement(c),
            Language::Node => self.node_statement(c),
            Language::Perl => self.perl_statement(c),
            Language::Ruby => self.ruby_statement(c),
            _ => self.php_statement(c),
        };
        if let Some(value) = found {
            return value;
        }
        // `a, b = 1, 2`
        if matches!(self.language, Language::Python | Language::Ruby)
            && c.name().is_some()
            && c.mark_at(1) == Some(",")
            && let Some(equals) = several_targets(c)
        {
            let from = c.at;
            c.at = equals + 1;
            let value = self.tuple(c);
            self.bind(&c.part(from, equals), value);
            return Value::Unknown;
        }
        let before = c.at;
        let value = self.expression(c, 0);
        if self.language == Language::Python {
            if c.at > before && c.eat_name("as") {
                let from = c.at;
                if c.mark() == Some("(") {
                    c.at = c.close() + 1;
                } else {
                    c.at += 1;
                }
                self.bind(&c.part(from, c.at), value);
                return Value::Unknown;
            }
            if c.at > before && c.mark() == Some(",") {
                return self.tuple_after(c, value);
            }
        }
        value
    }

    pub(super) fn tuple(&mut self, c: &mut Cursor<'_>) -> Value {
        let value = self.expression(c, 2);
        self.tuple_after(c, value)
    }

    fn tuple_after(&mut self, c: &mut Cursor<'_>, value: Value) -> Value {
        if c.mark() != Some(",") {
            return value;
        }
        let mut values = vec![value];
        while c.eat(",") {
            let before = c.at;
            let value = self.expression(c, 2);
            if c.at == before {
                break;
            }
            values.push(value);
        }
        Value::List(values)
    }

    fn python_statement(&mut self, c: &mut Cursor<'_>) -> Option<Value> {
        let name = c.name()?;
        match name {
            "import" => {
                self.python_import(c);
                Some(Value::Unknown)
            }
            "from" => {
                self.python_from(c);
                Some(Value::Unknown)
            }
            "for" => {
                self.python_for(c);
                Some(Value::Unknown)
            }
            "def" => {
                self.python_def(c);
                Some(Value::Unknown)
            }
            "class" => {
                self.class_begins(c);
                c.at += 2;
                Some(Value::Unknown)
            }
            "return" => {
                c.at += 1;
                let value = if matches!(c.kind(), Some(Kind::Line) | None) { Value::Unknown } else { self.tuple(c) };
                Some(self.give(value))
            }
            "with" if self.moves_within(c) => Some(Value::Unknown),
            "if" | "elif" | "else" | "while" | "try" | "except" | "finally" | "with" | "assert" | "raise" | "async"
            | "global" | "nonlocal" | "pass" => {
                c.at += 1;
                c.eat(":");
                Some(Value::Unknown)
            }
            // What another generator gives, this one does too.
            "yield" => {
                c.at += 1;
                let all = c.eat_name("from");
                let value = if matches!(c.kind(), Some(Kind::Line) | None) { Value::Unknown } else { self.tuple(c) };
                Some(self.give(if all { value } else { Value::List(vec![value]) }))
            }
            "del" => {
                self.python_del(c);
                Some(Value::Unknown)
            }
            "print" if matches!(c.tokens.list.get(c.at + 1).map(|token| &token.kind), Some(Kind::Text(_))) => {
                c.at += 1;
                Some(Value::Unknown)
            }
            // Python 2.
            "exec" if matches!(c.tokens.list.get(c.at + 1).map(|token| &token.kind), Some(Kind::Text(_))) => {
                let from = c.at;
                c.at += 1;
                let value = self.expression(c, 2);
                let at = c.span(from + 1);
                Some(self.call_named("exec", Args::of(vec![value], at)))
            }
            _ if c.mark_at(1) == Some(":") => self.annotated(c),
            _ => None,
        }
    }

    /// `import a.b as c, d`
    fn python_import(&mut self, c: &mut Cursor<'_>) {
        c.at += 1;
        loop {
            let module = self.dotted(c);
            let root = module.split('.').next().unwrap_or_default().to_owned();
            code::imported(self, &module);
            if c.eat_name("as") {
                if let Some(name) = c.name() {
                    self.set(name, Value::name(&module));
                }
                c.at += 1;
            } else if !root.is_empty() {
                self.set(&root, Value::name(&root));
            }
            if !c.eat(",") {
                return;
            }
        }
    }

    /// `from a import b as c, d`
    fn python_from(&mut self, c: &mut Cursor<'_>) {
        c.at += 1;
        let module = self.dotted(c);
        if !c.eat_name("import") {
            return;
        }
        code::imported(self, &module);
        c.eat("(");
        loop {
            if c.eat("*") {
                for name in exported(&module) {
                    self.set(name, Value::Name(format!("{module}.{name}")));
                }
            }
            let Some(name) = c.name() else { break };
            c.at += 1;
            // It may be a module of that package.
            code::loads(self, &format!("{}.{name}", module.trim_end_matches('.')));
            let full = Value::Name(format!("{module}.{name}"));
            if c.eat_name("as") {
                if let Some(name) = c.name() {
                    self.set(name, full);
                }
                c.at += 1;
            } else {
                self.set(name, full);
            }
            if !c.eat(",") {
                break;
            }
        }
        c.eat(")");
    }

    fn python_def(&mut self, c: &mut Cursor<'_>) {
        c.at += 1;
        let name = c.name().unwrap_or_default().to_owned();
        c.at += 1;
        let parameters = self.parameters(c);
        while c.at < c.end && !matches!(c.kind(), Some(Kind::Mark(":") | Kind::Line)) {
            c.at += 1;
        }
        c.eat(":");
        let to = self.python_block(c);
        let of_object = matches!(c.tokens.name(parameters.start), Some("self" | "cls"));
        let function = self.function(c, parameters, to);
        if let Value::Function(made) = &function
            && of_object
        {
            self.classes.define(self.language, &name, made);
        }
        if self.unused.contains(&name) {
            self.skip(&function);
        }
        self.set(&name, function);
    }

    fn python_del(&mut self, c: &mut Cursor<'_>) {
        c.at += 1;
        let mut end = c.at;
        while end < c.end
            && !matches!(c.tokens.list.get(end).map(|token| &token.kind), Some(Kind::Line | Kind::Mark(";")))
            && self.step()
        {
            end += 1;
        }
        self.spoil_items(&c.part(c.at, end));
    }

    /// `name: type = value`
    fn annotated(&mut self, c: &mut Cursor<'_>) -> Option<Value> {
        let mut at = c.at + 2;
        while at < c.end && at < c.at + 20 {
            match c.tokens.list.get(at).map(|token| &token.kind) {
                Some(Kind::Mark("=")) => {
                    let from = c.at;
                    c.at = at + 1;
                    let value = self.tuple(c);
                    self.bind(&c.part(from, from + 1), value);
                    return Some(Value::Unknown);
                }
                Some(Kind::Mark("[")) => at = c.close_of(at) + 1,
                Some(Kind::Name(_) | Kind::Mark("." | "|")) => at += 1,
                _ => break,
            }
        }
        None
    }

    /// `for a, b in values`, up to the end of the values. Gives how many there are, if that is known.
    pub(super) fn python_for(&mut self, c: &mut Cursor<'_>) -> Option<usize> {
        c.at += 1;
        let from = c.at;
        while c.at < c.end && c.name() != Some("in") && !matches!(c.kind(), Some(Kind::Line | Kind::Mark(":"))) {
            c.at += 1;
        }
        let targets = c.part(from, c.at);
        if !c.eat_name("in") {
            return None;
        }
        let values = self.tuple(c);
        let count = values.count();
        self.bind(&targets, Value::choice(values.elements(Language::Python)));
        count
    }

    /// `with contextlib.chdir(folder):` reads its block, and comes back at its end. Whether it is one.
    fn moves_within(&mut self, c: &mut Cursor<'_>) -> bool {
        let colon = (c.at..c.end.min(c.at + 64)).find(|at| c.tokens.mark(*at) == Some(":"));
        let Some(colon) = colon.filter(|colon| (c.at..*colon).any(|at| c.tokens.name(at) == Some("chdir"))) else {
            return false;
        };
        let at = c.span(c.at);
        let before = self.effects.len();
        self.run(&mut c.part(c.at + 1, colon));
        c.at = colon + 1;
        let to = self.python_block(c);
        self.run(&mut c.part(c.at, to));
        c.at = to;
        let of_block = self.effects.get(before..).unwrap_or_default().iter();
        let moved = of_block.fold(0_usize, |moved, effect| match effect.what {
            ScriptEffectKind::Chdir(_) => moved + 1,
            ScriptEffectKind::Return => moved.saturating_sub(1),
            _ => moved,
        });
        for _ in 0..moved {
            self.effect(ScriptEffectKind::Return, &at);
        }
        true
    }

    /// Where the block behind the colon here ends.
    fn python_block(&mut self, c: &Cursor<'_>) -> usize {
        // Everything that is indented as its first line is, or more; or the rest of the line.
        let block = matches!(c.kind(), Some(Kind::Line));
        let inner = c.token().map_or(0, |token| token.indent);
        let mut at = c.at + usize::from(block);
        while at < c.end && self.step() {
            if let Some(Token { kind: Kind::Line, indent, .. }) = c.tokens.list.get(at)
                && (!block || *indent < inner)
            {
                break;
            }
            at += 1;
        }
        at
    }

    pub(super) fn dotted(&mut self, c: &mut Cursor<'_>) -> String {
        let mut module = String::new();
        while matches!(c.mark(), Some("." | "...")) {
            c.at += 1;
            module.push('.');
        }
        while let Some(name) = c.name().filter(|name| !matches!(*name, "import" | "as")) {
            if module.len() < 200 {
                module.push_str(name);
            }
            c.at += 1;
            if !c.eat(".") {
                break;
            }
            module.push('.');
        }
        module
    }

    fn node_statement(&mut self, c: &mut Cursor<'_>) -> Option<Value> {
        let name = c.name()?;
        match name {
            "const" | "let" | "var" | "export" | "default" | "else" | "do" | "try" | "finally" | "case" | "throw"
            | "debugger" | "break" | "continue"
                if c.mark_at(1).is_none_or(|mark| matches!(mark, "{" | "[" | ";" | "(" | "-" | "!" | "`")) =>
            {
                c.at += 1;
                if c.mark() == Some("{") && !matches!(name, "const" | "let" | "var") {
                    return Some(self.braces(c));
                }
                Some(Value::Unknown)
            }
            "if" | "while" | "switch" | "with" | "catch" | "for" if self.after_await(c) => {
                c.at += 1;
                c.eat_name("await");
                if name == "for" || name == "catch" {
                    self.node_for(c);
                } else {
                    self.paren(c);
                }
                Some(Value::Unknown)
            }
            "return" => {
                c.at += 1;
                let value = if matches!(c.kind(), Some(Kind::Line | Kind::Mark(";" | "}")) | None) {
                    Value::Unknown
                } else {
                    self.expression(c, 0)
                };
                Some(self.give(value))
            }
            "class" => {
                self.class_begins(c);
                c.at += 1;
                while c.at < c.end && c.mark() != Some("{") {
                    c.at += 1;
                }
                Some(self.braces(c))
            }
            "import" if !matches!(c.mark_at(1), Some("(" | ".")) => {
                c.at += 1;
                let from = c.at;
                while c.at < c.end && !matches!(c.kind(), Some(Kind::Text(_) | Kind::Mark(";"))) {
                    c.at += 1;
                }
                let to = c.at;
                let module = self.expression(c, 2);
                let module = code::require(self, &module);
                self.node_import(&c.part(from, to), &module);
                Some(Value::Unknown)
            }
            _ => None,
        }
    }

    fn after_await(&self, c: &Cursor<'_>) -> bool {
        c.mark_at(1) == Some("(") || c.name_at(1) == Some("await") || c.name() == Some("catch")
    }

    /// `a, * as b, { c, d as e } from`
    fn node_import(&mut self, names: &Cursor<'_>, module: &Value) {
        let mut c = names.part(names.at, names.end);
        let mut inside = false;
        while c.at < c.end {
            match (c.mark(), c.name()) {
                (Some("{"), _) => inside = true,
                (Some("}"), _) => inside = false,
                (Some("*"), _) if c.name_at(1) == Some("as") => {
                    c.at += 2;
                    if let Some(name) = c.name() {
                        self.set(name, module.clone());
                    }
                }
                (_, Some("from")) => {}
                (_, Some(name)) if inside => {
                    let member = self.member(module.clone(), name);
                    if c.name_at(1) == Some("as") {
                        c.at += 2;
                    }
                    if let Some(name) = c.name() {
                        self.set(name, if member.known() == Some("default") { module.clone() } else { member });
                    }
                }
                (_, Some(name)) => self.set(name, module.clone()),
                _ => {}
            }
            c.at += 1;
        }
    }

    /// `(const p of values)`, or any other head of a loop.
    fn node_for(&mut self, c: &mut Cursor<'_>) {
        if c.mark() != Some("(") {
            return;
        }
        let close = c.close();
        let mut head = c.part(c.at + 1, close);
        c.at = close + 1;
        if matches!(head.name(), Some("const" | "let" | "var")) {
            head.at += 1;
        }
        let from = head.at;
        if matches!(head.mark(), Some("[" | "{")) {
            head.at = head.close() + 1;
        } else {
            head.at += 1;
        }
        let targets = head.part(from, head.at);
        match head.name() {
            Some("of") => {
                head.at += 1;
                let values = self.expression(&mut head, 0);
                self.bind(&targets, Value::choice(values.items()));
            }
            Some("in") => {
                head.at += 1;
                self.expression(&mut head, 0);
                self.bind(&targets, Value::Unknown);
            }
            _ => {
                head.at = from;
                self.run(&mut head);
            }
        }
    }

    fn perl_statement(&mut self, c: &mut Cursor<'_>) -> Option<Value> {
        // `unlink $_ for @files;`
        if let Some(at) = postfix_for(c) {
            let mut list = c.part(at + 1, c.end);
            let values = self.expression(&mut list, 1);
            let rest = list.at;
            let saved = self.variables.insert("$_".to_owned(), Value::choice(values.items()));
            self.run(&mut c.part(c.at, at));
            self.restore("$_", saved);
            c.at = rest;
            return Some(Value::Unknown);
        }
        let name = c.name()?;
        match name {
            "use" | "no" => {
                c.at += 1;
                let module = c.name().unwrap_or_default();
                if name == "use" {
                    code::imported(self, module);
                }
                while c.at < c.end && c.mark() != Some(";") {
                    c.at += 1;
                }
                Some(Value::Unknown)
            }
            "package" => {
                c.at += 2;
                Some(Value::Unknown)
            }
            "sub" if c.name_at(1).is_some() => {
                let name = c.name_at(1).unwrap_or_default().to_owned();
                c.at += 2;
                let function = self.perl_function(c);
                self.set(&name, function);
                Some(Value::Unknown)
            }
            "my" | "our" | "local" | "state" => {
                c.at += 1;
                None
            }
            "for" | "foreach" => {
                c.at += 1;
                if matches!(c.name(), Some("my" | "our" | "state")) {
                    c.at += 1;
                }
                let variable = c.name().filter(|name| name.starts_with('$')).unwrap_or("$_").to_owned();
                c.at += usize::from(c.name().is_some());
                if c.mark() != Some("(") {
                    return Some(Value::Unknown);
                }
                let values = self.paren(c);
                let values = if matches!(values, Value::List(_)) { values } else { Value::List(vec![values]) };
                let saved = self.variables.insert(variable.clone(), Value::choice(values.items()));
                if c.mark() == Some("{") {
                    self.braces(c);
                }
                self.restore(&variable, saved);
                Some(Value::Unknown)
            }
            "if" | "unless" | "while" | "until" | "elsif" => {
                c.at += 1;
                if c.mark() == Some("(") {
                    self.paren(c);
                }
                Some(Value::Unknown)
            }
            "else" | "BEGIN" | "END" | "continue" => {
                c.at += 1;
                Some(Value::Unknown)
            }
            "return" => {
                c.at += 1;
                let value = if matches!(c.kind(), Some(Kind::Mark(";" | "}")) | None)
                    || matches!(c.name(), Some("if" | "unless"))
                {
                    Value::Unknown
                } else {
                    self.expression(c, 1)
                };
                Some(self.give(value))
            }
            _ => None,
        }
    }

    pub(super) fn perl_function(&mut self, c: &mut Cursor<'_>) -> Value {
        // A signature or a prototype.
        let parameters = if c.mark() == Some("(") { self.parameters(c) } else { 0..0 };
        if c.mark() != Some("{") {
            return Value::Unknown;
        }
        self.block_function(c, parameters)
    }

    fn ruby_statement(&mut self, c: &mut Cursor<'_>) -> Option<Value> {
        let name = c.name()?;
        match name {
            "def" => {
                let close = c.close();
                c.at += 1;
                // `def self.name`
                if c.mark_at(1) == Some(".") {
                    c.at += 2;
                }
                let name = c.name().unwrap_or_default().to_owned();
                c.at += 1;
                let parameters = if c.mark() == Some("(") {
                    self.parameters(c)
                } else {
                    let from = c.at;
                    while c.at < close && !matches!(c.kind(), Some(Kind::Line | Kind::Mark(";" | "="))) {
                        c.at += 1;
                    }
                    from..c.at
                };
                let function = self.function(c, parameters, close);
                c.at = close + 1;
                self.makes_objects(&name, &function);
                self.set(&name, function);
                self.methods.insert(name);
                Some(Value::Unknown)
            }
            "class" | "module" => {
                self.class_begins(c);
                c.at += 2;
                Some(Value::Unknown)
            }
            "for" => {
                c.at += 1;
                let from = c.at;
                while c.at < c.end && c.name() != Some("in") && !matches!(c.kind(), Some(Kind::Line)) {
                    c.at += 1;
                }
                let targets = c.part(from, c.at);
                if c.eat_name("in") {
                    let values = self.expression(c, 1);
                    self.bind(&targets, Value::choice(values.items()));
                }
                Some(Value::Unknown)
            }
            "begin" | "end" | "else" | "ensure" | "do" | "then" | "if" | "unless" | "while" | "until" | "elsif"
            | "case" | "when" | "BEGIN" | "END" | "loop" => {
                c.at += 1;
                Some(Value::Unknown)
            }
            "rescue" => {
                c.at += 1;
                if c.eat("=>") {
                    c.at += 1;
                }
                Some(Value::Unknown)
            }
            "return" => {
                c.at += 1;
                let value = if matches!(c.kind(), Some(Kind::Line | Kind::Mark(";")) | None)
                    || matches!(c.name(), Some("if" | "unless" | "end"))
                {
                    Value::Unknown
                } else {
                    self.expression(c, 1)
                };
                Some(self.give(value))
            }
            _ => None,
        }
    }

    pub(super) fn php_statement(&mut self, c: &mut Cursor<'_>) -> Option<Value> {
        let name = c.name()?;
        match name {
            "unset" if c.mark_at(1) == Some("(") => {
                self.spoil_items(&c.part(c.at + 2, c.close_of(c.at + 1)));
                None
            }
            "function" if c.name_at(1).is_some() => {
                let name = c.name_at(1).unwrap_or_default().to_owned();
                c.at += 2;
                let function = self.braced_function(c);
                self.makes_objects(&name, &function);
                self.set(&name, function);
                Some(Value::Unknown)
            }
            "if" | "elseif" | "while" | "switch" | "catch" | "for" => {
                c.at += 1;
                if c.mark() == Some("(") {
                    let close = c.close();
                    self.run(&mut c.part(c.at + 1, close));
                    c.at = close + 1;
                }
                Some(Value::Unknown)
            }
            "foreach" => {
                c.at += 1;
                if c.mark() != Some("(") {
                    return Some(Value::Unknown);
                }
                let close = c.close();
                let mut head = c.part(c.at + 1, close);
                c.at = close + 1;
                let values = self.expression(&mut head, 0);
                if head.eat_name("as") {
                    if head.mark_at(1) == Some("=>") {
                        if let Some(key) = head.name() {
                            self.set(key, Value::Unknown);
                        }
                        head.at += 2;
                    }
                    head.eat("&");
                    self.bind(&head, Value::choice(values.items()));
                }
                Some(Value::Unknown)
            }
            "return" => {
                c.at += 1;
                let value = if matches!(c.mark(), Some(";" | "}")) { Value::Unknown } else { self.expression(c, 0) };
                Some(self.give(value))
            }
            "include" | "include_once" | "require" | "require_once" => {
                c.at += 1;
                let from = c.at;
                let value = self.expression(c, 1);
                let at = c.span(from);
                Some(self.call_named("include", Args::of(vec![value], at)))
            }
            "echo" | "print" | "else" | "do" | "try" | "finally" | "global" | "static" | "const" | "public"
            | "private" | "protected" | "abstract" | "final" | "case" | "throw" => {
                c.at += 1;
                Some(Value::Unknown)
            }
            "class" | "interface" | "trait" | "namespace" | "use" => {
                if name == "class" {
                    self.class_begins(c);
                }
                while c.at < c.end && !matches!(c.mark(), Some("{" | ";")) {
                    c.at += 1;
                }
                Some(Value::Unknown)
            }
            _ => None,
        }
    }

    /// The name of a class stands behind the word here.
    pub(super) fn class_begins(&mut self, c: &Cursor<'_>) {
        if let Some(name) = c.name_at(1) {
            self.classes.begin(name);
        }
    }

    /// Notes a function if it makes the objects of a class.
    pub(super) fn makes_objects(&mut self, name: &str, function: &Value) {
        if is_maker(self.language, name)
            && let Value::Function(function) = function
        {
            self.classes.define(self.language, name, function);
        }
    }

    /// Notes a value as a result of the function that is read, and hands it back.
    pub(super) fn give(&mut self, value: Value) -> Value {
        if let Some(results) = self.results.last_mut() {
            results.push(value.clone());
        }
        value
    }
}

/// Where the `=` of `a, b = ..` is.
fn several_targets(c: &Cursor<'_>) -> Option<usize> {
    let mut at = c.at;
    while at < c.end && at < c.at + 64 {
        match c.tokens.list.get(at).map(|token| &token.kind) {
            Some(Kind::Name(_) | Kind::Mark("," | "*")) => at += 1,
            Some(Kind::Mark("=")) => return Some(at),
            _ => return None,
        }
    }
    None
}

/// Where `for` stands in `statement for list;`.
fn postfix_for(c: &Cursor<'_>) -> Option<usize> {
    let block = matches!(
        c.name(),
        Some(
            "for"
                | "foreach"
                | "sub"
                | "use"
                | "if"
                | "unless"
                | "while"
                | "until"
                | "else"
                | "elsif"
                | "BEGIN"
                | "END"
        )
    );
    let at = c.token()?.indent;
    (!block && c.mark() != Some("{") && at > c.at && at < c.end).then_some(at)
}
