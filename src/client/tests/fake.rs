use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split};

use crate::client::{Limits, StreamClient};

/// Which handshake a fake server answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Era {
    Modern,
    Legacy,
}

impl Era {
    pub(super) const BOTH: [Self; 2] = [Self::Modern, Self::Legacy];
}

/// What a server answers to one message: lines as they go out.
pub(super) type Script = dyn Fn(&str, &Value) -> Vec<u8> + Send + Sync;

/// An answer line.
pub(super) fn ok(message: &Value, result: impl AsRef<str>) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}\n", message["id"], result.as_ref()).into_bytes()
}

/// An error line.
pub(super) fn error(message: &Value, code: i64, text: &str) -> Vec<u8> {
    let mut line = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}).to_string();
    line.push('\n');
    line.into_bytes()
}

/// The near end of a server that answers the handshake of its era and otherwise follows `script`.
pub(super) fn serve(
    era: Era,
    script: impl Fn(&str, &Value) -> Vec<u8> + Send + Sync + 'static,
) -> (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) {
    let (near, far) = duplex(1 << 16);
    tokio::spawn(run(era, Arc::new(script), far));
    split(near)
}

pub(super) fn client(era: Era, script: impl Fn(&str, &Value) -> Vec<u8> + Send + Sync + 'static) -> StreamClient {
    let (read, write) = serve(era, script);
    StreamClient::new(read, write)
}

pub(super) fn client_with(
    limits: &Limits,
    era: Era,
    script: impl Fn(&str, &Value) -> Vec<u8> + Send + Sync + 'static,
) -> StreamClient {
    let (read, write) = serve(era, script);
    StreamClient::with_limits(read, write, limits)
}

pub(super) async fn run(era: Era, script: Arc<Script>, far: DuplexStream) {
    let (read, mut write) = split(far);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        let capabilities = json!({
            "tools": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true}, "prompts": {},
            "completions": {}, "vendor": {"kept": true},
        });
        let answer = match (method, era) {
            ("server/discover", Era::Modern) => ok(
                &message,
                json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                    "instructions": "Be brief.", "ttlMs": 0, "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}},
                })
                .to_string(),
            ),
            ("server/discover", Era::Legacy) => error(&message, -32601, "no such method"),
            ("initialize", _) => ok(
                &message,
                json!({
                    "protocolVersion": "2025-11-25", "capabilities": capabilities, "instructions": "Be brief.",
                    "serverInfo": {"name": "fake", "version": "1"},
                })
                .to_string(),
            ),
            _ => script(method, &message),
        };
        if write.write_all(&answer).await.is_err() {
            return;
        }
    }
}
