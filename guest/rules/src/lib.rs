//! Damage control: rule files, packs, path policy, verdict.
//!
//! | Module | For | Not for |
//! |---|---|---|
//! | `yaml`, `read` | rule files to rules; a rule that is wrong drops alone and is reported | trying them |
//! | `rule` | what a rule is | where it comes from |
//! | `packs` | the rules that came with Toolgate, as YAML files | rules of users |
//! | `rules` | all rules in force, by what they are about | one rule |
//! | `pattern` | regular expressions, found among many | rules that say what they mean |
//! | `invocation` | options, subcommands and operands of a command | values of words, which the shell engine has |
//! | `path_zone` | where a path lies: workspace, account, system | links |
//! | `matching` | whether a rule fires on a command, and why not | verdicts |
//! | `when`, `world` | whether the surroundings are those of a rule, and who is asked | finding them out |
//! | `needs` | which rules a command rules out at once | whether the others fire |
//! | `events`, `observers` | what has happened in the session, and what says so | keeping it |
//! | `fields` | which fields of file tools a rule is about | trying it |
//! | `search` | the names that `find` picks | what it does to them |
//! | `test_data` | which databases are those of a test on this machine | what happens to them |
//! | `branch` | the branch that is checked out, through a text | asking git |
//! | `flow` | what is downloaded or decoded, and then run | what can be read |
//! | `glob` | globs over the segments of paths, read once | which files there are |
//! | `path_rules`, `path_index`, `path_query` | which path rule a path falls under, among many | what happens to the path |
//! | `nesting` | which commands stand around or inside a place of the text | what that means |
//! | `overrides` | comments that lift a rule | whether the user permits that |
//! | `view` | the texts that patterns are tried on, and the way back to the original positions | |
//! | `judge` | puts them together | |
//! | `check` | the tests that stand beside rules | |
//! | [`call`] | what is judged, and what comes of it | where it comes from |
//! | [`facts`] | what is known of paths, from what the host answers | asking |
//! | [`extensions`] | trackers and predicates of other components | calling them |
//! | [`command_json`] | a command as JSON | reading requests |

mod branch;
pub mod call;
mod check;
pub mod command_json;
mod events;
pub mod extensions;
pub mod facts;
mod fields;
mod flow;
mod glob;
mod invocation;
mod judge;
mod matching;
mod needs;
mod nesting;
mod observers;
mod overrides;
mod packs;
mod path_index;
mod path_query;
mod path_rules;
mod path_zone;
mod pattern;
mod read;
mod rule;
mod rules;
mod search;
mod test_data;
mod view;
mod when;
mod world;
pub mod yaml;

pub use check::{Failed, Tested};
pub use events::{Entry, MISSING_KEYS};
pub use judge::{Considered, Explanation, VolatileFiles};
pub use observers::{OBSERVER_KEYS, Outcome, WATCH_KEYS};
pub use overrides::reason as override_reason;
pub use read::{EFFECT_KEYS, EXEMPTION_KEYS, FILE_KEYS, PROGRAM_KEYS, RULE_KEYS, TEST_KEYS, WHEN_KEYS};
pub use rule::{Layer, Problem, Test};
pub use rules::{Guard, Listed, Pack, Watching};
pub use world::{GuardHost, NoHost, Tracked};
