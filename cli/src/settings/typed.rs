//! Arguments of a command, as values of settings.

use serde::Serialize;
use serde_json::Value as Json;

use super::{
    table::SETTINGS,
    value::{Item, Value},
};

/// Settings that were typed, by their names.
pub(crate) type Typed = Vec<(&'static str, Value)>;

/// The settings among the options `args` of a command; others are left out.
pub(crate) fn typed(args: &impl Serialize) -> Typed {
    let options = serde_json::to_value(args).unwrap_or_default();
    let typed = SETTINGS.iter().filter_map(|setting| {
        let value = value_of(options.get(setting.name)?)?;
        Some((setting.name, value))
    });
    typed.collect()
}

fn value_of(option: &Json) -> Option<Value> {
    match option {
        Json::Null | Json::Object(_) | Json::Bool(false) => None,
        Json::Bool(true) => Some(Value::Bare("true".to_owned())),
        Json::Number(count) => (count.as_u64() != Some(0)).then(|| Value::Bare(count.to_string())),
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Array(items) => {
            let items: Vec<Item> = items.iter().filter_map(value_of).map(Item::new).collect();
            (!items.is_empty()).then_some(Value::List(items))
        }
    }
}
