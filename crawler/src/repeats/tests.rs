use super::*;
use crate::url_key::short;

fn url(path: &str) -> UrlKey {
    UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
}

/// A page of these words, each of which is a block of its own.
fn text(words: &str) -> PageText {
    let hash = |word: &str| xxhash_rust::xxh3::xxh3_64(word.as_bytes());
    let blocks = words.split_whitespace().map(|word| TextBlock {
        hash: u32::try_from(hash(word) >> 32).unwrap(),
        numbers: 0,
        weight: 3,
    });
    let text = PageText {
        whole: hash(words),
        alike: 0,
        blocks: Vec::new(),
    };
    text.with_blocks(blocks.collect())
}

fn repeats() -> Repeats {
    repeats_of(&RepeatsConfig::default())
}

fn repeats_of(config: &RepeatsConfig) -> Repeats {
    Repeats::new(config, &Arc::default())
}

/// Reads a page at this distance, found on `finder`, which leads to the URLs `unknown`; returns the verdict on its text.
fn read(
    repeats: &mut Repeats,
    (path, words): (&str, &str),
    way: (u16, Option<&str>),
    unknown: &[&str],
) -> TextNovelty {
    read_text(repeats, (path, &text(words)), way, unknown)
}

/// Reads a page next to the start page that leads to nothing unknown.
fn read_page(repeats: &mut Repeats, path: &str, words: &str) -> TextNovelty {
    read(repeats, (path, words), (0, None), &[])
}

fn read_text(
    repeats: &mut Repeats,
    (path, text): (&str, &PageText),
    (distance, finder): (u16, Option<&str>),
    unknown: &[&str],
) -> TextNovelty {
    let page = url(path);
    let novelty = repeats.read(&page, text);
    let unknown: Vec<UrlKey> = unknown.iter().copied().map(url).collect();
    let unknown: Vec<&UrlKey> = unknown.iter().collect();
    let read = ReadPage {
        url: &page,
        text,
        novelty,
        is_listed: distance == 0,
        is_canonical: false,
        is_end: false,
    };
    repeats.add_page(&read, &unknown);
    if novelty == TextNovelty::Nothing {
        let led_to = u32::try_from(unknown.len()).unwrap();
        repeats.count(&page, distance, led_to);
    } else if let Some(finder) = finder {
        repeats.refund(short(url(finder).fingerprint()));
    }
    novelty
}

#[test]
fn half_of_its_text_makes_a_page_new() {
    let mut repeats = repeats();
    let mut check = |path: &str, words: &str, expected: TextNovelty| {
        let novelty = read_page(&mut repeats, path, words);
        assert_eq!(novelty, expected, "{path}: {words}");
    };
    check("/a", "one two three", TextNovelty::New);
    check("/b", "one two four five", TextNovelty::New);
    check("/c", "one two three six", TextNovelty::Nothing);
    // A page with more parameters takes nothing away from one with fewer.
    check("/d?x=1", "seven eight", TextNovelty::New);
    check("/d", "seven eight", TextNovelty::New);
    check("/e?x=1", "seven eight", TextNovelty::Nothing);
    check("/f", "", TextNovelty::Nothing);
}

#[test]
fn text_of_many_pages_does_not_count() {
    let mut repeats = repeats();
    for number in 0..20 {
        let words = format!("menu footer frame own{number}");
        let novelty = read_page(&mut repeats, &format!("/{number}"), &words);
        // At first nobody knows what is the frame.
        assert_eq!(
            novelty == TextNovelty::New,
            number == 0 || number > 4,
            "{number}"
        );
    }
}

#[test]
fn a_copy_in_another_directory_is_no_repetition() {
    let mut repeats = repeats();
    read_page(&mut repeats, "/1.0/page.html", "some text");
    for version in 1..25 {
        let path = format!("/1.{version}/page.html");
        let novelty = read_page(&mut repeats, &path, "some text");
        let expected = if version < 20 {
            TextNovelty::Copy
        } else {
            TextNovelty::Nothing
        };
        assert_eq!(novelty, expected, "{path}");
    }
    let novelty = read_page(&mut repeats, "/1.0/other.html", "some text");
    assert_eq!(novelty, TextNovelty::Nothing);
}

/// Reads pages without new text in `/cal/`, each of which leads to the next one.
fn read_chain(repeats: &mut Repeats, count: usize, distance: u16) {
    read_page(repeats, "/", "nothing");
    for number in 0..count {
        let (path, next) = (format!("/cal/{number}"), format!("/cal/{}", number + 1));
        read(repeats, (&path, "nothing"), (distance, None), &[&next]);
    }
}

#[test]
fn a_place_without_end_is_cut() {
    let mut repeats = repeats();
    read_chain(&mut repeats, 1_000, 2);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Open);
    read(&mut repeats, ("/cal/y", "nothing"), (2, None), &["/cal/z"]);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Cut);
    assert_eq!(repeats.passage(&url("/cal/x"), 1, false), Passage::Cut);
    // What a page with new text leads to is asked for, and other places are as they were.
    assert_eq!(repeats.passage(&url("/cal/x"), 0, false), Passage::Open);
    assert_eq!(repeats.passage(&url("/call/x"), 2, false), Passage::Open);
    assert_eq!(repeats.place_of(&url("/cal/7")).as_deref(), Some("/cal/"));
    // Numbers count as one, so that /cal/7/ is not /cal/.
    assert_eq!(repeats.place_of(&url("/cal/7/")), None);
}

#[test]
fn pages_next_to_new_text_count_a_tenth() {
    let mut repeats = repeats();
    read_chain(&mut repeats, 9_000, 1);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Open);
    read_chain(&mut repeats, 2_000, 1);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Cut);
}

#[test]
fn urls_that_lead_to_new_text_are_refunded() {
    let mut repeats = repeats();
    read_chain(&mut repeats, 1_500, 2);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Cut);
    for number in 0..1_000 {
        let (path, words) = (format!("/entry/{number}"), format!("entry{number}"));
        let finder = format!("/cal/{number}");
        read(&mut repeats, (&path, &words), (3, Some(&finder)), &[]);
    }
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Open);
}

#[test]
fn a_tenth_of_listed_pages_is_allowed() {
    let mut repeats = repeats();
    for number in 0..20_000 {
        repeats.growth.list(&url(&format!("/cal/{number}")));
    }
    read_chain(&mut repeats, 1_999, 2);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Open);
    read_chain(&mut repeats, 2_001, 2);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Cut);
}

/// Remembers a place that the last crawl cut.
fn remember(repeats: &mut Repeats, name: &str, left_out: u64) {
    repeats.remember(&ClosedPattern {
        kind: PatternKind::Place,
        name: name.to_owned(),
        crawl: 1,
        requested: left_out + 1,
        left_out,
        not_requested: 1,
        example: url("/list/1"),
        exclude: None,
    });
}

#[test]
fn a_known_place_is_cut_at_a_tenth() {
    let mut repeats = repeats();
    remember(&mut repeats, "/cal/", 1_000);
    read_chain(&mut repeats, 101, 2);
    assert_eq!(repeats.passage(&url("/cal/x"), 2, false), Passage::Cut);
}

#[test]
fn pages_near_new_text_cut_no_site_again() {
    for (name, expected) in [("/*", Passage::Open), ("/list/", Passage::Cut)] {
        let mut repeats = repeats();
        remember(&mut repeats, name, 5_000);
        for number in 0..30 {
            repeats.count(&url(&format!("/list/{number}")), 0, 20);
        }
        assert_eq!(repeats.passage(&url("/list/x"), 1, false), expected);
    }
}

#[test]
fn recorded_session_urls_are_bounded() {
    let mut repeats = repeats();
    let mut find = |number: u32| {
        let written = url(&format!("/{number}?PHPSESSID=a{number}"));
        let short = repeats.short_form(&written).unwrap();
        repeats.find_written(&written, &short, None)
    };
    let recorded = (0..20_003).filter(|number| find(*number));
    assert_eq!(recorded.count(), 20_000);
    // The answer with it is the page, and that without it is none: others may have been pages too.
    assert_eq!(repeats.take_other(&url("/1?PHPSESSID=b"), false, true), 0);
    assert_eq!(repeats.take_other(&url("/1?PHPSESSID=c"), true, true), 3);
    assert_eq!(repeats.take_other(&url("/2?PHPSESSID=c"), true, true), 0);
}

#[test]
fn a_session_is_named_after_its_parameter() {
    for (path, name) in [
        ("/a?PHPSESSID=b1&x=1", "?phpsessid="),
        ("/a;JSESSIONID=b1?x=1", "?jsessionid="),
        ("/a_(film);jsessionid=b1", "?jsessionid="),
        ("/a;v=1;jsessionid=b1", "?jsessionid="),
        ("/a;jsessionid=b1/c_(d)", "?jsessionid="),
    ] {
        assert_eq!(repeats().left_out_of(&url(path)).as_deref(), Some(name));
    }
}

/// A URL with this parameter that is not one of the sample.
fn not_sampled(repeats: &Repeats, path: &str, name: &str) -> UrlKey {
    let urls = (0..100).map(|value| url(&format!("{path}?{name}={value}")));
    let mut copies = urls.filter(|url| repeats.parameters.copy_of(url).is_some());
    copies.next().unwrap()
}

#[test]
fn a_parameter_of_copies_is_left_out() {
    let mut repeats = repeats();
    read_page(&mut repeats, "/a", "text of it");
    for value in 0..10 {
        assert_eq!(repeats.left_out_of(&url("/a?x=1")), None);
        let path = format!("/a?x={value}");
        read_page(&mut repeats, &path, "text of it");
    }
    assert_eq!(repeats.left_out_of(&url("/a?x=1")).as_deref(), Some("?x="));
    let copy = not_sampled(&repeats, "/b", "x");
    let expected = Passage::CopyOf(url("/b"));
    assert_eq!(repeats.passage(&copy, 0, false), expected);
    // At the end the page without it has to be one.
    assert_eq!(repeats.passage(&copy, 0, true), Passage::Open);
    read_page(&mut repeats, "/b", "other text");
    assert_eq!(repeats.passage(&copy, 0, true), expected);
    // One page with another text brings it back.
    read_page(&mut repeats, "/b?x=new", "quite new words");
    assert_eq!(repeats.left_out_of(&url("/a?x=1")), None);
}

#[test]
fn one_value_is_no_proof_of_copies() {
    let mut repeats = repeats();
    for thread in 0..30 {
        let (path, words) = (format!("/{thread}"), format!("thread{thread} says"));
        read_page(&mut repeats, &path, &words);
        let next = format!("/item/{thread}");
        let unknown: &[&str] = if thread % 10 == 9 { &[&next] } else { &[] };
        let path = format!("/{thread}?page=1");
        read(&mut repeats, (&path, &words), (0, None), unknown);
    }
    assert_eq!(repeats.left_out_of(&url("/a?page=1")), None);
}

#[test]
fn near_copies_that_lead_on_are_read() {
    fn check(unknown: &[&str], expected: Option<&str>) {
        let mut repeats = repeats();
        for page in 0..25 {
            let words = format!("a{page} b{page} c{page} d{page} e{page} f{page}");
            read_page(&mut repeats, &format!("/{page}"), &words);
            let (path, words) = (format!("/{page}?print=1"), format!("{words} printed{page}"));
            read(&mut repeats, (&path, &words), (0, None), unknown);
        }
        assert_eq!(repeats.left_out_of(&url("/x?print=1")).as_deref(), expected);
    }
    check(&[], Some("?print="));
    check(&["/y?print=1"], Some("?print="));
    check(&["/y"], None);
}

#[test]
fn pages_with_other_numbers_are_no_near_copies() {
    fn check(of_value: fn(u32) -> u16, expected: Option<&str>) {
        let mut repeats = repeats();
        for page in 0..10 {
            for value in 0..4 {
                let path = format!("/{page}?year={value}");
                let path = path.trim_end_matches("?year=0");
                let mut text = text(&format!("a{page} b{page} c{page} d{page} e{page}"));
                for block in &mut text.blocks {
                    block.numbers = of_value(value);
                }
                text.whole = u64::from(page * 10 + value + 1);
                read_text(&mut repeats, (path, &text), (0, None), &[]);
            }
        }
        assert_eq!(repeats.left_out_of(&url("/x?year=1")).as_deref(), expected);
    }
    check(|_| 0, Some("?year="));
    check(|value| u16::try_from(value).unwrap(), None);
}

#[test]
fn a_canonical_page_is_no_copy() {
    let mut repeats = repeats();
    read_page(&mut repeats, "/a", "text of it");
    for value in 0..12 {
        let (page, text) = (url(&format!("/a?x={value}")), text("text of it"));
        let novelty = repeats.read(&page, &text);
        let read = ReadPage {
            url: &page,
            text: &text,
            novelty,
            is_listed: true,
            is_canonical: true,
            is_end: false,
        };
        repeats.add_page(&read, &[]);
    }
    assert_eq!(repeats.left_out_of(&url("/a?x=1")), None);
}

#[test]
fn a_few_cut_places_cut_no_site() {
    let mut repeats = repeats();
    read_page(&mut repeats, "/", "nothing");
    for place in "abcdefgh".chars() {
        for number in 0..1_001 {
            let (path, next) = (format!("/{place}/{number}"), format!("/{place}/x{number}"));
            read(&mut repeats, (&path, "nothing"), (2, None), &[&next]);
        }
        let next = url(&format!("/{place}/next"));
        assert_eq!(repeats.passage(&next, 2, false), Passage::Cut);
    }
    assert_eq!(repeats.passage(&url("/other"), 2, false), Passage::Open);
}

#[test]
fn rules_that_are_off_judge_nothing() {
    let mut repeats = repeats_of(&RepeatsConfig {
        close_patterns: false,
        ..RepeatsConfig::default()
    });
    read_chain(&mut repeats, 2_000, 3);
    assert_eq!(repeats.passage(&url("/cal/x"), 3, false), Passage::Open);
    assert_eq!(repeats.read(&url("/a"), &text("nothing")), TextNovelty::New);
}

#[test]
fn short_memory_compares_a_sample() {
    let mut repeats = repeats_of(&RepeatsConfig {
        max_block_memory: 1 << 20,
        ..RepeatsConfig::default()
    });
    let words = |number: u32| {
        let words = (0..40).map(|word| format!("w{number}x{word}"));
        words.collect::<Vec<_>>().join(" ")
    };
    for number in 0..2_000 {
        let page = (&*format!("/{number}"), &*words(number));
        assert_eq!(read(&mut repeats, page, (0, None), &[]), TextNovelty::New);
    }
    let copy = ("/again", &*words(1_999));
    assert_eq!(
        read(&mut repeats, copy, (0, None), &[]),
        TextNovelty::Nothing
    );
}

fn not_found_answers() -> [PageText; 3] {
    ["one", "two", "three"].map(|chance| text(&format!("menu sorry there is nothing {chance}")))
}

#[test]
fn not_found_pages_are_known_by_shared_text() {
    for are_found in [true, false] {
        let mut repeats = repeats();
        repeats.take_start(&text("menu welcome"));
        repeats.take_not_found(not_found_answers(), are_found);
        let lost = text("menu sorry there is nothing seven");
        // Not before some pages of the site show what all of them have.
        assert_eq!(repeats.mark(&lost), None);
        for number in 0..5 {
            repeats.take_reference(&text(&format!("menu page{number}")));
        }
        assert_eq!(repeats.mark(&lost), Some(Repeat::NotFound));
        assert_eq!(repeats.mark(&text("menu there is a page")), None);
        let page = text("menu sorry there is nothing new in our river news of today");
        assert_eq!(repeats.mark(&page), are_found.then_some(Repeat::NotFound));
    }
}
