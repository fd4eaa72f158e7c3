//! An instance that begins with the memory of one which has read its rule files says what one says that reads them.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toolgate_capabilities::LocalGit;
use toolgate_host::capability::LocalFiles;
use toolgate_host::limits::Limits;
use toolgate_host::{
    Analysis, Capabilities, Decision, Digest, Engine, Gate, Plugin, Session, Snapshots, ToolCall, Verdict,
};

const MARK: &str = "toolgate snapshot 1 ";

/// Rule files of many kinds, and what is judged by them.
const FILES: &[(&str, &str)] = &[
    ("a pattern", "rules: [{name: mine, pattern: 'publish-(it|them)-all', reason: only people do that}]\n"),
    (
        "a program",
        "rules: [{name: mine, program: terraform, subcommand: apply, ask: true, reason: changes machines}]\n",
    ),
    ("paths", "zeroAccessPaths: ['vault/**', ~/private]\nreadOnlyPaths: ['*.lock']\nnoDeletePaths: [keep]\n"),
    (
        "packs and what lifts rules",
        "packs: [cloud, -git]\nexemptions: [{rule: 'noReadPaths: .env', paths: [.env]}]\noverrides: [rm-force]\n",
    ),
    (
        "events",
        "observers: [{writes: tested, watch: {program: cargo, subcommand: test}}]\nrules: [{name: mine, program: git, subcommand: push, when: {missing: {event: tested, in: session}}, reason: test first}]\n",
    ),
    (
        "what is wrong in parts",
        "rules: [{name: mine, pattern: '(', reason: x}, {name: good, pattern: publish-it-all, reason: y}]\nnone: 1\n",
    ),
    ("no YAML", "rules: [\n"),
    ("nothing", ""),
];

const COMMANDS: &[&str] = &[
    "ls -la",
    "publish-it-all now",
    "cd infra && terraform apply -auto-approve",
    "cat vault/key ~/private",
    "rm -rf keep",
    "echo > a.lock",
    "cat .env",
    "rm -rf ~",
    "git push --force # toolgate-override: git-force-push — asked",
    "aws s3 rb s3://bucket --force",
    "cargo test && git push",
    "for f in *; do echo \"$f\" | sort > b; done; python3 -c 'import shutil; shutil.rmtree(\"/\")'",
];

struct Scene {
    scratch: tempfile::TempDir,
    engine: Engine,
}

impl Scene {
    fn new() -> Self {
        Scene { scratch: tempfile::tempdir().expect("a scratch folder"), engine: Engine::new().expect("an engine") }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path)
    }

    /// A file with rules, of the user's.
    fn file(&self, content: &str) -> PathBuf {
        let path = self.at("rules.yaml");
        fs::write(&path, content).expect("written");
        path
    }

    /// The guard that keeps its snapshots in this folder.
    fn guard(&self, folder: Option<&Path>) -> Plugin {
        plain(&self.engine).with_snapshots(Snapshots::new(folder.map(Path::to_path_buf)))
    }
}

fn plain(engine: &Engine) -> Plugin {
    Plugin::precompiled(engine, toolgate_builtin::NAME, &toolgate_builtin::guard()).expect("the guard")
}

fn session() -> Session {
    Session::in_folder("/home/dev/project").with_home("/home/dev".to_owned())
}

fn granted(rules: &Path) -> Capabilities {
    Capabilities::absent().files(LocalFiles::new().inline().user_rules(rules)).git(LocalGit)
}

/// What an instance says of its start, and of each command.
async fn said(plugin: &Plugin, rules: &Path) -> (String, Vec<Verdict>) {
    said_by(&Gate::new(plugin.clone(), session(), granted(rules))).await
}

async fn said_by(gate: &Gate) -> (String, Vec<Verdict>) {
    let started = gate.start().await.expect("it starts");
    let mut verdicts = Vec::new();
    for command in COMMANDS {
        let call = ToolCall::shell(*command, "/home/dev/project").with_home("/home/dev".to_owned());
        verdicts.push(gate.judge(&call).await);
    }
    (format!("{started:?}"), verdicts)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all
}

/// The plugin with snapshots of these rules, and the folder with the one that was kept.
async fn kept(scene: &Scene, rules: &Path, folder: &str) -> (Plugin, PathBuf) {
    let folder = scene.at(folder);
    let plugin = scene.guard(Some(&folder));
    said(&plugin, rules).await;
    assert!(missing(&plugin), "it was missed");
    plugin.take_snapshots().await;
    let all = entries(&folder);
    assert_eq!(all.len(), 1, "it is kept, and nothing else: {all:?}");
    (plugin, all[0].clone())
}

fn missing(plugin: &Plugin) -> bool {
    plugin.snapshots().expect("it has some").are_missing()
}

#[tokio::test]
async fn the_same_is_said_of_every_command() {
    let scene = Scene::new();
    let plugin = plain(&scene.engine);
    for (number, (what, content)) in FILES.iter().enumerate() {
        let rules = scene.file(content);
        let expected = said(&plugin, &rules).await;
        let (with, entry) = kept(&scene, &rules, &format!("of {number}")).await;
        // It is at hand: nothing is read.
        fs::rename(&entry, entry.with_extension("moved")).expect("moved");
        assert_eq!(said(&with, &rules).await, expected, "{what}: at hand");
        assert!(!missing(&with), "{what}: at hand");
        fs::rename(entry.with_extension("moved"), &entry).expect("moved");
        // As another process would.
        let other = scene.guard(entry.parent());
        assert_eq!(said(&other, &rules).await, expected, "{what}: kept");
        assert!(!missing(&with) && !missing(&other), "{what}: it was there");
        let size = fs::metadata(&entry).expect("there").len();
        assert!(size < 1 << 20, "{what}: {size} bytes");
        // Whoever has no such file.
        let none = scene.at("none.yaml");
        assert_eq!(said(&with, &none).await, said(&plugin, &none).await, "{what}: without it");
    }
}

/// So many that the memory has to grow for them.
fn many_rules() -> String {
    let rule = |number: usize| {
        format!("- {{name: n{number}, program: tool{number}, pattern: 'word{number}(a|b)+c', reason: no}}\n")
    };
    "rules:\n".to_owned() + &(0..3_000).map(rule).collect::<String>()
}

#[tokio::test]
async fn a_memory_that_has_grown_grows_on() {
    let scene = Scene::new();
    let rules = scene.file(&many_rules());
    let (plugin, entry) = kept(&scene, &rules, "large").await;
    assert!(fs::metadata(&entry).expect("there").len() > 1 << 20);
    let words = "x ".repeat(200_000);
    for plugin in [&plain(&scene.engine), &plugin, &scene.guard(entry.parent())] {
        let gate = Gate::new(plugin.clone(), session(), granted(&rules));
        for (command, blocked) in [
            ("tool2999 word2999abc", true),
            (&*format!("echo {words}; tool7 word7ac"), true),
            (&*format!("echo {words}"), false),
        ] {
            let verdict = gate.judge(&ToolCall::shell(command, "/home/dev/project")).await;
            assert_eq!(matches!(verdict.decision, Decision::Block(_)), blocked, "{verdict:?}");
        }
    }
}

/// An entry with the name that is asked for and the digest that fits, and the content of another one.
fn forged(of: &Path, with: &[u8]) -> Vec<u8> {
    let name = of.file_name().expect("a name").to_string_lossy().into_owned();
    [format!("{MARK}{name} {}\n", Digest::of(with).sha256).as_bytes(), with].concat()
}

/// What stands behind the head of an entry.
fn content(entry: &Path) -> Vec<u8> {
    let bytes = fs::read(entry).expect("read");
    let head = bytes.iter().position(|byte| *byte == b'\n').expect("a first line");
    bytes[head + 1..].to_vec()
}

#[tokio::test]
async fn what_is_wrong_with_an_entry_changes_no_verdict() {
    let scene = Scene::new();
    let rules = scene.file("rules: []\npacks: [-git]\n");
    let (_, lenient) = kept(&scene, &rules, "lenient").await;
    let rules = scene.file(FILES[0].1);
    let expected = said(&plain(&scene.engine), &rules).await;
    assert!(matches!(expected.1[1].decision, Decision::Block(_)), "{expected:?}");
    let number = |at: usize, number: u32| {
        move |mut bytes: Vec<u8>| {
            bytes[at * 4..at * 4 + 4].copy_from_slice(&number.to_le_bytes());
            bytes
        }
    };
    type Change<'a> = Box<dyn Fn(Vec<u8>) -> Vec<u8> + 'a>;
    let contents: Vec<(&str, Change<'_>)> = vec![
        ("of other files", Box::new(|_| content(&lenient))),
        ("nothing", Box::new(|_| Vec::new())),
        ("cut", Box::new(|bytes| bytes[..bytes.len() / 2].to_vec())),
        ("more", Box::new(|bytes| [bytes, vec![0; 4_096]].concat())),
        ("a memory of no size", Box::new(number(0, 0))),
        ("a memory of no whole page", Box::new(number(0, 17))),
        ("a memory beyond all limits", Box::new(number(0, u32::MAX))),
        ("no runs", Box::new(number(1, 0))),
        ("more runs than there are", Box::new(number(1, u32::MAX))),
        ("a run beyond the end", Box::new(number(2, u32::MAX))),
        ("a run of no length", Box::new(number(3, 0))),
        ("a run that is too long", Box::new(number(3, u32::MAX))),
    ];
    for (how, change) in &contents {
        let (_, entry) = kept(&scene, &rules, how).await;
        fs::write(&entry, forged(&entry, &change(content(&entry)))).expect("written");
        let plugin = scene.guard(entry.parent());
        assert_eq!(said(&plugin, &rules).await, expected, "{how}");
    }
    type Spoil = fn(&Path);
    let files: &[(&str, Spoil)] = &[
        ("a bit", |entry| {
            let mut bytes = fs::read(entry).expect("read");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(entry, bytes).expect("written");
        }),
        ("the end is missing", |entry| {
            let file = File::options().write(true).open(entry).expect("open");
            file.set_len(file.metadata().expect("there").len() - 1).expect("cut");
        }),
        ("open to others", |entry| {
            fs::set_permissions(entry, fs::Permissions::from_mode(0o644)).expect("its mode");
        }),
        ("empty", |entry| fs::write(entry, "").expect("written")),
    ];
    for (how, spoil) in files {
        let (_, entry) = kept(&scene, &rules, how).await;
        spoil(&entry);
        let plugin = scene.guard(entry.parent());
        assert_eq!(said(&plugin, &rules).await, expected, "{how}");
        assert!(missing(&plugin), "{how}: it is to be taken anew");
        plugin.take_snapshots().await;
        let other = scene.guard(entry.parent());
        assert_eq!(said(&other, &rules).await, expected, "{how}");
        assert!(!missing(&other), "{how}: it was replaced");
    }
}

/// Garbage that is kept as it should be, which no digest tells: the guard fails with it, at once or at a call.
#[tokio::test]
async fn one_that_fells_the_guard_is_given_up() {
    let scene = Scene::new();
    let rules = scene.file(FILES[0].1);
    let expected = said(&plain(&scene.engine), &rules).await;
    let (_, entry) = kept(&scene, &rules, "garbage").await;
    let bytes = content(&entry);
    let runs = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes")) as usize;
    let (start, mut failed) = (8 + 8 * runs, 0);
    let size = (bytes.len() - start).div_ceil(48);
    // All of it, and each part.
    let parts = (start..bytes.len()).step_by(size).map(|at| at..(at + size).min(bytes.len()));
    for part in parts.chain(std::iter::once(start..bytes.len())) {
        for byte in [0x00, 0xa5] {
            let mut garbage = bytes.clone();
            garbage[part.clone()].fill(byte);
            let garbage = forged(&entry, &garbage);
            fs::write(&entry, &garbage).expect("written");
            fs::set_permissions(&entry, fs::Permissions::from_mode(0o600)).expect("its mode");
            let _ = fs::remove_file(entry.with_extension("begun"));
            let plugin = scene.guard(entry.parent());
            let gate = Gate::new(plugin.clone(), session(), granted(&rules));
            let mut fails = false;
            for command in COMMANDS {
                let call = ToolCall::shell(*command, "/home/dev/project").with_home("/home/dev".to_owned());
                let verdict = gate.judge(&call).await;
                fails |= verdict.findings.iter().any(|finding| finding.rule.starts_with("host:"));
            }
            failed += usize::from(fails);
            if fails {
                assert!(!entry.exists(), "{part:?} {byte}: it stays");
                assert_eq!(said(&plugin, &rules).await, expected, "{part:?} {byte}");
                plugin.take_snapshots().await;
                assert!(!entry.exists(), "{part:?} {byte}: it is not taken again at once");
            }
        }
    }
    assert!(failed > 0, "one at least starts and fails at a call");
}

/// The key is of everything that is handed over, and the guard compares all of it.
#[tokio::test]
async fn the_same_words_in_another_layer_are_other_rules() {
    let scene = Scene::new();
    // Only a file of the user's lifts rules.
    let rules = scene.file("packs: [-git]\n");
    let of_project = Capabilities::absent().files(LocalFiles::new().inline().project_rules(&rules)).git(LocalGit);
    let push = ToolCall::shell("git push --force", "/home/dev/project");
    let passes = async |plugin: &Plugin, granted: Capabilities| {
        matches!(Gate::new(plugin.clone(), session(), granted).judge(&push).await.decision, Decision::Pass)
    };
    let (users, of_user) = kept(&scene, &rules, "of the user").await;
    assert!(passes(&users, granted(&rules)).await && !passes(&users, of_project.clone()).await);
    users.take_snapshots().await;
    let all = entries(of_user.parent().expect("a folder"));
    let of_other = all.iter().find(|entry| **entry != of_user).expect("another one");
    fs::write(of_other, forged(of_other, &content(&of_user))).expect("written");
    let plugin = scene.guard(of_user.parent());
    assert!(!passes(&plugin, of_project).await, "not even if somebody gives it the other's name");
}

/// What a session brings with it comes on top, as it does without.
#[tokio::test]
async fn packs_and_places_of_a_session_hold() {
    let scene = Scene::new();
    let rules = scene.file(FILES[0].1);
    let (with, _) = kept(&scene, &rules, "sessions").await;
    let contexts = [
        r#"{"schema":1}"#,
        r#"{"schema":1,"packs":["all","-git"]}"#,
        r#"{"schema":1,"own":["/srv/toolgate"]}"#,
        r#"{"schema":1,"packs":["none-such"]}"#,
    ];
    let commands = ["aws s3 rb s3://bucket --force", "git push --force", "rm /srv/toolgate/a", "publish-it-all"];
    for context in contexts.iter().chain(&contexts) {
        let mut both = Vec::new();
        for plugin in [&plain(&scene.engine), &with] {
            let session = session().with_context(*context);
            let gate = Gate::new(plugin.clone(), session, granted(&rules));
            let mut all = vec![format!("{:?}", gate.start().await.expect("it starts"))];
            for command in commands {
                all.push(format!("{:?}", gate.judge(&ToolCall::shell(command, "/home/dev/project")).await));
            }
            both.push(all);
        }
        assert_eq!(both[0], both[1], "{context}");
    }
}

/// A memory that an instance begins with counts as one that it has asked for.
#[tokio::test]
async fn the_limit_on_memory_holds() {
    let scene = Scene::new();
    let rules = scene.file(&many_rules());
    let (with, entry) = kept(&scene, &rules, "limited").await;
    let size = u32::from_le_bytes(content(&entry)[..4].try_into().expect("four bytes")) as usize;
    // Too much for a small memory, and read well within the time.
    let large = ToolCall::shell(format!("echo {}", "x ".repeat(150_000)), "/home/dev/project");
    let small = ToolCall::shell("ls", "/home/dev/project");
    for (memory, judged) in [(256 << 20, [true, true]), (size + (1 << 20), [true, false]), (size / 2, [false, false])] {
        for plugin in [&plain(&scene.engine), &with] {
            let limits = Limits::DEFAULT.with_memory(memory);
            let gate = Gate::new(plugin.clone(), session(), granted(&rules)).with_limits(limits);
            for (call, judged) in [&small, &large].into_iter().zip(judged) {
                let verdict = gate.judge(call).await;
                assert_eq!(verdict.decision == Decision::Pass, judged, "{memory}: {verdict:?}");
            }
        }
    }
}

/// Whoever can write there decides, as in every other file of the gate's own: nothing is read again.
#[tokio::test]
async fn what_is_in_it_counts() {
    let scene = Scene::new();
    let rules = scene.file(FILES[0].1);
    let (reason, another) = ("only people do that", "ONLY PEOPLE DO THAT");
    let (_, entry) = kept(&scene, &rules, "changed").await;
    let bytes = content(&entry);
    let places = bytes.windows(reason.len()).enumerate().filter(|(_, window)| *window == reason.as_bytes());
    let mut said_so = 0;
    for (at, _) in places {
        let mut changed = bytes.clone();
        changed[at..at + reason.len()].copy_from_slice(another.as_bytes());
        fs::write(&entry, forged(&entry, &changed)).expect("written");
        let (_, verdicts) = said(&scene.guard(entry.parent()), &rules).await;
        said_so += usize::from(format!("{:?}", verdicts[1]).contains(another));
    }
    assert_eq!(said_so, 1, "one of them is the rule's, the others are what it was read from");
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_tried_at_each_turn() {
    let scene = Scene::new();
    let rules = scene.file(FILES[0].1);
    let expected = said(&plain(&scene.engine), &rules).await;
    // A file where the folder would be; a snapshot that somebody takes just now; in this process only.
    let (file, busy) = (scene.at("a file"), scene.at("busy"));
    fs::write(&file, "").expect("a file");
    let (_, entry) = kept(&scene, &rules, "busy").await;
    fs::rename(&entry, entry.with_extension("begun")).expect("moved");
    for (how, folder) in [("no folder", Some(file.as_path())), ("busy", Some(&busy)), ("no place", None)] {
        let plugin = scene.guard(folder);
        for _ in 0..3 {
            assert_eq!(said(&plugin, &rules).await, expected, "{how}");
            plugin.take_snapshots().await;
            assert!(!missing(&plugin), "{how}: it was tried");
        }
    }
    assert_eq!(entries(&busy).len(), 1, "nothing was added");
}

/// Files change between two calls, back and forth, while the plugin stays.
#[tokio::test]
async fn rules_that_change_are_in_force_at_once() {
    let scene = Scene::new();
    let (one, other) = (FILES[0].1, "rules: [{name: other, pattern: '^ls', reason: no}]\n");
    let plugin = scene.guard(Some(&scene.at("changing")));
    for round in 0..3 {
        for (content, blocked) in [(one, [false, true]), (other, [true, false])] {
            let rules = scene.file(content);
            let (_, verdicts) = said(&plugin, &rules).await;
            // Files that are looked at apart, with a deadline.
            let apart = Capabilities::absent().files(LocalFiles::new().user_rules(&rules)).git(LocalGit);
            let (_, same) = said_by(&Gate::new(plugin.clone(), session(), apart)).await;
            assert_eq!(same, verdicts, "{round}: {content}");
            let found = [0, 1].map(|at: usize| matches!(verdicts[at].decision, Decision::Block(_)));
            assert_eq!(found, blocked, "{round}: {content}");
            plugin.take_snapshots().await;
        }
    }
    assert_eq!(entries(&scene.at("changing")).len(), 2);
}

#[tokio::test]
async fn the_analysis_begins_with_it_too() {
    let scene = Scene::new();
    let rules = scene.file(FILES[0].1);
    let request = serde_json::json!({ "schema": 1, "question": "list" }).to_string();
    let listed = async |plugin: &Plugin| {
        let analysis = Analysis::new(plugin.clone(), session(), granted(&rules));
        analysis.rules(&request).await.expect("a list")
    };
    let expected = listed(&plain(&scene.engine)).await;
    let (with, _) = kept(&scene, &rules, "analysed").await;
    assert_eq!(listed(&with).await, expected);
    assert!(expected.contains("user:mine"), "{expected}");
}
