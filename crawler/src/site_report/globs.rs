//! Globs for the setting `exclude` that leave out the URLs of closed patterns.

/// A glob for the setting `exclude` that matches the URLs of the pattern `name`. Of URLs with capitals it matches none: no glob can.
pub(super) fn exclude_of(name: &str) -> String {
    // A sign that means something in a glob represents any one sign.
    let literal = |text: &str| text.replace(['*', '?', '[', ']', '{', '}', '\\'], "?");
    match name.split_once('?') {
        Some((path, "*=")) => format!("{}*\\?*", literal(path)),
        Some((path, parameter)) => {
            let path = if path.is_empty() {
                "*".to_owned()
            } else {
                literal(path)
            };
            format!("{path}\\?{{,*&}}{}*", literal(parameter))
        }
        None => format!("{}*", literal(name.trim_end_matches("*/"))),
    }
}
