//! Expressions: operators, what they are made of, and the calls without parentheses that are found in them.

use super::arguments::Args;
use super::cursor::Cursor;
use super::evaluator::{DEEPEST, Evaluator};
use super::tokens::{Kind, Part, Token};
use super::value::{HOLE, Value};
use super::{Language, names, processes, script_args, value};

impl Evaluator {
    pub(super) fn expression(&mut self, c: &mut Cursor<'_>, min: u8) -> Value {
        if self.depth >= DEEPEST {
            return self.too_deep(c);
        }
        self.depth += 1;
        let before = c.at;
        let mut left = self.prefix(c);
        // Ruby's `x << "more"` changes `x`.
        let changed = c.name_before(before).filter(|_| self.language == Language::Ruby && c.mark() == Some("<<"));
        // Perl's `$x =~ s/a/b/` as well.
        if c.mark() == Some("=~")
            && matches!(c.tokens.list.get(c.at + 1).map(|token| &token.kind), Some(Kind::Change | Kind::Code(_)))
        {
            for name in (before..c.at).filter_map(|at| c.tokens.name(at)).filter(|name| name.starts_with('$')) {
                self.set(name, Value::Unknown);
            }
        }
        if c.at > before {
            while let Some((operator, power)) = self.infix(c) {
                if power < min {
                    break;
                }
                self.continue_line(c);
                c.at += 1;
                c.lines();
                left = self.combine(c, left, operator, power);
            }
        }
        if let Some(name) = changed {
            let value = if self.spend(left.size()) { left.clone() } else { Value::Unknown };
            self.set(name, value);
        }
        self.depth -= 1;
        left
    }

    /// Steps over the end of a line if the expression goes on behind it.
    fn continue_line(&self, c: &mut Cursor<'_>) {
        if matches!(c.kind(), Some(Kind::Line)) {
            c.lines();
        }
    }

    /// The operator that is next, and how strongly it binds.
    fn infix<'t>(&self, c: &Cursor<'t>) -> Option<(&'t str, u8)> {
        let mut at = c.at;
        let mut line = false;
        while at < c.end && matches!(c.tokens.list.get(at).map(|token| &token.kind), Some(Kind::Line)) {
            at += 1;
            line = true;
        }
        if at >= c.end {
            return None;
        }
        if line && self.language != Language::Node {
            return None;
        }
        let token = c.tokens.list.get(at)?;
        let php = self.language == Language::Php;
        let perl = self.language == Language::Perl;
        match &token.kind {
            Kind::Mark(mark) => {
                let power = match *mark {
                    "?" => 3,
                    mark if assignment(Some(mark)).is_some() => 2,
                    "||" | "&&" | "??" => 5,
                    "//" if perl => 5,
                    "==" | "!=" | "===" | "!==" | "<=" | ">=" | "<" | ">" | "<=>" | "=~" | "!~" => 7,
                    "|" | "^" | "&" => 8,
                    "<<" | ">>" => 9,
                    "+" | "-" if !line => 10,
                    "." if php || perl => 10,
                    "*" | "/" | "%" | "//" if !line => 11,
                    "**" => 12,
                    ".." | "..." if perl || self.language == Language::Ruby => 4,
                    _ => return None,
                };
                Some((mark, power))
            }
            Kind::Name(name) if !line => {
                let power = match (self.language, name.as_str()) {
                    (Language::Python, "or" | "and") => 5,
                    (Language::Python, "if") => 3,
                    (Language::Python, "in" | "is" | "not") => 7,
                    (Language::Perl | Language::Ruby | Language::Php, "or" | "and" | "xor") => 1,
                    (Language::Perl, "x") => 11,
                    (Language::Perl, "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "cmp") => 7,
                    (Language::Node | Language::Php, "instanceof") | (Language::Node, "in") => 7,
                    _ => return None,
                };
                Some((name, power))
            }
            _ => None,
        }
    }

    fn combine(&mut self, c: &mut Cursor<'_>, left: Value, operator: &str, power: u8) -> Value {
        match operator {
            "?" => {
                let yes = if c.mark() == Some(":") { left } else { self.expression(c, 2) };
                c.lines();
                if !c.eat(":") {
                    return yes.or(Value::Unknown);
                }
                c.lines();
                let no = self.expression(c, 2);
                yes.or(no)
            }
            "if" => {
                self.expression(c, 4);
                if c.eat_name("else") {
                    let no = self.expression(c, 3);
                    return left.or(no);
                }
                left
            }
            // An assignment to something that is no plain name.
            _ if power == 2 => {
                let value = self.expression(c, 2);
                self.escape(&value);
                Value::Unknown
            }
            "or" | "||" | "??" | "//" if power <= 5 => {
                let right = self.expression(c, power + 1);
                match &left {
                    _ if left.is_true() => left,
                    _ if left.is_false() => right,
                    _ => left.or(right),
                }
            }
            "and" | "&&" => {
                let right = self.expression(c, power + 1);
                if left.is_false() { left } else { right }
            }
            "not" => {
                c.eat_name("in");
                self.expression(c, power + 1);
                Value::Unknown
            }
            _ => {
                let right = self.expression(c, power + 1);
                match operator {
                    "+" if matches!((&left, &right), (Value::Unknown, Value::Unknown)) => Value::Unknown,
                    "+" if matches!(self.language, Language::Perl | Language::Php) => numbers(&left, &right),
                    "+" if self.language == Language::Ruby && is_path(&left) => joined(&left, &right),
                    "+" | "." => left.plus(right),
                    "/" if is_path(&left) || is_path(&right) => joined(&left, &right),
                    "*" | "x" => repeat(&left, &right),
                    "%" if matches!(left, Value::Text(_)) => {
                        let values = match right {
                            Value::List(values) => values,
                            value => vec![value],
                        };
                        Value::Text(value::printf(&left.shape(), &values))
                    }
                    // Ruby takes a number for the code of a letter.
                    "<<" if matches!(left, Value::Text(_)) => match right {
                        Value::Number(code) => left.plus(Value::Text(value::ascii(code).to_string())),
                        right => left.plus(right),
                    },
                    "<<" => match left {
                        Value::List(mut values) => {
                            values.push(right);
                            Value::List(values)
                        }
                        _ => Value::Unknown,
                    },
                    "-" => match (&left, &right) {
                        (Value::Number(left), Value::Number(right)) => Value::Number(left.wrapping_sub(*right)),
                        _ => Value::Unknown,
                    },
                    "^" => match (&left, &right) {
                        (Value::Number(left), Value::Number(right)) => Value::Number(left ^ right),
                        _ => Value::Unknown,
                    },
                    _ => Value::Unknown,
                }
            }
        }
    }

    pub(super) fn prefix(&mut self, c: &mut Cursor<'_>) -> Value {
        // Signs and words in front, however many.
        let mut changes = false;
        let mut negative = false;
        loop {
            match c.kind() {
                Some(Kind::Mark("!" | "~" | "+" | "++" | "--")) => changes = true,
                Some(Kind::Mark("-")) => {
                    changes = true;
                    negative = true;
                    // Perl's file tests: `-e "x"`.
                    if self.language == Language::Perl
                        && c.name_at(1).is_some_and(|name| name.len() == 1)
                        && c.mark_at(2).is_none_or(|mark| !matches!(mark, "," | ";" | ")" | "=>"))
                    {
                        c.at += 1;
                    }
                }
                // A reference: what is done to either is not followed.
                Some(Kind::Mark("&"))
                    if self.language == Language::Php && c.name_at(1).is_some_and(|name| name.starts_with('$')) =>
                {
                    if let Some(name) = c.name_at(1) {
                        self.loose.insert(name.to_owned());
                        self.set(name, Value::Unknown);
                    }
                }
                Some(Kind::Mark("*" | "**" | "&" | "...")) => {}
                Some(Kind::Mark("\\" | "@" | "$")) if self.language != Language::Node => {}
                Some(Kind::Name(name)) => match (self.language, name.as_str()) {
                    (Language::Python, "not") => changes = true,
                    (Language::Python, "await" | "yield" | "from")
                    | (Language::Node, "await" | "yield" | "new" | "async")
                    | (Language::Php, "new" | "clone" | "throw")
                    | (Language::Perl, "my" | "our" | "local" | "state" | "return" | "&" | "$" | "@" | "%") => {}
                    (Language::Node, "typeof" | "void") => changes = true,
                    (Language::Node, "delete") => {
                        changes = true;
                        if let Some(name) = c.name_at(1) {
                            self.spoil(name);
                        }
                    }
                    (Language::Perl | Language::Ruby, "not") => changes = true,
                    _ => break,
                },
                _ => break,
            }
            c.at += 1;
        }
        let before = c.at;
        let value = self.primary(c);
        let value = if c.at > before { self.postfix(c, value, before) } else { value };
        match value {
            Value::Number(number) if negative => Value::Number(number.wrapping_neg()),
            Value::Number(_) if changes => Value::Unknown,
            value if changes && !matches!(value, Value::Number(_)) => Value::Unknown,
            value => value,
        }
    }

    pub(super) fn primary(&mut self, c: &mut Cursor<'_>) -> Value {
        let Some(token) = c.token() else { return Value::Unknown };
        match &token.kind {
            Kind::Text(parts) => {
                c.at += 1;
                let mut value = self.text(parts);
                // Texts one after the other are one.
                if matches!(self.language, Language::Python | Language::Ruby) {
                    while let Some(Kind::Text(parts)) = c.kind() {
                        c.at += 1;
                        let next = self.text(parts);
                        value = value.plus(next);
                    }
                }
                value
            }
            Kind::Shell(parts) => {
                c.at += 1;
                for text in self.text(parts).texts() {
                    processes::shell(self, &text, &token.at);
                }
                Value::Unknown
            }
            Kind::Words(words) => {
                c.at += 1;
                Value::List(words.iter().map(|word| Value::text(word)).collect())
            }
            Kind::Number(number) => {
                c.at += 1;
                number.map_or(Value::Unknown, Value::Number)
            }
            // It changes `$_` if nothing else.
            Kind::Change => {
                c.at += 1;
                if self.variables.contains_key("$_") {
                    self.set("$_", Value::Unknown);
                }
                Value::Unknown
            }
            Kind::Opaque | Kind::Line => {
                c.at += usize::from(matches!(token.kind, Kind::Opaque));
                Value::Unknown
            }
            Kind::Code(tokens) => {
                c.at += 1;
                self.run(&mut Cursor::all(tokens));
                Value::Unknown
            }
            Kind::Mark("(") => {
                let close = c.close();
                if self.language == Language::Node && c.tokens.mark(close + 1) == Some("=>") {
                    let parameters = self.parameters(c);
                    c.at += 1;
                    return self.arrow(c, parameters);
                }
                if self.destructures(c, close) {
                    return self.destructure(c, close);
                }
                self.paren(c)
            }
            Kind::Mark("[") => {
                let close = c.close();
                if self.destructures(c, close) {
                    return self.destructure(c, close);
                }
                self.list(c)
            }
            Kind::Mark("{") => {
                let close = c.close();
                if self.language == Language::Node && self.destructures(c, close) {
                    return self.destructure(c, close);
                }
                self.braces(c)
            }
            // Ruby's `->(x) { .. }`.
            Kind::Mark("->") if self.language == Language::Ruby => {
                c.at += 1;
                let parameters = self.parameters(c);
                if c.mark() == Some("{") { self.arrow(c, parameters) } else { Value::Unknown }
            }
            Kind::Mark(_) => Value::Unknown,
            Kind::Name(name) => self.named(c, name, token),
        }
    }

    fn destructures(&self, c: &Cursor<'_>, close: usize) -> bool {
        close + 1 < c.end && c.tokens.mark(close + 1) == Some("=")
    }

    fn destructure(&mut self, c: &mut Cursor<'_>, close: usize) -> Value {
        let targets = c.part(c.at, close);
        c.at = close + 2;
        let value = self.expression(c, 2);
        // `[a[0], a[1]] = [a[1], a[0]]`
        self.spoil_items(&targets);
        self.bind(&targets, value);
        Value::Unknown
    }

    /// What begins with a name.
    pub(super) fn named(&mut self, c: &mut Cursor<'_>, name: &str, token: &Token) -> Value {
        let language = self.language;
        // `name = value`
        if let Some(operator) =
            assignment(c.mark_at(1)).filter(|_| language != Language::Node || c.mark_at(1) != Some("=>"))
        {
            c.at += 2;
            c.lines();
            let value = if language == Language::Python { self.tuple(c) } else { self.expression(c, 2) };
            return self.assign(name, operator, value);
        }
        if let Some(value) = self.keyword(c, name) {
            return value;
        }
        c.at += 1;
        if language == Language::Perl
            && let Some(value) = self.perl_name(c, name)
        {
            return value;
        }
        let value = self.lookup(name);
        if matches!(language, Language::Perl | Language::Ruby)
            && !name.starts_with(['$', '@', '%'])
            && c.mark() != Some("(")
            && matches!(value, Value::Name(_) | Value::Function(_))
        {
            if language == Language::Perl && c.mark() == Some("=>") {
                return Value::text(name);
            }
            if self.begins_argument(c, name) {
                let mut args = self.bare_args(c, language == Language::Perl);
                args.at = token.at.clone();
                self.block_argument(c, &mut args);
                return self.call(value, args);
            }
            if language == Language::Perl && names::takes_topic(name) {
                let topic = self.lookup("$_");
                return self.call(value, Args::of(vec![topic], token.at.clone()));
            }
            if language == Language::Ruby && self.methods.contains(name) && matches!(value, Value::Function(_)) {
                return self.call(value, Args::of(Vec::new(), token.at.clone()));
            }
        }
        value
    }

    /// A word that is not only a name in its language.
    fn keyword(&mut self, c: &mut Cursor<'_>, name: &str) -> Option<Value> {
        let language = self.language;
        match (language, name) {
            (Language::Python, "lambda") => {
                c.at += 1;
                let from = c.at;
                while c.at < c.end && !matches!(c.kind(), Some(Kind::Mark(":") | Kind::Line)) {
                    c.at += 1;
                }
                let parameters = from..c.at;
                c.at += 1;
                Some(self.arrow(c, parameters))
            }
            (Language::Python, "for") => {
                self.python_for(c);
                Some(Value::Unknown)
            }
            (Language::Python, "else" | "if" | "in" | "as" | "or" | "and" | "is" | "import") => Some(Value::Unknown),
            (Language::Node, "function") => {
                c.at += 1;
                c.eat("*");
                let own = c.name().map(str::to_owned);
                c.at += usize::from(own.is_some());
                let function = self.braced_function(c);
                if let (Some(own), Value::Function(_)) = (own, &function) {
                    self.set(&own, function.clone());
                }
                Some(function)
            }
            (Language::Node, _) if c.mark_at(1) == Some("=>") => {
                c.at += 2;
                Some(self.arrow(c, c.at - 2..c.at - 1))
            }
            // A method of a class or an object.
            (Language::Node, _)
                if c.mark_at(1) == Some("(")
                    && !names::is_keyword(name)
                    && c.tokens.mark(c.close_of(c.at + 1) + 1) == Some("{") =>
            {
                c.at += 1;
                let function = self.braced_function(c);
                self.makes_objects(name, &function);
                Some(Value::Unknown)
            }
            (Language::Node, "class") => {
                self.class_begins(c);
                c.at += 1;
                while c.at < c.end && c.mark() != Some("{") {
                    c.at += 1;
                }
                self.braces(c);
                Some(Value::Unknown)
            }
            (Language::Php, "function") => {
                c.at += 1;
                Some(self.braced_function(c))
            }
            (Language::Php, "fn") => {
                c.at += 1;
                let parameters = self.parameters(c);
                c.eat("=>");
                Some(self.arrow(c, parameters))
            }
            (Language::Perl, "sub") => {
                c.at += 1;
                Some(self.perl_function(c))
            }
            (Language::Perl, "do" | "eval") | (Language::Ruby, "BEGIN" | "END") if c.mark_at(1) == Some("{") => {
                c.at += 1;
                Some(self.braces(c))
            }
            (
                Language::Ruby,
                "do" | "then" | "end" | "rescue" | "if" | "unless" | "while" | "until" | "ensure" | "and" | "or" | "in",
            ) => Some(Value::Unknown),
            (
                Language::Perl,
                "if" | "unless" | "while" | "until" | "for" | "foreach" | "and" | "or" | "cmp" | "eq" | "ne",
            ) => Some(Value::Unknown),
            _ => None,
        }
    }

    /// Perl's `$x[0]`, `$h{key}`, `shift`, `@$x`.
    fn perl_name(&mut self, c: &mut Cursor<'_>, name: &str) -> Option<Value> {
        if let Some(bare) = name.strip_prefix('$') {
            let indexed = !c.space() && matches!(c.mark(), Some("[" | "{"));
            return indexed.then(|| self.perl_element(c, name, bare));
        }
        match name {
            "shift" | "pop" => self.perl_shift(c, name),
            "push" | "unshift" => self.perl_push(c, name),
            "splice" | "delete" | "undef" | "chop" | "chomp" => {
                self.spoil_perl(c);
                None
            }
            "map" | "grep" | "sort" | "first" | "any" => Some(self.perl_map(c, name)),
            _ => None,
        }
    }

    /// `$x[0]`, `$h{key}`
    fn perl_element(&mut self, c: &mut Cursor<'_>, name: &str, bare: &str) -> Value {
        let array = c.mark() == Some("[");
        let close = c.close();
        let mut key = c.part(c.at + 1, close);
        let key = match (key.name(), key.at + 1 == key.end) {
            (Some(word), true) if !word.starts_with('$') => Value::text(word),
            _ => self.expression(&mut key, 0),
        };
        c.at = close + 1;
        if name == "$ENV" {
            return if key.known() == Some("HOME") { Value::home() } else { Value::Unknown };
        }
        if assignment(c.mark()).is_some() {
            let changed = format!("{}{bare}", if array { '@' } else { '%' });
            c.at += 1;
            let value = self.expression(c, 2);
            self.escape(&value);
            self.set(&changed, Value::Unknown);
            return Value::Unknown;
        }
        let whole = self.lookup(&format!("{}{bare}", if array { '@' } else { '%' }));
        self.index(whole, &key)
    }

    fn perl_shift(&mut self, c: &mut Cursor<'_>, name: &str) -> Option<Value> {
        let parens = c.mark() == Some("(");
        let list = c.name_at(usize::from(parens));
        let bare = if parens { c.close() == c.at + 1 } else { list.is_none() };
        if list == Some("@ARGV") || bare && self.frames.is_empty() {
            c.at = if parens { c.close() + 1 } else { c.at + usize::from(list.is_some()) };
            return Some(script_args::shift(&self.setting));
        }
        if parens && c.close() != c.at + 1 || c.name().is_some_and(|name| name.starts_with('@')) {
            self.spoil_perl(c);
            return None;
        }
        c.at += if parens { 2 } else { 0 };
        let Some(Value::List(mut values)) = self.variable("@_") else { return Some(Value::Unknown) };
        if values.is_empty() {
            return Some(Value::Unknown);
        }
        let value = if name == "shift" { values.remove(0) } else { values.pop().unwrap_or(Value::Unknown) };
        self.variables.insert("@_".to_owned(), Value::List(values));
        Some(value)
    }

    fn perl_push(&mut self, c: &mut Cursor<'_>, name: &str) -> Option<Value> {
        let parens = c.mark() == Some("(");
        let list = c.name_at(usize::from(parens)).filter(|name| name.starts_with('@'))?.to_owned();
        let close = if parens { c.close() } else { c.end };
        let mut inner = c.part(c.at + usize::from(parens) + 1, close);
        inner.eat(",");
        let args = self.bare_args(&mut inner, true);
        c.at = if parens { close + 1 } else { inner.at };
        let mut added: Vec<Value> = args.values.into_iter().map(|arg| arg.value).collect();
        let value = match self.variables.remove(&list) {
            Some(Value::List(mut values)) if name == "push" => {
                values.extend(added);
                Value::List(values)
            }
            Some(Value::List(values)) => {
                added.extend(values);
                Value::List(added)
            }
            None if name == "push" => Value::List(added),
            _ => Value::Unknown,
        };
        self.set(&list, value);
        Some(Value::Unknown)
    }

    /// `map { .. } @list` and its like, whose block sees each item.
    fn perl_map(&mut self, c: &mut Cursor<'_>, name: &str) -> Value {
        let parens = c.mark() == Some("(");
        let close = if parens { c.close() } else { c.end };
        let mut inner = c.part(c.at + usize::from(parens), close);
        let block = (inner.mark() == Some("{")).then(|| (inner.at + 1, inner.close()));
        let from = inner.at;
        let mut first = from;
        if let Some((_, to)) = block {
            inner.at = to + 1;
            inner.eat(",");
        } else {
            // `map unlink($_), @files`: the expression is evaluated after the list is known.
            let mut at = from;
            while at < close && !matches!(c.tokens.mark(at), Some("," | ";")) {
                at = match c.tokens.mark(at) {
                    Some("(" | "[" | "{") => c.close_of(at) + 1,
                    _ => at + 1,
                };
                if !self.step() {
                    break;
                }
            }
            first = at;
            inner.at = at + 1;
        }
        let values = self.bare_args(&mut inner, true);
        let values: Vec<Value> = values.values.into_iter().map(|arg| arg.value).collect();
        let saved = self.variables.insert("$_".to_owned(), Value::choice(values.clone()));
        let (from, to) = block.unwrap_or((from, first));
        let result = self.run(&mut c.part(from, to));
        self.restore("$_", saved);
        c.at = if parens { close + 1 } else { inner.at.max(c.at) };
        match name {
            "map" if values.len() == 1 => Value::List(result.items()),
            "map" => match result {
                Value::List(items) => Value::some_of(items),
                result => Value::each_of(result, Value::List(values).count()),
            },
            "first" => Value::choice(values),
            "any" => Value::Unknown,
            _ => Value::some_of(values),
        }
    }

    /// The array or hash that a function is given here, or an item of it, is changed.
    fn spoil_perl(&mut self, c: &Cursor<'_>) {
        let at = usize::from(c.mark() == Some("("));
        let Some(name) = c.name_at(at) else { return };
        match (name.strip_prefix('$'), c.mark_at(at + 1)) {
            (Some(bare), Some("[")) => self.spoil(&format!("@{bare}")),
            (Some(bare), Some("{")) => self.spoil(&format!("%{bare}")),
            _ => self.spoil(name),
        }
    }

    pub(super) fn text(&mut self, parts: &[Part]) -> Value {
        let mut text = Value::Text(String::new());
        for part in parts {
            match part {
                Part::Text(part) => text = text.plus(Value::text(part)),
                Part::Code { tokens, plain } => {
                    let value = self.run(&mut Cursor::all(tokens));
                    // A list in a Perl text has blanks between.
                    let value = match value {
                        _ if !*plain => Value::Unknown,
                        Value::List(values) if self.language == Language::Perl => {
                            Value::Text(values.iter().map(Value::shape).collect::<Vec<_>>().join(" "))
                        }
                        value @ (Value::Text(_) | Value::Path(_) | Value::Number(_) | Value::Choice(_)) => value,
                        _ => Value::Unknown,
                    };
                    text = text.plus(value);
                }
            }
        }
        match text {
            Value::Unknown => Value::Text(HOLE.to_string()),
            text => text,
        }
    }
}

/// A path behind a path.
fn joined(left: &Value, right: &Value) -> Value {
    let pairs = value::each_with_each(&left.texts(), &right.texts()).into_iter();
    Value::choice(pairs.map(|(one, two)| Value::Path(value::join(&[one, two], true))).collect())
}

fn is_path(value: &Value) -> bool {
    match value {
        Value::Path(_) => true,
        Value::Choice(values) => values.iter().any(is_path),
        _ => false,
    }
}

fn numbers(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Value::Number(left.wrapping_add(*right)),
        _ => Value::Unknown,
    }
}

fn repeat(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Text(text), Value::Number(times)) | (Value::Number(times), Value::Text(text)) => {
            let times = usize::try_from(*times).unwrap_or(0);
            if text.len().saturating_mul(times) > 4096 { Value::Unknown } else { Value::Text(text.repeat(times)) }
        }
        (Value::Number(left), Value::Number(right)) => Value::Number(left.wrapping_mul(*right)),
        _ => Value::Unknown,
    }
}

pub(super) fn assignment(mark: Option<&'static str>) -> Option<&'static str> {
    mark.filter(|mark| {
        matches!(
            *mark,
            "=" | "+="
                | "-="
                | "*="
                | "/="
                | ".="
                | "||="
                | "&&="
                | "??="
                | "//="
                | "**="
                | "%="
                | "|="
                | "&="
                | "^="
                | "<<="
                | ">>="
                | ":="
        )
    })
}
