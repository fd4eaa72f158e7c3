//! The environment of a resident host, and of those who ask it.

use crate::scene::Scene;

/// Variables with which a hook asks the resident host of a scene, and logs so much.
pub(crate) fn variables(scene: &Scene, log: &str) -> Vec<(&'static str, String)> {
    let runtime = scene.at("run");
    std::fs::create_dir_all(&runtime).expect("a folder");
    vec![
        ("HOME", scene.at("home").display().to_string()),
        ("XDG_RUNTIME_DIR", runtime.display().to_string()),
        ("TOOLGATE_NO_SERVE", String::new()),
        ("TOOLGATE_LOG", log.to_owned()),
    ]
}
