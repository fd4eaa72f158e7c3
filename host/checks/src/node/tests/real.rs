//! The real tools from npm: the folder that `TOOLGATE_CHECKS_TOOLS` names (`just checks-setup` fills it) has `ESLint` 9 or newer,
//! typescript-eslint, Prettier 3 and TypeScript 5 or 6 in its `node_modules`; the one that
//! `TOOLGATE_CHECKS_OLD_NODE_MODULES` names has `ESLint` 8, `@typescript-eslint/parser` and `eslint-plugin` for it, and
//! Prettier 2. Without them these tests are skipped.

use std::path::PathBuf;

use toolgate_test_support::skip::skip;

use super::{LONG, Scratch, has_node};
use crate::report::{Outcome, Severity, Status};

const FORMATTED: &str = "export const x: number = 1;\n";
const CONFIG: &str =
    r#"{ "compilerOptions": { "strict": true, "target": "es2022", "module": "nodenext" }, "include": ["src"] }"#;
const TYPED: &str = r#"
import ts from "typescript-eslint";
import rules from "./rules.js";
export default ts.config(
  { ignores: ["ignored/**"] },
  {
    files: ["**/*.ts"],
    extends: [ts.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules,
  },
);
"#;
const RULES: &str = r#"export default { "@typescript-eslint/no-floating-promises": "error", "prefer-const": "warn" };"#;

/// A project with these files and the real packages. None if they are not there; the test is then skipped.
#[track_caller]
fn real(files: &[(&str, &str)]) -> Option<Scratch> {
    with("TOOLGATE_CHECKS_TOOLS", files)
}

/// A project with these files and the packages of the folder that this variable names.
#[track_caller]
fn with(variable: &str, files: &[(&str, &str)]) -> Option<Scratch> {
    let Some(packages) = std::env::var_os(variable).filter(|_| has_node()) else {
        skip(format!("{variable} names no folder"));
        return None;
    };
    let scratch = Scratch::new(files);
    let modules = PathBuf::from(packages).join("node_modules");
    if !modules.is_dir() {
        skip(format!("{} is not a folder", modules.display()));
        return None;
    }
    std::os::unix::fs::symlink(modules, scratch.path("node_modules")).unwrap();
    scratch.write("package.json", r#"{ "type": "module" }"#);
    Some(scratch)
}

impl Scratch {
    async fn prettier(&self, name: &str) -> Outcome {
        self.worker.prettier(&[self.path(name)], LONG).await
    }

    async fn typescript(&self, name: &str) -> Outcome {
        self.worker.typescript(&[self.path(name)], LONG).await
    }
}

/// Line, column and rule of each problem, after the status.
fn brief(outcome: &Outcome) -> String {
    let problem = |found: &crate::report::Problem| {
        format!(" {}:{} {}", found.line, found.column, found.rule.as_deref().unwrap_or("-"))
    };
    let problems: Vec<_> = outcome.problems.iter().map(problem).collect();
    format!("{:?}{}", outcome.status, problems.join(","))
}

#[track_caller]
fn says(outcome: &Outcome, expected: &str) {
    assert_eq!(brief(outcome), expected, "{outcome:#?}");
}

#[tokio::test]
async fn eslint_names_line_and_rule() {
    let Some(scratch) = real(&[("eslint.config.js", TYPED), ("rules.js", RULES), ("tsconfig.json", CONFIG)]) else {
        return;
    };
    for (name, text, expected) in [
        ("src/clean.ts", FORMATTED, "Clean"),
        ("src/let.ts", "let x = 1;\nexport default x;\n", "Issues 1:5 prefer-const"),
        ("src/typed.ts", "export {};\nPromise.resolve();\n", "Issues 2:1 @typescript-eslint/no-floating-promises"),
        ("src/broken.ts", "let x = ;\n", "Issues 1:8 -"),
        ("ignored/a.ts", "let x = 1;\n", "Skipped"),
        ("src/README.md", "# Text\n", "Skipped"),
    ] {
        scratch.write(name, text);
        says(&scratch.eslint(name).await, expected);
    }
    let severity = |outcome: Outcome| outcome.problems.first().map(|found| found.severity);
    assert_eq!(severity(scratch.eslint("src/let.ts").await), Some(Severity::Warning));
    assert_eq!(severity(scratch.eslint("src/broken.ts").await), Some(Severity::Error));
    let files: Vec<_> = ["src/clean.ts", "src/let.ts", "ignored/a.ts"].map(|name| scratch.path(name)).to_vec();
    let outcome = scratch.worker.eslint(&files, LONG).await;
    assert_eq!((outcome.status, outcome.files), (Status::Issues, 2));
}

#[tokio::test]
async fn eslint_goes_by_what_types_are_now() {
    let files = [("eslint.config.js", TYPED), ("rules.js", RULES), ("tsconfig.json", CONFIG)];
    let Some(scratch) = real(&files) else {
        return;
    };
    let floating = "Issues 2:1 @typescript-eslint/no-floating-promises";
    scratch.write("src/a.ts", "export function f(): number { return 1; }\n");
    scratch.write("src/b.ts", "import { f } from \"./a.js\";\nf();\n");
    says(&scratch.eslint("src/b.ts").await, "Clean");
    scratch.write("src/a.ts", "export async function f(): Promise<number> { return 1; }\n");
    says(&scratch.eslint("src/b.ts").await, floating);
    scratch.write("src/a.ts", "export function f(): number { return 2; }\n");
    says(&scratch.eslint("src/b.ts").await, "Clean");
    scratch.write("src/new.ts", "export const g = async () => 1;\n");
    scratch.write("src/c.ts", "import { g } from \"./new.js\";\ng();\n");
    says(&scratch.eslint("src/c.ts").await, floating);
}

#[tokio::test]
async fn eslint_keeps_types_only_while_they_are_true() {
    let files = [("eslint.config.js", TYPED), ("rules.js", RULES), ("tsconfig.json", CONFIG)];
    let Some(scratch) = real(&files) else {
        return;
    };
    let (now, later) = ("export const f = () => 1;\n", "export const f = async () => 1;\n");
    let floating = "Issues 2:1 @typescript-eslint/no-floating-promises";
    let user = |module: &str| format!("import {{ f }} from \"./{module}.js\";\nf();\n");
    scratch.write("src/a.ts", now);
    scratch.write("src/b.ts", &user("a"));
    let b = || scratch.eslint("src/b.ts");
    for _ in 0..4 {
        says(&b().await, "Clean");
    }
    // Another file, linted or not.
    scratch.write("src/a.ts", later);
    says(&b().await, floating);
    scratch.write("src/a.ts", now);
    says(&scratch.eslint("src/a.ts").await, "Clean");
    says(&b().await, "Clean");
    scratch.write("src/a.ts", later);
    says(&scratch.eslint("src/a.ts").await, "Clean");
    says(&b().await, floating);
    // The file itself, alone and together with what it imports, in both orders.
    scratch.write("src/b.ts", &user("a").replace("f();", "void f();"));
    says(&b().await, "Clean");
    for names in [["src/a.ts", "src/b.ts"], ["src/b.ts", "src/a.ts"]] {
        for (text, expected) in [(now, "Clean"), (later, floating)] {
            scratch.write("src/a.ts", text);
            scratch.write("src/b.ts", &user("a"));
            says(&scratch.worker.eslint(&names.map(|name| scratch.path(name)), LONG).await, expected);
        }
    }
    // Files that were not there, in the project and beside it, and one that is gone.
    scratch.write("src/b.ts", &user("deep/new"));
    says(&b().await, "Clean");
    scratch.write("src/deep/new.ts", later);
    says(&b().await, floating);
    std::fs::remove_file(scratch.path("src/deep/new.ts")).unwrap();
    says(&b().await, "Clean");
    scratch.write("src/deep/new.d.ts", "export function f(): Promise<void>;\n");
    says(&b().await, floating);
    // The configuration, by way of a type that only one of two folders has.
    scratch.write("src/b.ts", "import { f } from \"own\";\nf();\n");
    scratch.write("one/own.ts", now);
    scratch.write("two/own.ts", later);
    for (folder, expected) in [("one", "Clean"), ("two", floating), ("one", "Clean")] {
        let paths = format!(r#""strict": true, "paths": {{ "own": ["./{folder}/own.ts"] }}"#);
        scratch.write("tsconfig.json", &CONFIG.replace(r#""strict": true"#, &paths));
        says(&b().await, expected);
        says(&b().await, expected);
    }
    // What is not linted with types in between.
    scratch.write("src/b.ts", &user("a"));
    scratch.write("src/a.ts", now);
    says(&b().await, "Clean");
    scratch.write("plain.js", "export default 1;\n");
    says(&scratch.eslint("plain.js").await, "Clean");
    scratch.write("src/a.ts", later);
    says(&b().await, floating);
}

#[tokio::test]
async fn eslint_goes_by_what_its_configuration_is_now() {
    let files =
        [("eslint.config.js", TYPED), ("rules.js", RULES), ("tsconfig.json", CONFIG), ("src/a.ts", "let x = 1;\n")];
    let Some(scratch) = real(&files) else {
        return;
    };
    says(&scratch.eslint("src/a.ts").await, "Issues 1:5 prefer-const");
    scratch.write("rules.js", "export default { \"no-var\": \"warn\" };");
    says(&scratch.eslint("src/a.ts").await, "Clean");
    scratch.write("eslint.config.js", &TYPED.replace("rules,", "rules: { 'prefer-const': 2 },"));
    says(&scratch.eslint("src/a.ts").await, "Issues 1:5 prefer-const");
    scratch.write("eslint.config.js", "export default [");
    assert_eq!(scratch.eslint("src/a.ts").await.status, Status::Error);
    scratch.write("eslint.config.js", &TYPED.replace("rules,", "rules: { 'none/such': 2 },"));
    let outcome = scratch.eslint("src/a.ts").await;
    assert_eq!(outcome.status, Status::Error);
    assert!(outcome.notes.join(" ").starts_with("eslint failed: "), "{outcome:?}");
    std::fs::remove_file(scratch.path("eslint.config.js")).unwrap();
    says(&scratch.eslint("src/a.ts").await, "Skipped");
    scratch.write("src/eslint.config.js", "export default [{ rules: { 'no-unused-vars': 2 } }];");
    scratch.write("src/b.js", "let x = 1;\n");
    says(&scratch.eslint("src/b.js").await, "Issues 1:5 no-unused-vars");
}

#[tokio::test]
async fn prettier_tells_unformatted_from_unreadable() {
    let Some(scratch) = real(&[(".prettierignore", "ignored/\n"), (".gitignore", "built/\n")]) else {
        return;
    };
    scratch.write("src/.prettierignore", "also.ts\n");
    for (name, text, expected, unformatted) in [
        ("src/clean.ts", FORMATTED, "Clean", false),
        ("src/wide.ts", "export const   x = 1\n", "Issues", true),
        ("src/a.json", "{\"a\":1}\n", "Issues", true),
        ("README.md", "# Text\n", "Clean", false),
        ("src/broken.ts", "\nlet x = ;\n", "Error 2:9 -", false),
        ("src/broken.css", "a {\n", "Error 1:1 -", false),
        ("src/broken.yaml", "a: b\n c: [\n", "Error 1:4 -", false),
        ("src/what.xyz", "what\n", "Skipped", false),
        ("ignored/a.ts", "x   \n", "Skipped", false),
        ("built/a.ts", "x   \n", "Skipped", false),
        ("src/also.ts", "x   \n", "Skipped", false),
        ("src/empty.ts", "", "Clean", false),
    ] {
        let file = scratch.write(name, text);
        let outcome = scratch.prettier(name).await;
        says(&outcome, expected);
        assert_eq!(outcome.unformatted, if unformatted { vec![file] } else { vec![] }, "{name}");
    }
    let files: Vec<_> = ["src/clean.ts", "src/wide.ts", "src/broken.ts"].map(|name| scratch.path(name)).to_vec();
    let outcome = scratch.worker.prettier(&files, LONG).await;
    says(&outcome, "Issues 2:9 -");
    assert_eq!((outcome.files, outcome.unformatted.len()), (3, 1));
}

#[tokio::test]
async fn prettier_goes_by_what_its_configuration_is_now() {
    let Some(scratch) = real(&[("src/a.ts", "export const x = \"\";\n"), ("own.js", "export default true;")]) else {
        return;
    };
    says(&scratch.prettier("src/a.ts").await, "Clean");
    scratch.write(".prettierrc", "singleQuote: true\n");
    says(&scratch.prettier("src/a.ts").await, "Issues");
    scratch.write(".prettierrc", "singleQuote: false\n");
    says(&scratch.prettier("src/a.ts").await, "Clean");
    scratch.write("src/.editorconfig", "[*]\nend_of_line = crlf\n");
    says(&scratch.prettier("src/a.ts").await, "Issues");
    std::fs::remove_file(scratch.path("src/.editorconfig")).unwrap();
    std::fs::remove_file(scratch.path(".prettierrc")).unwrap();
    scratch.write("prettier.config.js", "import own from './own.js';\nexport default { singleQuote: own };");
    says(&scratch.prettier("src/a.ts").await, "Issues");
    scratch.write("own.js", "export default false;");
    says(&scratch.prettier("src/a.ts").await, "Clean");
    scratch.write("prettier.config.js", "export default { singleQuote: ");
    assert_eq!(scratch.prettier("src/a.ts").await.status, Status::Error);
    scratch.write("prettier.config.js", "export default { singleQuote: true };");
    says(&scratch.prettier("src/a.ts").await, "Issues");
}

#[tokio::test]
async fn typescript_names_line_and_code() {
    let Some(scratch) = real(&[("tsconfig.json", CONFIG)]) else {
        return;
    };
    for (name, text, expected) in [
        ("src/clean.ts", FORMATTED, "Clean"),
        ("src/type.ts", "export const x: number = 1;\nexport const y: string = x;\n", "Issues 2:14 TS2322"),
        ("src/syntax.ts", "export const x = ;\n", "Issues 1:18 TS1109"),
        ("src/view.tsx", "export const x = <p />;\n", "Issues 1:18 TS7026, 1:18 TS17004"),
        ("src/plain.js", "x.y.z();\n", "Skipped"),
        ("outside.ts", "export const x: string = 1;\n", "Skipped"),
        ("README.md", "# Text\n", "Skipped"),
    ] {
        scratch.write(name, text);
        says(&scratch.typescript(name).await, expected);
    }
    let outcome = scratch.typescript("outside.ts").await;
    assert_eq!(outcome.notes, ["typescript: outside.ts belongs to no tsconfig.json"]);
}

#[tokio::test]
async fn typescript_sees_every_change() {
    let Some(scratch) = real(&[("tsconfig.json", CONFIG), ("src/a.ts", "export const a: number = 1;\n")]) else {
        return;
    };
    scratch.write("src/b.ts", "import { a } from \"./a.js\";\nexport const b: number = a;\n");
    says(&scratch.typescript("src/b.ts").await, "Clean");
    scratch.write("src/a.ts", "export const a: string = \"\";\n");
    says(&scratch.typescript("src/b.ts").await, "Issues 2:14 TS2322");
    scratch.write("src/a.ts", "export const a: number = 2;\n");
    says(&scratch.typescript("src/b.ts").await, "Clean");
    // Files that were not there, one that is gone, and one that stands before another.
    scratch.write("src/b.ts", "import { a } from \"./new.js\";\nexport const b: number = a;\n");
    says(&scratch.typescript("src/b.ts").await, "Issues 1:19 TS2307");
    scratch.write("src/new.ts", "export const a = 1;\n");
    says(&scratch.typescript("src/b.ts").await, "Clean");
    std::fs::remove_file(scratch.path("src/new.ts")).unwrap();
    says(&scratch.typescript("src/b.ts").await, "Issues 1:19 TS2307");
    scratch.write("src/new.d.ts", "export const a: number;\n");
    says(&scratch.typescript("src/b.ts").await, "Clean");
    scratch.write("src/new.ts", "export const a = \"\";\n");
    says(&scratch.typescript("src/b.ts").await, "Issues 2:14 TS2322");
    // A global declaration of a file that nothing imports.
    scratch.write("src/c.ts", "export const c: Global = 1;\n");
    says(&scratch.typescript("src/c.ts").await, "Issues 1:17 TS2304");
    scratch.write("src/global.d.ts", "type Global = number;\n");
    says(&scratch.typescript("src/c.ts").await, "Clean");
    // The configuration, and what it extends.
    scratch.write("src/d.ts", "export function d(x) { return x; }\n");
    says(&scratch.typescript("src/d.ts").await, "Issues 1:19 TS7006");
    scratch.write("tsconfig.json", r#"{ "extends": "./base.json", "include": ["src"] }"#);
    scratch.write("base.json", &CONFIG.replace("true", "false"));
    says(&scratch.typescript("src/d.ts").await, "Clean");
    scratch.write("base.json", CONFIG);
    says(&scratch.typescript("src/d.ts").await, "Issues 1:19 TS7006");
    scratch.write(
        "tsconfig.json",
        r#"{ "extends": "./base.json", "include": ["src"], "compilerOptions": { "none": 1 } }"#,
    );
    says(&scratch.typescript("src/b.ts").await, "Issues 2:14 TS2322, 1:70 TS5023");
}

#[tokio::test]
async fn typescript_sees_changes_of_what_only_imports_lead_to() {
    let files = [("tsconfig.json", r#"{ "compilerOptions": { "strict": true }, "files": ["main.ts"] }"#)];
    let Some(scratch) = real(&files) else {
        return;
    };
    scratch.write("main.ts", "import { a } from \"./a\";\nexport const b: number = a;\n");
    says(&scratch.typescript("main.ts").await, "Issues 1:19 TS2307");
    scratch.write("a.ts", "export const a = \"\";\n");
    says(&scratch.typescript("main.ts").await, "Issues 2:14 TS2322");
    scratch.write("a.ts", "export const a: number = \"\";\n");
    says(&scratch.typescript("main.ts").await, "Clean");
    says(&scratch.typescript("a.ts").await, "Issues 1:14 TS2322");
    scratch.write("a/index.ts", "export const a = false;\n");
    std::fs::remove_file(scratch.path("a.ts")).unwrap();
    says(&scratch.typescript("main.ts").await, "Issues 2:14 TS2322");
}

#[tokio::test]
async fn typescript_follows_references_without_a_build() {
    let part = |references: &str| {
        format!(
            r#"{{ "compilerOptions": {{ "composite": true, "strict": true, "rootDir": ".", "outDir": "out" }},
                "include": ["*.ts"], "references": [{references}] }}"#
        )
    };
    let (core, app) = (part(""), part(r#"{ "path": "../core" }"#));
    let Some(scratch) = real(&[
        ("tsconfig.json", r#"{ "files": [], "references": [{ "path": "app" }, { "path": "web/tsconfig.web.json" }] }"#),
        ("core/tsconfig.json", &core),
        ("core/a.ts", "export const a: number = 1;\n"),
        ("app/tsconfig.json", &app),
        ("app/b.ts", "import { a } from \"../core/a\";\nexport const b: string = a;\n"),
        ("web/tsconfig.web.json", r#"{ "compilerOptions": { "composite": true }, "include": ["."] }"#),
        ("web/c.ts", "export const c: string = 1;\n"),
    ]) else {
        return;
    };
    says(&scratch.typescript("core/a.ts").await, "Clean");
    says(&scratch.typescript("app/b.ts").await, "Issues 2:14 TS2322");
    scratch.write("core/a.ts", "export const a: string = \"\";\n");
    says(&scratch.typescript("app/b.ts").await, "Clean");
    says(&scratch.typescript("web/c.ts").await, "Issues 1:14 TS2322");
    let files = [scratch.path("web/c.ts"), scratch.path("app/b.ts"), scratch.path("core/a.ts")];
    let outcome = scratch.worker.typescript(&files, LONG).await;
    says(&outcome, "Issues 1:14 TS2322");
    assert_eq!(outcome.files, 3);
}

const LEGACY: &str = r#"
module.exports = {
  root: true,
  rules: { "prefer-const": "error" },
  parserOptions: { ecmaVersion: 2022, sourceType: "module" },
  overrides: [
    {
      files: ["*.ts"],
      parser: "@typescript-eslint/parser",
      parserOptions: { project: "./tsconfig.json" },
      plugins: ["@typescript-eslint"],
      rules: { "@typescript-eslint/no-floating-promises": "error" },
    },
  ],
};
"#;

#[tokio::test]
async fn eslint_8_goes_by_its_old_configuration() {
    let files = [(".eslintrc.cjs", LEGACY), (".eslintignore", "ignored/\n"), ("tsconfig.json", CONFIG)];
    let Some(scratch) = with("TOOLGATE_CHECKS_OLD_NODE_MODULES", &files) else {
        return;
    };
    let floating = "Issues 2:1 @typescript-eslint/no-floating-promises";
    for (name, text, expected) in [
        ("src/clean.ts", FORMATTED, "Clean"),
        ("src/let.js", "let x = 1;\nexport default x;\n", "Issues 1:5 prefer-const"),
        ("src/f.ts", "export async function f(): Promise<number> { return 1; }\n", "Clean"),
        ("src/typed.ts", "import { f } from \"./f.js\";\nf();\n", floating),
        ("src/f.ts", "export function f(): number { return 1; }\n", "Clean"),
        ("src/typed.ts", "import { f } from \"./f.js\";\nf();\n", "Clean"),
        ("src/broken.js", "let x = ;\n", "Issues 1:9 -"),
        ("ignored/a.js", "let x = 1;\n", "Skipped"),
        ("src/README.md", "# Text\n", "Skipped"),
        ("src/view.tsx", "let x = 1;\n", "Skipped"),
    ] {
        scratch.write(name, text);
        says(&scratch.eslint(name).await, expected);
    }
    scratch.write(".eslintrc.cjs", &LEGACY.replace("prefer-const", "no-var"));
    says(&scratch.eslint("src/let.js").await, "Clean");
    std::fs::remove_file(scratch.path(".eslintrc.cjs")).unwrap();
    says(&scratch.eslint("src/let.js").await, "Skipped");
    scratch.write("eslint.config.js", "export default [{ rules: { 'prefer-const': 2 } }];");
    says(&scratch.eslint("src/let.js").await, "Issues 1:5 prefer-const");
}

#[tokio::test]
async fn prettier_2_is_asked_in_its_own_way() {
    let files = [(".prettierignore", "ignored/\n"), (".gitignore", "built/\n")];
    let Some(scratch) = with("TOOLGATE_CHECKS_OLD_NODE_MODULES", &files) else {
        return;
    };
    for (name, text, expected) in [
        ("src/clean.ts", FORMATTED, "Clean"),
        ("src/wide.ts", "export const   x = 1\n", "Issues"),
        ("src/broken.ts", "\nlet x = ;\n", "Error 2:9 -"),
        ("src/what.xyz", "what\n", "Skipped"),
        ("ignored/a.ts", "x   \n", "Skipped"),
        ("built/a.ts", "x   \n", "Issues"),
    ] {
        scratch.write(name, text);
        says(&scratch.prettier(name).await, expected);
    }
    scratch.write("src/q.ts", "export const x = \"\";\n");
    scratch.write(".prettierrc.cjs", "module.exports = { singleQuote: true };");
    says(&scratch.prettier("src/q.ts").await, "Issues");
    scratch.write(".prettierrc.cjs", "module.exports = { singleQuote: false };");
    says(&scratch.prettier("src/q.ts").await, "Clean");
}
