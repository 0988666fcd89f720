//! What pages show together when they are none of the site's own.
//!
//! A wall makes pages alike that were not. Each sign is one that honest sites do not show, or that two must show
//! together; where the site is like that anyway, the share of then is what is allowed. Pages count by themselves, or by
//! what stands where they redirect to.
//!
//! | sign | the pages ... | usual on sites where before as many ... |
//! | --- | --- | --- |
//! | target | redirect to one URL; to one without its query, where nobody knows what stands there | did |
//! | each | redirect to URLs of their own, under which one title and nearly one text stand, or one title and a field for a password | did, or had one title or text |
//! | content | say the same, title, images and links included | did |
//! | words | have the same words and images, numbers and what repeats their URL or title aside | had, or nearly one text |
//! | replaced | have the same words, as above, and few in common with what they said before | had the same words |
//! | text | have one title and nearly one text | had one title, or nearly one text |
//! | heading | have one title and one heading | had one title, or one heading |
//! | opening | have one title, no heading, and the same first words | had one title, or these |
//! | form | ask for a password, and share title, heading or text with others, or say next to nothing | asked, or shared, or said so |
//!
//! Of a set that was built from lists nobody knows how it was: then only what needs no memory counts, which is targets,
//! content and text.

use super::Remembered;
use crate::config::Share;

/// In what pages are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alike {
    /// They redirect to the same URL.
    Target,
    /// They redirect to URLs of their own, where pages stand that look the same.
    Targets,
    /// What they say is the same.
    Content,
    /// What they say differs in few words, or in what repeats their URL or title.
    Text,
    /// They ask for a password, and are alike or say little beside it.
    Form,
    /// They have the same title, and begin alike.
    Title,
}

impl Alike {
    /// A stable word for it, for scripts.
    pub fn code(self) -> &'static str {
        match self {
            Self::Target | Self::Targets => "one-redirect-target",
            Self::Content => "one-content",
            Self::Text => "one-text",
            Self::Form => "login-form",
            Self::Title => "one-title",
        }
    }

    /// What pages do that are alike so, as the end of a sentence; see [`Group::example`] for `example`.
    pub(in crate::publish) fn with(self, example: &str) -> String {
        match self {
            Self::Target => format!("redirect to {example}"),
            Self::Targets => format!("redirect to {example}, or to pages like it"),
            Self::Content => format!("say the same, as {example} does"),
            Self::Text => format!("say nearly the same, as {example} does"),
            Self::Form => format!("ask for a password and are alike or short, as {example} is"),
            Self::Title => format!("have the same title and begin alike, as {example} does"),
        }
    }
}

/// What pages show together that are no pages of the site's own: see the table of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::publish) enum Sign {
    Target,
    /// They redirect for good to one page, which does not ask for a password: a few are merged by that.
    Moved,
    /// They redirect to URLs of their own, where pages stand that look the same.
    Each,
    Content,
    Words,
    /// They have the same words, and few of those that they had.
    Replaced,
    Text,
    FormTitle,
    FormHeading,
    FormText,
    FormShort,
    Heading,
    Opening,
}

/// What the pages of a site may have in common all the time: as many as have the same one, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::publish) enum Usual {
    Content,
    Words,
    /// Nearly one text, generously counted.
    Text,
    /// All that share nearly their text with another one.
    Texts,
    Title,
    /// All that share their title with another one.
    Titles,
    Heading,
    /// All that share their heading with another one.
    Headings,
    Opening,
    /// All that ask for a password.
    Form,
    /// All that say next to nothing.
    Short,
}

/// Whether this is a name of [`Remembered::alike`] that says how the pages are, of however many kinds; redirects have a name
/// for each target.
pub(in crate::publish) fn is_usual(name: &str) -> bool {
    !name.contains(':')
}

impl Usual {
    /// The word for it in the state.
    pub(in crate::publish) fn word(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Words => "words",
            Self::Text => "text",
            Self::Texts => "texts",
            Self::Title => "title",
            Self::Titles => "titles",
            Self::Heading => "heading",
            Self::Headings => "headings",
            Self::Opening => "opening",
            Self::Form => "form",
            Self::Short => "short",
        }
    }
}

impl Sign {
    const ALL: [Self; 13] = [
        Self::Target,
        Self::Moved,
        Self::Each,
        Self::Content,
        Self::Words,
        Self::Replaced,
        Self::Text,
        Self::FormTitle,
        Self::FormHeading,
        Self::FormText,
        Self::FormShort,
        Self::Heading,
        Self::Opening,
    ];

    /// The word for it in the state.
    pub(in crate::publish) fn word(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Moved => "moved",
            Self::Each => "each",
            Self::Content => "content",
            Self::Words => "words",
            Self::Replaced => "replaced",
            Self::Text => "text",
            Self::FormTitle => "form-title",
            Self::FormHeading => "form-heading",
            Self::FormText => "form-text",
            Self::FormShort => "form-short",
            Self::Heading => "heading",
            Self::Opening => "opening",
        }
    }

    /// The sign that [`Sign::word`] calls `word`.
    pub(in crate::publish) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sign| sign.word() == word)
    }

    /// Whether all pages that share it with another one count together, whatever it is: there may be forms of several kinds.
    pub(in crate::publish) fn is_of_several(self) -> bool {
        match self {
            Self::FormTitle | Self::FormHeading | Self::FormText => true,
            Self::Target
            | Self::Moved
            | Self::Each
            | Self::Content
            | Self::Words
            | Self::Replaced
            | Self::Text
            | Self::FormShort
            | Self::Heading
            | Self::Opening => false,
        }
    }

    pub(in crate::publish) fn alike(self) -> Alike {
        match self {
            Self::Target | Self::Moved => Alike::Target,
            Self::Each => Alike::Targets,
            Self::Content => Alike::Content,
            Self::Words | Self::Replaced | Self::Text => Alike::Text,
            Self::FormTitle | Self::FormHeading | Self::FormText | Self::FormShort => Alike::Form,
            Self::Heading | Self::Opening => Alike::Title,
        }
    }

    /// Where one of these was usual, the sign is none.
    pub(super) fn usual(self) -> &'static [Usual] {
        match self {
            Self::Target | Self::Moved => &[],
            Self::Content => &[Usual::Content],
            Self::Words => &[Usual::Words, Usual::Text],
            Self::Replaced => &[Usual::Words],
            Self::Each | Self::Text => &[Usual::Title, Usual::Text],
            Self::FormTitle => &[Usual::Form, Usual::Titles],
            Self::FormHeading => &[Usual::Form, Usual::Headings],
            Self::FormText => &[Usual::Form, Usual::Text, Usual::Texts],
            Self::FormShort => &[Usual::Form, Usual::Short],
            Self::Heading => &[Usual::Title, Usual::Heading],
            Self::Opening => &[Usual::Title, Usual::Opening],
        }
    }

    /// What it is remembered as with a key; what redirects is not listed, so that it is never usual among listed pages.
    pub(in crate::publish) fn redirects(self) -> Option<&'static str> {
        match self {
            Self::Target => Some("target"),
            Self::Moved => Some("moved"),
            Self::Each => Some("each"),
            Self::Content
            | Self::Words
            | Self::Replaced
            | Self::Text
            | Self::FormTitle
            | Self::FormHeading
            | Self::FormText
            | Self::FormShort
            | Self::Heading
            | Self::Opening => None,
        }
    }

    /// Whether it says something of a site of which nobody knows how it was.
    pub(super) fn needs_no_memory(self) -> bool {
        match self {
            Self::Target | Self::Moved | Self::Each | Self::Content | Self::Text => true,
            Self::Words
            | Self::Replaced
            | Self::FormTitle
            | Self::FormHeading
            | Self::FormText
            | Self::FormShort
            | Self::Heading
            | Self::Opening => false,
        }
    }
}

impl Remembered {
    /// The share of pages that a group may have had before.
    pub(super) fn share_of(&self, group: &Group) -> Share {
        let usual = group.sign.usual().iter();
        let usual = usual.filter_map(|usual| self.alike.get(usual.word()));
        let own = group.name().and_then(|name| self.alike.get(&name));
        usual.chain(own).max().copied().unwrap_or_default()
    }
}

/// Pages that show a sign together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::publish) struct Group {
    pub(in crate::publish) sign: Sign,
    /// What they share, as a fingerprint.
    pub(in crate::publish) key: u64,
    pub(in crate::publish) pages: u64,
    /// Those of them that were other pages when they were published.
    pub(in crate::publish) fresh: u64,
    /// One of them; of redirects, where they lead.
    pub(in crate::publish) example: String,
}

impl Group {
    /// What a group of redirects is remembered as; `None`: it is none.
    pub(in crate::publish) fn name(&self) -> Option<String> {
        let word = self.sign.redirects()?;
        Some(format!("{word}:{:016x}", self.key))
    }
}
