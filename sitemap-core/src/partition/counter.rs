//! The first scan: keys in, plan out.
//!
//! Owns the checks of a key and its order. It keeps one key, the counts of [`super::prefixes`] and [`super::directories`], and
//! nothing that grows with the number of keys.

use super::{
    Layout, Placement, Plan, Section, SectionName, Thresholds,
    directories::DirectoryCounter,
    divide::{Division, Top},
    layout,
    plan::Tree,
    prefixes::PrefixCounter,
    section::MAX_SECTIONS,
    thresholds::Count,
};

/// Longest key: a `<loc>` has fewer than 2,048 characters (sitemaps.org protocol), and a key is a part of one.
pub const MAX_KEY_BYTES: usize = 2_047;

/// Reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// A threshold is out of its range.
    #[error("{name} is {value}: expected 1 to {maximum}")]
    Threshold {
        /// The field of [`Thresholds`].
        name: &'static str,
        /// The value.
        value: u64,
        /// The largest value it may have.
        maximum: u64,
    },
    /// The base is not a directory.
    #[error(
        "base {base:?} is not a directory: expected printable ASCII without a query, `/` at both ends"
    )]
    Base {
        /// The text that was passed.
        base: String,
    },
    /// A key is not in normal form or lies outside of the base.
    #[error("key {key:?} is not below {base}: expected printable ASCII that begins with the base")]
    Key {
        /// The key.
        key: String,
        /// The base directory.
        base: String,
    },
    /// A key is longer than [`MAX_KEY_BYTES`].
    #[error(
        "key of {bytes} bytes is too long, it begins with {start:?}: expected at most {MAX_KEY_BYTES}"
    )]
    KeyTooLong {
        /// The length.
        bytes: usize,
        /// The first characters.
        start: String,
    },
    /// There are more sections than [`MAX_SECTIONS`], or two of one name.
    #[error("section {name}: expected at most {MAX_SECTIONS} sections, each name once")]
    Sections {
        /// The one that is too much.
        name: SectionName,
    },
    /// A section has no such number.
    #[error("section {number} does not exist: expected a number below {count}")]
    NoSection {
        /// The number.
        number: usize,
        /// Number of sections.
        count: usize,
    },
    /// A key does not come after the one before it.
    #[error("key {key:?} follows {previous:?}: expected ascending order of bytes and no key twice")]
    Order {
        /// The key.
        key: String,
        /// The key before it.
        previous: String,
    },
}

/// Counts the keys of one origin in one scan, in memory that is bounded by the number of files and of large prefixes.
#[derive(Debug)]
pub struct Counter {
    base: String,
    thresholds: Thresholds,
    placement: Placement,
    previous_layout: Layout,
    /// Of the keys that are in no section.
    tree: TreeCounter,
    sections: Vec<(Section, TreeCounter)>,
}

/// Counts the keys of one tree.
#[derive(Debug)]
struct TreeCounter {
    /// The directory that all of its keys lie in.
    base: String,
    top: Top,
    thresholds: Thresholds,
    placement: Placement,
    previous_layout: Layout,
    /// The last key; empty before the first.
    last: String,
    directories: DirectoryCounter,
    prefixes: PrefixCounter,
}

impl Counter {
    /// A counter for the keys below `base`, a directory with `/` at both ends. `previous_layout` is [`Plan::layout`] of the last
    /// publish; with the default, an empty one, the plan depends on the keys alone.
    ///
    /// # Errors
    /// [`PartitionError::Base`], [`PartitionError::Threshold`].
    pub fn new(
        base: &str,
        thresholds: Thresholds,
        placement: Placement,
        previous_layout: &Layout,
    ) -> Result<Self, PartitionError> {
        thresholds.validate()?;
        if !layout::is_directory(base) {
            return Err(PartitionError::Base {
                base: base.to_owned(),
            });
        }
        Ok(Self {
            tree: TreeCounter::new(base, Top::Site, thresholds, placement, previous_layout),
            sections: Vec::new(),
            base: base.to_owned(),
            thresholds,
            placement,
            previous_layout: previous_layout.clone(),
        })
    }

    /// Adds sections, whose keys go to [`Counter::push_to`]. A directory of a section that is not below the base counts as
    /// the base.
    ///
    /// ```
    /// use sitemap_core::partition::{Counter, Layout, Placement, Section, Suffix, Thresholds};
    ///
    /// let shop = Section { name: "shop".parse()?, directory: "/".to_owned() };
    /// let mut counter = Counter::new("/", Thresholds::default(), Placement::Root, &Layout::default())?.with_sections(&[shop])?;
    /// counter.push("/about", 120)?;
    /// counter.push_to(0, "/cart/", 120)?;
    /// counter.push_to(0, "/products/1", 120)?;
    /// let plan = counter.finish();
    /// let names: Vec<String> = plan.parts().iter().map(|part| part.path(Suffix::Xml)).collect();
    /// assert_eq!(names, ["sitemap-root.xml", "sitemap-shop.xml"]);
    /// assert_eq!(plan.parts()[1].section(), Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PartitionError::Sections`].
    pub fn with_sections(mut self, sections: &[Section]) -> Result<Self, PartitionError> {
        for section in sections {
            let name = &section.name;
            let is_known = self.sections.iter().any(|(known, _)| known.name == *name);
            if is_known || self.sections.len() >= MAX_SECTIONS {
                return Err(PartitionError::Sections { name: name.clone() });
            }
            let home = section.home(&self.base, self.placement);
            let previous = self.previous_layout.section(name);
            let counter = TreeCounter::new(
                &home,
                Top::Section,
                self.thresholds.of_section(),
                self.placement,
                previous.unwrap_or(&Layout::default()),
            );
            self.sections.push((section.clone(), counter));
        }
        Ok(self)
    }

    /// Counts one key that is in no section, normalised path and query; `bytes`: size of its entry in an uncompressed file.
    ///
    /// # Errors
    /// The key is not printable ASCII below the base ([`PartitionError::Key`]), longer than [`MAX_KEY_BYTES`]
    /// ([`PartitionError::KeyTooLong`]), or not greater than the key before it ([`PartitionError::Order`]). The counter stays as
    /// it was.
    pub fn push(&mut self, key: &str, bytes: u64) -> Result<(), PartitionError> {
        self.tree.push(key, bytes)
    }

    /// Counts one key of the section with this number, from 0.
    ///
    /// # Errors
    /// [`PartitionError::NoSection`]; otherwise as [`Counter::push`], the directory of the section being the base, and the key
    /// before it that of the section.
    pub fn push_to(&mut self, section: usize, key: &str, bytes: u64) -> Result<(), PartitionError> {
        let count = self.sections.len();
        let Some((_, counter)) = self.sections.get_mut(section) else {
            return Err(PartitionError::NoSection {
                number: section,
                count,
            });
        };
        counter.push(key, bytes)
    }

    /// Number of stored counts, which decides the memory.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let sections = self.sections.iter().map(|(_, counter)| counter);
        let counters = sections.chain([&self.tree]);
        counters.map(TreeCounter::held).sum()
    }

    /// Decides which parts there are.
    pub fn finish(self) -> Plan {
        let tree = self.tree.finish(None);
        let sections = self.sections.into_iter();
        let sections = sections.map(|(section, counter)| counter.finish(Some(section.name)));
        let previous = &self.previous_layout;
        Plan::new(
            &self.base,
            self.placement,
            tree,
            sections.collect(),
            previous,
        )
    }
}

impl TreeCounter {
    fn new(
        base: &str,
        top: Top,
        thresholds: Thresholds,
        placement: Placement,
        previous_layout: &Layout,
    ) -> Self {
        let was_raised = previous_layout.is_raised();
        Self {
            base: base.to_owned(),
            top,
            thresholds,
            placement,
            previous_layout: previous_layout.clone(),
            last: String::new(),
            directories: DirectoryCounter::new(base.len(), thresholds, placement, was_raised),
            prefixes: PrefixCounter::new(base.len(), thresholds),
        }
    }

    fn push(&mut self, key: &str, bytes: u64) -> Result<(), PartitionError> {
        if key.len() > MAX_KEY_BYTES {
            return Err(PartitionError::KeyTooLong {
                bytes: key.len(),
                start: key.chars().take(100).collect(),
            });
        }
        if !key.starts_with(&self.base) || !layout::is_printable(key) {
            return Err(PartitionError::Key {
                key: key.to_owned(),
                base: self.base.clone(),
            });
        }
        if *key <= *self.last {
            return Err(PartitionError::Order {
                key: key.to_owned(),
                previous: self.last.clone(),
            });
        }
        let pairs = key.bytes().zip(self.last.bytes());
        // Before the first key the base is the part it shares with the base directory itself.
        let shared = pairs
            .take_while(|(one, other)| one == other)
            .count()
            .max(self.base.len());
        let count = Count::one(bytes);
        self.directories
            .push(&self.previous_layout, &self.last, shared, key, count);
        self.prefixes
            .push(self.last.as_bytes(), shared, key.len(), count);
        self.last.clear();
        self.last.push_str(key);
        Ok(())
    }

    #[cfg(test)]
    fn held(&self) -> usize {
        self.directories.held() + self.prefixes.held()
    }

    fn finish(self, section: Option<SectionName>) -> Tree {
        let base_bytes = self.base.len();
        let directories = self
            .directories
            .finish(&self.previous_layout, &self.last, base_bytes);
        let prefixes = self.prefixes.finish(self.last.as_bytes(), base_bytes);
        let division = Division {
            base: &self.base,
            top: self.top,
            thresholds: self.thresholds,
            placement: self.placement,
            previous: &self.previous_layout,
            directories: &directories,
            prefixes: &prefixes,
        };
        Tree {
            section,
            parts: division.run(),
            raised: directories.raised,
            base: self.base,
        }
    }
}
