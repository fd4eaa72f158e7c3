//! An MCP client: JSON-RPC, one object a line, over the standard input and output of a server.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Error;
use crate::wait::LIMIT;

/// How a message about what the user did begins.
pub const ACTIVITY: &str = "User activity in the shared terminal";

/// What a server answered to a call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// Whether the call counts as failed.
    pub is_error: bool,
    /// The whole result.
    pub result: Value,
}

impl Answer {
    /// A member of the tool's details, null if there is none.
    pub fn detail(&self, name: &str) -> &Value {
        &self.result["_meta"]["toolgate"][name]
    }

    /// The exit code.
    pub fn exit(&self) -> Option<i64> {
        self.detail("exitCode").as_i64()
    }
}

/// A server that runs, and a client that it knows. The server is killed when this is dropped.
#[derive(Debug)]
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Option<JoinHandle<String>>,
    /// Answers to other questions than the one that was waited for.
    early: BTreeMap<u64, Value>,
    methods: BTreeMap<u64, String>,
    /// Whether questions are answered with yes.
    agrees: bool,
    /// What it was asked whether it may be run, in order.
    pub questions: Vec<String>,
    /// What it told above its answers of what the user did, in order.
    pub told: Vec<String>,
    last: u64,
}

impl Client {
    /// Starts a server and introduces itself, as a client that shows its user questions, who agrees to everything, or
    /// as one that cannot.
    ///
    /// # Errors
    /// If it does not start, or does not answer.
    pub fn start(mut command: Command, agrees: bool) -> Result<Self, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, lines) = channel();
        thread::spawn(move || {
            let read = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            // Nobody listens any more once the client is gone.
            read.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let complaints = thread::spawn(move || {
            let mut said = Vec::new();
            let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut said));
            String::from_utf8_lossy(&said).into_owned()
        });
        let mut client = Client {
            child,
            stdin,
            lines,
            complaints: Some(complaints),
            early: BTreeMap::new(),
            methods: BTreeMap::new(),
            agrees,
            questions: Vec::new(),
            told: Vec::new(),
            last: 0,
        };
        let us = json!({"name": "terminal-tests", "version": "1"});
        let able = if agrees { json!({"elicitation": {}}) } else { json!({}) };
        client.ask("initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": able, "clientInfo": us}))?;
        client.wait(client.last, LIMIT)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// The tools that are offered, by name.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn tools(&mut self) -> Result<Vec<String>, Error> {
        let id = self.ask("tools/list", &json!({}))?;
        let mut result = self.wait(id, LIMIT)?;
        let tools = result["tools"].take();
        let names = tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Calls a tool and does not wait. The number goes to [`Client::answer`].
    ///
    /// # Errors
    /// If the server has gone.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<u64, Error> {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Takes a call back.
    ///
    /// # Errors
    /// If the server has gone.
    pub fn cancel(&mut self, id: u64) -> Result<(), Error> {
        let params = json!({"requestId": id, "reason": "the test says so"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
    }

    /// Waits for what a tool answers, at most so long.
    ///
    /// # Errors
    /// If there is no answer in time, or an error of the protocol.
    pub fn answer(&mut self, id: u64, limit: Duration) -> Result<Answer, Error> {
        let result = self.wait(id, limit)?;
        let parts = result["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        let mut text = parts.collect::<Vec<_>>().join("\n");
        while let Some((activity, rest)) = activity(&text) {
            self.told.push(activity.to_owned());
            text = rest.to_owned();
        }
        let mut answer = Answer { text, is_error: result["isError"] == Value::Bool(true), result };
        if let Some(exit) = answer.exit().filter(|exit| *exit != 0) {
            // The agent reads it in the text; the tests, in the details.
            let said = format!("Command exited with code {exit}");
            if let Some(output) = answer.text.strip_suffix(&said).map(str::trim_end) {
                answer.text = if output.is_empty() { "(no output)".to_owned() } else { output.to_owned() };
            }
        }
        Ok(answer)
    }

    /// Whether an answer has come, without waiting.
    ///
    /// # Errors
    /// If the server has gone or says what makes no sense.
    pub fn has_answered(&mut self, id: u64) -> Result<bool, Error> {
        self.read_what_came()?;
        Ok(self.early.contains_key(&id))
    }

    /// Runs a command in the shared terminal and waits for its answer.
    ///
    /// # Errors
    /// As [`Client::answer`].
    pub fn bash(&mut self, command: &str) -> Result<Answer, Error> {
        let id = self.call("bash", &json!({"command": command}))?;
        self.answer(id, LIMIT)
    }

    /// The same, with a time limit in seconds.
    ///
    /// # Errors
    /// As [`Client::answer`].
    pub fn bash_within(&mut self, command: &str, seconds: u64) -> Result<Answer, Error> {
        let id = self.call("bash", &json!({"command": command, "timeout": seconds}))?;
        self.answer(id, LIMIT + Duration::from_secs(seconds))
    }

    /// Reads the shared terminal.
    ///
    /// # Errors
    /// As [`Client::answer`].
    pub fn read_terminal(&mut self) -> Result<Answer, Error> {
        let id = self.call("read_terminal", &json!({}))?;
        self.answer(id, LIMIT)
    }

    /// The number of the server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes the connection and waits for the server to end.
    ///
    /// # Errors
    /// If it does not in time.
    pub fn stop(mut self) -> Result<(), Error> {
        drop(self.stdin.take());
        crate::wait::until_so("the end of the server", || Ok(self.child.try_wait()?.is_some()))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<u64, Error> {
        self.last += 1;
        self.methods.insert(self.last, method.to_owned());
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))?;
        Ok(self.last)
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        let sent = self.stdin.as_mut().map(|stdin| stdin.write_all(format!("{message}\n").as_bytes()));
        match sent {
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Err(self.ended()),
            Some(Err(error)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn wait(&mut self, id: u64, limit: Duration) -> Result<Value, Error> {
        let end = Instant::now() + limit;
        let method = self.methods.get(&id).cloned().unwrap_or_default();
        loop {
            if let Some(mut answer) = self.early.remove(&id) {
                return match answer.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(Error::Refused { method, error: answer["error"].to_string() }),
                };
            }
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.take(&line)?,
                Err(RecvTimeoutError::Timeout) => return Err(Error::Late(format!("an answer to {method}"))),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    fn read_what_came(&mut self) -> Result<(), Error> {
        while let Ok(line) = self.lines.try_recv() {
            self.take(&line)?;
        }
        Ok(())
    }

    /// Keeps an answer, and answers a question of the server's.
    fn take(&mut self, line: &str) -> Result<(), Error> {
        let message: Value = serde_json::from_str(line).map_err(|_| Error::Nonsense(line.to_owned()))?;
        match (message["id"].as_u64(), message["method"].as_str()) {
            (Some(id), None) => drop(self.early.insert(id, message)),
            (_, Some("elicitation/create")) if self.agrees => {
                let content = agreement(&message["params"]["requestedSchema"]);
                self.questions.push(message["params"]["message"].as_str().unwrap_or_default().to_owned());
                let result = json!({"action": "accept", "content": content});
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))?;
            }
            (_, Some(_)) if message.get("id").is_some() => {
                let error = json!({"code": -32601, "message": "this client cannot"});
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))?;
            }
            // A notification.
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self) -> Error {
        let _ = self.child.kill();
        let said = self.complaints.take().and_then(|thread| thread.join().ok());
        Error::Ended(said.unwrap_or_default())
    }
}

/// A message about what the user did that stands above a text, and the text.
fn activity(text: &str) -> Option<(&str, &str)> {
    let code = text.starts_with(ACTIVITY).then(|| text.find("\n[exit code: "))??;
    let end = code + text.get(code..)?.find("]\n\n")? + 1;
    Some((text.get(..end)?, text.get(end..)?.trim_start_matches('\n')))
}

/// Yes to everything that is asked, or its first choice.
fn agreement(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let answers = properties.map(|(name, property)| {
        let choice =
            [&property["enum"][0], &property["oneOf"][0]["const"]].into_iter().find(|choice| !choice.is_null());
        (name.clone(), choice.cloned().unwrap_or(Value::Bool(true)))
    });
    Value::Object(answers.collect())
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
