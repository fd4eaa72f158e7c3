//! Damage control: rule files, packs, path policy, verdict.
//!
//! Each module uses those above it, and none below: what rules are, how they are read and matched, what is in force, and what
//! comes of it.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | [`call`] | what is judged, and what comes of it | where it comes from |
//! | `wildcard` | names with `*` | paths |
//! | `rule_id` | who wrote a rule, and what tells it from others | what it says |
//! | `severity` | which of several findings is told first | whether a rule fires |
//! | `native_rule` | which rules have code that says when they fire | that code, which is in `judge` |
//! | `problem` | what of a rule file was left out | finding that out |
//! | `world` | what a judgement asks of whoever runs it, and who is asked | finding it out |
//! | `pattern` | regular expressions, found among many | rules that say what they mean |
//! | `glob` | globs over the segments of paths, read once | which files there are |
//! | [`yaml`] | YAML with the line of every value | what the values mean |
//! | `packs` | the rules that came with Toolgate, as YAML files | rules of users |
//! | `branch` | the branch that is checked out, through a text | asking git |
//! | `events` | what has happened in the session, and what of it is missing | keeping it |
//! | `fields` | which fields of file tools a rule is about | trying it |
//! | `nesting` | which commands stand around or inside a place of the text | what that means |
//! | `overrides` | comments that lift a rule | whether the user permits that |
//! | `view` | the texts that patterns are tried on, and the way back to the original positions | |
//! | [`facts`] | what is known of paths, from what the host answers | asking |
//! | [`command_json`] | a command as JSON | reading requests |
//! | [`extensions`] | trackers and predicates of other components | calling them |
//! | `declared` | what a tool does that is said as data, as commands | judging it |
//! | `path_zone` | where a path lies: workspace, account, system | links |
//! | `worktree` | where a worktree of git begins, and of which repository it is | what git says of it |
//! | `worked_repositories` | the repositories besides the workspace in which a person works | what may be done there |
//! | `find_expression` | the names that `find` picks | what it does to them |
//! | `path_query` | a path as path rules are asked about it | the rules |
//! | `agent_folders` | what is in agents' folders and is none of what they go by | what may be done to it |
//! | `path_rule` | one path rule, and which paths it covers | what happens to the path |
//! | `path_index`, `path_rules` | which of very many a path falls under; lists of them | one rule |
//! | `invocation` | options, subcommands and operands of a command | values of words, which the shell engine has |
//! | `credential_use` | secrets that a program is given to use, and not to show | which files are secrets |
//! | `test_databases` | which databases are those of a test on this machine | what happens to them |
//! | `rule` | what a rule on commands or fields is | where it comes from |
//! | `observer` | what an observer watches, and which events it writes | what it sees |
//! | `read` | rule files to rules; a rule that is wrong drops alone and is reported | trying them |
//! | `mismatch` | why a rule does not fire | whether |
//! | `needs` | which rules a command rules out at once | whether the others fire |
//! | `matching` | whether what a rule says of a command holds | verdicts |
//! | `when` | whether the surroundings are those of a rule | finding them out |
//! | `flow` | what is downloaded or decoded, and then run | what can be read |
//! | `rules` | all rules in force, by what they are about | one rule |
//! | `witness` | what observers see in a text and in a call | keeping it |
//! | [`changes`] | what a call changes, so that it is saved before | saving it |
//! | `judge` | puts them together to a verdict | |
//! | `check` | the tests that stand beside rules | |
//! | `lint` | what of a rule file is right and never does anything | what is wrong with it |

mod agent_folders;
mod branch;
pub mod call;
pub mod changes;
mod check;
pub mod command_json;
mod credential_use;
mod declared;
mod events;
pub mod extensions;
pub mod facts;
mod fields;
mod find_expression;
mod flow;
mod glob;
mod invocation;
mod judge;
mod lint;
mod matching;
mod mismatch;
mod native_rule;
mod needs;
mod nesting;
mod observer;
mod overrides;
mod packs;
mod path_index;
mod path_query;
mod path_rule;
mod path_rules;
mod path_zone;
mod pattern;
mod problem;
mod read;
mod rule;
mod rule_id;
mod rules;
mod severity;
mod test_databases;
mod view;
mod when;
mod wildcard;
mod witness;
mod worked_repositories;
mod worktree;
mod world;
pub mod yaml;

pub use check::{Failed, Tested};
pub use events::Entry;
pub use judge::{Explanation, RuleTrial};
pub use observer::Watching;
pub use overrides::reason as override_reason;
pub use problem::Problem;
pub use read::{
    EFFECT_KEYS, EXEMPTION_KEYS, FILE_KEYS, MISSING_KEYS, OBSERVER_KEYS, PACK_KEYS, PROGRAM_KEYS, RULE_KEYS, TEST_KEYS,
    WATCH_KEYS, WHEN_KEYS,
};
pub use rule::Test;
pub use rule_id::Layer;
pub use rules::{Guard, Listed, Pack};
pub use witness::Outcome;
pub use world::{GuardHost, NoHost, Tracked, VolatileFiles};
