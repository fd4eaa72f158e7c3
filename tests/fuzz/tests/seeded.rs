//! Every target for a short time: what was found before, the inputs that it begins with, and so many more made of these by
//! a fixed seed. `TOOLGATE_FUZZ_SEED` is another one, `TOOLGATE_FUZZ_TIMES` a factor.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use toolgate_fuzz::{Random, Target, found, mutated, targets};

/// How long an input may take. A machine that is busy is no failure.
const LONGEST: Duration = Duration::from_secs(20);

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

/// Runs a target; the error says where an input comes from, and has it as a Rust text.
fn holds(target: &Target, input: &[u8], from: &str) -> Result<(), String> {
    let start = Instant::now();
    let run = target.run;
    let input_of_run = input.to_vec();
    let done = catch_unwind(move || run(&input_of_run));
    let shown = || format!("{} does not hold, {from}: b\"{}\"", target.name, input.escape_ascii());
    match done {
        Err(_) => Err(shown()),
        Ok(()) if start.elapsed() > LONGEST => Err(format!("{} takes {:?}", shown(), start.elapsed())),
        Ok(()) => Ok(()),
    }
}

fn all_hold(target: &Target) -> Result<(), String> {
    for entry in std::fs::read_dir(found(target.name)).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        holds(target, &std::fs::read(&path).expect("a case"), &path.display().to_string())?;
    }
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{} has something to begin with", target.name);
    // Some have thousands; what is made of them comes from all.
    let step = seeds.len().div_ceil(target.tries as usize);
    for seed in seeds.iter().step_by(step) {
        holds(target, seed, "as it is to begin with")?;
    }
    let seed = number("TOOLGATE_FUZZ_SEED").unwrap_or(1);
    let tries = u64::from(target.tries) * number("TOOLGATE_FUZZ_TIMES").unwrap_or(1);
    for one in 0..tries {
        let input = mutated(&seeds, target.words, &mut Random(seed.wrapping_mul(1 << 32).wrapping_add(one)));
        holds(target, &input, &format!("number {one} of seed {seed}"))?;
    }
    Ok(())
}

macro_rules! each {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let target = targets().into_iter().find(|target| target.name == stringify!($name)).expect("a target");
                let done = all_hold(&target);
                assert!(done.is_ok(), "{}", done.err().unwrap_or_default());
            }
        )*

        #[test]
        fn no_target_is_left_out() {
            let names: Vec<&str> = targets().iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

each!(shell rules requests pane daemon payloads tools resident redaction boundary);

#[test]
fn the_same_seed_makes_the_same_inputs() {
    let seeds = [b"one".to_vec(), b"two and three".to_vec()];
    let made = |seed: u64| (0..50).map(|one| mutated(&seeds, &["word"], &mut Random(seed + one))).collect::<Vec<_>>();
    assert_eq!(made(7), made(7));
    assert_ne!(made(7), made(8));
}

/// Each seed of the target is a request, or the answer to one, that the resident host and the hook understand.
#[test]
#[cfg(feature = "host")]
#[cfg_attr(not(target_os = "linux"), ignore = "there are resident hosts on Linux only")]
fn what_stands_on_the_socket_is_read_as_such() {
    let resident = targets().into_iter().find(|target| target.name == "resident").expect("a target");
    let seeds = (resident.seeds)();
    for seed in &seeds {
        assert!(toolgate_gatekeeper::fuzzing::resident(seed), "{}", String::from_utf8_lossy(seed));
    }
    assert_eq!(seeds.len(), 3);
}
