//! Sections: keys that are set apart by name.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    Counter, Layout, MAX_SECTIONS, Part, PartitionError, Placement, Plan, Section, Suffix,
    Thresholds,
};
use super::{BOTH, Keys, Random, SMALL, check, counter_of, is_taken, keys, many};

const HISTORIES: u64 = 60;
const CHANGES: usize = 25;

fn section(name: &str, directory: &str) -> Section {
    Section {
        name: name.parse().unwrap(),
        directory: directory.to_owned(),
    }
}

/// Sections of keys: the first one that takes a key.
struct Sections {
    sections: Vec<Section>,
    takes: Vec<fn(&str) -> bool>,
}

impl Sections {
    fn of(&self, key: &str) -> Option<usize> {
        self.takes.iter().position(|takes| takes(key))
    }

    fn plan(
        &self,
        keys: &Keys,
        thresholds: Thresholds,
        placement: Placement,
        previous: &Layout,
    ) -> Plan {
        let counter = Counter::new("/", thresholds, placement, previous).unwrap();
        let mut counter = counter.with_sections(&self.sections).unwrap();
        for (key, bytes) in keys {
            match self.of(key) {
                Some(section) => counter.push_to(section, key, *bytes).unwrap(),
                None => counter.push(key, *bytes).unwrap(),
            }
        }
        counter.finish()
    }

    fn fresh(&self, keys: &Keys, placement: Placement) -> Plan {
        self.plan(keys, Thresholds::default(), placement, &Layout::default())
    }

    /// The keys that a second scan writes into a part.
    fn contents<'k>(&self, part: &Part, keys: &'k Keys) -> Vec<(&'k str, u64)> {
        let ranges = part.ranges().iter();
        let found = ranges.flat_map(|range| keys.range(range.start.clone()..range.end.clone()));
        found
            .filter(|(key, _)| self.of(key) == part.section())
            .map(|(key, bytes)| (key.as_str(), *bytes))
            .collect()
    }
}

/// A section with everything that begins with `/shop/`, and one with all that ends with `.pdf`.
fn shop_and_papers() -> Sections {
    Sections {
        sections: vec![section("papers", "/"), section("shop", "/shop/")],
        takes: vec![|key| key.ends_with("pdf"), |key| key.starts_with("/shop/")],
    }
}

#[test]
fn section_of_few_keys_is_one_file() {
    let keys = keys(
        many("/shop/a/", 300)
            .chain(many("/shop/b/", 300))
            .chain(many("/blog/", 200))
            .chain(["/x.pdf", "/blog/y.pdf", "/shop/z.pdf", "/about"].map(str::to_owned)),
    );
    let names = [
        ["sitemap.blog.xml", "sitemap-shop.xml"],
        ["blog/sitemap.xml", "shop/sitemap-shop.xml"],
    ];
    for (placement, [blog, shop]) in BOTH.into_iter().zip(names) {
        check(
            &shop_and_papers().fresh(&keys, placement),
            &[
                ("sitemap-root.xml", 1),
                (blog, 200),
                ("sitemap-papers.xml", 3),
                (shop, 600),
            ],
        );
    }
}

#[test]
fn large_section_is_divided_below_its_name() {
    let keys = keys(
        many("/shop/a/", 9_000)
            .chain(many("/shop/b/", 11_000))
            .chain(many("/shop/small/", 900))
            .chain(["/shop/".to_owned()]),
    );
    check(
        &shop_and_papers().fresh(&keys, Placement::Root),
        &[
            ("sitemap-shop.xml", 901),
            ("sitemap-shop.shop.a.xml", 9_000),
            ("sitemap-shop.shop.b.00_.xml", 10_000),
            ("sitemap-shop.shop.b.01_.xml", 1_000),
        ],
    );
    check(
        &shop_and_papers().fresh(&keys, Placement::InPlace),
        &[
            ("shop/sitemap-shop.xml", 901),
            ("shop/a/sitemap-shop.xml", 9_000),
            ("shop/b/sitemap-shop.00_.xml", 10_000),
            ("shop/b/sitemap-shop.01_.xml", 1_000),
        ],
    );
}

#[test]
fn parts_of_a_section_are_in_one_index() {
    let keys = keys(
        many("/a/", 100)
            .chain(many("/b/", 100))
            .chain(many("/shop/a/", 6_000))
            .chain(many("/shop/b/", 6_000))
            .chain(["/x.pdf".to_owned()]),
    );
    let plan = shop_and_papers().fresh(&keys, Placement::Root);
    assert_eq!(plan.parts().len(), 5);
    let indexes = plan.indexes(4.try_into().unwrap());
    let parts: Vec<_> = indexes.into_iter().map(|index| index.parts).collect();
    assert_eq!(parts, [0..3, 3..5]);
}

#[test]
fn sections_that_cannot_be_are_refused() {
    let counter = || counter_of("/").unwrap();
    let twice = [section("a", "/"), section("a", "/x/")];
    assert_eq!(
        counter().with_sections(&twice).unwrap_err().to_string(),
        "section a: expected at most 100 sections, each name once"
    );
    let many: Vec<_> = (0..=MAX_SECTIONS)
        .map(|number| section(&format!("s{number}"), "/"))
        .collect();
    assert!(counter().with_sections(&many[1..]).is_ok());
    assert!(counter().with_sections(&many).is_err());
    let mut counter = counter().with_sections(&[section("a", "/x/")]).unwrap();
    assert_eq!(
        counter.push_to(1, "/x/y", SMALL),
        Err(PartitionError::NoSection {
            number: 1,
            count: 1
        })
    );
    let outside = counter.push_to(0, "/y", SMALL).unwrap_err();
    assert!(matches!(outside, PartitionError::Key { .. }), "{outside}");
    assert_eq!(counter.push_to(0, "/x/z", SMALL), Ok(()));
    // Each tree has an order of its own.
    assert_eq!(counter.push("/a", SMALL), Ok(()));
    assert!(matches!(
        counter.push_to(0, "/x/y", SMALL),
        Err(PartitionError::Order { .. })
    ));
}

/// Random sections over random keys: the keys of each lie in its directory.
fn random_sections(random: &mut Random) -> Sections {
    type Takes = (&'static str, fn(&str) -> bool);
    let choices: [Takes; 5] = [
        ("/", |key| key.ends_with('a')),
        ("/", |key| key.contains('?')),
        ("/a/", |key| key.starts_with("/a/")),
        ("/a/b/", |key| {
            key.starts_with("/a/b/") && key.len() % 2 == 0
        }),
        ("/%C3%A9/", |key| key.starts_with("/%C3%A9/")),
    ];
    let mut sections = Sections {
        sections: Vec::new(),
        takes: Vec::new(),
    };
    for name in ["a", "a-b", "shop"].into_iter().take(1 + random.below(3)) {
        let (directory, takes) = random.choice(&choices);
        sections.sections.push(section(name, directory));
        sections.takes.push(takes);
    }
    sections
}

/// Checks the properties of every plan with sections.
fn check_plan(sections: &Sections, plan: &Plan, keys: &Keys, thresholds: Thresholds) {
    let mut seen = Keys::new();
    let mut names = BTreeSet::new();
    for part in plan.parts() {
        let name = part.path(Suffix::XmlGz);
        let found = sections.contents(part, keys);
        assert_eq!(part.entries(), found.len() as u64, "{name}");
        let bytes: u64 = found.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(part.bytes(), bytes, "{name}");
        assert!(part.entries() >= 1 && part.entries() <= thresholds.file_entries);
        assert!(bytes <= thresholds.file_bytes || found.len() == 1, "{name}");
        let url = format!("/{}", part.url_path(Suffix::XmlGz));
        let directory = &url[..=url.rfind('/').unwrap()];
        for (key, bytes) in found {
            assert!(key.starts_with(directory), "{name} may not list {key}");
            assert!(key.starts_with(part.scope()), "{name} {key}");
            assert_eq!(seen.insert(key.to_owned(), bytes), None, "{key} twice");
        }
        assert!(names.insert(name.to_lowercase()), "{name} is there twice");
        assert!(!is_taken(&part.path(Suffix::Xml)), "{name}");
    }
    assert_eq!(&seen, keys, "every key is in exactly one file");
    let again: Layout = plan.layout().to_string().parse().unwrap();
    assert_eq!(&again, plan.layout());
}

#[test]
fn histories_with_sections() {
    let mut divided = 0;
    for seed in 0..HISTORIES {
        let random = &mut Random(seed ^ 0x5ec7);
        let thresholds = Thresholds {
            section: random.choice(&[2, 3, 5]),
            subsection: random.choice(&[1, 2, 5, 7]),
            file_entries: random.choice(&[12, 30, 60]),
            file_bytes: random.choice(&[1_000, 10_000_000]),
        };
        let placement = random.choice(&BOTH);
        let mut sections = random_sections(random);
        let mut keys = Keys::new();
        for _ in 0..random.choice(&[10, 100, 400]) {
            keys.insert(random.key(), random.choice(&[10, 20, 90]));
        }
        let mut layout = Layout::default();
        let mut meanings: BTreeMap<String, (Option<String>, String)> = BTreeMap::new();
        let mut own_layout = Layout::default();
        for step in 0..CHANGES {
            let plan = sections.plan(&keys, thresholds, placement, &layout);
            check_plan(&sections, &plan, &keys, thresholds);
            let again = sections.plan(&keys, thresholds, placement, plan.layout());
            assert_eq!(again, plan, "seed {seed}: a second run changes nothing");

            // The other keys are divided as if there were no sections.
            let others: Keys = keys.clone().into_iter().collect();
            let others = others
                .into_iter()
                .filter(|(key, _)| sections.of(key).is_none())
                .collect();
            let alone = super::plan(&others, thresholds, placement, &own_layout);
            own_layout = alone.layout().clone();
            let own = plan.parts().iter().filter(|part| part.section().is_none());
            assert!(own.eq(alone.parts()), "seed {seed}");

            for part in plan.parts() {
                let name = part
                    .section()
                    .map(|at| sections.sections[at].name.to_string());
                // The top of a section is the section itself, in any directory.
                let home = part
                    .section()
                    .map(|at| sections.sections[at].directory.as_str());
                let is_top = home == Some(part.scope()) && placement == Placement::Root;
                let scope = if is_top { "" } else { part.scope() };
                let meaning = (name, scope.to_owned());
                let known = meanings
                    .entry(part.path(Suffix::Xml))
                    .or_insert(meaning.clone());
                assert_eq!(*known, meaning, "seed {seed}: a name means another scope");
                divided += usize::from(part.section().is_some() && part.id().prefix.is_some());
            }
            layout = plan.layout().clone();
            if step == CHANGES / 2 {
                // The settings change.
                sections = random_sections(random);
            }
            let at = random.below(keys.len().max(1));
            match keys.keys().nth(at).cloned() {
                Some(key) if random.below(2) == 0 => drop(keys.remove(&key)),
                _ => drop(keys.insert(random.key(), random.choice(&[10, 20, 90]))),
            }
        }
    }
    assert!(divided > 100, "sections are divided too");
}
