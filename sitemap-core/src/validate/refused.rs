//! URLs that a document may not list at its place: the effects on the others, and the line of a robots.txt that would allow them
//! (R61, R65). The error of each such URL is reported by [`super::place`].

use std::collections::HashSet;

use super::{MAX_PROOFS, Problem, ProofLine, fingerprint::fingerprint};
use crate::{Loc, read::Position};

/// The most hosts of one document for which the line that would allow their URLs is reported; a sitemap may list those of one
/// (R66).
const MAX_UNPROVEN_HOSTS: usize = 20;

/// The most lines that are reported in one check: as many as are read from robots.txt files.
const MAX_LINES: usize = MAX_PROOFS;

/// Refused URLs of one document.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// Number of entries.
    count: u64,
    unproven: Vec<Unproven>,
}

/// Another host, of whose URLs the document lists some without proof.
#[derive(Debug)]
struct Unproven {
    /// The first of them, and where it is.
    url: Loc,
    position: Position,
    line: ProofLine,
}

impl Refused {
    /// Takes in the problem of a URL at its place.
    pub(super) fn add_problem(&mut self, problem: &Problem, url: &Loc, position: Position) {
        match problem {
            Problem::Host { missing, .. } => {
                let is_known = |known: &Unproven| known.url.origin() == url.origin();
                if let Some(line) = missing
                    && self.unproven.len() < MAX_UNPROVEN_HOSTS
                    && !self.unproven.iter().any(is_known)
                {
                    self.unproven.push(Unproven {
                        url: url.clone(),
                        position,
                        line: line.clone(),
                    });
                }
            }
            Problem::OutOfScope { .. } | Problem::Scheme { .. } | Problem::Port { .. } => {}
            _ => return,
        }
        self.count += 1;
    }

    /// Reports the dropped entries among `of` (R61).
    pub(super) fn dropped(&self, of: u64) -> Option<Problem> {
        let count = self.count;
        (count > 0).then_some(Problem::Dropped { count, of })
    }

    /// The lines that would allow the refused URLs, each at the first URL that needs it (R65). A line is reported once.
    /// `has_others`: the document also has URLs that it may list.
    pub(super) fn lines(
        &mut self,
        has_others: bool,
        reported: &mut HashSet<u64>,
    ) -> Vec<(Position, Loc, Problem)> {
        let unproven = std::mem::take(&mut self.unproven);
        let is_alone = unproven.len() == 1 && !has_others;
        unproven
            .into_iter()
            .filter(|unproven| {
                let ProofLine { robots, sitemap } = &unproven.line;
                reported.len() < MAX_LINES
                    && reported.insert(fingerprint(&(robots, sitemap.as_str())))
            })
            .map(|unproven| {
                let problem = Problem::Unproven {
                    origin: unproven.url.origin().to_owned(),
                    line: unproven.line,
                    is_alone,
                };
                (unproven.position, unproven.url, problem)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_lines_are_bounded() {
        let lines = |room: usize| {
            let reported = MAX_LINES - room;
            let mut reported = (0..reported as u64).collect();
            let mut refused = Refused::default();
            for host in ["https://g.ex", "https://h.ex"] {
                let url = Loc::parse(host).unwrap();
                let line = ProofLine {
                    robots: format!("{host}/robots.txt"),
                    sitemap: Loc::parse("https://maps.ex/s.xml").unwrap(),
                };
                let problem = Problem::Host {
                    expected: "https://maps.ex".to_owned(),
                    missing: Some(line),
                };
                refused.add_problem(&problem, &url, Position { line: 1, offset: 0 });
            }
            refused.lines(false, &mut reported).len()
        };
        assert_eq!([lines(0), lines(1), lines(2)], [0, 1, 2]);
    }
}
