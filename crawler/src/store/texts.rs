//! Walks over the texts of the visits, by which pages are compared.

use rusqlite::{Connection, Row};

use super::{EachText, VisitText, values::Columns};
use crate::page::{PageText, Reading, Reason, TextBlock};

impl VisitText {
    /// Returns whether it can be listed, but for what it repeats.
    pub fn may_be_listed(&self) -> bool {
        let is_marked = self
            .repeat
            .as_ref()
            .is_some_and(|it| it.reason() == self.reason);
        self.reason == Reason::Listed || is_marked
    }
}

/// The texts that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// All, in the order of the queue.
    All,
    /// Texts that several visits have, with the visits of one text after each other.
    Shared,
}

/// A visit that answered 304 has the text of its page row. A visit that is not listed for another reason than what it repeats is
/// left out of shared texts.
const TEXTS: &str = "
  SELECT visit.url AS url, ifnull(visit.text_hash, page.text_hash) AS text_hash,
    iif(visit.text_hash IS NULL, page.links, visit.links) AS links, visit.repeat AS repeat,
    visit.distance AS distance, visit.novelty AS novelty, visit.led_to AS led_to, visit.found_on AS found_on,
    visit.is_declared AS is_declared, iif(page.state = 'listed', 1, NULL) AS is_published,
    iif(ifnull(visit.text_hash, page.text_hash) = page.text_hash, 1, NULL) AS is_unchanged,
    ifnull(visit.canonical, page.canonical) AS canonical, visit.sequence AS sequence,
    visit.reason AS reason
  FROM visit LEFT JOIN page ON page.url = visit.url AND (visit.basis = 'confirmed' OR page.state = 'listed')
  WHERE visit.state <> 'queued' AND (visit.text_hash IS NOT NULL OR visit.basis = 'confirmed' AND page.text_hash IS NOT NULL)";

/// See [`Store::each_text`](super::Store::each_text).
pub(super) fn each(
    connection: &Connection,
    which: Texts,
    show: &mut EachText<'_>,
) -> rusqlite::Result<()> {
    let columns = "url, text_hash, (SELECT text_blocks FROM link WHERE id = texts.links), reason, repeat, distance, novelty, led_to, \
                   found_on, is_declared, is_published, is_unchanged, canonical";
    let sql = match which {
        Texts::All => format!("SELECT {columns} FROM ({TEXTS}) AS texts ORDER BY sequence"),
        Texts::Shared => format!(
            "WITH texts AS ({TEXTS} AND visit.reason IN ('listed', 'nothing-new', 'duplicate-of'))
             SELECT {columns} FROM texts WHERE text_hash IN
               (SELECT text_hash FROM texts WHERE text_hash <> 0 GROUP BY text_hash HAVING count(*) > 1)
             ORDER BY text_hash, url"
        ),
    };
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        show(read(row)?);
    }
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<VisitText> {
    let mut columns = Columns::new(row);
    let key = columns.get()?;
    let whole = columns.get()?;
    let blocks: Option<Vec<TextBlock>> = columns.get()?;
    let text = PageText {
        whole,
        alike: 0,
        blocks: blocks.unwrap_or_default(),
    };
    let (reason, repeat) = (columns.get()?, columns.get()?);
    let reading = Reading {
        distance: columns.get()?,
        novelty: columns.get()?,
        led_to: columns.get()?,
    };
    let (found_on, is_declared) = (columns.get()?, columns.get()?);
    let (is_published, is_unchanged) = (columns.get()?, columns.get()?);
    let canonical = columns.get()?;
    Ok(VisitText {
        key,
        text,
        reason,
        repeat,
        reading,
        found_on,
        is_declared,
        is_published,
        is_unchanged,
        canonical,
    })
}
