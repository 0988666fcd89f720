//! Random histories of a site: after each change the plan matches the slow rules and keeps every promise.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Layout, Part, Placement, Plan, Suffix, Thresholds};
use super::{BOTH, Keys, Random, contents, is_taken, model::Model, plan, plan_below};

const HISTORIES: u64 = 40;
const CHANGES: usize = 40;

/// Thresholds so small that a few hundred keys cross all of them; `heavy`: bytes matter as much as entries.
///
/// A directory needs at most about half a file. Above that, a directory that was divided without rest and is below the threshold
/// is not remembered.
fn small_thresholds(random: &mut Random, heavy: bool) -> Thresholds {
    Thresholds {
        section: random.choice(&[2, 3, 5]),
        subsection: random.choice(&[1, 2, 5, 7]),
        file_entries: random.choice(&[12, 30, 60]),
        file_bytes: if heavy {
            random.choice(&[400, 1_000])
        } else {
            10_000_000
        },
    }
}

fn add_key(random: &mut Random, keys: &mut Keys) {
    let bytes = random.choice(&[10, 20, 30, 90, 600]);
    keys.insert(random.key(), bytes);
}

fn change(random: &mut Random, keys: &mut Keys) {
    let remove = random.below(2) == 0;
    let at = random.below(keys.len().max(1));
    match keys.keys().nth(at).cloned() {
        Some(key) if remove => drop(keys.remove(&key)),
        Some(_) | None => add_key(random, keys),
    }
}

/// Checks the properties of every plan, with any layout.
fn check(
    plan: &Plan,
    keys: &Keys,
    base: &str,
    thresholds: Thresholds,
    placement: Placement,
    previous: &Layout,
) {
    let model = Model {
        base,
        thresholds,
        placement,
        previous,
    };
    let (expected, raised) = model.partition(keys);
    assert_eq!(plan.layout().is_raised(), raised);
    let ids: Vec<_> = expected.keys().cloned().collect();
    assert_eq!(plan.layout().parts(), ids);

    let written = contents(plan, keys);
    let mut seen = Keys::new();
    let mut names = BTreeSet::new();
    for part in plan.parts() {
        let name = part.path(Suffix::XmlGz);
        let found = &written[&name];
        let model_keys = expected[part.id()]
            .iter()
            .map(|(key, bytes)| ((*key).to_owned(), *bytes));
        assert!(found.iter().cloned().eq(model_keys), "{name}");
        assert_eq!(part.entries(), found.len() as u64, "{name}");
        let bytes: u64 = found.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(part.bytes(), bytes, "{name}");

        // In scope: the directory of the file's own URL is a prefix of every key in it.
        let url = format!("{base}{}", part.url_path(Suffix::XmlGz));
        let directory = &url[..=url.rfind('/').unwrap()];
        for (key, _) in found {
            assert!(key.starts_with(directory), "{name} may not list {key}");
            assert!(key.starts_with(part.scope()), "{name} {key}");
            assert_eq!(plan.part_of(key).map(Part::id), Some(part.id()), "{name}");
        }
        seen.extend(found.iter().cloned());

        let (entries, bytes) = (part.entries(), part.bytes());
        assert!((1..=thresholds.file_entries).contains(&entries), "{name}");
        assert!(bytes <= thresholds.file_bytes || entries == 1, "{name}");
        assert!(names.insert(name.to_lowercase()), "{name} is there twice");
        assert!(!is_taken(&part.path(Suffix::Xml)), "{name}");
    }
    assert_eq!(&seen, keys, "every key is in exactly one file");
    let entries: u64 = plan.parts().iter().map(Part::entries).sum();
    assert_eq!(entries, keys.len() as u64);
    let again: Layout = plan.layout().to_string().parse().unwrap();
    assert_eq!(&again, plan.layout());
}

fn histories(placement: Placement, base: &str, heavy: bool) {
    let mut largest_change = 0;
    for seed in 0..HISTORIES {
        let random = &mut Random(seed);
        let thresholds = small_thresholds(random, heavy);
        let mut keys = Keys::new();
        for _ in 0..random.choice(&[0, 1, 10, 100, 400]) {
            add_key(random, &mut keys);
        }
        let below = |keys: &Keys| -> Keys {
            keys.iter()
                .map(|(key, bytes)| (format!("{}{}", base, &key[1..]), *bytes))
                .collect()
        };
        let mut scopes: BTreeMap<String, String> = BTreeMap::new();
        let mut layout = Layout::default();
        let mut before = BTreeMap::new();
        for step in 0..CHANGES {
            let keys_below = below(&keys);
            let plan = plan_below(base, &keys_below, thresholds, placement, &layout);
            check(&plan, &keys_below, base, thresholds, placement, &layout);
            let again = plan_below(base, &keys_below, thresholds, placement, plan.layout());
            assert_eq!(again, plan, "seed {seed}: a second run changes nothing");

            let after = contents(&plan, &keys_below);
            let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
            let touched = names
                .iter()
                .filter(|name| before.get(**name) != after.get(**name))
                .count();
            if plan.layout() == &layout {
                assert!(
                    touched <= 1,
                    "seed {seed}: one change, the same files, {touched} of them touched"
                );
            } else if step > 0 {
                largest_change = largest_change.max(touched);
            }
            for part in plan.parts() {
                let scope = scopes
                    .entry(part.path(Suffix::Xml))
                    .or_insert_with(|| part.scope().to_owned());
                assert_eq!(
                    scope,
                    part.scope(),
                    "seed {seed}: a name never comes to mean another scope"
                );
            }
            layout = plan.layout().clone();
            before = after;
            change(random, &mut keys);
        }
    }
    assert!(largest_change > 1, "the histories cross borders");
}

#[test]
fn histories_in_the_root() {
    histories(Placement::Root, "/", false);
}

#[test]
fn histories_in_place() {
    histories(Placement::InPlace, "/", false);
}

#[test]
fn histories_below_a_directory() {
    histories(Placement::Root, "/docs/v1/", false);
    histories(Placement::InPlace, "/docs/v1/", false);
}

#[test]
fn histories_with_heavy_entries() {
    histories(Placement::Root, "/", true);
    histories(Placement::InPlace, "/", true);
}

#[test]
fn change_of_settings_is_not_special() {
    for seed in 0..HISTORIES {
        let random = &mut Random(seed ^ 0xfeed);
        let mut keys = Keys::new();
        for _ in 0..200 {
            add_key(random, &mut keys);
        }
        let mut layout = Layout::default();
        for _ in 0..8 {
            let heavy = random.below(2) == 0;
            let thresholds = Thresholds {
                subsection: random.choice(&[1, 5, 10, 40]),
                file_entries: random.choice(&[1, 5, 12, 60]),
                ..small_thresholds(random, heavy)
            };
            let placement = random.choice(&BOTH);
            let plan = plan(&keys, thresholds, placement, &layout);
            check(&plan, &keys, "/", thresholds, placement, &layout);
            layout = plan.layout().clone();
            for _ in 0..20 {
                change(random, &mut keys);
            }
        }
    }
}

/// Files so large that prefixes beside them are too small to be remembered.
#[test]
fn forgotten_prefixes_do_not_matter() {
    for seed in 0..12 {
        let random = &mut Random(seed ^ 0xf00d);
        let thresholds = Thresholds {
            section: random.choice(&[5, 50]),
            subsection: random.choice(&[20, 60]),
            file_entries: random.choice(&[200, 400, 1_000]),
            file_bytes: random.choice(&[3_000, 20_000, 100_000]),
        };
        let placement = random.choice(&BOTH);
        let mut keys = Keys::new();
        for _ in 0..3_000 {
            add_key(random, &mut keys);
        }
        let mut layout = Layout::default();
        for _ in 0..6 {
            let plan = plan(&keys, thresholds, placement, &layout);
            check(&plan, &keys, "/", thresholds, placement, &layout);
            let again = super::plan(&keys, thresholds, placement, plan.layout());
            assert_eq!(again, plan, "seed {seed}: a second run changes nothing");
            layout = plan.layout().clone();
            for _ in 0..random.choice(&[1, 30, 300]) {
                change(random, &mut keys);
            }
        }
    }
}
