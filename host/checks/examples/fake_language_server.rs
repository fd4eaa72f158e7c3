//! A language server for tests that does what the file `fake.json` says, in the folder where it runs or else beside the
//! program.
//!
//! `fake.json` holds `capabilities`, and for each event (`start`, `initialized`, `open`, `change`, `save`, `pull`,
//! `command`, `answer`, `shutdown`) a list of steps. What it is told goes to `fake.log`, a method a line, with the rest
//! of the message where a test needs it.
#![allow(clippy::unwrap_used, reason = "a program for tests")]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::{Value, json};

fn main() {
    if std::env::args().nth(1).as_deref() == Some("child") {
        child();
        return;
    }
    let (here, program) = (Path::new("fake.json").exists(), PathBuf::from(std::env::args().next().unwrap()));
    let folder = if here { PathBuf::from(".") } else { program.parent().unwrap().to_path_buf() };
    let script: Value = serde_json::from_slice(&std::fs::read(folder.join("fake.json")).unwrap()).unwrap();
    let mut fake = Fake { folder, script, uri: String::new(), version: 0, asked: Value::Null, child: None };
    fake.log("started");
    if !here {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        fake.log(&format!("in {} {}", std::env::current_dir().unwrap().display(), arguments.join(" ")));
    }
    fake.steps("start");
    let mut input = BufReader::new(std::io::stdin());
    while let Some(message) = read(&mut input) {
        fake.take(&message);
    }
}

/// Holds a connection for as long as it lives, so that a test sees when that ends.
fn child() {
    let mut stream = UnixStream::connect("fake.sock").unwrap();
    stream.write_all(b"here").unwrap();
    let _ = stream.read(&mut [0]);
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().unwrap(),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut content = vec![0; length];
    input.read_exact(&mut content).unwrap();
    Some(serde_json::from_slice(&content).unwrap())
}

fn write(bytes: &[u8]) {
    let mut output = std::io::stdout();
    output.write_all(bytes).unwrap();
    output.flush().unwrap();
}

fn send(message: &Value) {
    let content = message.to_string();
    write(format!("Content-Length: {}\r\n\r\n{content}", content.len()).as_bytes());
}

struct Fake {
    folder: PathBuf,
    script: Value,
    /// The document that was opened, changed or asked for last.
    uri: String,
    version: i64,
    /// The number of the request that is to be answered.
    asked: Value,
    child: Option<Child>,
}

impl Fake {
    fn log(&self, line: &str) {
        let mut log = OpenOptions::new().create(true).append(true).open(self.folder.join("fake.log")).unwrap();
        writeln!(log, "{line}").unwrap();
    }

    fn take(&mut self, message: &Value) {
        let document = &message["params"]["textDocument"];
        if let Some(uri) = document["uri"].as_str() {
            self.uri = uri.into();
        }
        if let Some(version) = document["version"].as_i64() {
            self.version = version;
        }
        self.asked = message["id"].clone();
        let method = message["method"].as_str().unwrap_or_default();
        match method {
            "" => {
                let answer = message.get("error").map_or(&message["result"], |error| &error["code"]);
                self.log(&format!("answer {} {answer}", message["id"]));
            }
            "workspace/didChangeWatchedFiles" => {
                self.log(&format!("{method} {}", message["params"]["changes"][0]["type"]));
            }
            _ => self.log(method),
        }
        match method {
            "initialize" => {
                send(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "capabilities": self.script["capabilities"] } }));
            }
            "initialized" => self.steps("initialized"),
            "textDocument/didOpen" => self.steps("open"),
            "textDocument/didChange" => self.steps("change"),
            "textDocument/didSave" => self.steps("save"),
            "textDocument/diagnostic" => self.steps("pull"),
            "workspace/executeCommand" => self.steps("command"),
            "shutdown" if self.script.get("shutdown").is_none() => {
                send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
            "shutdown" => self.steps("shutdown"),
            "exit" => std::process::exit(0),
            "" => self.steps("answer"),
            _ => {}
        }
    }

    /// Does what the script says for an event. A step that holds `once` is done the first time, and is the last then.
    fn steps(&mut self, event: &str) {
        let steps = self.script[event].as_array().cloned().unwrap_or_default();
        let left: Vec<Value> = steps.iter().filter(|step| step.get("once").is_none()).cloned().collect();
        self.script[event] = left.into();
        for step in steps {
            self.step(&step);
            if step.get("once").is_some() {
                break;
            }
        }
    }

    fn step(&mut self, step: &Value) {
        let diagnostics = |message: &Value| -> Value {
            let at = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } });
            message.as_str().map(|text| json!({ "range": at, "severity": 1, "message": text })).into_iter().collect()
        };
        if let Some(message) = step.get("publish") {
            let mut params = json!({ "uri": self.uri, "diagnostics": diagnostics(message) });
            if let Some(back) = step["version"].as_i64() {
                params["version"] = json!(self.version - back);
            }
            send(&json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params }));
        }
        if let Some(message) = step.get("answer") {
            let result = json!({ "kind": "full", "items": diagnostics(message) });
            send(&json!({ "jsonrpc": "2.0", "id": self.asked, "result": result }));
        }
        if let Some(result) = step.get("result") {
            send(&json!({ "jsonrpc": "2.0", "id": self.asked, "result": result }));
        }
        if let Some(code) = step.get("refuse") {
            let error = json!({ "code": code, "message": "no" });
            send(&json!({ "jsonrpc": "2.0", "id": self.asked, "error": error }));
        }
        if let Some(message) = step.get("send") {
            send(message);
        }
        if let Some(text) = step["raw"].as_str() {
            write(text.as_bytes());
        }
        if let Some(length) = step["huge"].as_u64() {
            write(format!("Content-Length: {length}\r\n\r\n").as_bytes());
            write(&vec![b' '; usize::try_from(length).unwrap()]);
        }
        if let Some(length) = step["fill"].as_u64() {
            write(&vec![b'x'; usize::try_from(length).unwrap()]);
        }
        if step.get("fork").is_some() {
            self.child = Some(Command::new(std::env::current_exe().unwrap()).arg("child").spawn().unwrap());
        }
        if let Some(words) = step["die"].as_str() {
            let _ = writeln!(std::io::stderr(), "{words}");
            std::process::exit(1);
        }
        if step.get("hang").is_some() {
            loop {
                std::thread::park();
            }
        }
    }
}
