//! Texts for PowerShell that only read: pipelines of cmdlets that show things, with properties, filters and variables.
//!
//! No more of the grammar is known than is needed for that. What is not understood does not only read.

/// Cmdlets and aliases, beside those that get something, after which nothing has changed.
const READING: &[&str] = &[
    "%",
    "?",
    "cat",
    "compare-object",
    "convertfrom-csv",
    "convertfrom-json",
    "convertto-csv",
    "convertto-html",
    "convertto-json",
    "convertto-xml",
    "dir",
    "echo",
    "fl",
    "foreach",
    "foreach-object",
    "format-custom",
    "format-hex",
    "format-list",
    "format-table",
    "format-wide",
    "ft",
    "fw",
    "gc",
    "gci",
    "gcm",
    "gi",
    "gl",
    "gm",
    "gp",
    "gps",
    "group",
    "group-object",
    "gsv",
    "join-path",
    "ls",
    "measure",
    "measure-object",
    "out-default",
    "out-host",
    "out-null",
    "out-string",
    "ps",
    "pwd",
    "resolve-dnsname",
    "resolve-path",
    "rvpa",
    "select",
    "select-object",
    "select-string",
    "select-xml",
    "sls",
    "sort",
    "sort-object",
    "split-path",
    "test-connection",
    "test-netconnection",
    "test-path",
    "type",
    "where",
    "where-object",
    "write-host",
    "write-output",
];

/// What lists files, and what shows what is in them.
const LISTING: &[&str] = &["dir", "gci", "get-childitem", "get-item", "gi", "ls"];
const SHOWING: &[&str] = &["cat", "format-hex", "gc", "get-content", "select-string", "select-xml", "sls", "type"];

/// What cmdlets get that is a secret.
const SECRETS: &[&str] = &["clipboard", "credential", "secret", "variable"];

/// Methods that give a value, and nothing else.
const METHODS: &[&str] = &[
    "contains",
    "endswith",
    "gettype",
    "indexof",
    "padleft",
    "padright",
    "replace",
    "split",
    "startswith",
    "substring",
    "tolower",
    "tostring",
    "toupper",
    "trim",
    "trimend",
    "trimstart",
];

/// Whether a word stands for files of any kind: those with an ending of their own are none of secrets.
fn finds_any(word: &str) -> bool {
    let ending = word.trim_end_matches(['\'', '"']).rsplit_once('.').map_or("", |(_, ending)| ending);
    let plain = (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    word.contains('*') && (!plain || matches!(ending, "env" | "pem" | "key" | "pfx"))
}

/// Whether a text reads and shows things, and does nothing else.
pub(crate) fn only_reads(text: &str) -> bool {
    let Some(bare) = without_strings(text) else { return false };
    let lower = bare.to_ascii_lowercase();
    // `Env:` lists what may be secret; the registry has its own drives.
    let drives = ["env:", "hklm:", "hkcu:", "cert:", "variable:", "function:", "registry::"];
    let lists = |drive: &&str| lower.match_indices(*drive).any(|(at, _)| !lower[..at].ends_with(['$', '{']));
    let named = |names: &[&str]| {
        lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| names.contains(&word))
    };
    // What is found may be anything, and its content is shown.
    let shows_found =
        named(SHOWING) && (named(LISTING) || lower.contains("$env:") || text.split_whitespace().any(finds_any));
    let secret = |name: &str| ["token", "key", "secret", "pass", "cred", "auth"].iter().any(|part| name.contains(part));
    let shows_secret = lower
        .split("env:")
        .skip(1)
        .any(|rest| secret(rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()));
    !shows_found && !shows_secret && !drives.iter().any(lists) && Reader { rest: &lower, depth: Vec::new() }.reads()
}

/// The text with each string as one quote; `None` if one of them runs something, or if a character may mean anything.
fn without_strings(text: &str) -> Option<String> {
    let mut bare = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let mut inside = String::new();
                loop {
                    let next = chars.next()?;
                    if next == c {
                        break;
                    }
                    inside.push(next);
                }
                if inside.contains('`') || c == '"' && inside.contains("$(") {
                    return None;
                }
                bare.push('\'');
            }
            '`' | '&' | '<' | '>' | '^' | '\0' | '#' => return None,
            // Quotes of other kinds are quotes, too.
            '\u{2018}'..='\u{201f}' => return None,
            c => bare.push(c),
        }
    }
    Some(bare)
}

/// Reads a text without strings, in small letters.
struct Reader<'t> {
    rest: &'t str,
    /// The brackets that are open; `true` for one of a table, `@{`.
    depth: Vec<bool>,
}

impl Reader<'_> {
    fn reads(mut self) -> bool {
        let mut begins = true;
        let mut told = false;
        while let Some(c) = self.rest.chars().next() {
            if begins && !c.is_whitespace() && !";({}|)".contains(c) {
                let Some(goes_on) = self.begin() else { return false };
                begins = goes_on;
                told = true;
                continue;
            }
            match c {
                '(' | '{' => {
                    self.depth.push(false);
                    begins = true;
                }
                ')' | '}' => {
                    self.depth.pop();
                    begins = false;
                }
                '|' | ';' | '\n' => begins = true,
                '=' => begins = true,
                '@' if self.rest.starts_with("@{") => {
                    self.depth.push(true);
                    self.rest = &self.rest[1..];
                    begins = true;
                }
                '.' | ':' if !self.member() => return false,
                _ => {}
            }
            self.rest = &self.rest[c.len_utf8()..];
        }
        told && self.depth.is_empty()
    }

    /// Reads the first word of a command or an expression. Whether another one may begin behind it; `None` if it may do more
    /// than read.
    fn begin(&mut self) -> Option<bool> {
        if let Some(rest) = self.rest.strip_prefix('!').or_else(|| self.rest.strip_prefix("-not ")) {
            self.rest = rest;
            return Some(true);
        }
        let first = self.rest.chars().next()?;
        // A value: what follows it is seen on the way.
        if first == '\'' || first.is_ascii_digit() || first == '[' || first == '@' {
            let step = usize::from(first != '@');
            self.rest = &self.rest[step..];
            return (first != '@' || self.rest.starts_with("@{") || self.rest.starts_with("@(")).then(|| {
                if first == '@' {
                    self.depth.push(self.rest.starts_with("@{"));
                    self.rest = &self.rest[2..];
                }
                first == '@'
            });
        }
        if first == '$' {
            let end = self.rest[1..].find(|c: char| !(c.is_alphanumeric() || "_:{}?".contains(c)));
            let end = end.map_or(self.rest.len(), |end| end + 1);
            if self.rest[1..].starts_with('(') {
                self.rest = &self.rest[1..];
                return Some(true);
            }
            self.rest = &self.rest[end..];
            return Some(false);
        }
        let end = self.rest.find(|c: char| c.is_whitespace() || "|;(){}=,".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let follows = rest.trim_start();
        // The key of a table.
        if self.depth.last() == Some(&true) && follows.starts_with('=') && word.chars().all(char::is_alphanumeric) {
            self.rest = rest;
            return Some(false);
        }
        let gets = word.strip_prefix("get-").is_some_and(|noun| {
            noun.chars().all(|c| c.is_ascii_alphanumeric()) && !SECRETS.iter().any(|secret| noun.contains(secret))
        });
        // A method's name may stand behind these in place of a block.
        let each = matches!(word, "%" | "foreach" | "foreach-object");
        if !(gets || READING.contains(&word)) || each && !follows.starts_with('{') {
            return None;
        }
        self.rest = rest;
        Some(false)
    }

    /// Whether a dot or a colon here is a part of a name, a number or a path, or stands before a property or one of the methods
    /// that do nothing.
    fn member(&self) -> bool {
        let name = self.rest.trim_start_matches(['.', ':']);
        let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
        let (name, rest) = name.split_at(end);
        !rest.trim_start().starts_with('(') || METHODS.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_only_read_are_told_from_others() {
        let cases = [
            ("Get-Process", true),
            ("Get-ChildItem -Path C:\\Users | Select-Object Name", true),
            ("(Get-Item a.txt).Length", true),
            ("$PSVersionTable.PSVersion", true),
            ("Get-ChildItem | Where-Object { $_.Length -gt 10 } | Sort-Object Length", true),
            ("$x = Get-Process; $x.Count", true),
            ("[System.Environment]::OSVersion", true),
            ("Get-Content a.json | ConvertFrom-Json | Select-Object -ExpandProperty name", true),
            ("gci | select Name, @{n='Size'; e={$_.Length / 1KB}}", true),
            ("gci *.ts | % { $_.Name.ToUpper() }", true),
            ("Get-Process | ? { !$_.Responding }", true),
            ("\"$env:PATH\".Split(';')", true),
            ("Write-Output \"a $x\"", true),
            ("", false),
            ("Remove-Item x", false),
            ("Get-ChildItem | Remove-Item", false),
            ("Get-Content a | Set-Content b", false),
            ("Get-Content a > b", false),
            ("& $x", false),
            (". ./x.ps1", false),
            ("Get-Process; calc.exe", false),
            ("(Get-Process).Kill()", false),
            ("gci | % { $_.Delete() }", false),
            ("gci | % Delete", false),
            ("gci | % { rm $_ }", false),
            ("gci | ? { Remove-Item $_ }", false),
            ("[IO.File]::Delete('x')", false),
            ("[IO.File]::Delete ('x')", false),
            ("$f = gi x; $f.Delete()", false),
            ("gi x | % 'Delete'", false),
            ("Get-ChildItem env:", false),
            ("Get-Secret x", false),
            ("Get-ChildItem ~ -Recurse | Select-String password", false),
            ("iex $x", false),
            ("Get-ChildItem (Remove-Item x)", false),
            ("Get-ChildItem \"$(Remove-Item x)\"", false),
            ("Get-ChildItem $(Remove-Item x)", false),
            ("$x = Remove-Item y", false),
            ("gci | select @{n='a'; e={rm x}}", false),
            ("gci | select @{n=rm x}", false),
            ("gci\nrm x", false),
            ("ge`t-item x", false),
            ("New-Object Net.WebClient", false),
            ("Get-Item 'x", false),
            ("if (1) { rm x }", false),
        ];
        for (text, reads) in cases {
            assert_eq!(only_reads(text), reads, "{text}");
        }
    }
}
