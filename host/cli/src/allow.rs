//! `toolgate allow`: a person lets one exact call through, once.
//!
//! Only from a terminal that is theirs, see `ancestry`, and only after they have typed a word that was just shown.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;
use toolgate_agents::agent::{self, pi::Pi};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_host::one_time_permits::{self, OneTimePermit, OneTimePermits};
use toolgate_host::stopped_calls::{StoppedCall, is_id};
use toolgate_host::{Decision, ToolCall, ToolKind, Verdict, plain};

use crate::confirmation::{self, REFUSED};
use crate::output::{self, BOLD, DIM};
use crate::{check, duration};

/// The exit code when nothing is given because nothing has to be.
const PASSES: u8 = 1;

#[derive(Args)]
#[command(after_help = "\
A permission covers exactly this command, in this directory, for the rules that stop it now. White
space around the command does not matter. The first such call uses it up; otherwise it expires. Permissions can be granted only at a terminal that
no agent controls: not below an agent, not in a terminal where one runs, and not in a session whose
origin is unknown.

A denial names its ID, and `toolgate log` shows it; for a day the ID can be given instead of the
command. `toolgate rules exempt` lifts a rule permanently.

Examples:
  toolgate allow 1f2e3d4c
  toolgate allow --last
  toolgate allow 'git push --force origin topic'
  toolgate allow 'terraform destroy' --cwd infra --rule user:apply --for 30m
  toolgate allow --tool Write '{\"file_path\":\"/etc/hosts\",\"content\":\"...\"}'
  toolgate allow --list
  toolgate allow --revoke 1f2e3d4c

Exit codes: 0 granted, listed or revoked, 1 no permission needed, 2 refused or not confirmed; 64
invalid arguments, 65 invalid data, 66 no such permission or denial, 70 and above internal errors.")]
pub(crate) struct Arguments {
    /// The ID of a denial, or the exact command; for a tool that is not a shell, its input as JSON
    #[arg(value_name = "ID|COMMAND", required_unless_present_any = ["last", "list", "revoke"])]
    #[arg(conflicts_with_all = ["last", "list", "revoke"])]
    command: Option<String>,

    /// The call that was denied last
    #[arg(long, conflicts_with_all = ["list", "revoke", "cwd", "tool"])]
    last: bool,

    /// The directory of the call [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// The tool, as the agent names it
    #[arg(long, default_value = "bash")]
    tool: String,

    /// Lift only this rule; repeatable [default: all rules that stop the call]
    #[arg(long = "rule", value_name = "NAME")]
    rules: Vec<String>,

    /// How long the permission is valid, at most one day
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = duration::length)]
    good_for: Duration,

    /// List valid permissions
    #[arg(long, conflicts_with = "revoke")]
    list: bool,

    /// Revoke a permission
    #[arg(long, value_name = "ID")]
    revoke: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let grants = dirs::grants().map_err(|error| Failure::new(exit::NO_INPUT, error))?;
    if arguments.list {
        return list(&grants);
    }
    if let Some(id) = &arguments.revoke {
        // Taking back only forbids more, so anyone may.
        return match grants.revoke(id).map_err(unusable)? {
            true => {
                output::told(writeln!(anstream::stdout(), "permission {} revoked", plain(id)))?;
                Ok(ExitCode::SUCCESS)
            }
            false => {
                Err(Failure::new(exit::NO_INPUT, format!("no permission {id}; `toolgate allow --list` shows them")))
            }
        };
    }
    // First, so that an agent learns nothing here but that.
    confirmation::present("no permission can be granted here")?;
    let given = arguments.command.as_deref().unwrap_or_default();
    if arguments.last || is_id(given.trim()) {
        let id = (!arguments.last).then(|| given.trim());
        return stopped(&grants, id, arguments);
    }
    let cwd = dirs::folder(arguments.cwd.as_deref())?;
    let call = call(given, &arguments.tool, &cwd)?;
    let verdict = check::judge(&call)?;
    let text = call.command.as_ref().map_or(call.input.as_str(), |command| &command.value);
    output::verdict(&mut anstream::stdout(), output::decision(&verdict.decision).0, text, &verdict)
        .map_err(Failure::output)?;
    let rules = match rules(&verdict, &arguments.rules) {
        Ok(Some(rules)) => rules,
        Ok(None) => {
            output::complain("no rule stops this call, so no permission is needed");
            return Ok(ExitCode::from(PASSES));
        }
        Err(why) => return Err(Failure::new(REFUSED, why)),
    };
    let now = SystemTime::now();
    let grant = OneTimePermit::new(&call, rules, now, arguments.good_for);
    give(&grants, grant.map_err(|error| Failure::new(exit::USAGE, error.to_string()))?, now, arguments.good_for)
}

/// Gives a permission if the person types the word.
fn give(
    grants: &OneTimePermits,
    grant: OneTimePermit,
    now: SystemTime,
    good_for: Duration,
) -> Result<ExitCode, Failure> {
    let question = format!(
        "       {DIM}in{DIM:#} {}\n\
         Type {{word}} to let exactly this through once in the next {}:",
        output::whole(&grant.cwd, output::LINE),
        whole_units(good_for),
    );
    confirmation::agrees(&question, "no permission granted")?;
    let id = grant.id.clone();
    grants.add(grant, now).map_err(unusable)?;
    output::told(writeln!(anstream::stdout(), "permission {id} granted; toolgate allow --revoke {id} revokes it"))?;
    Ok(ExitCode::SUCCESS)
}

/// Lets a call through that was stopped: the one with this id, else the last one that did not run. The person has not typed
/// it, so they are shown all of it.
fn stopped(grants: &OneTimePermits, id: Option<&str>, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let now = SystemTime::now();
    let calls = dirs::stopped().map_err(|error| Failure::new(exit::NO_INPUT, error))?;
    let calls = calls.list(now).map_err(unusable)?;
    let meant = |call: &&StoppedCall| id.map_or(!call.asked, |id| call.id == id);
    let Some(call) = calls.iter().rev().find(meant) else {
        let what = id.map_or("no call was denied".to_owned(), |id| format!("there is no denial {}", plain(id)));
        let message = format!(
            "{what} in the last day that a permission could lift; `toolgate log` shows all of them, and `toolgate allow \
             'COMMAND'` takes a command"
        );
        return Err(Failure::new(exit::NO_INPUT, message));
    };
    if !call.whole {
        let why = "the call is too long to be shown completely, so it cannot be let through by its ID";
        return Err(Failure::new(REFUSED, why));
    }
    let named = &arguments.rules;
    if let Some(missing) = call.rules.iter().find(|rule| !named.is_empty() && !named.contains(rule)) {
        return Err(Failure::new(REFUSED, not_named(missing)));
    }
    output::told(show_stopped(&mut anstream::stdout(), call))?;
    let grant = call.permit(now, arguments.good_for);
    give(grants, grant.map_err(|error| Failure::new(exit::USAGE, error.to_string()))?, now, arguments.good_for)
}

fn show_stopped(out: &mut impl Write, call: &StoppedCall) -> std::io::Result<()> {
    let name = if call.findings.iter().all(|one| one.asks) { "ask" } else { "block" };
    let style = output::style(name);
    for (at, line) in call.text.lines().enumerate() {
        writeln!(out, "{style}{:<5}{style:#}  {}", if at == 0 { name } else { "" }, plain(line))?;
    }
    if !call.matched.is_empty() {
        writeln!(out, "       {DIM}matched:{DIM:#} {}", output::whole(&call.matched.join(", "), output::LINE))?;
    }
    for one in &call.findings {
        let style = output::style(if one.asks { "ask" } else { "block" });
        let (rule, reason) = (output::whole(&one.rule, output::LINE), output::whole(&one.reason, output::REASON));
        writeln!(out, "       {style}{rule}{style:#}  {reason}")?;
    }
    let at = i64::try_from(call.at).ok().and_then(|at| Timestamp::from_millisecond(at).ok()).unwrap_or_default();
    let at = at.to_zoned(TimeZone::system()).strftime("%H:%M:%S");
    let agent = if call.agent.is_empty() { "an agent" } else { &call.agent };
    writeln!(out, "       {DIM}denied at {at}, called by {}{DIM:#}", plain(agent))
}

fn not_named(rule: &str) -> String {
    format!("{} also stops this call and is not named with --rule", plain(rule))
}

/// The call as an agent would make it.
pub(crate) fn call(text: &str, tool: &str, cwd: &str) -> Result<ToolCall, Failure> {
    let root = dirs::root_of(cwd);
    let here = |call: ToolCall| call.with_home(dirs::home()).with_workspace_root(&root);
    if ["bash", "shell"].contains(&tool.to_lowercase().as_str()) {
        return Ok(here(ToolCall::shell(text, cwd)));
    }
    let input: Value = serde_json::from_str(text)
        .map_err(|error| Failure::new(exit::DATA, format!("the input of {tool} is not JSON: {error}")))?;
    let made = || here(ToolCall::new(tool, ToolKind::Other, cwd));
    // Several agents have tools of one name, with other fields: the input says whose it is.
    let owners = agent::all().filter(|agent| agent.tools().iter().any(|known| known.name == tool));
    let read = owners.map(|agent| agent::read(agent, tool, &input, made())).find(Result::is_ok);
    read.unwrap_or_else(|| agent::read(&Pi, tool, &input, made())).map_err(|error| Failure::new(exit::DATA, error))
}

/// The rules that a permission has to lift: those that speak against the call, which the person may have named. None
/// if nothing speaks against it.
fn rules(verdict: &Verdict, named: &[String]) -> Result<Option<Vec<String>>, String> {
    if matches!(verdict.decision, Decision::Pass) {
        return Ok(None);
    }
    let against = one_time_permits::against(verdict).map_err(|rule| match rule.as_str() {
        "" => "none of the named rules can be lifted".to_owned(),
        rule => format!("{} cannot be lifted by a permission", plain(rule)),
    })?;
    if let Some(missing) = against.iter().find(|rule| !named.is_empty() && !named.contains(rule)) {
        return Err(not_named(missing));
    }
    Ok(Some(against))
}

fn list(grants: &OneTimePermits) -> Result<ExitCode, Failure> {
    let now = SystemTime::now();
    let listed = grants.list(now).map_err(unusable)?;
    let mut out = anstream::stdout();
    let zone = TimeZone::system();
    let written = if listed.is_empty() {
        writeln!(out, "{DIM}no permissions in {}{DIM:#}", plain(&grants.path().display().to_string()))
    } else {
        listed.iter().try_for_each(|grant| {
            let until = i64::try_from(grant.expires).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
            let until = until.map(|at| at.to_zoned(zone.clone()).strftime("%H:%M").to_string()).unwrap_or_default();
            writeln!(
                out,
                "{BOLD}{}{BOLD:#}  until {until}  {}",
                plain(&grant.id),
                output::whole(&grant.shown, output::LINE)
            )?;
            writeln!(
                out,
                "          {DIM}{} in{DIM:#} {}",
                plain(&grant.tool),
                output::whole(&grant.cwd, output::LINE)
            )?;
            writeln!(out, "          {DIM}lifts{DIM:#} {}", plain(&grant.rules.join(", ")))
        })
    };
    output::told(written)?;
    Ok(ExitCode::SUCCESS)
}

fn whole_units(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn unusable(error: impl std::fmt::Display) -> Failure {
    Failure::new(exit::DATA, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_lifts_what_speaks_against_the_call_or_is_not_given() {
        let verdict = |rules: &[&str]| {
            let mut verdict = Verdict::block("", "no");
            let one = verdict.findings.remove(0);
            verdict.findings = rules.iter().map(|_| one.clone()).collect();
            for (finding, rule) in verdict.findings.iter_mut().zip(rules) {
                (*rule).clone_into(&mut finding.rule);
            }
            verdict
        };
        type Case<'a> = (&'a [&'a str], &'a [&'a str], Result<&'a [&'a str], &'a str>);
        #[rustfmt::skip]
        let cases: [Case<'_>; 6] = [
            (&["a", "b", "a"], &[], Ok(&["a", "b"])),
            (&["a"], &["a", "c"], Ok(&["a"])),
            (&["a", "b"], &["a"], Err("b also stops this call and is not named with --rule")),
            (&["a", "host:trap"], &[], Err("host:trap cannot be lifted by a permission")),
            (&["builtin:self-grants"], &["builtin:self-grants"], Err("builtin:self-grants cannot be lifted by a permission")),
            (&[], &[], Err("none of the named rules can be lifted")),
        ];
        for (found, named, expected) in cases {
            let own = |list: &[&str]| list.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
            let answer = rules(&verdict(found), &own(named));
            assert_eq!(answer, expected.map(|rules| Some(own(rules))).map_err(str::to_owned), "{found:?} {named:?}");
        }
        assert_eq!(rules(&Verdict::pass(), &[]), Ok(None));
    }
}
