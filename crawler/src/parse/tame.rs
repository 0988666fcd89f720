//! Whether a page may be given to a tree builder.
//!
//! Building a tree costs quadratic time and memory on pages made for it: deep nesting, formatting
//! elements that are never closed (each block reopens all of them), thousands of attributes on one
//! tag. This room follows the start and end tags of the streaming pass with a reduced form of the
//! tree construction of the HTML standard (section 13.2.6). Where it cannot follow, it takes nothing for
//! closed: it may count more open elements than a tree builder has, never much fewer. A page for which
//! it counts too many is untame.

mod elements;

use self::elements::{
    BARRIER, BLOCK, BREAK_OUT, BUTTON, CELL, CLOSES_P, DD_DT, FOREIGN_ROOT, FORMATTING, HEADING,
    IMPLIED, IN_SELECT, INSIDE_ITEM, INTEGRATION_POINT, LI, LIST, LONELY, MARKER, OPTION, P, RAW,
    ROW, ROW_GROUP, RUBY_TEXT, SELECT, SPECIAL, TABLE, TABLE_BARRIER, TABLE_PART, Traits,
    UNCOUNTED, traits_of,
};

/// Open elements, as browsers limit them.
const MAX_OPEN: usize = 512;

/// Formatting elements that are open or would be reopened.
const MAX_FORMATTING: usize = 64;

/// Attributes of one tag: the check for duplicates is quadratic.
const MAX_ATTRIBUTES: usize = 256;

/// Elements and attributes of a whole page: about 100 MB as a tree.
const MAX_NODES: usize = 500_000;

/// Bytes of start tags that a tree builder may copy by reopening formatting elements.
const MAX_REOPENED_BYTES: usize = 64 * 1_024 * 1_024;

/// What one element costs besides its attributes, in bytes.
const ELEMENT_BYTES: usize = 256;

#[derive(Debug)]
struct Open {
    name: Box<str>,
    traits: Traits,
    bytes: usize,
}

impl Open {
    fn is(&self, traits: Traits) -> bool {
        self.traits & traits != 0
    }
}

/// A start tag, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartTag<'a> {
    /// Name in lower case.
    pub(super) name: &'a str,
    /// It belongs to the HTML namespace.
    pub(super) is_html: bool,
    /// It ends in `/>`.
    pub(super) is_self_closing: bool,
    /// It is neither void nor a self-closing foreign element.
    pub(super) can_have_content: bool,
    /// Number of attributes.
    pub(super) attributes: usize,
    /// Length of the whole tag in bytes.
    pub(super) bytes: usize,
}

/// Follows the tags of one page.
#[derive(Debug, Default)]
pub(super) struct Tameness {
    /// The stack of open elements. Every element that a tree builder has open is here, in the same
    /// order; but for `html`, `head`, `body`, and the rows that tables imply.
    open: Vec<Open>,
    /// From here on `open` is exactly what a tree builder has open. Below, elements may be closed
    /// already: of these only the last one is ever taken off, by its own end tag.
    certain_from: usize,
    /// Formatting elements, foreign roots and `select` among `open`.
    formatting: usize,
    foreign: usize,
    selects: usize,
    /// Formatting elements that a block has closed and the next one reopens, and their tags' length.
    reopened: usize,
    reopened_bytes: usize,
    total_reopened_bytes: usize,
    nodes: usize,
    is_untame: bool,
}

/// What a tree builder does with an end tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Closes this element.
    At(usize),
    /// Ignores it.
    Nothing,
    /// It depends on elements of which we are not certain.
    Unknown,
}

impl Tameness {
    /// Whether nothing was too much so far.
    pub(super) fn is_tame(&self) -> bool {
        !self.is_untame
    }

    /// Takes the next start tag.
    pub(super) fn start_tag(&mut self, tag: StartTag<'_>) {
        if self.is_untame {
            return;
        }
        let traits = traits_of(tag.name);
        self.nodes = self.nodes.saturating_add(1 + tag.attributes);
        self.total_reopened_bytes = self
            .total_reopened_bytes
            .saturating_add(self.reopened_bytes);
        self.is_untame = tag.attributes > MAX_ATTRIBUTES
            || self.nodes > MAX_NODES
            || self.total_reopened_bytes > MAX_REOPENED_BYTES
            || self.is_ambiguous(tag, traits);
        if tag.is_html {
            self.open_html(tag, traits);
        } else if tag.can_have_content {
            self.push(tag, traits & (FOREIGN_ROOT | TABLE_BARRIER));
        }
        self.is_untame |= self.open.len() + self.reopened > MAX_OPEN
            || self.formatting + self.reopened > MAX_FORMATTING;
    }

    /// Takes the next end tag. `closes_others`: the streaming pass now takes other elements for closed
    /// too, and will not report their end tags.
    pub(super) fn end_tag(&mut self, name: &str, closes_others: bool) {
        if self.is_untame {
            return;
        }
        match self.find_end(name) {
            Found::At(index) => self.close_from(index, true),
            Found::Nothing if !closes_others => {}
            Found::Nothing | Found::Unknown => self.lose_certainty(),
        }
    }

    fn open_html(&mut self, tag: StartTag<'_>, traits: Traits) {
        if traits & UNCOUNTED != 0 {
            return;
        }
        let mut is_unclear = false;
        if traits & TABLE_PART != 0 && traits & TABLE == 0 {
            match self.clear_to_table(traits) {
                Found::At(_) => {}
                // Outside of tables such a tag is ignored.
                Found::Nothing => return,
                Found::Unknown => is_unclear = true,
            }
        }
        // What is hard to follow is not followed: nothing is closed for it, and from then on nothing
        // is certain. Whether the element itself is open is not certain then either.
        is_unclear |= self.selects > 0 && traits & IN_SELECT == 0
            || traits & LONELY != 0 && self.open.iter().any(|open| *open.name == *tag.name)
            || traits & TABLE != 0 && self.is_unclear_table()
            || tag.name == "optgroup" && !self.open.is_empty();
        self.close_implied(tag.name, traits);
        if tag.can_have_content {
            self.push(tag, traits);
        }
        if is_unclear {
            self.lose_certainty();
        }
    }

    fn push(&mut self, tag: StartTag<'_>, traits: Traits) {
        self.count(traits, 1);
        self.open.push(Open {
            name: tag.name.into(),
            traits,
            bytes: tag.bytes + ELEMENT_BYTES,
        });
    }

    fn count(&mut self, traits: Traits, step: isize) {
        let counters = [
            (&mut self.formatting, FORMATTING),
            (&mut self.foreign, FOREIGN_ROOT),
            (&mut self.selects, SELECT),
        ];
        for (counter, kind) in counters {
            if traits & kind != 0 {
                *counter = counter.saturating_add_signed(step);
            }
        }
    }

    fn lose_certainty(&mut self) {
        self.certain_from = self.open.len();
    }

    fn top_is(&self, traits: Traits) -> bool {
        self.open.last().is_some_and(|open| open.is(traits))
    }

    /// The innermost element that `is_it`, unless a barrier lies inside.
    fn find(&self, is_it: impl Fn(&Open) -> bool, is_barrier: impl Fn(&Open) -> bool) -> Found {
        for (index, open) in self.open.iter().enumerate().skip(self.certain_from).rev() {
            if is_it(open) {
                return Found::At(index);
            }
            if is_barrier(open) {
                return Found::Nothing;
            }
        }
        if self.certain_from == 0 {
            Found::Nothing
        } else {
            Found::Unknown
        }
    }

    fn find_end(&self, name: &str) -> Found {
        let traits = traits_of(name);
        let is_it = |open: &Open| *open.name == *name;
        let top = self.open.len().saturating_sub(1);
        if self.open.last().is_some_and(is_it) {
            return Found::At(top);
        }
        if traits & UNCOUNTED != 0 {
            // Content may follow `</body>`, still inside what is open.
            return Found::Nothing;
        }
        if self.selects > 0
            || name == "form"
            || name == "colgroup"
            || self.foreign > 0 && name == "p"
        {
            return Found::Unknown;
        }
        if name == "template" {
            self.find(is_it, |_| false)
        } else if traits & TABLE_PART != 0 {
            self.find(is_it, |open| open.is(TABLE_BARRIER))
        } else if traits & HEADING != 0 {
            self.find(|open| open.is(HEADING), |open| open.is(BARRIER))
        } else if traits & BLOCK != 0 {
            let more = match name {
                "p" => BUTTON,
                "li" => LIST,
                _ => 0,
            };
            self.find(is_it, |open| open.is(BARRIER | more))
        } else {
            match self.find(is_it, |open| open.is(SPECIAL)) {
                // The "adoption agency" would rearrange what is open.
                Found::Nothing if traits & FORMATTING != 0 => Found::Unknown,
                found => found,
            }
        }
    }

    /// Closes the element at `index` and all inside it. Formatting elements among them are reopened
    /// later, but for the one that its own end tag closes.
    fn close_from(&mut self, index: usize, by_own_end_tag: bool) {
        let (mut reopened, mut bytes) = (0, 0);
        while self.open.len() > index {
            let Some(open) = self.open.pop() else { return };
            self.count(open.traits, -1);
            if open.is(MARKER) {
                (reopened, bytes) = (0, 0);
            } else if open.is(FORMATTING) && !(by_own_end_tag && self.open.len() == index) {
                reopened += 1;
                bytes += open.bytes;
            }
        }
        self.reopened += reopened;
        self.reopened_bytes += bytes;
        self.certain_from = self.certain_from.min(self.open.len());
    }

    /// Closes what was found, or gives up certainty.
    fn close(&mut self, found: Found) {
        match found {
            Found::At(index) => self.close_from(index, false),
            Found::Nothing => {}
            Found::Unknown => self.lose_certainty(),
        }
    }

    /// Makes room for a part of a table, in the table that is found.
    fn clear_to_table(&mut self, traits: Traits) -> Found {
        let context = match traits {
            _ if traits & CELL != 0 => TABLE | ROW_GROUP | ROW,
            _ if traits & ROW != 0 => TABLE | ROW_GROUP,
            _ => TABLE,
        };
        let found = self.find(|open| open.is(TABLE_BARRIER), |_| false);
        let Found::At(table) = found else {
            return found;
        };
        if !self.open[table].is(TABLE) {
            return Found::Unknown;
        }
        let context = self
            .open
            .iter()
            .rposition(|open| open.is(context))
            .unwrap_or(table);
        self.close_from(context + 1, false);
        found
    }

    /// A table closes an open `p` or not, by the document type; inside another table, but in no cell,
    /// it closes that one.
    fn is_unclear_table(&self) -> bool {
        let in_table = self.top_is(TABLE | ROW_GROUP | ROW);
        in_table || self.find(|open| open.is(P), |open| open.is(BARRIER | BUTTON)) != Found::Nothing
    }

    /// Closes what a start tag closes without an end tag.
    fn close_implied(&mut self, name: &str, traits: Traits) {
        let ends_item = |open: &Open| open.is(SPECIAL) && !open.is(INSIDE_ITEM);
        if traits & LI != 0 {
            self.close(self.find(|open| open.is(LI), ends_item));
        } else if traits & DD_DT != 0 {
            self.close(self.find(|open| open.is(DD_DT), ends_item));
        } else if traits & RUBY_TEXT != 0 {
            self.close_ruby_text();
        } else if name == "a" && self.open.iter().any(|open| *open.name == *name) {
            self.close(self.find_end(name));
        }
        if traits & CLOSES_P != 0 {
            self.close(self.find(|open| open.is(P), |open| open.is(BARRIER | BUTTON)));
        }
        let closes_top =
            traits & (HEADING | OPTION) & self.open.last().map_or(0, |open| open.traits);
        if closes_top != 0 {
            if self.reopened == 0 {
                self.close_from(self.open.len() - 1, false);
            } else {
                // A reopened formatting element may be inside.
                self.lose_certainty();
            }
        }
    }

    fn close_ruby_text(&mut self) {
        let found = self.find(|open| *open.name == *"ruby", |open| open.is(BARRIER));
        if matches!(found, Found::At(_)) && self.reopened == 0 {
            while self.top_is(IMPLIED) {
                self.close_from(self.open.len() - 1, false);
            }
        } else if found != Found::Nothing && self.top_is(IMPLIED) {
            self.lose_certainty();
        }
    }

    /// Markup that the streaming tokenizer and a tree builder may read differently: nothing that
    /// follows it could be trusted.
    fn is_ambiguous(&self, tag: StartTag<'_>, traits: Traits) -> bool {
        let is_root = traits & FOREIGN_ROOT != 0;
        // The tokenizer counts integration points themselves as HTML, and in nested drawings it may
        // count HTML as foreign.
        let is_foreign = traits & (FOREIGN_ROOT | INTEGRATION_POINT) != 0
            || !tag.is_html && !BREAK_OUT.contains(&tag.name);
        let breaks_out = self.foreign > 0 && !is_foreign && {
            let innermost = self
                .open
                .iter()
                .rev()
                .find(|open| open.is(FOREIGN_ROOT | INTEGRATION_POINT));
            innermost.is_some_and(|open| open.is(FOREIGN_ROOT))
        };
        // In these, start tags that make the tokenizer read text may be ignored.
        let is_hidden = self.selects > 0 && traits & RAW != 0 || tag.name == "frameset";
        is_root && tag.is_self_closing || breaks_out || is_hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds simple markup: `<name>`, `</name>`, and text that is ignored.
    fn follow(markup: &str) -> Tameness {
        let mut tameness = Tameness::default();
        for tag in markup
            .split('<')
            .filter_map(|piece| piece.split_once('>'))
            .map(|(tag, _)| tag)
        {
            match tag.strip_prefix('/') {
                Some(name) => tameness.end_tag(name, true),
                None => tameness.start_tag(StartTag {
                    name: tag.trim_end_matches('/'),
                    is_html: !tag.starts_with("svg"),
                    is_self_closing: tag.ends_with('/'),
                    can_have_content: tag != "br",
                    attributes: 0,
                    bytes: tag.len() + 2,
                }),
            }
        }
        tameness
    }

    fn check_open(markup: &str, expected: &str, reopened: usize) {
        let tameness = follow(markup);
        let open: Vec<&str> = tameness.open.iter().map(|open| &*open.name).collect();
        assert_eq!(open.join(" "), expected, "{markup}");
        assert_eq!(tameness.reopened, reopened, "{markup}");
        let formatting = tameness
            .open
            .iter()
            .filter(|open| open.is(FORMATTING))
            .count();
        assert_eq!(tameness.formatting, formatting, "{markup}");
    }

    #[test]
    fn well_formed_markup_closes_everything() {
        check_open("<div><p>a</p><ul><li><a>b</a></li></ul></div>", "", 0);
        check_open("<table><tr><td>x</td></tr></table>", "", 0);
        check_open("<b><br></b>", "", 0);
    }

    #[test]
    fn end_tags_that_may_be_left_out_are_implied() {
        check_open("<p>a<p>b<div>", "div", 0);
        check_open("<ul><li>a<li>b<ul><li>c</ul><li>d", "ul li", 0);
        check_open("<dl><dt>a<dd>b<dt>c", "dl dt", 0);
        check_open(
            "<table><tbody><tr><td>a<td>b<tr><td>c<tbody>",
            "table tbody",
            0,
        );
        check_open("<select><option>a<option>b", "select option", 0);
        check_open("<div><p>a</div>", "", 0);
        check_open("<table><tr><td>a</table>", "", 0);
    }

    #[test]
    fn end_tags_out_of_scope_close_nothing() {
        check_open("<div><table></div>", "div table", 0);
        check_open("<span><div></span>", "span div", 0);
        check_open("<option><div></option>", "option div", 0);
        check_open("<dd><ul><li></dd>", "", 0);
        check_open("<form><div></form>", "form div", 0);
        check_open("<body><div></body>", "div", 0);
        check_open("<table><td><table></td>", "table td table", 0);
        check_open("<span><td></span>", "", 0);
        check_open("<td><span></td>", "span", 0);
        check_open("<dd><li><dd>", "dd li dd", 0);
    }

    #[test]
    fn formatting_elements_that_a_block_closes_come_back() {
        check_open("<p><b>a</p>", "", 1);
        check_open("<p><b><i>a<p>", "p", 2);
        check_open("<b><i>x</b>", "", 1);
        check_open("<table><td><b>x</td>", "table", 0);
        check_open("<b><td><b><td>", "b b", 0);
        check_open("<b><p>x</b>", "b p", 0);
    }

    fn check_tame(markup: &str, expected: bool) {
        let shown: String = markup.chars().take(60).collect();
        assert_eq!(follow(markup).is_tame(), expected, "{shown}");
    }

    #[test]
    fn pages_that_explode_in_a_tree_are_untame() {
        check_tame(&"<b><p>".repeat(20_000), false);
        check_tame(
            &format!("{}{}", "<b><i>".repeat(3_000), "x</b>".repeat(3_000)),
            false,
        );
        check_tame(&"<ul><li>".repeat(64_000), false);
        check_tame(&"<div>".repeat(200_000), false);
        check_tame(
            &format!("{}{}", "<font>".repeat(40_000), "<p>".repeat(4_000)),
            false,
        );
        check_tame(&"<div><span></div>".repeat(600_000), false);
        check_tame(&"<div><table></div>".repeat(300), false);
        check_tame(&"<body><div></body>".repeat(600), false);
    }

    #[test]
    fn ordinary_large_pages_are_tame() {
        check_tame(&"<p>a<br>".repeat(100_000), true);
        check_tame(&"<li><a>x</a><b>y</b></li>".repeat(50_000), true);
        check_tame(&"<table><tr><td><b>x<td>y</table>".repeat(10_000), true);
        check_tame(&"<div>".repeat(511), true);
    }

    #[test]
    fn reopened_bytes_are_counted() {
        let mut tameness = Tameness::default();
        let tag = |name, bytes| StartTag {
            name,
            is_html: true,
            is_self_closing: false,
            can_have_content: true,
            attributes: 1,
            bytes,
        };
        tameness.start_tag(tag("p", 3));
        tameness.start_tag(tag("a", 50_000));
        for _ in 0..12_500 {
            tameness.start_tag(tag("p", 3));
        }
        assert!(!tameness.is_tame());
    }

    #[test]
    fn markup_that_two_parsers_may_read_differently_is_untame() {
        check_tame("<svg/>", false);
        check_tame("<select><title>", false);
        check_tame("<svg><div>", false);
        check_tame("<svg><foreignobject><div>", true);
        check_tame("<svg></svg><div>", true);
    }
}
