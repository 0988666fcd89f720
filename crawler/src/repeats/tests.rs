use super::*;

fn url(path: &str) -> UrlKey {
    UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
}

/// A page of these words, each of which is a block of its own.
fn text(words: &str) -> PageText {
    let hash = |word: &str| xxhash_rust::xxh3::xxh3_64(word.as_bytes());
    let blocks = words.split_whitespace().map(|word| TextBlock {
        hash: u32::try_from(hash(word) >> 32).unwrap(),
        weight: 3,
    });
    let text = PageText {
        whole: hash(words),
        settled: hash(words) | 1,
        blocks: Vec::new(),
    };
    text.with_blocks(blocks.collect(), 1_000)
}

/// Reads a page; gives the names of the patterns that are closed by it. It leads to the URLs `unknown`.
fn read(repeats: &mut Repeats, path: &str, words: &str, unknown: &[&str]) -> Vec<String> {
    let (url, text) = (url(path), text(words));
    let novelty = repeats.novelty(&url, &text);
    let unknown: Vec<UrlKey> = unknown.iter().copied().map(self::url).collect();
    let leads_on = leads_on(&url, false, &unknown.iter().collect::<Vec<_>>());
    let changes = repeats.take(&url, &text, novelty, leads_on);
    changes
        .closed
        .into_iter()
        .map(|closed| closed.name)
        .collect()
}

fn repeats() -> Repeats {
    Repeats::new(&RepeatsConfig::default())
}

#[test]
fn a_parameter_whose_pages_say_nothing_new_is_closed_on_its_path() {
    let mut repeats = repeats();
    let mut closed = Vec::new();
    for month in 0..120 {
        closed.extend(read(
            &mut repeats,
            &format!("/agenda?month={month}"),
            &format!("m{} n{} k{}", month % 10, month % 7, month % 3),
            &[],
        ));
    }
    assert_eq!(closed, ["/agenda?month="]);
    assert_eq!(repeats.passage(&url("/agenda?month=130")), Passage::Closed);
    assert_eq!(repeats.passage(&url("/agenda?week=1")), Passage::Open);
    assert_eq!(repeats.passage(&url("/other?month=1")), Passage::Open);
}

#[test]
fn a_parameter_is_closed_everywhere_after_five_paths() {
    let mut repeats = repeats();
    for path in 0..60 {
        read(
            &mut repeats,
            &format!("/{path}"),
            &format!("page{path} of it"),
            &[],
        );
        read(
            &mut repeats,
            &format!("/{path}?print=1"),
            &format!("page{path} of"),
            &[],
        );
    }
    assert_eq!(repeats.passage(&url("/new?print=1")), Passage::Closed);
    assert_eq!(repeats.passage(&url("/new")), Passage::Open);
}

#[test]
fn items_behind_a_parameter_stay_open() {
    let mut repeats = repeats();
    for item in 0..200 {
        let page = format!("/item?id={item}");
        let words = format!("item{item} a shop of things");
        assert_eq!(read(&mut repeats, &page, &words, &[]), [""; 0]);
        // A copy of each speaks against the other parameter.
        let copy = format!("/item?id={item}&sort={item}");
        read(&mut repeats, &copy, &words, &[]);
    }
    assert_eq!(repeats.passage(&url("/item?id=999")), Passage::Open);
    assert_ne!(repeats.passage(&url("/item?id=999&sort=1")), Passage::Open);
}

#[test]
fn a_page_that_says_what_it_says_without_a_parameter_speaks_against_that() {
    let mut repeats = repeats();
    for item in 0..80 {
        let words = format!("item{item} size{item} colour{item}");
        read(&mut repeats, &format!("/item?id={item}"), &words, &[]);
        // The same with a sentence more, never read with this parameter.
        let page = format!("/item?id={item}&add={item}");
        read(&mut repeats, &page, &format!("{words} added{item}"), &[]);
    }
    assert_eq!(repeats.passage(&url("/item?id=999&add=1")), Passage::Closed);
    assert_eq!(repeats.passage(&url("/item?id=999")), Passage::Open);
}

#[test]
fn a_page_at_the_end_of_two_other_paths_is_nested() {
    let mut repeats = repeats();
    let terms = text("the terms");
    read(&mut repeats, "/terms/", "the terms", &[]);
    assert_eq!(repeats.mark(&url("/imprint/terms/"), &terms), None);
    read(&mut repeats, "/imprint/terms/", "the terms", &[]);
    let deeper = repeats.mark(&url("/contact/imprint/terms/"), &terms);
    assert_eq!(deeper, Some(Repeat::Nested));
    assert_eq!(repeats.mark(&url("/contact/other/terms/"), &terms), None);
    let urls = ["/terms/", "/imprint/terms/", "/contact/imprint/terms/"].map(url);
    let group = NestedGroup::new(urls.iter());
    assert!(group.is_nested());
    let below = urls.each_ref().map(|url| group.is_below_another(url));
    assert_eq!(below, [false, true, true]);
}

#[test]
fn a_parameter_that_makes_copies_is_left_out() {
    let mut repeats = repeats();
    let mut closed = Vec::new();
    for visit in 0..15 {
        let path = visit % 3;
        let page = format!("/{path}?visit={visit}");
        closed.extend(read(&mut repeats, &page, &format!("page{path} text"), &[]));
    }
    assert_eq!(closed, ["?visit="]);
    let passage = repeats.passage(&url("/9?a=1&visit=77"));
    assert_eq!(passage, Passage::CopyOf(url("/9?a=1")));
    // A page that differs from its copies brings the parameter back.
    read(&mut repeats, "/1?visit=99", "something else", &[]);
    assert_eq!(repeats.passage(&url("/9?visit=77")), Passage::Open);
}

#[test]
fn capitals_that_make_copies_are_left_out() {
    let mut repeats = repeats();
    let spellings = [
        "/guide/a", "/Guide/a", "/gUide/a", "/guIde/a", "/guiDe/a", "/guidE/a", "/GUide/a",
        "/gUIde/a", "/guIDe/a", "/guiDE/a", "/GUIde/a",
    ];
    let mut closed = Vec::new();
    for path in spellings {
        closed.extend(read(&mut repeats, path, "one text", &[]));
    }
    assert_eq!(closed, ["capitals in paths"]);
    assert_eq!(repeats.passage(&url("/GUIDE/a")), Passage::Closed);
    assert_eq!(repeats.passage(&url("/guide/a")), Passage::Open);
    // No spelling of it was read.
    assert_eq!(repeats.passage(&url("/GUIDE/b")), Passage::Open);
    // A page that differs by its capitals alone brings them back.
    read(&mut repeats, "/guide/A", "another text", &[]);
    assert_eq!(repeats.passage(&url("/GUIDE/a")), Passage::Open);
}

#[test]
fn names_that_are_made_up_on_each_view_count_as_one() {
    let mut repeats = repeats();
    for view in 0..60 {
        let path = view % 7;
        read(
            &mut repeats,
            &format!("/{path}"),
            &format!("page{path} text"),
            &[],
        );
        let page = format!("/{path}?x{view}=1");
        read(&mut repeats, &page, &format!("page{path} text"), &[]);
    }
    assert_eq!(repeats.passage(&url("/1?xff=1")), Passage::Closed);
}

#[test]
fn a_directory_that_repeats_itself_is_closed_when_it_leads_on() {
    for leads_on in [false, true] {
        let mut repeats = repeats();
        for week in 0..120 {
            let page = format!("/agenda/2026-W{:02}", week % 53);
            let next = format!("/agenda/{}", 2027 + week);
            let unknown: &[&str] = if leads_on { &[&next] } else { &[] };
            read(&mut repeats, &page, "nothing is planned", unknown);
        }
        let expected = if leads_on {
            Passage::Closed
        } else {
            Passage::Open
        };
        assert_eq!(repeats.passage(&url("/agenda/2099")), expected);
    }
}

#[test]
fn days_of_a_calendar_are_one_directory() {
    let directories = |path: &str| UrlPlaces::of(&url(path)).directories;
    assert_eq!(
        directories("/events/2026/11/22/"),
        directories("/events/1999/1/2/")
    );
    assert_eq!(
        directories("/events/2026-11/"),
        directories("/events/2031-02/")
    );
    assert_ne!(directories("/v/2.1/a"), directories("/v/2.2/a"));
    assert_ne!(
        directories("/events/2026/11/22/a/b"),
        directories("/events/2026/11/22/c/b")
    );
}

#[test]
fn a_page_below_itself_ends_there() {
    let mut repeats = repeats();
    read(&mut repeats, "/guide/start", "a walk", &[]);
    let walk = text("a walk");
    assert_eq!(repeats.mark(&url("/guide/guide/start"), &walk), None);
    read(&mut repeats, "/guide/guide/start", "a walk", &[]);
    assert_eq!(
        repeats.mark(&url("/guide/guide/x/start"), &walk),
        Some(Repeat::Nested)
    );
    assert_eq!(repeats.mark(&url("/tour/start"), &walk), None);
}

#[test]
fn pages_for_urls_that_do_not_exist_are_known_by_what_they_share() {
    let mut repeats = repeats();
    repeats.take_start(&text("menu welcome"));
    repeats.take_not_found(
        ["one", "two chance", "three"].map(|word| text(&format!("menu side sorry {word}"))),
    );
    for page in 0..6 {
        repeats.take_reference(&text(&format!("menu side page{page}")));
    }
    let mut mark = |words: &str| repeats.mark(&url("/some"), &text(words));
    assert_eq!(mark("menu side sorry three"), Some(Repeat::NotFound));
    assert_eq!(mark("menu side other"), None);
}

#[test]
fn with_little_memory_a_part_of_the_text_is_compared() {
    let mut repeats = Repeats::new(&RepeatsConfig {
        max_block_memory: 1 << 20,
        ..RepeatsConfig::default()
    });
    let words = |page: usize| {
        let words = (0..50).map(|word| format!("w{page}x{word} "));
        words.collect::<String>()
    };
    for page in 0..400 {
        read(&mut repeats, &format!("/item?id={page}"), &words(page), &[]);
    }
    let again = repeats.novelty(&url("/copy?x=1"), &text(&words(7)));
    assert!(again.is_repeat());
    let new = repeats.novelty(&url("/copy?x=1"), &text(&words(1_000)));
    assert!(!new.is_repeat());
}
