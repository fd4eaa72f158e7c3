//! Panes that come and go, and more than one agent.

use std::time::Duration;

use crate::common::{assert_answer, assert_has, assert_works, in_both, in_both_scenes, left_out};
use serde_json::json;
use toolgate_terminal_tests::Error;
use toolgate_terminal_tests::mcp::{Answer, Client};
use toolgate_terminal_tests::scene::Scene;
use toolgate_terminal_tests::shell::{PROMPTS, Shell};
use toolgate_terminal_tests::wait::{LIMIT, until_so};

/// The pane that a command ran in.
fn pane(answer: &Answer) -> String {
    answer.detail("pane").as_str().unwrap_or_default().to_owned()
}

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

#[test]
fn a_pane_may_be_closed_at_any_moment() {
    in_both(|scene, client| {
        let mut random = Random(0x7467_6174_6531);
        for round in 0..10 {
            assert_works(client);
            let shared = scene.shared().unwrap();
            let id = client.call("bash", &json!({"command": "sh -c 'echo begun; sleep 0.2; echo ended'"})).unwrap();
            let moment = Duration::from_millis(random.below(300));
            let early = client.answer(id, moment);
            scene.tmux.ask(["kill-pane", "-t", &shared]).unwrap();
            let answer = if matches!(early, Err(Error::Late(_))) { client.answer(id, LIMIT) } else { early }.unwrap();
            let ended = answer.exit() == Some(0) && answer.text == "begun\nended";
            assert!(ended || answer.is_error, "round {round}, {moment:?}: {}", answer.result);
        }
        assert_works(client);
        assert_eq!(scene.tmux.panes().unwrap().len(), 2);
    });
}

#[test]
fn a_pane_that_was_closed_between_two_calls_is_replaced() {
    in_both(|scene, client| {
        for _ in 0..3 {
            assert_works(client);
            scene.tmux.ask(["kill-pane", "-t", &scene.shared().unwrap()]).unwrap();
        }
        assert_works(client);
    });
}

#[test]
fn a_pane_that_closes_while_a_command_runs_ends_it() {
    in_both(|scene, client| {
        assert_works(client);
        let id = client.call("bash", &json!({"command": "echo be''gun; sleep 1000"})).unwrap();
        let shared = scene.shared().unwrap();
        scene.tmux.until_shown(&shared, "begun").unwrap();
        scene.tmux.ask(["kill-pane", "-t", &shared]).unwrap();
        let answer = client.answer(id, LIMIT).unwrap();
        assert!(answer.is_error, "{}", answer.result);
        assert_has(&answer, "closed");
        assert_works(client);
    });
}

#[test]
fn a_command_that_kills_its_shell_is_answered() {
    in_both(|_, client| {
        let answer = client.bash("kill -9 $$").unwrap();
        assert!(answer.is_error, "{}", answer.result);
        assert_works(client);
    });
}

#[test]
fn the_window_may_change() {
    in_both(|scene, client| {
        assert_works(client);
        let shared = scene.shared().unwrap();
        scene.tmux.ask(["break-pane", "-d", "-s", &shared]).unwrap();
        assert_works(client);
        scene.tmux.ask(["join-pane", "-d", "-s", &shared, "-t", &scene.agent]).unwrap();
        assert_works(client);
        scene.tmux.ask(["resize-pane", "-t", &shared, "-x", "40"]).unwrap();
        assert_works(client);
        scene.tmux.ask(["rename-session", "-t", "scene", "other: name"]).unwrap();
        assert_works(client);
        scene.tmux.ask(["rename-session", "-t", "=other_ name", "scene"]).unwrap();
        scene.tmux.ask(["new-window", "-t", "scene"]).unwrap();
        assert_works(client);
        let answer = client.bash("echo same").unwrap();
        assert_eq!(pane(&answer), shared);
    });
}

#[test]
fn a_server_that_is_started_again_takes_its_pane() {
    in_both_scenes("two-line", "", |scene| {
        let mut shared = None;
        for _ in 0..4 {
            let mut client = scene.server().unwrap();
            assert_works(&mut client);
            let pane = scene.shared().unwrap();
            assert_eq!(*shared.get_or_insert_with(|| pane.clone()), pane);
            client.stop().unwrap();
        }
    });
}

#[test]
fn a_server_that_is_killed_leaves_its_pane_to_the_next() {
    in_both_scenes("two-line", "", |scene| {
        let mut client = scene.server().unwrap();
        client.call("bash", &json!({"command": "echo be''gun; until [ -e go ]; do sleep 0.02; done"})).unwrap();
        until_so("the pane", || Ok(scene.tmux.panes()?.len() == 2)).unwrap();
        let shared = scene.shared().unwrap();
        scene.tmux.until_shown(&shared, "begun").unwrap();
        drop(client);
        scene.write("project/go", "").unwrap();
        scene.until_prompt(&shared).unwrap();
        let mut client = scene.server().unwrap();
        assert_works(&mut client);
        assert_eq!(scene.shared().unwrap(), shared);
    });
}

#[test]
fn a_server_that_ends_while_a_command_runs_ends_soon() {
    in_both_scenes("two-line", "", |scene| {
        let mut client = scene.server().unwrap();
        client.call("bash", &json!({"command": "echo be''gun; sleep 1000"})).unwrap();
        until_so("the pane", || Ok(scene.tmux.panes()?.len() == 2)).unwrap();
        scene.tmux.until_shown(&scene.shared().unwrap(), "begun").unwrap();
        client.stop().unwrap();
    });
}

#[test]
fn two_servers_of_one_agent_do_not_type_into_each_others_lines() {
    in_both(|scene, one| {
        let mut two = scene.server().unwrap();
        for round in 0..5 {
            let command = |name: &str| json!({"command": format!("echo {name} {round}; (exit {round})")});
            let first = one.call("bash", &command("one")).unwrap();
            let second = two.call("bash", &command("two")).unwrap();
            for (client, id, name) in [(&mut *one, first, "one"), (&mut two, second, "two")] {
                let answer = client.answer(id, LIMIT).unwrap();
                let refused = answer.is_error && answer.exit().is_none();
                let right = answer.text == format!("{name} {round}") && answer.exit() == Some(round);
                assert!(refused || right, "{}", answer.result);
            }
        }
    });
}

#[test]
fn two_agents_do_not_cross() {
    in_both(|scene, one| {
        let other = scene.another_agent().unwrap();
        let mut two = Client::start(scene.command(&other).unwrap(), true).unwrap();
        let mut panes = Vec::new();
        for round in 0..20 {
            let first = one.call("bash", &json!({"command": format!("echo one {round}; (exit {round})")})).unwrap();
            let second = two.call("bash", &json!({"command": format!("echo two {round}; (exit 1{round})")})).unwrap();
            let first = one.answer(first, LIMIT).unwrap();
            let second = two.answer(second, LIMIT).unwrap();
            assert_answer(&first, &format!("one {round}"), round);
            assert_answer(&second, &format!("two {round}"), format!("1{round}").parse().unwrap());
            panes.push((pane(&first), pane(&second)));
        }
        panes.dedup();
        let [(first, second)] = &panes[..] else { panic!("{panes:?}") };
        assert!(first != second && scene.agent != *first && other != *second, "{panes:?}");
        assert_eq!((one.told.len(), two.told.len()), (0, 0), "the other agent is no user");
    });
}

#[test]
fn the_pane_that_the_user_has_named_is_taken() {
    in_both(|scene, _| {
        let named = scene.users_pane().unwrap();
        let mut command = scene.command(&scene.agent).unwrap();
        command.env("TMUX_MIRROR_TARGET", &named);
        let mut client = Client::start(command, true).unwrap();
        let answer = client.bash("echo here").unwrap();
        assert_answer(&answer, "here", 0);
        assert_eq!(pane(&answer), named);
        assert_eq!(scene.tmux.panes().unwrap().len(), 2);
        scene.tmux.ask(["kill-pane", "-t", &named]).unwrap();
        let answer = client.bash("echo here").unwrap();
        assert!(answer.is_error && answer.exit().is_none(), "{}", answer.result);
        assert_eq!(scene.tmux.panes().unwrap().len(), 1, "no other is opened");
    });
}

#[test]
fn a_folder_of_any_name_is_gone_to() {
    in_both_scenes("plain", "", |scene| {
        let named = scene.users_pane().unwrap();
        for name in ["a b", "it's", "$(exit)", "-n", "new\nline", "日本", "!!", "~", "a\tb", "\\"] {
            let folder = scene.project().join(name);
            std::fs::create_dir(&folder).unwrap();
            let mut command = scene.command(&scene.agent).unwrap();
            command.env("TMUX_MIRROR_TARGET", &named).current_dir(&folder);
            let mut client = Client::start(command, true).unwrap();
            let answer = client.bash("touch here").unwrap();
            assert_eq!(answer.exit(), Some(0), "{name:?}: {}", answer.result);
            assert!(folder.join("here").exists(), "{name:?}");
            client.stop().unwrap();
        }
    });
}

#[test]
fn a_name_of_no_pane_is_an_error() {
    if left_out(Shell::Bash) {
        return;
    }
    let scene = Scene::new(Shell::Bash, &PROMPTS[0]).unwrap();
    for name in ["%99", "", "nonsense", "-t", scene.agent.as_str()] {
        let mut command = scene.command(&scene.agent).unwrap();
        command.env("TMUX_MIRROR_TARGET", name);
        let mut client = Client::start(command, true).unwrap();
        let answer = client.bash("echo here");
        // An empty name is none.
        let right =
            answer.as_ref().map_or(true, |answer| if name.is_empty() { !answer.is_error } else { answer.is_error });
        assert!(right, "{name:?}: {answer:?}");
        assert!(!scene.tmux.shown(&scene.agent).unwrap().contains("here"), "{name:?}");
    }
}

#[test]
fn no_key_gets_to_the_agents_own_pane() {
    in_both(|scene, client| {
        let other = scene.another_agent().unwrap();
        // Whoever runs in the session can set its variables.
        let number = scene.agent.trim_start_matches('%');
        for name in ["PI_MIRROR_PANE", &format!("PI_MIRROR_PANE_{number}")] {
            scene.tmux.ask(["set-environment", "-t", "scene", name, &scene.agent]).unwrap();
        }
        assert_works(client);
        assert_eq!(scene.tmux.shown(&scene.agent).unwrap().trim(), "");
        assert_eq!(scene.tmux.shown(&other).unwrap().trim(), "");
    });
}

#[test]
fn keys_go_to_one_pane_where_the_user_types_into_all() {
    in_both(|scene, client| {
        assert_works(client);
        let synchronize =
            |how| scene.tmux.ask(["set-option", "-w", "-t", &scene.agent, "synchronize-panes", how]).unwrap();
        synchronize("on");
        let answer = client.bash("echo works").unwrap();
        assert!(answer.text == "works" || answer.text.contains("synchronize-panes"), "{}", answer.result);
        synchronize("off");
        assert_works(client);
        assert_eq!(scene.tmux.shown(&scene.agent).unwrap().trim(), "");
    });
}

#[test]
fn variables_that_somebody_sets_make_no_exit_code() {
    in_both(|scene, client| {
        assert_works(client);
        let shared = scene.shared().unwrap();
        let name = format!("PI_LAST_RC_{}", shared.trim_start_matches('%'));
        for value in ["999999 0", "nonsense", "", "18446744073709551615 0", "0 0", "-1 0"] {
            scene.tmux.ask(["set-environment", "-t", "scene", &name, value]).unwrap();
            let answer = client.bash("echo false; (exit 9)").unwrap();
            assert!(answer.is_error, "{value:?}: {}", answer.result);
            assert_works(client);
        }
        scene.tmux.ask(["set-environment", "-u", "-t", "scene", &name]).unwrap();
        assert_works(client);
    });
}

#[test]
fn signals_that_somebody_sends_end_no_command() {
    in_both(|scene, client| {
        assert_works(client);
        let number = scene.shared().unwrap().trim_start_matches('%').to_owned();
        let id = client
            .call("bash", &json!({"command": "echo be''gun; until [ -e go ]; do sleep 0.02; done; echo end''ed"}))
            .unwrap();
        scene.tmux.until_shown(&scene.shared().unwrap(), "begun").unwrap();
        for sequence in 0..100 {
            scene.tmux.ask(["wait-for", "-S", &format!("pi-agent-{number}-{sequence}")]).unwrap();
        }
        assert!(!client.has_answered(id).unwrap());
        scene.write("project/go", "").unwrap();
        assert_answer(&client.answer(id, LIMIT).unwrap(), "begun\nended", 0);
        assert_works(client);
    });
}

#[test]
fn the_focus_stays_with_the_agent() {
    in_both(|scene, client| {
        assert_works(client);
        until_so("the focus", || Ok(scene.tmux.format(&scene.agent, "#{pane_active}")? == "1")).unwrap();
    });
}
