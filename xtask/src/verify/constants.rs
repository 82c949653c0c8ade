//! A model's constants as a reader likes to see them: `Nodes=2, Limit=4, Costs={1,2}`.

use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

/// Takes text as it is, and an object in the order in which it is written.
pub(crate) fn as_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    from.deserialize_any(Constants)
}

struct Constants;

impl<'de> Visitor<'de> for Constants {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, or an object of constants")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut constants = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            constants.push(format!("{name}={}", shown(&value)));
        }
        Ok(constants.join(", "))
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(members) => {
            format!(
                "{{{}}}",
                members.iter().map(shown).collect::<Vec<_>>().join(",")
            )
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", shown(value)));
            format!("[{}]", fields.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> serde_json::Result<String> {
        as_text(&mut serde_json::Deserializer::from_str(json))
    }

    #[test]
    fn constants_keep_the_order_in_which_they_are_written() {
        let text = read(r#"{"Nodes": 2, "Batch": 3, "Costs": [1, 2], "Late": "dropped"}"#);
        assert_eq!(
            text.expect("well formed"),
            "Nodes=2, Batch=3, Costs={1,2}, Late=dropped"
        );
        assert_eq!(read("\"N=2\"").expect("well formed"), "N=2");
        assert!(read("3").is_err());
    }
}
