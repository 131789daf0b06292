use rmcp::model::RequestId;

/// The longest id that is read: rmcp's own have at most 10 digits.
const MAX_ID: usize = 64;

/// Finds the `id` of a JSON-RPC message that is never held as a whole: too long, or not UTF-8.
///
/// It follows strings and nesting byte by byte, and looks only at the outermost object, so an `id`
/// within a tool's schema is not taken for it.
#[derive(Debug, Default)]
pub(super) struct TopId {
    depth: usize,
    in_string: bool,
    escaped: bool,
    in_value: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    id: Option<RequestId>,
}

impl TopId {
    pub(super) fn of(message: &[u8]) -> Option<RequestId> {
        let mut finder = Self::default();
        finder.feed(message);
        finder.id
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// The id, once it was seen.
    pub(super) fn id(&self) -> Option<RequestId> {
        self.id.clone()
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            if self.in_string || self.in_value {
                self.keep(byte);
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.in_value {
                    self.keep(byte);
                } else if self.depth == 1 {
                    self.key.clear();
                }
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.in_value = true,
            b',' if self.depth == 1 => self.end_value(),
            _ if self.in_value => self.keep(byte),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 {
            let text = if self.in_value { &mut self.value } else { &mut self.key };
            if text.len() < MAX_ID {
                text.push(byte);
            }
        }
    }

    fn end_value(&mut self) {
        if self.in_value && self.key == b"id" {
            self.id = serde_json::from_slice(&self.value).ok();
        }
        self.in_value = false;
        self.key.clear();
        self.value.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_id_counts() {
        let find = |text: &str| TopId::of(text.as_bytes());
        assert_eq!(find(r#"{"jsonrpc":"2.0","id":7,"result":{"id":1}}"#), Some(RequestId::Number(7)));
        assert_eq!(find(r#"{"result":{"tools":[{"id":1},"\"}"]}, "id" : 12 }"#), Some(RequestId::Number(12)));
        assert_eq!(find(r#"{"id":"a,b","result":"\\"}"#), Some(RequestId::String("a,b".into())));
        assert_eq!(find(r#"{"result":{"id":1},"x":"id"}"#), None);
        assert_eq!(find(r#"}}],"id":3"#), None);
        assert_eq!(find(""), None);
    }

    #[test]
    fn pieces_count_like_the_whole() {
        let text = br#"{"result":{"a":"\\\""},"id":41}"#;
        let mut finder = TopId::default();
        for byte in text {
            finder.feed(&[*byte]);
        }
        assert_eq!(finder.id(), Some(RequestId::Number(41)));
    }
}
