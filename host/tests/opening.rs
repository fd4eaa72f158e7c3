//! A gate that is opened in a folder goes by the rules that the command goes by there.

use std::path::Path;

use toolgate_host::rule_files::UserFolders;
use toolgate_host::{Capabilities, Decision, Engine, Gate, OpenError, Opened, Plugin, ToolCall};

fn plugin() -> Plugin {
    let engine = Engine::new().expect("an engine");
    Plugin::precompiled(&engine, toolgate_builtin::NAME, &toolgate_builtin::guard()).expect("the guard")
}

struct Scene {
    _folder: tempfile::TempDir,
    user: UserFolders,
    project: std::path::PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let home = folder.path().canonicalize().expect("its real path");
        let (user, project) = (UserFolders::new(&home), home.join("project"));
        std::fs::create_dir_all(project.join("deep")).expect("a folder");
        std::fs::create_dir_all(project.join(".git")).expect("a folder");
        std::fs::create_dir_all(user.configuration()).expect("a folder");
        Scene { _folder: folder, user, project }
    }

    fn forbids(&self, file: &Path, word: &str) {
        let rule = format!("bashToolPatterns: [{{name: {word}, pattern: '\\b{word}\\b', reason: not {word}}}]\n");
        std::fs::write(file, rule).expect("a rule file");
    }

    fn users(&self) -> std::path::PathBuf {
        self.user.configuration().join("toolgate.yaml")
    }

    async fn open(&self) -> Opened<Gate> {
        let opened = Gate::of_user(plugin(), &self.user, &self.project.join("deep"), Capabilities::absent()).await;
        opened.expect("it starts")
    }

    async fn blocked(&self, gate: &Gate, command: &str) -> bool {
        let call = ToolCall::shell(command, self.project.join("deep").display().to_string());
        matches!(gate.judge(&call).await.decision, Decision::Block(_))
    }
}

#[tokio::test]
async fn the_users_and_the_projects_rules_hold() {
    let scene = Scene::new();
    scene.forbids(&scene.users(), "alpha");
    scene.forbids(&scene.project.join("toolgate.yaml"), "beta");
    let opened = scene.open().await;
    assert!(opened.started.diagnostics.is_empty(), "{:?}", opened.started);
    for (command, blocked) in [("alpha", true), ("beta", true), ("gamma", false)] {
        assert_eq!(scene.blocked(&opened.value, command).await, blocked, "{command}");
    }
    let writes = format!("rm {}", scene.users().display());
    assert!(scene.blocked(&opened.value, &writes).await, "the rules themselves are behind the gate");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_counts_as_it_was() {
    let scene = Scene::new();
    scene.forbids(&scene.users(), "alpha");
    assert!(scene.blocked(&scene.open().await.value, "alpha").await);
    std::fs::write(scene.users(), "a: [").expect("a rule file");
    let opened = scene.open().await;
    assert!(scene.blocked(&opened.value, "alpha").await);
    let told = opened.started.diagnostics.iter().any(|one| one.message.ends_with("; its last valid version is active"));
    assert!(told, "{:?}", opened.started);
}

#[tokio::test]
async fn a_folder_has_to_be_absolute() {
    let scene = Scene::new();
    let opened = Gate::of_user(plugin(), &scene.user, Path::new("project"), Capabilities::absent()).await;
    assert!(matches!(opened, Err(OpenError::Folder(_))));
}
