//! The model APIs that the agents speak: how many calls a request already holds, what it says became of them, and how
//! calls are put into an answer. Each API is one variant; nothing here knows of scripts or agents.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::model::{Call, DONE};

/// An API, known by the path of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The Messages of Anthropic.
    Messages,
    /// The Responses of `OpenAI`.
    Responses,
    /// The chat completions of `OpenAI`.
    Chat,
    /// Gemini's `generateContent` and `streamGenerateContent`.
    Gemini,
}

/// The body of an answer.
pub enum Reply {
    /// One JSON document.
    Json(Value),
    /// Server-sent events.
    Events(String),
}

impl Dialect {
    /// The API that has this path.
    pub fn of(path: &str) -> Option<Self> {
        match path {
            path if path.ends_with("/messages") => Some(Self::Messages),
            path if path.ends_with("/responses") => Some(Self::Responses),
            path if path.ends_with("/chat/completions") => Some(Self::Chat),
            path if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }

    /// Whether the agent lets the model call tools in this request.
    pub fn offers_tools(self, body: &Value) -> bool {
        match self {
            Self::Gemini => list(&body["tools"]).any(|tool| list(&tool["functionDeclarations"]).next().is_some()),
            _ => list(&body["tools"]).next().is_some(),
        }
    }

    /// How many calls the model has made so far.
    pub fn calls(self, body: &Value) -> usize {
        match self {
            Self::Messages => parts(body).filter(|part| part["type"] == "tool_use").count(),
            Self::Responses => {
                let kinds = ["function_call", "custom_tool_call"];
                list(&body["input"]).filter(|item| kinds.iter().any(|kind| item["type"] == *kind)).count()
            }
            Self::Chat => list(&body["messages"]).flat_map(|message| list(&message["tool_calls"])).count(),
            Self::Gemini => contents(body).filter(|part| part.get("functionCall").is_some()).count(),
        }
    }

    /// What the request says became of the calls, in their order.
    pub fn told(self, body: &Value) -> Vec<String> {
        match self {
            Self::Messages => {
                parts(body).filter(|part| part["type"] == "tool_result").map(|part| text(&part["content"])).collect()
            }
            Self::Responses => {
                let kinds = ["function_call_output", "custom_tool_call_output"];
                let outputs = list(&body["input"]).filter(|item| kinds.iter().any(|kind| item["type"] == *kind));
                outputs.map(|item| text(&item["output"])).collect()
            }
            Self::Chat => {
                let results = list(&body["messages"]).filter(|message| message["role"] == "tool");
                results.map(|message| text(&message["content"])).collect()
            }
            Self::Gemini => {
                let responses = contents(body).filter_map(|part| part.get("functionResponse"));
                responses.map(|response| response["response"].to_string()).collect()
            }
        }
    }

    /// The answer number `number` of the server, with these calls; without calls the text that ends the turn.
    pub fn answer(self, path: &str, body: &Value, number: usize, calls: &[Call]) -> Reply {
        let model = &body["model"];
        match self {
            Self::Messages => messages(model, number, calls, body["stream"] == true),
            Self::Responses => responses(model, number, calls, body["stream"] == true),
            Self::Chat => chat(model, number, calls, body["stream"] == true),
            Self::Gemini => gemini(body, calls, path.ends_with(":streamGenerateContent")),
        }
    }
}

fn messages(model: &Value, number: usize, calls: &[Call], stream: bool) -> Reply {
    let usage = json!({
        "input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0
    });
    let blocks: Vec<Value> = if calls.is_empty() {
        vec![json!({ "type": "text", "text": DONE })]
    } else {
        let call = |(index, call): (usize, &Call)| json!({ "type": "tool_use", "id": id("toolu", number, index), "name": call.tool, "input": call.input });
        calls.iter().enumerate().map(call).collect()
    };
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let message = |content: &[Value], reason: Option<&str>| {
        json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": usage
        })
    };
    if !stream {
        return Reply::Json(message(&blocks, Some(reason)));
    }
    let mut events = vec![json!({ "type": "message_start", "message": message(&[], None) })];
    for (index, block) in blocks.iter().enumerate() {
        let (mut start, delta) = (block.clone(), &block["text"]);
        let delta = if delta.is_string() {
            start["text"] = json!("");
            json!({ "type": "text_delta", "text": delta })
        } else {
            start["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let end = json!({ "stop_reason": reason, "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 5 } }));
    events.push(json!({ "type": "message_stop" }));
    Reply::Events(named(&events))
}

fn responses(model: &Value, number: usize, calls: &[Call], stream: bool) -> Reply {
    let item = |(index, call): (usize, &Call)| {
        let (item, call_id) = (id("item", number, index), id("call", number, index));
        match &call.input {
            Value::String(input) => json!({
                "type": "custom_tool_call", "id": item, "call_id": call_id, "name": call.tool, "input": input,
                "status": "completed"
            }),
            input => {
                let (namespace, name) = call.tool.rsplit_once('.').unzip();
                json!({
                    "type": "function_call", "id": item, "call_id": call_id, "namespace": namespace,
                    "name": name.unwrap_or(call.tool), "arguments": input.to_string(), "status": "completed"
                })
            }
        }
    };
    let mut items: Vec<Value> = calls.iter().enumerate().map(item).collect();
    if items.is_empty() {
        let content = json!([{ "type": "output_text", "text": DONE, "annotations": [] }]);
        items.push(json!({
            "type": "message", "id": id("item", number, 0), "role": "assistant", "status": "completed", "content": content
        }));
    }
    let response = |status: &str, output: &[Value], usage: Value| {
        json!({
            "id": format!("resp_{number}"), "object": "response", "created_at": 1_767_225_600, "status": status,
            "model": model, "output": output, "usage": usage
        })
    };
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 5,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15
    });
    let whole = response("completed", &items, usage);
    if !stream {
        return Reply::Json(whole);
    }
    let mut events = vec![json!({
        "type": "response.created", "response": response("in_progress", &[], Value::Null)
    })];
    for (index, item) in items.iter().enumerate() {
        let mut event = |kind: &str, mut fields: Value| {
            fields["type"] = json!(format!("response.{kind}"));
            fields["output_index"] = json!(index);
            events.push(fields);
        };
        let mut started = item.clone();
        let (field, empty) = match item["type"].as_str() {
            Some("message") => ("content", json!([])),
            Some("custom_tool_call") => ("input", json!("")),
            _ => ("arguments", json!("")),
        };
        started[field] = empty;
        event("output_item.added", json!({ "item": started }));
        match field {
            "content" => {
                let part = json!({ "type": "output_text", "text": "", "annotations": [] });
                let place = json!({ "item_id": item["id"], "content_index": 0 });
                let with = |field: &str, value: Value| {
                    let mut place = place.clone();
                    place[field] = value;
                    place
                };
                event("content_part.added", with("part", part));
                event("output_text.delta", with("delta", json!(DONE)));
                event("output_text.done", with("text", json!(DONE)));
            }
            "input" => event("custom_tool_call_input.done", json!({ "item_id": item["id"], "input": item["input"] })),
            _ => {
                event("function_call_arguments.done", json!({ "item_id": item["id"], "arguments": item["arguments"] }));
            }
        }
        event("output_item.done", json!({ "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": whole }));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    Reply::Events(named(&events))
}

fn chat(model: &Value, number: usize, calls: &[Call], stream: bool) -> Reply {
    let call = |(index, call): (usize, &Call)| {
        json!({
            "index": index, "id": id("call", number, index), "type": "function",
            "function": { "name": call.tool, "arguments": call.input.to_string() }
        })
    };
    let (message, reason) = if calls.is_empty() {
        (json!({ "role": "assistant", "content": DONE }), "stop")
    } else {
        let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
        (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
    };
    let answer = |object: &str, choice: Value| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": object, "created": 1_767_225_600, "model": model,
            "choices": [choice], "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 }
        })
    };
    if !stream {
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        return Reply::Json(answer("chat.completion", choice));
    }
    let delta = json!({ "index": 0, "delta": message, "finish_reason": null });
    let end = json!({ "index": 0, "delta": {}, "finish_reason": reason });
    let mut text = String::new();
    for choice in [delta, end] {
        write_event(&mut text, &answer("chat.completion.chunk", choice).to_string());
    }
    write_event(&mut text, "[DONE]");
    Reply::Events(text)
}

fn gemini(body: &Value, calls: &[Call], stream: bool) -> Reply {
    let settings = &body["generationConfig"];
    let parts: Vec<Value> = if !calls.is_empty() {
        let part = |call: &Call| json!({ "functionCall": { "name": call.tool, "args": call.input } });
        calls.iter().map(part).collect()
    } else if settings["responseMimeType"] == "application/json" || settings.get("responseJsonSchema").is_some() {
        // Questions of the agent's own: which model is to answer, and who speaks next.
        let answer = json!({
            "complexity_reasoning": "-", "complexity_score": 1, "model_choice": "flash", "reasoning": "-",
            "next_speaker": "user"
        });
        vec![json!({ "text": answer.to_string() })]
    } else {
        vec![json!({ "text": DONE })]
    };
    let answer = json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "mock"
    });
    if !stream {
        return Reply::Json(answer);
    }
    let mut text = String::new();
    write_event(&mut text, &answer.to_string());
    Reply::Events(text)
}

fn id(kind: &str, answer: usize, index: usize) -> String {
    format!("{kind}_{answer}_{index}")
}

/// Events whose names are their types.
fn named(events: &[Value]) -> String {
    let mut text = String::new();
    for event in events {
        let _ = writeln!(text, "event: {}", event["type"].as_str().unwrap_or_default());
        write_event(&mut text, &event.to_string());
    }
    text
}

fn write_event(text: &mut String, data: &str) {
    let _ = write!(text, "data: {data}\n\n");
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The content blocks of all messages.
fn parts(body: &Value) -> impl Iterator<Item = &Value> {
    list(&body["messages"]).flat_map(|message| list(&message["content"]))
}

fn contents(body: &Value) -> impl Iterator<Item = &Value> {
    list(&body["contents"]).flat_map(|content| list(&content["parts"]))
}

/// The text of a result: a string, or blocks with a text each.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}
