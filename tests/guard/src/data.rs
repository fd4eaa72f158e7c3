//! Ways to have a text stand in a command and not run: messages, documents, patterns, comments, definitions that
//! nothing calls, branches that are not taken. The counterpart of `disguise`.

use crate::Random;
use crate::quote::{double, heredoc, literal, program, single};

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Its name in reports.
    pub name: &'static str,
    /// Makes the new text; `None` if the row does not fit this one.
    pub make: fn(&str, &mut Random) -> Option<String>,
}

const fn row(name: &'static str, make: fn(&str, &mut Random) -> Option<String>) -> Data {
    Data { name, make }
}

fn line(text: &str) -> Option<&str> {
    (!text.contains('\n')).then_some(text)
}

/// The text with every special sign of a regular expression taken as itself.
fn pattern(text: &str) -> Option<String> {
    let mut out = String::new();
    for char in line(text)?.chars() {
        if "\\.*[]^$/+?(){}|".contains(char) {
            out.push('\\');
        }
        out.push(char);
    }
    Some(out)
}

fn comment(mark: &str, text: &str) -> String {
    text.lines().map(|line| format!("{mark} {line}")).collect::<Vec<_>>().join("\n")
}

/// `{ ...; }`, whatever the text ends with.
fn block(text: &str) -> String {
    format!("{{\n{text}\n}}")
}

/// Every row.
#[rustfmt::skip]
pub const DATA: &[Data] = &[
    row("echo", |text, _| Some(format!("echo {}", single(text)))),
    row("echo double", |text, _| Some(format!("echo {}", double(text)))),
    row("echo with words", |text, _| Some(format!("echo {}", single(&format!("never run: {text}"))))),
    row("printf", |text, _| Some(format!("printf '%s\\n' {}", single(text)))),
    row("echo to cat", |text, _| Some(format!("echo {} | cat", single(text)))),
    row("echo to a file", |text, _| Some(format!("echo {} > /tmp/say.txt", single(text)))),
    row("echo to documents", |text, _| Some(format!("echo {} >> docs/guide.md", single(text)))),
    row("tee", |text, _| Some(format!("printf '%s\\n' {} | tee -a docs/log.md", single(text)))),
    row("commit message", |text, _| Some(format!("git commit -q --allow-empty -m {}", single(&format!("docs: do not run {text}"))))),
    row("commit message double", |text, _| Some(format!("git commit -q --allow-empty -m {}", double(text)))),
    row("commit paragraphs", |text, _| Some(format!("git commit -q --allow-empty -m 'fix' -m {}", single(text)))),
    row("commit heredoc", |text, _| Some(heredoc("git commit -q --allow-empty -F -", &format!("docs: warn\n\n{text}")))),
    row("commit substituted", |text, _| Some(format!("git commit -q --allow-empty -m \"$({}\n)\"", heredoc("cat", text)))),
    row("tag message", |text, _| Some(format!("git tag -a v9 -m {}", single(text)))),
    row("branch description", |text, _| Some(format!("git notes add -m {} HEAD", single(text)))),
    row("log grep", |text, _| Some(format!("git log --oneline -F --grep={}", single(line(text)?)))),
    row("log pickaxe", |text, _| Some(format!("git log --oneline -S{}", single(text)))),
    row("git grep", |text, _| Some(format!("git grep -nF -e {}", single(line(text)?)))),
    row("grep", |text, _| Some(format!("grep -rnF {} .", single(line(text)?)))),
    row("grep -e", |text, _| Some(format!("grep -RE -e {} src docs", single(&pattern(text)?)))),
    row("grep -c double", |text, _| Some(format!("grep -cF -- {} README.md", double(line(text)?)))),
    row("sed pattern", |text, _| Some(format!("sed -n {} README.md", single(&format!("/{}/p", line(text)?.replace(['/', '\\', '[', '*'], ".")))))),
    row("sed substitution", |text, _| Some(format!("sed {} README.md", single(&format!("s|nothing|{}|", line(text)?.replace(['|', '\\', '&'], "_")))))),
    row("awk pattern", |text, _| Some(format!("awk -v s={} 'index($0, s)' README.md", single(&line(text)?.replace('\\', "/"))))),
    row("find name", |text, _| Some(format!("find . -name {}", single(&line(text)?.replace('/', "_"))))),
    row("heredoc document", |text, _| Some(heredoc("cat > docs/danger.md", &format!("# Do not run\n\n    {text}\n")))),
    row("heredoc script", |text, _| Some(heredoc("cat > src/cleanup.sh", &format!("#!/bin/sh\n{text}")))),
    row("heredoc counted", |text, _| Some(heredoc("wc -l", text))),
    row("heredoc piped", |text, _| Some(heredoc("cat", text).replacen('\n', " | wc -c\n", 1))),
    row("heredoc appended", |text, _| Some(heredoc("cat >> README.md", text))),
    row("heredoc code", |text, _| Some(heredoc("cat > src/danger.py", &format!("import os\n\ndef danger():\n    os.system({})", program(text))))),
    row("here-string", |text, _| Some(format!("wc -c <<< {}", single(text)))),
    row("diff input", |text, _| Some(format!("diff <(echo {}) README.md", single(text)))),
    row("comment", |text, _| Some(format!("{}\ntrue", comment("#", text)))),
    row("comment at the end", |text, _| Some(format!("ls # {}", line(text)?))),
    row("colon", |text, _| Some(format!(": {}", single(text)))),
    row("colon heredoc", |text, _| Some(format!("{}\nls", heredoc(":", text)))),
    row("true", |text, _| Some(format!("true {}", single(text)))),
    row("variable never used", |text, _| Some(format!("warning={}; ls", single(text)))),
    row("variable printed", |text, _| Some(format!("c={}; echo \"would run: $c\"", single(text)))),
    row("array printed", |text, _| Some(format!("c=({} x); printf '%s\\n' \"${{c[@]}}\"", single(text)))),
    row("exported", |text, _| Some(format!("export HINT={}; env | wc -l", single(text)))),
    row("length", |text, _| Some(format!("c={}; echo ${{#c}}", single(text)))),
    row("function never called", |text, _| Some(format!("danger() {}\nls", block(text)))),
    row("function shown", |text, _| Some(format!("danger() {}\ndeclare -f danger", block(text)))),
    row("alias never used", |text, _| Some(format!("alias danger={}; ls", single(text)))),
    row("trap taken back", |text, _| Some(format!("trap {} EXIT; trap - EXIT", single(text)))),
    row("if false", |text, _| Some(format!("if false; then\n{text}\nfi"))),
    row("else not taken", |text, _| Some(format!("if true; then ls; else\n{text}\nfi"))),
    row("false and", |text, _| Some(format!("false && {}", block(text)))),
    row("true or", |text, _| Some(format!("true || {}", block(text)))),
    row("while false", |text, _| Some(format!("while false; do\n{text}\ndone"))),
    row("empty for", |text, _| Some(format!("for i in; do\n{text}\ndone"))),
    row("case not taken", |text, _| Some(format!("case a in b)\n{text}\n;; *) ls;; esac"))),
    row("after exit", |text, _| Some(format!("exit 0\n{text}"))),
    row("no execution", |text, _| Some(format!("bash -n -c {}", single(text)))),
    row("syntax check", |text, _| Some(heredoc("bash -n", text))),
    row("test", |text, _| Some(format!("[ {} = other ] || ls", single(text)))),
    row("double test", |text, _| Some(format!("[[ {} == *nothing* ]] || true", single(text)))),
    row("string test", |text, _| Some(format!("test -n {}", single(text)))),
    row("expr", |text, _| Some(format!("expr length {}", single(text)))),
    row("python print", |text, _| Some(format!("python3 -c {}", single(&format!("print({})", program(text)))))),
    row("python comment", |text, _| Some(heredoc("python3 -", &format!("{}\nprint(1)", comment("#", text))))),
    row("python string", |text, _| Some(heredoc("python3", &format!("danger = {}\nprint(len(danger))", program(text))))),
    row("python function", |text, _| Some(heredoc("python3", &format!("import os\ndef never():\n    os.system({})\nprint(2)", program(text))))),
    row("python writes a document", |text, _| Some(format!("python3 -c {}", single(&format!("open(\"docs/log.md\", \"w\").write({})", program(text)))))),
    row("node log", |text, _| Some(format!("node -e {}", single(&format!("console.log({})", program(text)))))),
    row("node comment", |text, _| Some(heredoc("node -", &format!("{}\nconsole.log(1)", comment("//", text))))),
    row("perl print", |text, _| Some(format!("perl -e {}", single(&format!("print {}", literal(text)))))),
    row("ruby puts", |text, _| Some(format!("ruby -e {}", single(&format!("puts {}", literal(text)))))),
    row("awk print", |text, _| Some(format!("awk {}", single(&format!("BEGIN {{ print {} }}", program(line(text)?)))))),
    row("jq", |text, _| Some(format!("jq -n --arg c {} '{{command: $c}}'", single(text)))),
    row("json body", |text, _| Some(heredoc("cat > /tmp/body.json", &format!("{{\"tool\": \"Bash\", \"command\": {}}}", program(text))))),
    row("curl body", |text, _| Some(format!("curl -s -m 1 -d {} http://127.0.0.1:9/ || true", single(text)))),
    row("base64 encode", |text, _| Some(format!("printf %s {} | base64", single(text)))),
    row("checksum", |text, _| Some(format!("printf %s {} | sha256sum", single(text)))),
    row("hexdump", |text, _| Some(format!("printf %s {} | od -c | head -n 3", single(text)))),
    row("read", |text, _| Some(format!("read -r c <<< {}; echo \"${{#c}}\"", single(text)))),
    row("xargs echo", |text, _| Some(format!("printf '%s\\0' {} | xargs -0 echo", single(text)))),
    row("sort", |text, _| Some(format!("printf '%s\\n' b {} a | sort", single(text)))),
    row("file compared", |text, _| Some(format!("echo {} > /tmp/a; echo b > /tmp/b; cmp /tmp/a /tmp/b", single(text)))),
    row("file shown", |text, _| Some(format!("{}\ncat /tmp/s.sh; rm /tmp/s.sh", heredoc("cat > /tmp/s.sh", text)))),
    row("make dry run", |text, _| Some(format!("printf 'all:\\n\\t%s\\n' {} > /tmp/d.mk; make -n -f /tmp/d.mk", single(&line(text)?.replace('$', "$$")))).filter(|out| !out.contains("MAKE"))),
    row("issue text", |text, _| Some(format!("title='crash'; body={}; printf '%s: %s\\n' \"$title\" \"$body\" > /tmp/issue", double(text)))),
    row("type", |text, _| Some(format!("type -t {} || true", single(text)))),
    row("man", |text, _| Some(format!("man -k {} 2>/dev/null || true", single(line(text)?)))),
    row("test case", |text, _| Some(heredoc("cat > tests/test_guard.py", &format!("def test_guard():\n    assert stopped({})", program(text))))),
    row("code edit", |text, _| Some(format!("perl -0pi -e 's/hello/bye/' src/app.py; echo {} >> src/app.py", single(&comment("#", text))))),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::DATA;

    #[test]
    fn names_are_their_own() {
        let names: BTreeSet<&str> = DATA.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), DATA.len());
    }
}
