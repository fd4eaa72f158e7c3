//! The hooks, a trait each.

use serde_json::Value;

use crate::{
    About, Addition, Call, Ended, Follows, ModifierRequest, PredicateRequest, Session, Started, Tool, ToolOutput,
    ToolResult, Truth, Turn, Updated, Verdict,
};

/// What every plugin is. An instance belongs to one session and one role; it may be made anew at any time.
pub trait Plugin: Default + 'static {
    /// Called before every hook of another trait. An error means that the plugin cannot work; a gate that cannot work
    /// blocks.
    ///
    /// # Errors
    /// A sentence for the person.
    fn start(&mut self, session: &Session) -> Result<Started, String> {
        let _ = session;
        Ok(Started::default())
    }

    /// Called at the end of the session, if there is time.
    fn shutdown(&mut self, reason: &str) {
        let _ = reason;
    }
}

/// Judges a tool call before it runs. Needs no capability.
pub trait Gate: Plugin {
    /// A panic is a block.
    fn judge(&mut self, call: &Call) -> Verdict;
}

/// Judges an agent's request for permission.
pub trait Permission: Plugin {
    /// As [`Gate::judge`], on the call that the permission is asked for.
    fn judge_permission(&mut self, call: &Call) -> Verdict;
}

/// Keeps something for later calls of the session, besides [`Gate`].
pub trait Memory: Plugin {
    /// What [`Call::memory`] of later calls is to be if the call runs that was judged last: with a number `schema`, at most
    /// 256 KiB as text. None if it stays.
    fn after(&mut self) -> Option<Value>;
}

/// Looks at results.
pub trait Observer: Plugin {
    /// Called once for each result.
    fn observe(&mut self, result: &ToolResult) -> Option<Addition>;
}

/// Follows a tool that is still running.
pub trait Execution: Plugin {
    /// Called for each of the agent's updates.
    fn on_update(&mut self, update: &Updated) {
        let _ = update;
    }

    /// Called once when the call has ended.
    fn on_end(&mut self, end: &Ended) {
        let _ = end;
    }
}

/// Is told when the agent has finished.
pub trait Turns: Plugin {
    /// A text goes back to the agent, which then goes on.
    fn on_turn_end(&mut self, turn: &Turn) -> Option<String>;
}

/// Is woken up by [`crate::host::schedule`].
pub trait Timer: Plugin {
    /// Called once with the id that was scheduled.
    fn on_timer(&mut self, id: &str);
}

/// Follows state through a shell text.
pub trait Tracker: Plugin {
    /// What it follows, the same each time.
    fn trackers(&self) -> Vec<Follows>;

    /// The value after a command that has a modifier; none if that is unknown. What the command does not change is
    /// [`ModifierRequest::before`].
    fn modify(&mut self, request: &ModifierRequest) -> Option<String>;
}

/// Answers questions of rules.
pub trait Predicate: Plugin {
    /// What may be asked, the same each time.
    fn predicates(&self) -> Vec<About>;

    /// Whether the predicate of this name holds.
    fn evaluate(&mut self, name: &str, request: &PredicateRequest) -> Truth;
}

/// Offers tools to the agent.
pub trait Tools: Plugin {
    /// The tools of this session.
    fn tools(&mut self) -> Vec<Tool>;

    /// Runs one. The gate has judged the call already.
    ///
    /// # Errors
    /// A sentence for the agent.
    fn run(&mut self, name: &str, input: &Value) -> Result<ToolOutput, String>;
}

/// Carries state to the instance that takes this one's place.
pub trait Handover: Plugin {
    /// The state in a form of the plugin's own, at most 1 MiB.
    fn save(&mut self) -> Vec<u8>;

    /// Takes over what an older version may have saved.
    ///
    /// # Errors
    /// Why it is of no use: a fresh start, and no failure.
    fn restore(&mut self, state: &[u8]) -> Result<(), String>;
}
