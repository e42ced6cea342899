//! Incremental parser for server-sent events (AAEP B.1). Pure: bytes in, messages out.

/// The largest message including ids and line ends: the protocol's largest event twice over (AAEP 8.3).
const MAX_MESSAGE: usize = 2 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SseMessage {
    /// The id for resuming the stream.
    pub(crate) id: Option<String>,
    /// `message` if the producer names none.
    pub(crate) event: String,
    pub(crate) data: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream holds a message of over {MAX_MESSAGE} bytes")]
pub(crate) struct TooLarge;

/// A partial line and a partial message. Line ends are LF, CR or both, across any packet boundary.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    after_cr: bool,
    begun: bool,
    id: Option<String>,
    event: String,
    data: String,
}

impl Decoder {
    /// The messages that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseMessage>, TooLarge> {
        let mut found = Vec::new();
        for &byte in bytes {
            let second_half = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            match byte {
                _ if second_half => {}
                b'\n' | b'\r' => found.extend(self.end_of_line()),
                other => self.line.push(other),
            }
            if self.line.len() + self.data.len() > MAX_MESSAGE {
                return Err(TooLarge);
            }
        }
        Ok(found)
    }

    fn end_of_line(&mut self) -> Option<SseMessage> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let line = if self.begun { &*line } else { line.trim_start_matches('\u{feff}') };
        self.begun = true;
        if line.is_empty() {
            return self.end_of_message();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "event" => value.clone_into(&mut self.event),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            // A comment, an unknown field, or a retry interval: our own backoff is slow enough.
            _ => {}
        }
        None
    }

    fn end_of_message(&mut self) -> Option<SseMessage> {
        let event = std::mem::take(&mut self.event);
        let mut data = std::mem::take(&mut self.data);
        // The last line end is not part of the data.
        data.pop()?;
        let event = if event.is_empty() { "message".to_owned() } else { event };
        Some(SseMessage { id: self.id.clone(), event, data })
    }
}

#[cfg(test)]
mod tests;
