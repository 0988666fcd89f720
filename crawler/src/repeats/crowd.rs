//! The place that most of the URLs found last are in, while many wait. It decides nothing: people see it, and may exclude the place.

use std::collections::HashMap;

use super::{exclude_of, places};
use crate::url_key::UrlKey;

/// URLs that are looked at together; as many have to wait.
const WINDOW: u64 = 5_000;

/// The place of at least half of the URLs that were found last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrowdedPlace {
    /// The name.
    pub name: String,
    /// URLs in it, of the last 5,000 that were found.
    pub urls: u64,
    /// A glob for the setting `exclude` that matches the place.
    pub exclude: String,
}

/// Counts of the URLs that were found last.
#[derive(Debug, Default)]
pub struct Crowd {
    /// URLs of each place in the window that is open, by the hash of its name, with one of them.
    places: HashMap<u64, (u64, UrlKey)>,
    counted: u64,
    crowded: Option<CrowdedPlace>,
}

impl Crowd {
    /// Takes a URL to which a link led.
    pub fn add(&mut self, url: &UrlKey) {
        let place = places::hash(&places::own(url));
        self.places.entry(place).or_insert((0, url.clone())).0 += 1;
        self.counted += 1;
        if self.counted < WINDOW {
            return;
        }
        let most = self.places.drain().map(|(_, place)| place);
        let most = most.max_by_key(|(urls, _)| *urls);
        self.counted = 0;
        self.crowded = most
            .filter(|(urls, _)| urls * 2 >= WINDOW)
            .and_then(|(urls, url)| {
                // The root is no place to exclude.
                let name = Some(places::own(&url)).filter(|name| name != "/")?;
                let exclude = exclude_of(&name)?;
                Some(CrowdedPlace {
                    name,
                    urls,
                    exclude,
                })
            });
    }

    /// The place of at least half of the last 5,000 URLs, while as many wait.
    pub fn crowded(&self, waiting: u64) -> Option<&CrowdedPlace> {
        self.crowded.as_ref().filter(|_| waiting >= WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_found_urls_make_a_crowd() {
        let found = |path: &str, share: u64, waiting: u64| {
            let mut crowd = Crowd::default();
            for number in 0..WINDOW {
                let path = if number % 100 < share {
                    path.replace('N', &number.to_string())
                } else {
                    format!("/{}/x", if number % 2 == 0 { "a" } else { "b" })
                };
                let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
                crowd.add(&url);
            }
            let crowded = crowd.crowded(waiting).cloned();
            crowded.map(|place| (place.name, place.urls, place.exclude))
        };
        let shop = Some(("/shop?".to_owned(), 2_500, "/shop\\?*".to_owned()));
        assert_eq!(found("/shop?page=N", 50, 5_000), shop);
        assert_eq!(found("/shop?page=N", 49, 5_000), None);
        assert_eq!(found("/shop?page=N", 100, 4_999), None);
        assert_eq!(found("/N", 100, 5_000), None);
        let days = Some(("/day/0/".to_owned(), 5_000, "/day/[0-9]*/*".to_owned()));
        assert_eq!(found("/day/N/", 100, 9_000), days);
    }
}
