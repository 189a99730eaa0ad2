//! A reader of server-sent events.

use serde_json::Value;

use super::eventually::SOON;

#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    /// `message` where the stream gives none.
    pub name: String,
    pub id: Option<String>,
    pub data: Value,
}

pub struct Events {
    answer: reqwest::Response,
    read: String,
}

impl Events {
    pub fn of(answer: reqwest::Response) -> Self {
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { answer, read: String::new() }
    }

    /// None at the end.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let event = parse(event);
                self.read = rest.to_owned();
                if event.is_some() {
                    return event;
                }
                continue;
            }
            let chunk = tokio::time::timeout(SOON, self.answer.chunk()).await;
            let chunk = chunk.expect("a chunk in time").expect("no error")?;
            self.read.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }
}

/// None of a comment.
fn parse(event: &str) -> Option<Event> {
    let field = |name| event.lines().find_map(|line| line.strip_prefix(name));
    Some(Event {
        name: field("event: ").unwrap_or("message").to_owned(),
        id: field("id: ").map(str::to_owned),
        data: serde_json::from_str(field("data: ")?).expect("JSON"),
    })
}
