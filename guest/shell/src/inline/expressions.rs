//! Expressions: operators, members, arguments, and the calls that are found in them.

use super::lex::{Kind, Part, Token};
use super::machine::{Arg, Args, Cursor, DEEPEST, Machine};
use super::value::{Function, HOLE, HOME, Value};
use super::{Language, What, calls, methods, value};

impl Machine {
    pub(super) fn expression(&mut self, c: &mut Cursor<'_>, min: u8) -> Value {
        if self.depth >= DEEPEST {
            self.incomplete();
            return Value::Unknown;
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
    pub(super) fn continue_line(&self, c: &mut Cursor<'_>) {
        if matches!(c.kind(), Some(Kind::Line)) {
            c.lines();
        }
    }

    /// The operator that is next, and how strongly it binds.
    pub(super) fn infix<'t>(&self, c: &Cursor<'t>) -> Option<(&'t str, u8)> {
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
                    "=" | "+=" | "-=" | "*=" | "/=" | ".=" | "||=" | "&&=" | "??=" | "//=" | "**=" | "%=" | "|="
                    | "&=" | "^=" | "<<=" | ">>=" | ":=" => 2,
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

    pub(super) fn combine(&mut self, c: &mut Cursor<'_>, left: Value, operator: &str, power: u8) -> Value {
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
                calls::escape(self, &value);
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
                    "+" | "." => left.plus(right),
                    "/" if is_path(&left) || is_path(&right) => {
                        let (left, right) = (left.texts(), right.texts());
                        let pairs =
                            left.iter().flat_map(|left| right.iter().map(move |right| [left.clone(), right.clone()]));
                        Value::choice(
                            pairs.take(value::MOST * 2).map(|pair| Value::Path(value::join(&pair, true))).collect(),
                        )
                    }
                    "*" | "x" => repeat(&left, &right),
                    "%" if matches!(left, Value::Text(_)) => {
                        let values = match right {
                            Value::List(values) => values,
                            value => vec![value],
                        };
                        Value::Text(value::printf(&left.shape(), &values))
                    }
                    "<<" if matches!(left, Value::Text(_)) => left.plus(right),
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
                    (Language::Node, "typeof" | "void" | "delete") => changes = true,
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
                    calls::shell(self, &text, &token.at);
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

    pub(super) fn destructures(&self, c: &Cursor<'_>, close: usize) -> bool {
        close + 1 < c.end && c.tokens.mark(close + 1) == Some("=")
    }

    pub(super) fn destructure(&mut self, c: &mut Cursor<'_>, close: usize) -> Value {
        let targets = c.part(c.at, close);
        c.at = close + 2;
        let value = self.expression(c, 2);
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
        match (language, name) {
            (Language::Python, "lambda") => {
                c.at += 1;
                let from = c.at;
                while c.at < c.end && !matches!(c.kind(), Some(Kind::Mark(":") | Kind::Line)) {
                    c.at += 1;
                }
                let parameters = from..c.at;
                c.at += 1;
                return self.arrow(c, parameters);
            }
            (Language::Python, "for") => {
                self.python_for(c);
                return Value::Unknown;
            }
            (Language::Python, "else" | "if" | "in" | "as" | "or" | "and" | "is" | "import") => return Value::Unknown,
            (Language::Node, "function") => {
                c.at += 1;
                c.eat("*");
                let own = c.name().map(str::to_owned);
                c.at += usize::from(own.is_some());
                let function = self.braced_function(c);
                if let (Some(own), Value::Function(_)) = (own, &function) {
                    self.set(&own, function.clone());
                }
                return function;
            }
            (Language::Node, _) if c.mark_at(1) == Some("=>") => {
                c.at += 2;
                return self.arrow(c, c.at - 2..c.at - 1);
            }
            // A method of a class or an object.
            (Language::Node, _)
                if c.mark_at(1) == Some("(")
                    && !calls::is_keyword(name)
                    && c.tokens.mark(c.close_of(c.at + 1) + 1) == Some("{") =>
            {
                c.at += 1;
                self.braced_function(c);
                return Value::Unknown;
            }
            (Language::Node, "class") => {
                c.at += 1;
                while c.at < c.end && c.mark() != Some("{") {
                    c.at += 1;
                }
                self.braces(c);
                return Value::Unknown;
            }
            (Language::Php, "function") => {
                c.at += 1;
                return self.braced_function(c);
            }
            (Language::Php, "fn") => {
                c.at += 1;
                let parameters = self.parameters(c);
                c.eat("=>");
                return self.arrow(c, parameters);
            }
            (Language::Perl, "sub") => {
                c.at += 1;
                return self.perl_function(c);
            }
            (Language::Perl, "do" | "eval") | (Language::Ruby, "BEGIN" | "END") if c.mark_at(1) == Some("{") => {
                c.at += 1;
                return self.braces(c);
            }
            (Language::Perl, "qw") => {}
            (
                Language::Ruby,
                "do" | "then" | "end" | "rescue" | "if" | "unless" | "while" | "until" | "ensure" | "and" | "or" | "in",
            ) => {
                return Value::Unknown;
            }
            (
                Language::Perl,
                "if" | "unless" | "while" | "until" | "for" | "foreach" | "and" | "or" | "cmp" | "eq" | "ne",
            ) => {
                return Value::Unknown;
            }
            _ => {}
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
            if language == Language::Perl && calls::takes_topic(name) {
                let topic = self.lookup("$_");
                return self.call(value, Args::of(vec![topic], token.at.clone()));
            }
            if language == Language::Ruby && self.methods.contains(name) && matches!(value, Value::Function(_)) {
                return self.call(value, Args::of(Vec::new(), token.at.clone()));
            }
        }
        value
    }

    /// Perl's `$x[0]`, `$h{key}`, `shift`, `@$x`.
    pub(super) fn perl_name(&mut self, c: &mut Cursor<'_>, name: &str) -> Option<Value> {
        if let Some(bare) = name.strip_prefix('$') {
            if !c.space() && matches!(c.mark(), Some("[" | "{")) {
                let array = c.mark() == Some("[");
                let close = c.close();
                let mut key = c.part(c.at + 1, close);
                let key = match (key.name(), key.at + 1 == key.end) {
                    (Some(word), true) if !word.starts_with('$') => Value::text(word),
                    _ => self.expression(&mut key, 0),
                };
                c.at = close + 1;
                if name == "$ENV" {
                    return Some(if key.known() == Some("HOME") { Value::home() } else { Value::Unknown });
                }
                if assignment(c.mark()).is_some() {
                    let changed = format!("{}{bare}", if array { '@' } else { '%' });
                    c.at += 1;
                    let value = self.expression(c, 2);
                    calls::escape(self, &value);
                    self.set(&changed, Value::Unknown);
                    return Some(Value::Unknown);
                }
                let whole = self.lookup(&format!("{}{bare}", if array { '@' } else { '%' }));
                return Some(self.index(whole, &key));
            }
            return None;
        }
        match name {
            "shift" | "pop" => {
                let parens = c.mark() == Some("(");
                if parens && c.close() != c.at + 1 || c.name().is_some_and(|name| name.starts_with('@')) {
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
            "push" | "unshift" => {
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
            "map" | "grep" | "sort" | "first" | "any" => {
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
                Some(match name {
                    "map" if values.len() == 1 => Value::List(result.items()),
                    "map" => Value::List(vec![Value::Unknown]),
                    _ => Value::List(values),
                })
            }
            _ => None,
        }
    }

    /// Whether what is next is the first argument of a call without parentheses.
    pub(super) fn begins_argument(&self, c: &Cursor<'_>, name: &str) -> bool {
        let Some(token) = c.token() else { return false };
        let perl = self.language == Language::Perl;
        match &token.kind {
            Kind::Text(_) | Kind::Words(_) | Kind::Number(_) | Kind::Shell(_) => true,
            Kind::Name(next) => {
                let word = matches!(
                    next.as_str(),
                    "if" | "unless"
                        | "while"
                        | "until"
                        | "and"
                        | "or"
                        | "eq"
                        | "ne"
                        | "do"
                        | "then"
                        | "rescue"
                        | "for"
                        | "foreach"
                        | "cmp"
                        | "lt"
                        | "gt"
                        | "le"
                        | "ge"
                        | "in"
                        | "end"
                        | "xor"
                        | "else"
                        | "when"
                );
                !(word || perl && next == "x")
            }
            Kind::Mark("[") => !perl && token.space,
            Kind::Mark("{") => perl && calls::takes_block(name),
            Kind::Mark("\\") => perl,
            Kind::Mark("->") => !perl,
            Kind::Mark("*" | "&" | "**" | "::") => {
                let tight = c.tokens.list.get(c.at + 1).is_some_and(|next| !next.space);
                token.space && tight
            }
            Kind::Mark("-") => token.space && c.tokens.list.get(c.at + 1).is_some_and(|next| !next.space),
            _ => false,
        }
    }

    /// Arguments without parentheses.
    pub(super) fn bare_args(&mut self, c: &mut Cursor<'_>, perl: bool) -> Args {
        let mut args = Args::default();
        loop {
            c.lines();
            // Perl's `print {$fh} ..`, `system { 'sh' } ..`.
            let before = c.at;
            self.arg(c, &mut args, 2);
            if perl && c.at > before && args.values.len() == 1 && self.begins_argument(c, "") && c.mark().is_none() {
                // `print STDERR "text"`, `unlink <*.c>`: no comma behind the first.
                continue;
            }
            if c.at == before || !(c.eat(",") || perl && c.eat("=>")) {
                break;
            }
        }
        args
    }

    /// The arguments in the parentheses here.
    pub(super) fn args(&mut self, c: &mut Cursor<'_>) -> Args {
        let mut args = Args::default();
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        if self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1) {
            let from = inner.at;
            let value = self.comprehension(&mut inner);
            args.values.push(Arg::new(value, inner.span(from)));
            c.at = close + 1;
            return args;
        }
        while inner.at < inner.end {
            let before = inner.at;
            self.arg(&mut inner, &mut args, 1);
            inner.lines();
            if !inner.eat(",") && inner.at == before {
                inner.at += 1;
            }
        }
        c.at = close + 1;
        args
    }

    pub(super) fn arg(&mut self, c: &mut Cursor<'_>, args: &mut Args, min: u8) {
        c.lines();
        let language = self.language;
        let from = c.at;
        let spread = match c.mark() {
            Some("*" | "...") => true,
            Some("**") => {
                c.at += 1;
                let value = self.expression(c, min);
                let at = c.span(from);
                match value {
                    Value::Map(entries) => {
                        args.named.extend(entries.into_iter().map(|(key, value)| (key, Arg::new(value, at.clone()))));
                    }
                    // Anything may be in it.
                    value => args.named.push(("**".to_owned(), Arg::new(value, at))),
                }
                return;
            }
            _ => false,
        };
        let key = match (language, c.kind(), c.mark_at(1)) {
            (Language::Python, Some(Kind::Name(name)), Some("=")) => Some(name.clone()),
            (Language::Ruby | Language::Php, Some(Kind::Name(name)), Some(":")) => Some(name.clone()),
            (Language::Ruby, Some(Kind::Text(parts)), Some("=>" | ":")) => match parts.as_slice() {
                [Part::Text(text)] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        if let Some(key) = key {
            c.at += 2;
            c.lines();
            let from = c.at;
            let value = self.expression(c, min.max(2));
            args.named.push((key, Arg::new(value, c.span(from))));
            return;
        }
        c.at += usize::from(spread);
        let value = self.expression(c, min.max(2));
        if c.at == from {
            return;
        }
        let at = c.span(from);
        // Lists are flat in Perl.
        let flat = spread
            || language == Language::Perl
                && matches!(value, Value::List(_))
                && !matches!(c.tokens.mark(from), Some("["));
        if flat {
            args.values.extend(value.items().into_iter().map(|value| Arg::new(value, at.clone())));
        } else {
            let variable = c.name_before(from).map(str::to_owned);
            args.values.push(Arg { value, at, variable });
        }
    }

    /// A Ruby block behind a call, as a last argument.
    pub(super) fn block_argument(&mut self, c: &mut Cursor<'_>, args: &mut Args) {
        if self.language != Language::Ruby {
            return;
        }
        let close = match (c.mark(), c.name()) {
            (Some("{"), _) | (_, Some("do")) => c.close(),
            _ => return,
        };
        c.at += 1;
        let mut parameters = 0..0;
        if c.eat("|") {
            let from = c.at;
            while c.at < close && c.mark() != Some("|") {
                c.at += 1;
            }
            parameters = from..c.at;
            c.at += 1;
        }
        let from = c.at;
        let function = self.function(c, parameters, close);
        c.at = close + 1;
        args.values.push(Arg::new(function, c.span(from)));
    }

    /// What the parentheses here give.
    pub(super) fn paren(&mut self, c: &mut Cursor<'_>) -> Value {
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        let comprehension = self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1);
        c.at = close + 1;
        if comprehension {
            return self.comprehension(&mut inner);
        }
        let mut values = Vec::new();
        let mut commas = false;
        while inner.at < inner.end {
            let before = inner.at;
            inner.lines();
            let value = if self.language == Language::Php { self.php_statement(&mut inner) } else { None };
            let value = match value {
                Some(value) => value,
                None => self.expression(&mut inner, 0),
            };
            if inner.at > before {
                match value {
                    Value::List(items) if self.language == Language::Perl => values.extend(items),
                    value => values.push(value),
                }
            }
            if inner.eat(",") || self.language == Language::Perl && inner.eat("=>") {
                commas = true;
            } else if inner.at == before {
                inner.at += 1;
            }
        }
        match self.language {
            Language::Node => values.pop().unwrap_or(Value::Unknown),
            _ if commas || values.is_empty() || self.language == Language::Perl && values.len() > 1 => {
                Value::List(values)
            }
            _ => values.pop().unwrap_or(Value::Unknown),
        }
    }

    /// What the square brackets here give.
    pub(super) fn list(&mut self, c: &mut Cursor<'_>) -> Value {
        let close = c.close();
        let mut inner = c.part(c.at + 1, close);
        let comprehension = self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1);
        c.at = close + 1;
        if comprehension {
            return self.comprehension(&mut inner);
        }
        let args = self.list_items(&mut inner);
        if !args.named.is_empty() {
            return Value::Map(args.named.into_iter().map(|(key, arg)| (key, arg.value)).collect());
        }
        Value::List(args.values.into_iter().map(|arg| arg.value).collect())
    }

    pub(super) fn list_items(&mut self, inner: &mut Cursor<'_>) -> Args {
        let mut args = Args::default();
        while inner.at < inner.end {
            let before = inner.at;
            if self.language == Language::Php && inner.mark_at(1) == Some("=>") {
                let key = self.primary(inner).shape();
                inner.at += 1;
                let value = self.expression(inner, 2);
                args.named.push((key, Arg::new(value, inner.span(before))));
            } else {
                self.arg(inner, &mut args, 1);
            }
            inner.lines();
            let separated = inner.eat(",") || self.language == Language::Perl && inner.eat("=>");
            if !separated && inner.at == before {
                inner.at += 1;
            }
        }
        args
    }

    /// `expression for x in values if condition`: the values first.
    pub(super) fn comprehension(&mut self, inner: &mut Cursor<'_>) -> Value {
        let from = inner.at;
        let mut at = from;
        while at < inner.end && inner.tokens.name(at) != Some("for") {
            at = match inner.tokens.mark(at) {
                Some("(" | "[" | "{") => inner.close_of(at) + 1,
                _ => at + 1,
            };
        }
        let mut element = inner.part(from, at);
        inner.at = at;
        self.run(inner);
        let value = self.expression(&mut element, 0);
        if element.eat(":") {
            self.expression(&mut element, 0);
        }
        self.run(&mut element);
        Value::List(match value {
            Value::Choice(values) => values,
            value => vec![value],
        })
    }

    /// A block, or a map. A block gives its last value.
    pub(super) fn braces(&mut self, c: &mut Cursor<'_>) -> Value {
        if c.mark() != Some("{") {
            return Value::Unknown;
        }
        if self.depth >= DEEPEST {
            self.incomplete();
            c.at += 1;
            return Value::Unknown;
        }
        self.depth += 1;
        let close = c.close();
        let comprehension = self.language == Language::Python && c.token().is_some_and(|token| token.indent == 1);
        let mut inner = c.part(c.at + 1, close);
        c.at = close + 1;
        let value = if comprehension { self.comprehension(&mut inner) } else { self.entries(&mut inner) };
        self.depth -= 1;
        value
    }

    pub(super) fn entries(&mut self, inner: &mut Cursor<'_>) -> Value {
        let mut entries = Vec::new();
        let mut values = Vec::new();
        let mut last = Value::Unknown;
        while inner.at < inner.end {
            let before = inner.at;
            let key = match (inner.kind(), inner.mark_at(1)) {
                (Some(Kind::Name(name)), Some(":" | "=>")) if !matches!(name.as_str(), "default" | "else") => {
                    let name_is_key = self.language != Language::Python
                        && !(self.language == Language::Node && inner.mark_at(1) == Some("=>"));
                    name_is_key.then(|| name.clone())
                }
                (Some(Kind::Text(parts)), Some(":" | "=>")) => match parts.as_slice() {
                    [Part::Text(text)] => Some(text.clone()),
                    _ => None,
                },
                // `{ shell }` is `{ shell: shell }`.
                (Some(Kind::Name(name)), Some("," | "}")) if self.language == Language::Node => {
                    inner.at += 1;
                    let value = self.lookup(name);
                    entries.push((name.clone(), value.clone()));
                    last = value;
                    continue;
                }
                _ => None,
            };
            if let Some(key) = key {
                inner.at += 2;
                inner.lines();
                let value = self.expression(inner, 2);
                entries.push((key, value));
                continue;
            }
            if matches!(inner.kind(), Some(Kind::Line | Kind::Mark(";" | "," | ":" | "=>"))) {
                inner.at += 1;
                continue;
            }
            last = self.statement(inner);
            if inner.mark() == Some(",") {
                values.push(last.clone());
            }
            if inner.at == before {
                inner.at += 1;
            }
        }
        if !entries.is_empty() {
            return Value::Map(entries);
        }
        if !values.is_empty() && self.language == Language::Python {
            values.push(last);
            return Value::List(values);
        }
        last
    }

    /// Members, indexes and calls behind a value.
    pub(super) fn postfix(&mut self, c: &mut Cursor<'_>, mut value: Value, from: usize) -> Value {
        let language = self.language;
        let mut name_at = c.span(from);
        let base = c.tokens.name(from).filter(|_| c.at == from + 1);
        loop {
            let before = c.at;
            // A chain may go on in the next line.
            if matches!(c.kind(), Some(Kind::Line)) && matches!(language, Language::Node | Language::Ruby) {
                let mut next = c.at;
                while matches!(c.tokens.list.get(next).map(|token| &token.kind), Some(Kind::Line)) {
                    next += 1;
                }
                if next < c.end && matches!(c.tokens.mark(next), Some("." | "?." | "&.")) {
                    c.at = next;
                } else {
                    return value;
                }
            }
            match c.mark() {
                Some("." | "?." | "&." | "::" | "->" | "?->") => {
                    if matches!(
                        (language, c.mark()),
                        (Language::Perl | Language::Php, Some("."))
                            | (Language::Ruby | Language::Python | Language::Node, Some("->"))
                    ) {
                        c.at = before;
                        return value;
                    }
                    c.at += 1;
                    c.lines();
                    let Some(name) = c.name() else {
                        if matches!(c.mark(), Some("(" | "[" | "{")) {
                            // `f?.(x)`, `$f->(x)`, `$h->{x}`, Ruby's `f.(x)`
                            if c.mark() == Some("{") {
                                let close = c.close();
                                let mut key = c.part(c.at + 1, close);
                                let key = match key.name() {
                                    Some(word) if !word.starts_with('$') => Value::text(word),
                                    _ => self.expression(&mut key, 0),
                                };
                                c.at = close + 1;
                                value = self.index(value, &key);
                            }
                            if c.mark() == Some("(") {
                                let mut args = self.args(c);
                                args.at = name_at.clone();
                                value = self.call(value, args);
                            }
                            continue;
                        }
                        return value;
                    };
                    let member_at = c.span(c.at);
                    c.at += 1;
                    name_at = name_at.start..member_at.end;
                    let name = name.to_owned();
                    if language == Language::Perl && name.starts_with('$') {
                        // `$x->$method(..)`
                        value = Value::Unknown;
                        self.incomplete();
                        continue;
                    }
                    if assignment(c.mark()).is_some() && c.mark() != Some("=>") {
                        c.at += 1;
                        c.lines();
                        let assigned = self.expression(c, 2);
                        calls::escape(self, &assigned);
                        if let Some(base) = base.filter(|base| matches!(self.variables.get(*base), Some(Value::Map(_))))
                        {
                            self.set(base, Value::Unknown);
                        }
                        return Value::Unknown;
                    }
                    let called = c.mark() == Some("(") && !(language == Language::Ruby && c.space());
                    if !called && language == Language::Ruby {
                        let mut args = if self.begins_argument(c, &name) && c.space() || c.mark() == Some("(") {
                            self.bare_args(c, false)
                        } else {
                            Args::default()
                        };
                        let upper = name.starts_with(|char: char| char.is_ascii_uppercase());
                        args.at = name_at.clone();
                        self.block_argument(c, &mut args);
                        if upper && args.values.is_empty() {
                            value = self.member(value, &name);
                        } else {
                            value = self.method(value, &name, args, base);
                        }
                        continue;
                    }
                    if called {
                        let mut args = self.args(c);
                        args.at = name_at.clone();
                        self.block_argument(c, &mut args);
                        value = self.method(value, &name, args, base);
                        continue;
                    }
                    value = self.member(value, &name);
                }
                Some("(") => {
                    if language == Language::Ruby && !matches!(value, Value::Name(_) | Value::Function(_)) {
                        return value;
                    }
                    if language == Language::Node && calls::is_keyword(base.unwrap_or_default()) {
                        return value;
                    }
                    let mut args = self.args(c);
                    args.at = name_at.clone();
                    self.block_argument(c, &mut args);
                    value = self.call(value, args);
                }
                Some("[") => {
                    if matches!(language, Language::Ruby | Language::Perl) && c.space() {
                        return value;
                    }
                    let close = c.close();
                    let mut inner = c.part(c.at + 1, close);
                    c.at = close + 1;
                    if inner.at >= inner.end {
                        // PHP's `$a[] = x`.
                        if c.eat("=") {
                            let added = self.expression(c, 2);
                            if let Some(base) = base {
                                let list = match self.variables.remove(base) {
                                    Some(Value::List(mut values)) => {
                                        values.push(added);
                                        Value::List(values)
                                    }
                                    None => Value::List(vec![added]),
                                    _ => Value::Unknown,
                                };
                                self.set(base, list);
                            }
                        }
                        return Value::Unknown;
                    }
                    let from = inner.at;
                    let key = self.slice(&mut inner);
                    self.run(&mut inner);
                    let at = c.span(from);
                    if assignment(c.mark()).is_some() {
                        c.at += 1;
                        let assigned = self.expression(c, 2);
                        calls::escape(self, &assigned);
                        if matches!(&value, Value::Name(name) if matches!(name.as_str(), "globals" | "locals")) {
                            match key {
                                Key::At(key) if key.known().is_some() => {
                                    self.set(key.known().unwrap_or_default(), assigned);
                                }
                                _ => self.incomplete(),
                            }
                            return Value::Unknown;
                        }
                        if let Some(base) = base.filter(|base| self.variables.contains_key(*base)) {
                            self.set(base, Value::Unknown);
                        }
                        return Value::Unknown;
                    }
                    if language == Language::Ruby
                        && matches!(&value, Value::Name(name) if name == "Dir")
                        && let Key::At(pattern) = key
                    {
                        value = calls::call(self, "Dir.[]", Args::of(vec![pattern], at));
                        continue;
                    }
                    value = match key {
                        Key::Reverse => methods::reverse(&value),
                        Key::Part(start, end) => methods::part(&value, start, end),
                        Key::At(key) => {
                            if key.known().is_none()
                                && !matches!(key, Value::Number(_))
                                && calls::is_dangerous(language, &value)
                            {
                                self.incomplete();
                                self.deed(What::Eval(super::Text::Shape(HOLE.to_string())), &at);
                            }
                            self.index(value, &key)
                        }
                    };
                }
                // A tagged template.
                None if language == Language::Node && !c.space() && matches!(c.kind(), Some(Kind::Text(_))) => {
                    if !matches!(value, Value::Name(_) | Value::Function(_) | Value::Bound(..)) {
                        return value;
                    }
                    let from = c.at;
                    let text = self.primary(c);
                    let mut args = Args::of(vec![text], c.span(from));
                    args.at = name_at.clone();
                    value = self.call(value, args);
                }
                Some("++" | "--") => {
                    c.at += 1;
                    if let Some(base) = base {
                        self.set(base, Value::Unknown);
                    }
                    value = Value::Unknown;
                }
                _ => {
                    if language == Language::Ruby && matches!(value, Value::Name(_)) && matches!(c.mark(), Some("{")) {
                        let mut args = Args { at: name_at.clone(), ..Args::default() };
                        self.block_argument(c, &mut args);
                        value = self.call(value, args);
                        continue;
                    }
                    return value;
                }
            }
        }
    }

    /// What is between square brackets: a key, `::-1`, `1:3`.
    pub(super) fn slice(&mut self, inner: &mut Cursor<'_>) -> Key {
        if self.language == Language::Python {
            if inner.mark() == Some(":") && inner.mark_at(1) == Some(":") && inner.mark_at(2) == Some("-") {
                inner.at = inner.end;
                return Key::Reverse;
            }
            let start = if inner.mark() == Some(":") { Value::Number(0) } else { self.expression(inner, 0) };
            if !inner.eat(":") {
                return Key::At(start);
            }
            let end = if inner.at >= inner.end { Value::Unknown } else { self.expression(inner, 0) };
            let open = inner.at >= inner.end && inner.tokens.mark(inner.end - 1) == Some(":");
            return match (start, end) {
                (Value::Number(start), Value::Number(end)) if inner.at >= inner.end => Key::Part(start, Some(end)),
                (Value::Number(start), _) if open => Key::Part(start, None),
                _ => Key::Part(i64::MAX, None),
            };
        }
        Key::At(self.expression(inner, 0))
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

    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        match value {
            Value::Name(full) if full.len() + name.len() < 200 => {
                let full = calls::full(self.language, &format!("{full}.{name}"));
                calls::constant(self.language, &full).unwrap_or(Value::Name(full))
            }
            Value::Map(entries) => {
                let found = entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
                found.unwrap_or_else(|| Value::Bound(Box::new(Value::Map(entries)), name.to_owned()))
            }
            Value::Choice(values) if values.iter().any(|value| matches!(value, Value::Name(_) | Value::Map(_))) => {
                let members = values.into_iter().map(|value| self.member(value, name)).collect();
                Value::choice(members)
            }
            value => methods::attribute(self, value, name),
        }
    }

    pub(super) fn index(&mut self, value: Value, key: &Value) -> Value {
        match (&value, key) {
            (Value::Choice(values), _) => {
                let found = values.clone().into_iter().map(|value| self.index(value, key)).collect();
                Value::choice(found)
            }
            (Value::Name(_), _) => {
                if let Some(home) = calls::environment(&value, key) {
                    return home;
                }
                match (key.known().map(str::to_owned), &value) {
                    (Some(key), Value::Name(name))
                        if matches!(name.as_str(), "globals" | "locals" | "sys.modules" | "vars") =>
                    {
                        self.lookup(&key)
                    }
                    (Some(key), _) => self.member(value, &key),
                    (None, _) => Value::Unknown,
                }
            }
            (Value::List(values), Value::Number(at)) => {
                let length = i64::try_from(values.len()).unwrap_or(i64::MAX);
                let at = if *at < 0 { length.saturating_add(*at) } else { *at };
                usize::try_from(at).ok().and_then(|at| values.get(at)).cloned().unwrap_or(Value::Unknown)
            }
            // A hash is a list of keys and values.
            (Value::List(values), key) if self.language == Language::Perl && key.known().is_some() => {
                let pair = values.chunks(2).rev().find(|pair| pair.first().and_then(Value::known) == key.known());
                pair.and_then(|pair| pair.get(1)).cloned().unwrap_or(Value::Unknown)
            }
            (Value::List(values), _) => Value::choice(values.clone()),
            (Value::Map(entries), key) => match key.known() {
                Some(key) => value.get(key).cloned().unwrap_or(Value::Unknown),
                None => Value::choice(entries.iter().map(|(_, value)| value.clone()).collect()),
            },
            (Value::Text(text), Value::Number(at)) => {
                let char = usize::try_from(*at).ok().filter(|at| *at < 4096).and_then(|at| text.chars().nth(at));
                char.map_or(Value::Unknown, |char| Value::Text(char.to_string()))
            }
            (Value::Unknown | Value::Path(_), _) | (Value::Text(_), Value::Text(_)) => {
                match key.known().map(str::to_owned) {
                    Some(name) if self.language == Language::Node => methods::attribute(self, value, &name),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    /// A method call: `value.name(args)`. `base` is the variable that `value` is.
    pub(super) fn method(&mut self, value: Value, name: &str, args: Args, base: Option<&str>) -> Value {
        if let Some(base) = base
            && matches!(value, Value::List(_) | Value::Choice(_) | Value::Map(_))
            && value.get(name).is_none()
            && let Some(changed) = methods::changed(&value, name, &args)
        {
            for arg in &args.values {
                calls::escape(self, &arg.value);
            }
            self.changed |= self.frames.iter().any(|frame| frame.bound.iter().any(|(name, _)| name == base));
            self.set(base, changed);
            return Value::Unknown;
        }
        // Ruby's texts change in place too.
        if let (Some(base), Value::Text(_), Language::Ruby) = (base, &value, self.language)
            && (name.ends_with('!')
                || matches!(name, "concat" | "prepend" | "insert" | "replace" | "clear" | "setbyte"))
        {
            self.set(base, Value::Unknown);
        }
        let callee = match value {
            Value::Name(_) => self.member(value, name),
            Value::Map(ref entries) if entries.iter().any(|(key, _)| key == name) => self.member(value, name),
            value => Value::Bound(Box::new(value), name.to_owned()),
        };
        self.call(callee, args)
    }

    pub(super) fn call(&mut self, callee: Value, args: Args) -> Value {
        if self.depth >= DEEPEST {
            self.incomplete();
            return Value::Unknown;
        }
        self.depth += 1;
        let changes = match &callee {
            Value::Name(name) => calls::changes(self.language, name),
            Value::Function(function) => (self.language == Language::Php && by_reference(function)).then_some(0),
            _ => None,
        };
        let variables: Vec<String> = args.values.iter().map(|arg| arg.variable.clone().unwrap_or_default()).collect();
        let before = std::mem::take(&mut self.changed);
        let value = self.call_it(callee, args);
        let from = if self.changed { Some(0) } else { changes };
        self.changed = before;
        for variable in variables.iter().skip(from.unwrap_or(usize::MAX)).filter(|variable| !variable.is_empty()) {
            if self.variables.contains_key(variable) || self.language != Language::Node {
                self.set(variable, Value::Unknown);
            }
        }
        self.depth -= 1;
        value
    }

    pub(super) fn call_it(&mut self, callee: Value, args: Args) -> Value {
        match callee {
            Value::Name(name) => calls::call(self, &name, args),
            Value::Function(function) => self.invoke(&function, &args),
            Value::Bound(receiver, name) => methods::call(self, *receiver, &name, args),
            Value::Choice(values) => {
                let mut results = Vec::new();
                for value in values.into_iter().take(value::MOST) {
                    if !matches!(value, Value::Unknown) {
                        results.push(self.call(value, args.clone()));
                    }
                }
                Value::choice(results)
            }
            // A function by its name.
            Value::Text(name) if self.language == Language::Php => {
                if name.contains([HOLE, HOME]) {
                    self.incomplete();
                    self.deed(What::Eval(super::Text::Shape(HOLE.to_string())), &args.at);
                    Value::Unknown
                } else {
                    calls::call(self, &name.to_ascii_lowercase(), args)
                }
            }
            Value::Unknown if matches!(self.language, Language::Php) => {
                self.incomplete();
                Value::Unknown
            }
            _ => {
                for arg in &args.values {
                    calls::escape(self, &arg.value);
                }
                Value::Unknown
            }
        }
    }
}

pub(super) enum Key {
    At(Value),
    Reverse,
    Part(i64, Option<i64>),
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

/// Whether a parameter is given by reference: PHP's `&$x`.
fn by_reference(function: &Function) -> bool {
    function.parameters.clone().any(|at| function.tokens.mark(at) == Some("&"))
}
