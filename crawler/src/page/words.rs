//! The table of an enum whose values are words: in the state, and for people.

/// Declares an enum with one word for each value, and the way from one to the other.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* }
    ) => {
        $(#[$attribute])*
        $visibility enum $name { $($(#[$doc])* $value,)* }

        impl $name {
            /// All values, in their order.
            pub const ALL: [Self; [$($word,)*].len()] = [$(Self::$value,)*];

            /// The word, in the state and for people.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }

            /// The value of this word.
            pub fn from_code(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == word)
            }
        }
    };
}

pub(crate) use words;
