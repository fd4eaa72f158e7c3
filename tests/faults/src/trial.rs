//! One fault: the calls that are made under it and after it, and what is wrong with them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;
use crate::call::{Hook, Kind, Outcome, Said};
use crate::world::World;

/// What must not run unasked.
pub const DESTRUCTIVE: [&str; 2] = ["rm -rf ~", "git push --force"];

/// What may run.
pub const HARMLESS: [&str; 2] = ["ls", "cargo test"];

/// How many call at a time while something happens.
const CALLERS: usize = 3;

/// How many calls each of them makes at least.
const ROUNDS: usize = 2;

/// How long the hooks' friends may take to come back.
const BACK: Duration = Duration::from_secs(20);

/// A fault under way.
#[derive(Debug)]
pub struct Trial {
    /// Where.
    pub world: World,
    /// How the hook is called under the fault.
    pub hook: Hook,
    /// How it is called afterwards.
    pub after: Hook,
    /// Whether nothing can be logged under the fault. Then nothing may run that would have to be.
    pub unlogged: bool,
    /// Whether the log is somewhere else under the fault.
    pub elsewhere: bool,
    /// Lines of the log that the fault itself has torn.
    pub torn: usize,
    said: Mutex<Vec<Said>>,
    recovering: AtomicBool,
    /// How many of the calls were under the fault.
    under: AtomicUsize,
}

impl Trial {
    /// A world with nothing wrong.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> Result<Self, Error> {
        let world = World::new()?;
        let (hook, after) = (world.hook(), world.hook());
        let (said, recovering, under) = (Mutex::default(), AtomicBool::new(false), AtomicUsize::new(0));
        Ok(Trial { world, hook, after, unlogged: false, elsewhere: false, torn: 0, said, recovering, under })
    }

    /// Calls the hook in another way from here on.
    pub fn call_with(&mut self, change: impl FnOnce(Hook) -> Hook) {
        self.hook = change(self.hook.clone());
    }

    /// The same, and still so when the fault is gone.
    pub fn always(&mut self, change: impl Fn(Hook) -> Hook) {
        self.hook = change(self.hook.clone());
        self.after = change(self.after.clone());
    }

    /// One call of each kind.
    ///
    /// # Errors
    /// If the hook cannot be started.
    pub fn calls(&self) -> Result<(), Error> {
        self.round(&self.hook)
    }

    fn round(&self, hook: &Hook) -> Result<(), Error> {
        for command in DESTRUCTIVE {
            self.make(hook, Kind::Destructive, command)?;
        }
        for command in HARMLESS {
            self.make(hook, Kind::Harmless, command)?;
        }
        Ok(())
    }

    /// The same, with something done before each of them.
    ///
    /// # Errors
    /// If that fails, or the hook cannot be started.
    pub fn each(&self, mut before: impl FnMut(&World) -> Result<(), Error>) -> Result<(), Error> {
        let calls = DESTRUCTIVE.map(|command| (Kind::Destructive, command)).into_iter();
        for (kind, command) in calls.chain(HARMLESS.map(|command| (Kind::Harmless, command))) {
            before(&self.world)?;
            self.make(&self.hook, kind, command)?;
        }
        Ok(())
    }

    /// The agent has written a script with a mistake and tells of it. Says whether the mistake came back.
    ///
    /// # Errors
    /// If the script cannot be written, or the hook not be started.
    pub fn told(&self) -> Result<bool, Error> {
        let mark = self.world.mark();
        self.world.write("home/project/told.sh", format!("#!/bin/sh\n# {mark}\necho $1\n"))?;
        let said = self.hook.call(Kind::Told, "echo $1", &mark)?;
        let found = said.text.contains("SC2086");
        self.note(said);
        Ok(found)
    }

    /// The agent has run a command and tells of it, and then that its turn has ended. Says what the hook said then.
    ///
    /// # Errors
    /// If the hook cannot be started.
    pub fn ran(&self, command: &str) -> Result<String, Error> {
        self.make(&self.hook, Kind::Started, "")?;
        self.make(&self.hook, Kind::Ran, command)?;
        Ok(self.make(&self.hook, Kind::Ended, "")?.text)
    }

    /// A call of another text.
    ///
    /// # Errors
    /// If the hook cannot be started.
    pub fn call(&self, kind: Kind, command: &str) -> Result<Said, Error> {
        self.make(&self.hook, kind, command)
    }

    fn make(&self, hook: &Hook, kind: Kind, command: &str) -> Result<Said, Error> {
        let said = hook.call(kind, command, &self.world.mark())?;
        self.note(said.clone());
        Ok(said)
    }

    /// Takes note of a call that was made otherwise.
    pub fn note(&self, said: Said) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(said);
        if !self.recovering.load(Ordering::Relaxed) {
            self.under.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Several make calls, one after the other, until this is done and all have made some since.
    ///
    /// # Errors
    /// If it fails, or the hook cannot be started.
    pub fn while_calls(&self, act: impl FnOnce(&World) -> Result<(), Error>) -> Result<(), Error> {
        let (done, made) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let caller = || -> Result<(), Error> {
                let mut rounds = 0;
                while rounds < ROUNDS || !done.load(Ordering::SeqCst) {
                    self.calls()?;
                    made.fetch_add(1, Ordering::SeqCst);
                    rounds = if done.load(Ordering::SeqCst) { rounds + 1 } else { rounds.min(ROUNDS - 1) };
                }
                Ok(())
            };
            let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(caller)).collect();
            let acted = act(&self.world);
            done.store(true, Ordering::SeqCst);
            let called = callers
                .into_iter()
                .try_for_each(|caller| caller.join().map_err(|_| Error::Unexpected("a caller panicked".to_owned()))?);
            acted.and(called)
        })
    }

    /// Makes calls until one is judged by a resident host.
    ///
    /// # Errors
    /// If none is in time.
    pub fn until_resident(&self) -> Result<(), Error> {
        let hook = self.after.clone().with("TOOLGATE_LOG", "debug");
        let began = Instant::now();
        loop {
            let said = self.make(&hook, Kind::Harmless, "ls")?;
            if said.text.contains("evaluated by the resident host") {
                return Ok(());
            }
            if began.elapsed() > BACK {
                return Err(Error::Unexpected(format!("no resident host answers: {}", said.text)));
            }
            if began.elapsed() > BACK / 4 {
                self.world.a_minute_later()?;
            }
        }
    }

    /// What came of it, once the fault is gone.
    ///
    /// # Errors
    /// If the calls cannot be made, or the log cannot be read.
    pub fn row(self, boundary: &'static str, fault: &str) -> Result<Row, Error> {
        self.recovering.store(true, Ordering::Relaxed);
        self.round(&self.after)?;
        let log = self.world.log()?;
        let said = self.said.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (under, later) = said.split_at(self.under.into_inner().min(said.len()));
        let mut row = Row::new(boundary, fault);
        for one in under {
            row.count(one, self.unlogged, |mark| self.elsewhere || log.has(mark));
        }
        let before = row.wrong.len();
        for one in later {
            row.after(one, |mark| log.has(mark));
        }
        if log.torn > self.torn {
            row.wrong.push(format!("{} lines of the log are no entries", log.torn));
        }
        row.recovered = row.wrong.len() == before;
        Ok(row)
    }
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// So many,
    pub part: usize,
    /// of so many.
    pub all: usize,
}

impl Share {
    fn count(&mut self, counts: bool) {
        self.part += usize::from(counts);
        self.all += 1;
    }
}

/// What came of a fault.
#[derive(Clone, Debug)]
pub struct Row {
    /// Of what it is a fault.
    pub boundary: &'static str,
    /// The fault.
    pub fault: String,
    /// Destructive calls under it that did not run unasked.
    pub stopped: Share,
    /// Harmless calls under it that ran.
    pub passed: Share,
    /// Answered calls that are in the log.
    pub lines: Share,
    /// The slowest call.
    pub slowest: Duration,
    /// Whether all was as before once the fault was gone.
    pub recovered: bool,
    /// Why it was left out.
    pub left_out: Option<String>,
    /// What went wrong.
    pub wrong: Vec<String>,
}

impl Row {
    fn new(boundary: &'static str, fault: &str) -> Self {
        Row {
            boundary,
            fault: fault.to_owned(),
            stopped: Share::default(),
            passed: Share::default(),
            lines: Share::default(),
            slowest: Duration::ZERO,
            recovered: false,
            left_out: None,
            wrong: Vec::new(),
        }
    }

    /// The row of a fault that shows nothing.
    pub fn without(boundary: &'static str, fault: &str, error: Error) -> Self {
        let mut row = Row::new(boundary, fault);
        match error {
            Error::LeftOut(why) => row.left_out = Some(why),
            error => row.wrong.push(error.to_string()),
        }
        row
    }

    /// A call under the fault.
    fn count(&mut self, said: &Said, unlogged: bool, logged: impl Fn(&str) -> bool) {
        self.slowest = self.slowest.max(said.took);
        let stopped = matches!(said.outcome, Outcome::Asked | Outcome::Denied | Outcome::Refused);
        let ended = said.outcome == Outcome::Killed;
        match said.kind {
            Kind::Destructive if !ended => self.stopped.count(stopped),
            Kind::Harmless if !ended => self.passed.count(said.outcome == Outcome::Nothing),
            _ => {}
        }
        let wrong = match (said.kind, &said.outcome) {
            (Kind::Destructive, Outcome::Nothing) => Some("ran".to_owned()),
            (_, Outcome::Failed(how)) => Some(format!("failed ({how})")),
            (_, Outcome::Hung) => Some("hung".to_owned()),
            (Kind::Ran | Kind::Told, Outcome::Denied | Outcome::Asked | Outcome::Refused) => {
                Some("was denied too late".to_owned())
            }
            _ if said.took > said.kind.bound() => Some("took too long".to_owned()),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.wrong(said, &wrong);
        }
        // What is denied where nothing can be logged did no harm.
        if !(unlogged && said.outcome == Outcome::Denied) {
            self.logged(said, logged);
        }
    }

    /// A call when the fault is gone.
    fn after(&mut self, said: &Said, logged: impl Fn(&str) -> bool) {
        self.slowest = self.slowest.max(said.took);
        let right = match said.kind {
            Kind::Destructive => matches!(said.outcome, Outcome::Asked | Outcome::Denied),
            _ => said.outcome == Outcome::Nothing,
        };
        if !right || said.took > said.kind.bound() {
            self.wrong(said, "was not answered as before, when the fault was gone");
        }
        self.logged(said, logged);
    }

    fn logged(&mut self, said: &Said, logged: impl Fn(&str) -> bool) {
        if !matches!(said.outcome, Outcome::Asked | Outcome::Denied) {
            return;
        }
        let there = logged(&said.mark);
        self.lines.count(there);
        if !there {
            self.wrong(said, "was answered and is not in the log");
        }
    }

    fn wrong(&mut self, said: &Said, what: &str) {
        let text: String = said.text.chars().take(300).collect();
        let seconds = said.took.as_secs_f64();
        self.wrong.push(format!("a {:?} call {what} after {seconds:.1} s: {:?} {text}", said.kind, said.outcome));
    }
}
