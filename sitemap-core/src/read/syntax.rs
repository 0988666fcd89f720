//! Checks of the inside of a tag, a declaration or an instruction by XML 1.0 and Namespaces in XML 1.0.
//!
//! The parser finds the end of a token and passes over faults in it, so that no readable part is lost; this module finds these
//! faults. Each fault comes with the place in the token where it begins, in bytes.

use quick_xml::escape::resolve_xml_entity;

use super::{Problem, progress::quoted};
use crate::extension::{is_name_character, is_name_start, is_xml_character};

/// Number of names of attributes that are compared one by one; of more, the names are sorted.
const FEW_ATTRIBUTES: usize = 8;

/// The longest reference that is taken for one: the longest name of an entity in HTML has 31 characters.
const MAX_REFERENCE_BYTES: usize = 64;

/// Checks the text between `<` and `>`, or `/>`. Returns whether two attributes differ in their prefix only, so that they are the
/// same one if the prefixes mean the same.
pub(super) fn start_tag(tag: &str, mut note: impl FnMut(usize, Problem)) -> bool {
    let end = name_end(tag);
    if end == 0 || !is_qualified(&tag[..end]) || tag.starts_with("xmlns:") {
        note(0, ill_formed("name of an element that XML does not allow"));
    }
    if end == 0 || end == tag.len() {
        return false;
    }
    let mut names = Names::default();
    let mut rest = end;
    loop {
        let start = rest + blanks(&tag[rest..]);
        if start == tag.len() {
            return names.finish(&mut note);
        }
        if start == rest {
            note(
                start,
                ill_formed(if names.count == 0 {
                    "name of an element with a character that no name has"
                } else {
                    "attribute without white space before it"
                }),
            );
            if names.count == 0 {
                return false;
            }
        }
        let Some((attribute, length)) = attribute(&tag[start..]) else {
            note(
                start,
                ill_formed("attribute without name, value or quotation marks"),
            );
            return false;
        };
        if !is_qualified(attribute.name) {
            note(
                start,
                ill_formed("name of an attribute that namespaces forbid"),
            );
        }
        if attribute.value.is_empty() && attribute.name.starts_with("xmlns:") {
            note(start, ill_formed("prefix is declared without a namespace"));
        }
        if attribute.value.contains('&') {
            references(attribute.value, |at, problem| {
                note(start + attribute.value_start + at, problem);
            });
        }
        if names.add(attribute.name) {
            note(start, ill_formed("attribute is given twice"));
        }
        rest = start + length;
    }
}

fn ill_formed(what: &'static str) -> Problem {
    Problem::IllFormed { what }
}

/// The names of the attributes of one element.
#[derive(Default)]
struct Names<'a> {
    count: usize,
    few: [&'a str; FEW_ATTRIBUTES],
    more: Vec<&'a str>,
    has_twins: bool,
}

impl<'a> Names<'a> {
    /// Takes in a name; returns whether it is already there, as far as that is known.
    fn add(&mut self, name: &'a str) -> bool {
        let few = &self.few[..self.count.min(FEW_ATTRIBUTES)];
        let is_known = few.contains(&name);
        if !is_known && let Some(local) = local_part(name) {
            let is_twin = |other: &&str| local_part(other) == Some(local);
            self.has_twins |= few.iter().any(is_twin);
        }
        match self.few.get_mut(self.count) {
            Some(free) => *free = name,
            None if is_known => {}
            None => self.more.push(name),
        }
        self.count += 1;
        is_known
    }

    /// Reports the names that were not compared yet.
    fn finish(mut self, note: &mut impl FnMut(usize, Problem)) -> bool {
        self.more.sort_unstable();
        if self.more.windows(2).any(|pair| pair[0] == pair[1]) {
            note(0, ill_formed("attribute is given twice"));
        }
        self.has_twins || !self.more.is_empty()
    }
}

/// The text after the prefix of an attribute that is not a declaration; `None` without a prefix.
fn local_part(name: &str) -> Option<&str> {
    let (prefix, local) = name.split_once(':')?;
    (prefix != "xmlns").then_some(local)
}

struct Attribute<'a> {
    name: &'a str,
    value: &'a str,
    /// Start of the value, after the quotation mark.
    value_start: usize,
}

/// The attribute at the beginning, and how long it is.
fn attribute(text: &str) -> Option<(Attribute<'_>, usize)> {
    let name_end = name_end(text);
    if name_end == 0 {
        return None;
    }
    let equals = name_end + blanks(&text[name_end..]);
    let after = text[equals..].strip_prefix('=')?;
    let quote_start = equals + 1 + blanks(after);
    let quote = text[quote_start..]
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))?;
    let value_start = quote_start + 1;
    let length = text[value_start..].find(quote)?;
    let attribute = Attribute {
        name: &text[..name_end],
        value: &text[value_start..value_start + length],
        value_start,
    };
    Some((attribute, value_start + length + 1))
}

/// Reports the problems of the references in the value of an attribute.
fn references(value: &str, mut note: impl FnMut(usize, Problem)) {
    for (at, _) in value.match_indices('&') {
        let after = &value[at + 1..];
        let end = after
            .bytes()
            .take(MAX_REFERENCE_BYTES)
            .position(|byte| byte == b';');
        if let Some(problem) = reference(end.map_or("", |end| &after[..end])) {
            note(at, problem);
        }
    }
}

/// Problem of the text between `&` and `;`, if any; the text is empty if there is no `;`.
fn reference(reference: &str) -> Option<Problem> {
    if let Some(number) = reference.strip_prefix('#') {
        return match referenced(number) {
            None => Some(ill_formed("character reference names no character")),
            Some(character) if is_xml_character(character) => None,
            Some(_) => Some(Problem::ForbiddenCharacter),
        };
    }
    if resolve_xml_entity(reference).is_some() {
        return None;
    }
    let name = quoted(reference);
    Some(if !is_name(reference) {
        Problem::BareAmpersand
    } else if html_entity(reference).is_some() {
        Problem::HtmlEntity { name }
    } else {
        Problem::UndefinedEntity { name }
    })
}

/// The text of a named character reference of HTML.
pub(super) fn html_entity(name: &str) -> Option<&'static str> {
    let text = htmlize::ENTITIES.get(format!("&{name};").as_bytes())?;
    std::str::from_utf8(text).ok()
}

/// The character that a reference names by its number, as it is between `&#` and `;`.
pub(super) fn referenced(number: &str) -> Option<char> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    // A sign is not a digit.
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

/// Returns the place of a fault in the text of a declaration (XML 1.0 section 2.8). The version itself is judged elsewhere.
pub(super) fn declaration(declaration: &str) -> Option<usize> {
    let mut rest = "xml".len();
    // What may come next: version, encoding, standalone.
    let mut next = 0;
    loop {
        let start = rest + blanks(&declaration[rest..]);
        if start == declaration.len() {
            return (next == 0).then_some(start);
        }
        let Some((found, length)) = attribute(&declaration[start..]).filter(|_| start > rest)
        else {
            return Some(start);
        };
        let (place, is_right) = match found.name {
            "version" => (1, true),
            "encoding" => (2, is_encoding_name(found.value)),
            "standalone" => (3, matches!(found.value, "yes" | "no")),
            _ => return Some(start),
        };
        let is_first = place == 1;
        if !is_right || place <= next || is_first != (next == 0) {
            return Some(start);
        }
        next = place;
        rest = start + length;
    }
}

/// `EncName` of XML 1.0 section 4.3.3.
fn is_encoding_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Returns whether the text of a processing instruction begins with an allowed name (XML 1.0 section 2.6).
pub(super) fn is_instruction(instruction: &str) -> bool {
    let end = name_end(instruction);
    let (target, rest) = instruction.split_at(end);
    !target.is_empty()
        && !target.eq_ignore_ascii_case("xml")
        && !target.contains(':')
        && (rest.is_empty() || blanks(rest) > 0)
}

/// Returns whether a text is a name (`Name` of XML 1.0 section 2.3).
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_end(text) == text.len()
}

/// Length of the name at the beginning; 0 if there is none (`Name` of XML 1.0 section 2.3).
fn name_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_usual = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_');
    let usual = bytes.iter().take_while(|byte| is_usual(byte)).count();
    let is_begun = bytes
        .first()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b':' | b'_'));
    match bytes.get(usual) {
        // What nearly all names are followed by.
        None | Some(b' ' | b'=' | b'\n' | b'\r' | b'\t') if is_begun => usual,
        _ if text.starts_with(|first| first == ':' || is_name_start(first)) => text
            .find(|character| character != ':' && !is_name_character(character))
            .unwrap_or(text.len()),
        _ => 0,
    }
}

/// Returns whether a name is one with at most one prefix (`QName` of Namespaces in XML 1.0 section 4).
fn is_qualified(name: &str) -> bool {
    let Some((prefix, local)) = name.split_once(':') else {
        return true;
    };
    !prefix.is_empty() && !local.contains(':') && local.starts_with(is_name_start)
}

/// Number of bytes of white space that are at the beginning.
fn blanks(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| is_white_space(*byte))
        .count()
}

/// White space of XML 1.0 section 2.3.
pub(super) fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tag: &str, expected: &[(usize, &str)]) {
        let mut faults = Vec::new();
        start_tag(tag, |at, problem| faults.push((at, problem.to_string())));
        let found: Vec<(usize, &str)> = faults
            .iter()
            .map(|(at, text)| (*at, text.strip_prefix("not well-formed: ").unwrap_or(text)))
            .collect();
        assert_eq!(found, expected, "{tag}");
    }

    #[test]
    fn good_tags_are_good() {
        for tag in [
            "url",
            "url ",
            "a:b-c.1",
            "é",
            "_ a='\"' b = \"'\"\n\tc:d='&amp;&#38;&#x26;&#x10FFFF;' xml:lang='' xmlns='u' xmlns:c='u'",
            "a b='1' c:b='2' ",
        ] {
            check(tag, &[]);
        }
    }

    #[test]
    fn faults_of_a_tag_have_their_place() {
        let name = "name of an element that XML does not allow";
        for tag in [
            "", "1a", "-a", ":a", "a:", "a:b:c", "a:1", "xmlns:a", "\u{D7}",
        ] {
            check(tag, &[(0, name)][..]);
        }
        let inside = "name of an element with a character that no name has";
        check("a=b", &[(1, inside)]);
        check("a\u{A0}b='1'", &[(1, inside)]);
        let broken = "attribute without name, value or quotation marks";
        check("a /", &[(2, broken)]);
        check("a b", &[(2, broken)]);
        check("a b=c", &[(2, broken)]);
        check("a b='c", &[(2, broken)]);
        check("a 1b='c'", &[(2, broken)]);
        check(
            "a b='1'c='2'",
            &[(7, "attribute without white space before it")],
        );
        let twice = "attribute is given twice";
        check("a b='1' b='2'", &[(8, twice)]);
        let forbidden = "name of an attribute that namespaces forbid";
        check("a :b='1' c:d:e='2'", &[(2, forbidden), (9, forbidden)]);
        let nothing = "prefix is declared without a namespace";
        check("a xmlns='' xmlns:b='c' xmlns:d=''", &[(23, nothing)]);
        let many: Vec<String> = (0..20).map(|number| format!(" b{number}=''")).collect();
        let many = many.concat();
        check(&format!("a{many}"), &[]);
        check(&format!("a{many} b19=''"), &[(0, twice)]);
        check(&format!("a{many} b3=''"), &[(20 * 6 + 12, twice)]);
    }

    #[test]
    fn references_of_attributes_are_reported() {
        let number = "character reference names no character";
        check("a b='&#0;'", &[(5, "character that XML 1.0 forbids")]);
        for reference in ["&#;", "&#x;", "&#+65;", "&#X41;", "&#xD800;", "&#a;"] {
            check(&format!("a b='{reference}'"), &[(5, number)]);
        }
        let bare = "ampersand is not escaped, expected &amp;";
        check("a b='&' c='&&amp'", &[(5, bare), (11, bare), (12, bare)]);
        check(
            "a b='x&nbsp;&x;'",
            &[
                (6, "entity &nbsp; is one of HTML, not of XML"),
                (12, "entity &x; is not defined"),
            ],
        );
    }

    #[test]
    fn attributes_of_one_local_name_are_found() {
        let has_twins = |tag: &str| start_tag(tag, |_, problem| panic!("{problem}"));
        assert!(has_twins("a b:c='' d:c=''"));
        assert!(!has_twins("a b:c='' c='' xmlns:c='u'"));
    }

    #[test]
    fn declaration_has_its_parts_in_order() {
        for good in [
            "xml version='1.0'",
            "xml\tversion = \"1.0\"\nencoding='UTF-8' standalone='no' ",
            "xml version='1.0' standalone='yes'",
        ] {
            assert_eq!(declaration(good), None, "{good}");
        }
        for (bad, at) in [
            ("xml", 3),
            ("xml ", 4),
            ("xml encoding='UTF-8'", 4),
            ("xml encoding='UTF-8' version='1.0'", 4),
            ("xml version='1.0' encodng='UTF-8'", 18),
            ("xml version='1.0'encoding='UTF-8'", 17),
            ("xml version=1.0", 4),
            ("xml version='1.0' encoding='UTF-8", 18),
            ("xml version='1.0' encoding=''", 18),
            ("xml version='1.0' encoding='8'", 18),
            ("xml version='1.0' standalone='maybe'", 18),
            ("xml version='1.0' version='1.0'", 18),
            ("xml version='1.0' standalone='no' encoding='UTF-8'", 34),
            ("xml version='1.0' ?", 18),
        ] {
            assert_eq!(declaration(bad), Some(at), "{bad}");
        }
    }

    #[test]
    fn instruction_has_a_name() {
        for good in ["a", "a b?", "xml-stylesheet href='x'", "xmlx", "é "] {
            assert!(is_instruction(good), "{good}");
        }
        for bad in ["", " x", "1", "XML version='1.0'", "xMl", "a:b", "a?"] {
            assert!(!is_instruction(bad), "{bad}");
        }
    }
}
