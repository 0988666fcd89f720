//! What the tree construction of the HTML standard (section 13.2.6) knows of elements by their names.

/// What tree construction knows of an element: a set of the constants below.
pub(super) type Traits = u32;

/// Reopened after a block closed it.
pub(super) const FORMATTING: Traits = 1;
/// No end tag of an ordinary element reaches across it ("special" in the standard).
pub(super) const SPECIAL: Traits = 1 << 1;
/// Its end tag closes everything inside, when it is in scope.
pub(super) const BLOCK: Traits = 1 << 2;
/// Ends every scope.
pub(super) const BARRIER: Traits = 1 << 3;
/// Ends the scope of list items as well.
pub(super) const LIST: Traits = 1 << 4;
/// Ends the scope of paragraphs as well.
pub(super) const BUTTON: Traits = 1 << 5;
/// Ends the scope of the parts of a table.
pub(super) const TABLE_BARRIER: Traits = 1 << 6;
/// Its end forgets the formatting elements inside.
pub(super) const MARKER: Traits = 1 << 7;
/// Its start tag closes an open `p`.
pub(super) const CLOSES_P: Traits = 1 << 8;
/// An item does not stop at it when it looks for the item before.
pub(super) const INSIDE_ITEM: Traits = 1 << 9;
/// Part of a table, the table included.
pub(super) const TABLE_PART: Traits = 1 << 10;
/// `svg` or `math`.
pub(super) const FOREIGN_ROOT: Traits = 1 << 11;
/// A foreign element inside which HTML begins again.
pub(super) const INTEGRATION_POINT: Traits = 1 << 12;
/// Its start tag makes the tokenizer read text.
pub(super) const RAW: Traits = 1 << 13;
/// Closed where "generate implied end tags" is asked for.
pub(super) const IMPLIED: Traits = 1 << 14;
/// Only one of its kind is open at a time: a second one closes the first, or is ignored.
pub(super) const LONELY: Traits = 1 << 15;
/// Is never on the stack of open elements, or below everything else on it.
pub(super) const UNCOUNTED: Traits = 1 << 16;
// Single elements, and the few that are treated alike.
pub(super) const P: Traits = 1 << 17;
pub(super) const LI: Traits = 1 << 18;
pub(super) const DD_DT: Traits = 1 << 19;
pub(super) const HEADING: Traits = 1 << 20;
pub(super) const TABLE: Traits = 1 << 21;
pub(super) const ROW_GROUP: Traits = 1 << 22;
pub(super) const ROW: Traits = 1 << 23;
pub(super) const CELL: Traits = 1 << 24;
pub(super) const SELECT: Traits = 1 << 25;
pub(super) const OPTION: Traits = 1 << 26;
pub(super) const RUBY_TEXT: Traits = 1 << 27;
/// May stand in a `select`.
pub(super) const IN_SELECT: Traits = 1 << 28;

/// An ordinary block.
const PLAIN: Traits = SPECIAL | BLOCK | CLOSES_P;
const EMBEDDED: Traits = SPECIAL | BLOCK | BARRIER | MARKER;
const HIDDEN: Traits = SPECIAL | RAW;
const MATH_TEXT: Traits = SPECIAL | BARRIER | INTEGRATION_POINT;
const FOREIGN: Traits = FOREIGN_ROOT | TABLE_BARRIER;
const PART: Traits = SPECIAL | TABLE_PART;
const WHOLE_CELL: Traits = PART | CELL | BARRIER | MARKER;

/// The elements that are not ordinary, sorted by name.
const ELEMENTS: &[(&str, Traits)] = &[
    ("a", FORMATTING),
    ("address", PLAIN | INSIDE_ITEM),
    ("annotation-xml", MATH_TEXT),
    ("applet", EMBEDDED),
    ("article", PLAIN),
    ("aside", PLAIN),
    ("b", FORMATTING),
    ("big", FORMATTING),
    ("blockquote", PLAIN),
    ("body", UNCOUNTED),
    ("button", SPECIAL | BLOCK | BUTTON | LONELY),
    ("caption", PART | BARRIER | MARKER),
    ("center", PLAIN),
    ("code", FORMATTING),
    ("col", UNCOUNTED),
    ("colgroup", PART),
    ("dd", PLAIN | DD_DT | IMPLIED),
    ("desc", SPECIAL | BARRIER | INTEGRATION_POINT),
    ("details", PLAIN),
    ("dialog", PLAIN),
    ("dir", PLAIN),
    ("div", PLAIN | INSIDE_ITEM),
    ("dl", PLAIN),
    ("dt", PLAIN | DD_DT | IMPLIED),
    ("em", FORMATTING),
    ("fieldset", PLAIN),
    ("figcaption", PLAIN),
    ("figure", PLAIN),
    ("font", FORMATTING),
    ("footer", PLAIN),
    ("foreignobject", SPECIAL | BARRIER | INTEGRATION_POINT),
    ("form", SPECIAL | CLOSES_P | LONELY),
    ("frame", UNCOUNTED),
    ("h1", PLAIN | HEADING),
    ("h2", PLAIN | HEADING),
    ("h3", PLAIN | HEADING),
    ("h4", PLAIN | HEADING),
    ("h5", PLAIN | HEADING),
    ("h6", PLAIN | HEADING),
    ("head", UNCOUNTED),
    ("header", PLAIN),
    ("hgroup", PLAIN),
    ("hr", CLOSES_P | IN_SELECT),
    ("html", UNCOUNTED),
    ("i", FORMATTING),
    ("iframe", HIDDEN),
    ("image", UNCOUNTED),
    ("li", PLAIN | LI | IMPLIED),
    ("listing", PLAIN),
    ("main", PLAIN),
    ("marquee", EMBEDDED),
    ("math", FOREIGN),
    ("menu", PLAIN),
    ("mi", MATH_TEXT),
    ("mn", MATH_TEXT),
    ("mo", MATH_TEXT),
    ("ms", MATH_TEXT),
    ("mtext", MATH_TEXT),
    ("nav", PLAIN),
    ("nobr", FORMATTING | LONELY),
    ("noembed", HIDDEN),
    ("noframes", HIDDEN),
    ("noscript", HIDDEN),
    ("object", EMBEDDED),
    ("ol", PLAIN | LIST),
    ("optgroup", IMPLIED | IN_SELECT),
    ("option", OPTION | IMPLIED | IN_SELECT),
    ("p", PLAIN | INSIDE_ITEM | P | IMPLIED),
    ("plaintext", HIDDEN | CLOSES_P),
    ("pre", PLAIN),
    ("rb", RUBY_TEXT | IMPLIED),
    ("rp", RUBY_TEXT | IMPLIED),
    ("rt", RUBY_TEXT | IMPLIED),
    ("rtc", RUBY_TEXT | IMPLIED),
    ("s", FORMATTING),
    ("script", SPECIAL | IN_SELECT),
    ("search", PLAIN),
    ("section", PLAIN),
    ("select", SPECIAL | BLOCK | BARRIER | TABLE_BARRIER | SELECT),
    ("small", FORMATTING),
    ("strike", FORMATTING),
    ("strong", FORMATTING),
    ("style", HIDDEN),
    ("summary", PLAIN),
    ("svg", FOREIGN),
    ("table", PART | TABLE | BARRIER | TABLE_BARRIER),
    ("tbody", PART | ROW_GROUP),
    ("td", WHOLE_CELL),
    (
        "template",
        SPECIAL | BARRIER | MARKER | TABLE_BARRIER | IN_SELECT,
    ),
    ("textarea", HIDDEN),
    ("tfoot", PART | ROW_GROUP),
    ("th", WHOLE_CELL),
    ("thead", PART | ROW_GROUP),
    ("title", HIDDEN | BARRIER | INTEGRATION_POINT),
    ("tr", PART | ROW),
    ("tt", FORMATTING),
    ("u", FORMATTING),
    ("ul", PLAIN | LIST),
    ("xmp", HIDDEN | CLOSES_P),
];

/// HTML start tags that end foreign content (HTML standard section 13.2.6.5).
pub(super) const BREAK_OUT: [&str; 45] = [
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

pub(super) fn traits_of(name: &str) -> Traits {
    ELEMENTS
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .map_or(0, |index| ELEMENTS[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_sorted_for_the_search() {
        assert!(ELEMENTS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
