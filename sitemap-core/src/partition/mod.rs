//! The partition by path scope: the files of a set, their URLs and their names.
//!
//! The keys of one origin (normalised path and query, as bytes) form a tree of directories. A directory with enough keys gets its
//! own file; the rest of a directory that is too large for one file is divided by the next characters of the key. A file is
//! therefore always one prefix of the key space without the prefixes of the files below it. One changed page rewrites one file,
//! and every file may be inside the directory it lists.
//!
//! Keys may be set apart by name, in any directories: such a [`Section`] has its own tree. It begins with one file called after
//! the section and is divided only when that file would be too large. The tree of the other keys is as if those of the sections
//! did not exist.
//!
//! A file name keeps the letters, digits, `-`, `_` and `.` of its directories, which dots join: `/jdk/java.base/` has
//! `sitemap.jdk.java.base.xml.gz`. Where two scopes would have one name, ignoring case, the later one ends in a hash; the
//! [`Layout`] remembers both, so a name never comes to mean another scope.
//!
//! This module names files and their keys. It never looks at content, never reads or writes, and never depends on the time or on
//! the order of discovery. The plan is a function of the keys, the [`Thresholds`], the [`Placement`], the sections and the
//! [`Layout`] of the last publish. The layout only adds hysteresis, so that a directory at a border does not come and go.
//!
//! In the flow it is between the export in key order and the writers. A first scan feeds a [`Counter`], whose memory grows
//! with the number of files and of large prefixes, not with the number of URLs. Its [`Plan`] gives a second scan the key ranges
//! of each file, so that one file is open at a time.
//!
//! ```
//! use sitemap_core::partition::{Counter, Layout, Placement, Suffix, Thresholds};
//!
//! let mut counter = Counter::new("/", Thresholds::default(), Placement::Root, &Layout::default())?;
//! counter.push("/about", 120)?;
//! for number in 1000..1100 {
//!     counter.push(&format!("/blog/{number}"), 120)?;
//! }
//! let plan = counter.finish();
//! let names: Vec<String> = plan.parts().iter().map(|part| part.path(Suffix::Xml)).collect();
//! assert_eq!(names, ["sitemap-root.xml", "sitemap.blog.xml"]);
//!
//! // The second scan: one file after the other, each from ranges of keys.
//! let blog = plan.part_of("/blog/1042").unwrap();
//! assert_eq!(blog.entries(), 100);
//! assert_eq!((blog.ranges()[0].start.as_str(), blog.ranges()[0].end.as_str()), ("/blog/", "/blog0"));
//!
//! // What the next run is to know: `plan.layout().to_string()`, and `parse` there.
//! assert_eq!(plan.layout().to_string(), "layout 1\n/\n/blog/\n");
//! # Ok::<(), sitemap_core::partition::PartitionError>(())
//! ```

mod counter;
mod directories;
mod divide;
mod layout;
mod name;
mod plan;
mod prefixes;
mod section;
mod thresholds;

pub use counter::{Counter, MAX_KEY_BYTES, PartitionError};
pub use layout::{Layout, LayoutError, PartId};
pub use name::{Placement, Suffix, folders, index_name, numbered_name};
pub use plan::{IndexPart, KeyRange, Part, Plan};
pub use section::{MAX_SECTION_NAME_BYTES, MAX_SECTIONS, Section, SectionName, SectionNameError};
pub use thresholds::Thresholds;

#[cfg(test)]
mod tests;
