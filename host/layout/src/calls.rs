//! The calls whose code comes first: what hooks are asked all day, the most frequent one first.

/// The arguments of the command, and what the agent sends. `$PROJECT` stands for a folder.
pub(crate) const CALLS: &[(&[&str], &str)] = &[
    (
        &["hook", "claude"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t.jsonl","cwd":"$PROJECT","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test --workspace 2>&1 | tail -n 20"}}"#,
    ),
    (
        &["hook", "claude"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t.jsonl","cwd":"$PROJECT","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"$PROJECT/src/main.rs","old_string":"a","new_string":"b"}}"#,
    ),
    (
        &["hook", "claude"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t.jsonl","cwd":"$PROJECT","permission_mode":"default","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a","stderr":"","interrupted":false}}"#,
    ),
    (
        &["hook", "claude"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t.jsonl","cwd":"$PROJECT","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf ~"}}"#,
    ),
    (
        // Without the daemon for checks, which would be a process of its own.
        &["hook", "claude", "--no-lens"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t.jsonl","cwd":"$PROJECT","hook_event_name":"SessionStart","source":"startup"}"#,
    ),
    (
        &["hook", "codex"],
        r#"{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"$PROJECT","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"git status --short && git diff -- src | head -n 50"}}"#,
    ),
    (
        &["hook", "gemini"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t","cwd":"$PROJECT","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"npm run build"}}"#,
    ),
    (
        &["hook", "copilot", "preToolUse"],
        r#"{"sessionId":"s","timestamp":1,"cwd":"$PROJECT","toolName":"bash","toolArgs":{"command":"git commit -am \"a b\"","description":"x"}}"#,
    ),
    (
        &["hook", "droid"],
        r#"{"session_id":"s","transcript_path":"$PROJECT/t","cwd":"$PROJECT","permission_mode":"auto-high","hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"ls -la","riskLevel":"low"}}"#,
    ),
    (
        &["hook", "cursor"],
        r#"{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"beforeShellExecution","cursor_version":"2","workspace_roots":["$PROJECT"],"user_email":null,"command":"ls","cwd":"$PROJECT"}"#,
    ),
];
