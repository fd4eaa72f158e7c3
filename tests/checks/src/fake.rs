//! A daemon that misbehaves on purpose, to try clients with.
//!
//! It follows a script: the first request that comes, on whatever connection, is answered as the first word says, the
//! next as the next says, and all after the last as the last says.
//!
//! | Word | What it does with a request |
//! |---|---|
//! | `good` | answers that all is clean |
//! | `issues` | answers with one problem of eslint |
//! | `error` | answers with a JSON-RPC error |
//! | `refused` | answers with a result whose `isError` is true |
//! | `never` | says nothing and keeps the connection |
//! | `close` | closes the connection without an answer |
//! | `half` | sends half of a good answer and closes |
//! | `stall` | sends half of a good answer and keeps the connection |
//! | `garbage` | sends a line that is no JSON and keeps the connection |
//! | `binary` | sends a line that is no UTF-8 and keeps the connection |
//! | `null` | sends the line `null` and keeps the connection |
//! | `other-id` | answers with an id that nobody asked with, and keeps the connection |
//! | `other-first` | sends `garbage` and `other-id` first, then a good answer |
//! | `shape` | answers with a result that is a number |
//! | `huge:BYTES` | answers with a text of so many bytes, in good form |
//! | `endless:BYTES` | sends so many bytes without an end of line and keeps the connection |
//! | `slow:MS` | waits so long, then answers well |
//! | `drip:MS` | answers well, a byte at a time, waiting so long between two |
//!
//! The program `fake-daemon` is started as a daemon is, with `CODE_LENS_SOCKET_PATH`, and has the script as its
//! arguments. It knows two words more, alone: `dies` (ends at once) and `deaf` (never listens).

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What is done with a request. See the table at the top of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table says it")]
pub enum Act {
    Good,
    Issues,
    Error,
    Refused,
    Never,
    Close,
    Half,
    Stall,
    Garbage,
    Binary,
    Null,
    OtherId,
    OtherFirst,
    Shape,
    Huge(usize),
    Endless(usize),
    Slow(Duration),
    Drip(Duration),
}

impl FromStr for Act {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let unknown = || format!("there is no act {word}");
        if let Some((name, number)) = word.split_once(':') {
            let number: u32 = number.parse().map_err(|_| unknown())?;
            let (size, time) = (number as usize, Duration::from_millis(number.into()));
            return match name {
                "huge" => Ok(Act::Huge(size)),
                "endless" => Ok(Act::Endless(size)),
                "slow" => Ok(Act::Slow(time)),
                "drip" => Ok(Act::Drip(time)),
                _ => Err(unknown()),
            };
        }
        match word {
            "good" => Ok(Act::Good),
            "issues" => Ok(Act::Issues),
            "error" => Ok(Act::Error),
            "refused" => Ok(Act::Refused),
            "never" => Ok(Act::Never),
            "close" => Ok(Act::Close),
            "half" => Ok(Act::Half),
            "stall" => Ok(Act::Stall),
            "garbage" => Ok(Act::Garbage),
            "binary" => Ok(Act::Binary),
            "null" => Ok(Act::Null),
            "other-id" => Ok(Act::OtherId),
            "other-first" => Ok(Act::OtherFirst),
            "shape" => Ok(Act::Shape),
            _ => Err(unknown()),
        }
    }
}

/// A fake daemon. It ends when this is dropped, and what it waits for with it.
#[derive(Debug)]
pub struct Fake {
    socket: PathBuf,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    script: Vec<Act>,
    requests: Mutex<Vec<Value>>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Fake {
    /// Listens at a socket and follows a script, like `never` or `garbage good`.
    ///
    /// # Errors
    /// If it cannot listen there, or if the script has a word that is not in the table.
    pub fn start(socket: &Path, script: &str) -> io::Result<Self> {
        let script = script.split_whitespace().map(str::parse).collect::<Result<Vec<Act>, _>>();
        let script = script.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let listener = UnixListener::bind(socket)?;
        let (requests, ended, end) = (Mutex::default(), Mutex::new(false), Condvar::new());
        let state = Arc::new(State { script, requests, ended, end });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok).take_while(|_| !shared.is_ended()) {
                let state = Arc::clone(&shared);
                // A client that has gone is no fault of the fake's.
                thread::spawn(move || state.serve(&stream));
            }
        });
        Ok(Fake { socket: socket.to_owned(), state })
    }

    /// The requests so far, in the order in which they came. What is no JSON is `null`.
    pub fn requests(&self) -> Vec<Value> {
        self.state.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        *self.state.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.state.end.notify_all();
        // Wakes the thread that waits for connections, which then sees that it is over.
        drop(UnixStream::connect(&self.socket));
        drop(std::fs::remove_file(&self.socket));
    }
}

impl State {
    fn is_ended(&self) -> bool {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for so long, or until the fake ends.
    fn wait(&self, time: Duration) {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.end.wait_timeout_while(ended, time, |ended| !*ended));
    }

    /// Answers the requests of one connection until an act closes it.
    fn serve(&self, stream: &UnixStream) -> io::Result<()> {
        let mut lines = BufReader::new(stream);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? != 0 {
            let request: Value = serde_json::from_slice(&line).unwrap_or_default();
            line.clear();
            let act = self.next(request.clone());
            if !self.perform(act, &request["id"], stream)? {
                return stream.shutdown(std::net::Shutdown::Both);
            }
        }
        Ok(())
    }

    /// Notes a request and says what is done with it.
    fn next(&self, request: Value) -> Act {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let act = self.script.get(requests.len()).or(self.script.last());
        requests.push(request);
        act.copied().unwrap_or(Act::Never)
    }

    /// Whether the connection stays open.
    fn perform(&self, act: Act, id: &Value, mut out: &UnixStream) -> io::Result<bool> {
        let good = answer(id, &result("All checks passed (no issues found).", false));
        let other = answer(&json!(987_654_321), &result("Of another.", false));
        match act {
            Act::Good => out.write_all(&good)?,
            Act::Issues => out.write_all(&answer(id, &issues()))?,
            Act::Error => {
                let error = json!({"code": -32000, "message": "Internal error: out of luck"});
                out.write_all(&lined(&json!({"jsonrpc": "2.0", "error": error, "id": id})))?;
            }
            Act::Refused => out.write_all(&answer(id, &result("Missing or empty 'files' parameter.", true)))?,
            Act::Never => {}
            Act::Close => return Ok(false),
            Act::Half | Act::Stall => {
                out.write_all(good.get(..good.len() / 2).unwrap_or_default())?;
                return Ok(act == Act::Stall);
            }
            Act::Garbage => out.write_all(b"%!PS-Adobe-3.0 {]\n")?,
            Act::Binary => out.write_all(b"\xff\xfe\x00\x80\n")?,
            Act::Null => out.write_all(b"null\n")?,
            Act::OtherId => out.write_all(&other)?,
            Act::OtherFirst => {
                out.write_all(b"%!PS-Adobe-3.0 {]\n")?;
                out.write_all(&other)?;
                out.write_all(&good)?;
            }
            Act::Shape => out.write_all(&answer(id, &json!(7)))?,
            Act::Huge(bytes) => out.write_all(&answer(id, &result(&"x".repeat(bytes), false)))?,
            Act::Endless(bytes) => out.write_all(&vec![b'x'; bytes])?,
            Act::Slow(time) => {
                self.wait(time);
                out.write_all(&good)?;
            }
            Act::Drip(time) => {
                for byte in good.chunks(1).take_while(|_| !self.is_ended()) {
                    out.write_all(byte)?;
                    self.wait(time);
                }
            }
        }
        Ok(true)
    }
}

fn lined(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn answer(id: &Value, result: &Value) -> Vec<u8> {
    lined(&json!({"jsonrpc": "2.0", "result": result, "id": id}))
}

fn result(text: &str, refused: bool) -> Value {
    let statuses = json!({"prettier": "clean", "linters": "clean", "lsp": "clean", "tsc": "clean"});
    let details = json!({"statuses": statuses, "hasIssues": false, "fileCount": 1, "durationMs": 1});
    json!({"content": [{"type": "text", "text": text}], "details": details, "isError": refused})
}

fn issues() -> Value {
    let text = "  ⚠ Lint Results: 1 error(s), in 1 file(s)\n ✗ a.ts:2:5: Unexpected 'debugger' statement. (no-debugger) [eslint]";
    let mut result = result(text, false);
    result["details"]["hasIssues"] = Value::Bool(true);
    result["details"]["statuses"]["linters"] = "issues".into();
    result
}
