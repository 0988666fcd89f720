//! [`Fields`]: the fields of a record by RFC 4180, and where a record ends whose quoted fields hold line ends.

use std::borrow::Cow;

use super::RowError;

/// One field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Without the blanks and quotation marks around it.
    text: &'a str,
    quotes: Quotes,
}

/// How a field is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Closed,
    /// The closing one is missing: the field goes to the end of the record.
    Open,
    /// Text stands between the closing one and the delimiter.
    TextBehind,
}

impl<'a> Field<'a> {
    /// The text between the quotation marks, in which two of them still stand for one, or the whole field without blanks around it.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// What the field says.
    ///
    /// # Errors
    /// Its quotation marks are not as they should be, so nobody knows.
    pub fn value(self) -> Result<Cow<'a, str>, RowError> {
        match self.quotes {
            Quotes::Closed if self.text.contains('"') => {
                Ok(Cow::Owned(self.text.replace("\"\"", "\"")))
            }
            Quotes::None | Quotes::Closed => Ok(Cow::Borrowed(self.text)),
            Quotes::Open => Err(RowError::OpenQuote),
            Quotes::TextBehind => Err(RowError::TextBehindQuote),
        }
    }

    pub(super) fn is_quoted(self) -> bool {
        self.quotes != Quotes::None
    }

    pub(super) fn is_open(self) -> bool {
        self.quotes == Quotes::Open
    }

    /// The text of a field that is well quoted, or not at all.
    pub(super) fn sound(self) -> Option<&'a str> {
        match self.quotes {
            Quotes::None | Quotes::Closed => Some(self.text),
            Quotes::Open | Quotes::TextBehind => None,
        }
    }
}

/// The fields of a record; without a delimiter it has one.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: Option<&'a str>,
    delimiter: Option<char>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(record: &'a str, delimiter: Option<char>) -> Self {
        Self {
            rest: Some(record),
            delimiter,
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let text = self.rest.take()?;
        let Some(quoted) = without_blanks(text, self.delimiter).strip_prefix('"') else {
            let field = self.up_to_delimiter(text);
            return Some(Field {
                text: field.trim(),
                quotes: Quotes::None,
            });
        };
        let Some(end) = closing_quote(quoted) else {
            return Some(Field {
                text: quoted.trim(),
                quotes: Quotes::Open,
            });
        };
        let (field, behind) = quoted.split_at(end);
        let behind = self.up_to_delimiter(&behind[1..]);
        let is_closed = behind.trim().is_empty();
        Some(Field {
            text: field.trim(),
            quotes: if is_closed {
                Quotes::Closed
            } else {
                Quotes::TextBehind
            },
        })
    }
}

impl<'a> Fields<'a> {
    /// What comes before the next delimiter; what is behind it is left.
    fn up_to_delimiter(&mut self, text: &'a str) -> &'a str {
        match self.delimiter.and_then(|it| text.split_once(it)) {
            Some((field, rest)) => {
                self.rest = Some(rest);
                field
            }
            None => text,
        }
    }
}

/// A quoted field that goes on behind the end of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenField {
    delimiter: char,
}

/// What a further line does to a record with an open field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Further {
    /// A field is still open at its end.
    Open,
    /// The record ends with it.
    Closed,
    /// It shows that the line before was no quoted field that goes on: its first quotation mark closes none.
    Broken,
}

impl OpenField {
    /// The field that is open at the end of the first line of a record; `None` when none is.
    pub(super) fn of(line: &str, delimiter: Option<char>) -> Option<Self> {
        let delimiter = delimiter?;
        let is_open = Fields::new(line, Some(delimiter)).any(Field::is_open);
        is_open.then_some(Self { delimiter })
    }

    /// Looks at a further line of the record. How many fields that has in the end does not matter: it is one record all the same.
    pub(super) fn go_on(self, line: &str) -> Further {
        let Some(end) = closing_quote(line) else {
            return Further::Open;
        };
        let behind = without_blanks(&line[end + 1..], Some(self.delimiter));
        if behind.is_empty() {
            return Further::Closed;
        }
        let Some(rest) = behind.strip_prefix(self.delimiter) else {
            return Further::Broken;
        };
        if Fields::new(rest, Some(self.delimiter)).any(Field::is_open) {
            Further::Open
        } else {
            Further::Closed
        }
    }
}

/// A text without the blanks in front of it. A tab may be the delimiter, and an empty field may stand in front of it.
fn without_blanks(text: &str, delimiter: Option<char>) -> &str {
    text.trim_start_matches(|character: char| {
        character.is_whitespace() && Some(character) != delimiter
    })
}

/// Where the quotation mark is that closes a field; two of them stand for one within it.
pub(super) fn closing_quote(text: &str) -> Option<usize> {
    let mut marks = text.match_indices('"').map(|(place, _)| place);
    while let Some(place) = marks.next() {
        if !text[place..].starts_with("\"\"") {
            return Some(place);
        }
        marks.next();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart_by_rfc_4180() {
        fn check(record: &str, delimiter: char, expected: &[&str]) {
            let fields: Vec<_> = Fields::new(record, Some(delimiter))
                .map(|field| field.value().unwrap())
                .collect();
            assert_eq!(fields, expected, "{record:?}");
        }
        check("a,b,c", ',', &["a", "b", "c"]);
        check("", ',', &[""]);
        check(",,", ',', &["", "", ""]);
        check("\"a,b\",c", ',', &["a,b", "c"]);
        check("\"a \"\"b\"\"\",\"\"", ',', &["a \"b\"", ""]);
        check("\"a\nb\",c", ',', &["a\nb", "c"]);
        check("a;b,c", ';', &["a", "b,c"]);
        check("a\t\"b\t\"\t", '\t', &["a", "b", ""]);
        check("\t\"a\" ", '\t', &["", "a"]);
        check("5\" disk, \"quoted\" ", ',', &["5\" disk", "quoted"]);
    }

    #[test]
    fn damaged_fields_are_told() {
        let values =
            |record| -> Vec<_> { Fields::new(record, Some(',')).map(Field::value).collect() };
        assert_eq!(
            values("\"a\"b,c"),
            [Err(RowError::TextBehindQuote), Ok("c".into())]
        );
        assert_eq!(
            values("c,\"a,b"),
            [Ok("c".into()), Err(RowError::OpenQuote)]
        );
    }

    #[test]
    fn further_lines_go_on_with_a_field_or_show_that_they_do_not() {
        fn check(first: &str, line: &str, expected: Further) {
            let open = OpenField::of(first, Some(',')).expect("a field is open");
            assert_eq!(open.go_on(line), expected, "{first:?} {line:?}");
        }
        check("a,\"b", "c", Further::Open);
        check("a,\"b", "", Further::Open);
        check("a,\"b", "\"\"c\"\"", Further::Open);
        check("a,\"b", "c\"", Further::Closed);
        check("a,\"b", "c\" ,d", Further::Closed);
        check("a,\"b", "c\",\"d", Further::Open);
        check("a,\"b", "c\",d,,", Further::Closed);
        check("a,\"b", "c\",d,e", Further::Closed);
        check("a,\"b", "/c,\"d\"", Further::Broken);
        for line in ["a,b", "a,\"b\"", "a,b\"", "", "a,\"b\"c"] {
            assert!(OpenField::of(line, Some(',')).is_none(), "{line:?}");
        }
        assert!(OpenField::of("\"a", None).is_none());
    }
}
