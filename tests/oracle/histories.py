"""Scripted histories of sites: crawl, change, fail, kill, publish, refuse, roll back, build. Each is a function of a `Play`, called by its
name with two builds; none depends on the order of answers or on the time."""

import gzip

HISTORIES = {}

OLD_DATE = "Mon, 03 Mar 2025 10:00:00 GMT"


def history(function):
    HISTORIES[function.__name__] = function
    return function


def small(play, pages=12):
    """A start page that links to `pages` pages, which link to the next."""
    paths = [f"/p{number}" for number in range(pages)]
    play.page("/", paths)
    for number, path in enumerate(paths):
        play.page(path, [paths[(number + 1) % pages], "/"])
    return paths


def xml(*urls, root="urlset", item="url"):
    entries = "".join(f"<{item}><loc>{url}</loc></{item}>" for url in urls)
    return (200, {"Content-Type": "application/xml"}, f'<?xml version="1.0"?><{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>')


# Crawls


@history
def first_crawl(play):
    small(play)
    play.crawl()
    play.arpent("status")
    play.arpent("report")


@history
def crawl_as_json(play):
    small(play)
    play.crawl("--json")
    play.arpent("status", "--json")
    play.arpent("report", "--json")


@history
def dry_run(play):
    small(play)
    play.crawl("-n")
    play.crawl("-n", "--json")


@history
def nothing_changed(play):
    small(play)
    play.crawl()
    play.crawl()
    play.crawl("--json")


@history
def validators(play):
    small(play)
    for path, page in list(play.site.pages.items()):

        def answer(headers, _, path=path, page=page):
            tag = f'"{len(page)}"'
            if headers.get("If-None-Match") == tag:
                return (304, {"ETag": tag}, b"")
            return (200, {"ETag": tag, "Last-Modified": OLD_DATE}, page)

        play.site.pages[path] = answer
    play.crawl()
    play.crawl()
    play.page("/p3", ["/p4", "/new"], "changed")
    play.page("/new")
    play.crawl()
    play.crawl("--fresh")


@history
def pages_change_appear_and_go(play):
    small(play)
    play.crawl()
    play.page("/p1", ["/added"], "other words")
    play.page("/added")
    play.site.pages["/p2"] = (404, {}, "gone")
    play.site.pages["/p3"] = (410, {}, "gone")
    play.crawl()
    play.arpent("diff", "out", "out")
    play.crawl()
    play.arpent("why", play.url + "/p2")
    play.arpent("report")


@history
def statuses(play):
    small(play)
    play.page("/", [f"/s{status}" for status in (301, 302, 400, 401, 403, 404, 410, 451, 500, 503)] + ["/p1"])
    for status in (301, 302):
        play.site.pages[f"/s{status}"] = (status, {"Location": "/p1"}, "")
    for status in (400, 401, 403, 404, 410, 451, 500, 503):
        play.site.pages[f"/s{status}"] = (status, {}, f"status {status}")
    play.file("arpent.toml", "testing.retry_delays = [\"0s\"]\n")
    play.crawl()
    play.arpent("report")
    play.arpent("why", play.url + "/s500")
    play.arpent("why", play.url + "/s301", "--json")


@history
def redirects(play):
    play.page("/", ["/a", "/loop1", "/away", "/slash", "/chain0", "/nowhere"])
    play.page("/b")
    play.page("/slash/")
    play.page("/chain4")
    play.site.pages["/a"] = (301, {"Location": "/b"}, "")
    play.site.pages["/loop1"] = (302, {"Location": "/loop2"}, "")
    play.site.pages["/loop2"] = (302, {"Location": "/loop1"}, "")
    play.site.pages["/away"] = (301, {"Location": "http://127.0.0.1:1/x"}, "")
    play.site.pages["/slash"] = (301, {"Location": "/slash/"}, "")
    play.site.pages["/nowhere"] = (301, {}, "")
    for number in range(4):
        play.site.pages[f"/chain{number}"] = (301, {"Location": f"/chain{number + 1}"}, "")
    play.crawl()
    play.arpent("report", "--json")


@history
def directives_and_canonicals(play):
    play.page("/", ["/noindex", "/nofollow", "/canonical", "/canonical-gone", "/header", "/self", "/refresh"])
    play.page("/noindex", ["/behind-noindex"], head='<meta name="robots" content="noindex">')
    play.page("/behind-noindex")
    play.page("/nofollow", ["/behind-nofollow"], head='<meta name="robots" content="nofollow">')
    play.page("/canonical", head='<link rel="canonical" href="/self">')
    play.page("/canonical-gone", head='<link rel="canonical" href="/missing">')
    play.page("/self", head='<link rel="canonical" href="/self">')
    play.page("/refresh", head='<meta http-equiv="refresh" content="0; url=/self">')
    play.page("/header")
    play.site.pages["/header"] = (200, {"X-Robots-Tag": "noindex"}, play.site.pages["/header"])
    play.crawl()
    play.crawl("--ignore", "noindex,canonical")
    play.arpent("publish", play.url + "/", "-o", "out")
    play.arpent("report")


@history
def robots_rules(play):
    small(play)
    robots = "User-agent: *\nDisallow: /p1\nAllow: /p10\nDisallow: /*?q=\n"
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
    play.crawl()
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /p2\n")
    play.crawl()
    play.crawl("--ignore", "robots")
    play.arpent("why", play.url + "/p2")


@history
def robots_unreachable(play):
    small(play)
    play.site.pages["/robots.txt"] = (503, {}, "later")
    play.crawl()
    del play.site.pages["/robots.txt"]
    play.crawl()
    play.site.pages["/robots.txt"] = (500, {}, "broken")
    play.crawl()
    play.arpent("status")


@history
def start_page_fails(play):
    play.site.pages["/"] = (500, {}, "broken")
    play.crawl()
    play.site.pages["/"] = (403, {}, "no")
    play.crawl()
    play.site.pages["/"] = (401, {"WWW-Authenticate": "Basic"}, "who")
    play.crawl("--json")
    play.site.pages["/"] = (302, {"Location": "/"}, "")
    play.crawl()
    play.site.pages["/"] = (200, {}, "")
    play.crawl()


@history
def start_page_disallowed(play):
    small(play)
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /\n")
    play.crawl()
    play.arpent("why", play.url + "/p1")


@history
def retry_after(play):
    small(play)
    play.site.pages["/p4"] = lambda _, earlier: (503, {"Retry-After": "1"}, "busy") if earlier == 0 else "<html><body><p>The page is here now.</p></body></html>"
    play.crawl()
    play.site.pages["/p5"] = (503, {"Retry-After": "100000"}, "busy for long")
    play.crawl("--concurrency", "1")


@history
def crawl_delay_too_long(play):
    small(play)
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nCrawl-delay: 90000\n")
    play.crawl()


# Documents


@history
def sitemaps_of_the_site(play):
    small(play, 4)
    play.page("/only-listed")
    play.page("/in-part")
    robots = f"User-agent: *\nAllow: /\nSitemap: {play.url}/maps.xml\n"
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
    play.site.pages["/maps.xml"] = xml(play.url + "/part1.xml", play.url + "/part2.xml.gz", play.url + "/missing.xml", root="sitemapindex", item="sitemap")
    play.site.pages["/part1.xml"] = xml(play.url + "/only-listed", play.url + "/p1", "http://other.example/x")
    play.site.pages["/part2.xml.gz"] = (200, {"Content-Type": "application/gzip"}, gzip.compress(xml(play.url + "/in-part")[2].encode(), mtime=0))
    play.crawl()
    play.crawl()
    play.arpent("audit", play.url + "/")
    play.arpent("check", play.url + "/")


@history
def broken_sitemaps(play):
    small(play, 3)
    robots = f"Sitemap: {play.url}/bad.xml\nSitemap: {play.url}/html.xml\nSitemap: {play.url}/loop.xml\n"
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
    play.site.pages["/bad.xml"] = (200, {"Content-Type": "application/xml"}, "<urlset><url><loc>" + play.url + "/p1</loc></url><url><loc>")
    play.site.pages["/html.xml"] = "<html><body>Not a sitemap</body></html>"
    play.site.pages["/loop.xml"] = xml(play.url + "/loop.xml", root="sitemapindex", item="sitemap")
    play.crawl()
    play.arpent("check", play.url + "/bad.xml")
    play.arpent("check", play.url + "/loop.xml", "--json")


@history
def feeds(play):
    play.page("/", ["/feed"], head='<link rel="alternate" type="application/rss+xml" href="/feed">')
    items = "".join(f"<item><title>{n}</title><link>{play.url}/post{n}</link><pubDate>Mon, 0{n} Mar 2025 10:00:00 GMT</pubDate></item>" for n in (3, 4, 5))
    play.site.pages["/feed"] = (200, {"Content-Type": "application/rss+xml"}, f'<rss version="2.0"><channel><title>t</title><link>{play.url}/</link><description>d</description>{items}</channel></rss>')
    for number in (3, 4, 5):
        play.page(f"/post{number}")
    play.crawl()
    play.crawl("--discover", "links")


@history
def seeds_and_lists(play):
    small(play, 3)
    play.page("/hidden")
    play.file("list.txt", f"{play.url}/hidden\n{play.url}/p1\nnot a url\nhttp://other.example/\n")
    play.crawl("--seeds", "list.txt")
    play.crawl("--seeds", "-", stdin=f"{play.url}/hidden\n")


# Scope and rules


@history
def scope_of_a_directory(play):
    play.page("/docs/", ["/docs/a", "/other", "b"])
    play.page("/docs/a")
    play.page("/docs/b")
    play.page("/other")
    play.crawl(path="/docs/")
    play.crawl("--scope", "origin", path="/docs/")


@history
def includes_and_excludes(play):
    small(play)
    play.crawl("-x", "/p1*", "--follow-only", "/p2", "--list-only", "/p3")
    play.crawl("-i", "/p*", "-x", "/p4")
    play.arpent("why", play.url + "/p4")
    play.arpent("publish", play.url + "/", "-o", "out", "-x", "/p5")
    play.crawl("-x", "/[")


@history
def limits(play):
    small(play, 30)
    play.crawl("--max-pages", "5", "--concurrency", "1")
    play.arpent("status")
    play.crawl("--max-depth", "1")


@history
def changed_settings(play):
    small(play)
    play.crawl("--max-pages", "4", "--concurrency", "1")
    play.crawl("--discover", "links")
    play.file("arpent.toml", 'identity.drop_parameters = ["a"]\n')
    play.crawl()
    play.file("arpent.toml", "nonsense = 1\n")
    play.crawl()


# Publishing


@history
def sections_and_formats(play):
    small(play)
    play.page("/", ["/blog/1", "/blog/2", "/p1"])
    play.page("/blog/1")
    play.page("/blog/2")
    play.crawl("--section", "/blog/**=blog", "--format", "xml,txt", "--no-gzip")
    play.crawl("--format", "xml,rss,atom", "--index", "auto")
    play.arpent("check", "out", "--base-url", play.url + "/")


@history
def extensions(play):
    play.page("/", ["/a", "/b"])
    play.page("/a", text='<img src="/a.png" alt="A"><img src="/b.jpg">', head='<link rel="alternate" hreflang="de" href="/b"><link rel="alternate" hreflang="en" href="/a">')
    play.page("/b", head='<link rel="alternate" hreflang="de" href="/b"><link rel="alternate" hreflang="en" href="/a">')
    play.crawl("--with", "images,hreflang")
    play.arpent("publish", play.url + "/", "-o", "out", "--with", "images")


@history
def public_url_and_copy(play):
    small(play, 3)
    play.crawl("--public-url", "https://www.example.org/maps/")
    play.crawl("--publish-as", "https://www.example.org/")
    play.arpent("notify", play.url + "/", "--list")


@history
def guard_refuses_and_force(play):
    paths = small(play, 40)
    play.crawl()
    play.page("/", paths[:4])
    for path in paths[4:]:
        play.site.pages[path] = (404, {}, "gone")
    for path in paths[:4]:
        play.page(path)
    play.crawl()
    play.crawl()
    play.arpent("status")
    play.arpent("publish", play.url + "/", "-o", "out")
    play.crawl("--force")


@history
def rollback(play):
    small(play, 5)
    play.crawl()
    play.page("/p1", ["/new"], "changed")
    play.page("/new")
    play.crawl()
    play.arpent("publish", play.url + "/", "-o", "out", "--rollback")
    play.arpent("publish", play.url + "/", "-o", "out", "--rollback=7")
    play.crawl()


@history
def foreign_files_in_the_way(play):
    small(play, 3)
    play.file("out/sitemap.xml", "not ours")
    play.crawl()
    play.crawl("-o", "other")
    play.file("other/robots.txt", "User-agent: *\n")
    play.crawl("-o", "other")


@history
def output_changed_by_hand(play):
    small(play, 3)
    play.crawl()
    for path in sorted((play.folder / "out").glob("*.xml*")):
        path.write_bytes(b"broken")
    play.crawl()


@history
def state_removed_between_crawls(play):
    small(play, 6)
    play.crawl()
    play.arpent("forget", play.url + "/", "-n")
    play.arpent("forget", play.url + "/")
    play.crawl()


# Interruptions


@history
def killed_and_resumed(play):
    small(play, 40)
    play.crawl("--concurrency", "2", killed_at=20)
    play.crawl(note_requests=False)


@history
def stopped_and_resumed(play):
    small(play, 40)
    play.crawl("--concurrency", "2", stopped_at=20)
    play.crawl(note_requests=False)


@history
def site_goes_down(play):
    small(play, 20)
    play.crawl()
    for path in list(play.site.pages):
        if path.startswith("/p"):
            play.site.pages[path] = (503, {}, "down")
    play.file("arpent.toml", "testing.retry_delays = [\"0s\"]\nlimits.max_tries = 1\n")
    play.crawl("--concurrency", "1", "--max-time", "20s")
    play.arpent("status")


# Endless places and copies


@history
def endless_places(play):
    play.page("/", ["/calendar/1", "/p1"])
    play.page("/p1")
    for month in range(1, 400):
        links = "".join(f'<a href="/calendar/{month + step}">next</a>' for step in (1, 2))
        play.site.pages[f"/calendar/{month}"] = f"<html><head><title>Calendar</title></head><body><main><p>No events in this month.</p>{links}</main></body></html>"
    play.crawl("--concurrency", "1")
    play.arpent("report")


@history
def copies_by_query(play):
    links = [f"/item?id={number}&sort={order}" for number in range(8) for order in ("up", "down", "new")]
    play.page("/", links)
    for number in range(8):
        for order in ("up", "down", "new"):
            play.site.pages[f"/item?id={number}&sort={order}"] = f"<html><head><title>Item {number}</title></head><body><main><p>The item {number} has words of its own: w{number * 7} w{number * 11}.</p></main></body></html>"
    play.crawl("--concurrency", "1")
    play.crawl("--concurrency", "1")
    play.arpent("report", "--json")


# Lists and folders


@history
def build_from_lists(play):
    play.file("urls.txt", "https://www.example.org/a\nhttps://www.example.org/b\nhttps://other.example/\nnonsense\n")
    play.arpent("build", "urls.txt", "--base-url", "https://www.example.org/", "-o", "out")
    play.file("urls.csv", "loc,lastmod\nhttps://www.example.org/a,2025-03-01\nhttps://www.example.org/c,yesterday\n")
    play.arpent("build", "urls.csv", "--base-url", "https://www.example.org/", "-o", "out")
    play.arpent("build", "urls.csv", "--base-url", "https://www.example.org/", "-o", "out", "--strict")
    play.arpent("build", "missing.txt", "--base-url", "https://www.example.org/", "-o", "out")
    play.arpent("build", "-", "--base-url", "https://www.example.org/", "-o", "out", "--input-format", "ndjson", stdin='{"loc":"https://www.example.org/x","images":[{"loc":"https://www.example.org/x.png"}]}\n{"loc":1}\n')


@history
def build_from_folders(play):
    play.file("html/index.html", "<html><head><title>Home</title></head><body>Home</body></html>")
    play.file("html/a.html", '<html><head><title>A</title><meta name="robots" content="noindex"></head><body>A</body></html>')
    play.file("html/b/index.html", "<html><head><title>B</title></head><body>B</body></html>")
    play.arpent("build", "html", "--base-url", "https://www.example.org/", "-o", "out", "--json")
    play.arpent("build", "html", "--base-url", "https://www.example.org/", "-o", "out", "-n")


@history
def build_from_sitemaps(play):
    play.file("old.xml", xml("https://www.example.org/a", "https://www.example.org/b")[2])
    play.file("broken.xml", "<urlset><url><loc>https://www.example.org/c</loc></url>")
    play.arpent("build", "old.xml", "--base-url", "https://www.example.org/", "-o", "out")
    play.arpent("build", "broken.xml", "--base-url", "https://www.example.org/", "-o", "out")
    play.arpent("diff", "old.xml", "out")


# Reading commands


@history
def checks(play):
    play.file("good.xml", xml("https://www.example.org/a")[2])
    play.file("bad.xml", xml("https://www.example.org/a", "https://other.example/b", "https://www.example.org/a")[2])
    for form in ("text", "json", "sarif", "github"):
        play.arpent("check", "good.xml", "bad.xml", "--format", form)
    play.arpent("check", "missing.xml")
    play.arpent("check", "-", stdin="https://www.example.org/a\n")


@history
def audits(play):
    small(play, 5)
    play.crawl()
    play.site.pages["/sitemap.xml"] = xml(play.url + "/p1", play.url + "/gone", play.url + "/p2")
    log = f'127.0.0.1 - - [01/Mar/2025:10:00:00 +0000] "GET /p1 HTTP/1.1" 200 5 "-" "x"\n127.0.0.1 - - [01/Mar/2025:10:00:00 +0000] "GET /logged HTTP/1.1" 200 5 "-" "x"\n'
    play.file("access.log", log)
    for form in ("text", "json", "sarif", "github"):
        play.arpent("audit", play.url + "/", "--sitemap", play.url + "/sitemap.xml", "--log", "access.log", "--format", form)
    play.arpent("audit", "http://127.0.0.1:1/")


@history
def explanations(play):
    small(play, 5)
    play.page("/p1", ["/gone", "/moved"])
    play.site.pages["/moved"] = (301, {"Location": "/p2"}, "")
    play.crawl()
    play.page("/p2", text="new words")
    for path in ("/", "/p1", "/gone", "/moved", "/unknown"):
        play.arpent("why", play.url + path)
        play.arpent("why", play.url + path, "--live")
        play.arpent("why", play.url + path, "--live", "--json")
    play.arpent("why", "https://elsewhere.example/")


@history
def reports(play):
    small(play, 5)
    play.page("/p1", ["/gone", "/moved"])
    play.site.pages["/moved"] = (301, {"Location": "/p2"}, "")
    play.crawl()
    play.arpent("report", play.url + "/", "--html", "report.html", "--csv", "csv", "--ndjson", "rows.ndjson")
    play.arpent("report", "https://elsewhere.example/")


@history
def surveys(play):
    small(play, 5)
    play.site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, f"User-agent: *\nDisallow: /private\nSitemap: {play.url}/sitemap.xml\n")
    play.site.pages["/sitemap.xml"] = xml(play.url + "/p1", play.url + "/p2")
    play.arpent("init", play.url + "/", "-y", "--schedule", "cron")
    play.arpent("init", play.url + "/", "-y")
    play.arpent("init", play.url + "/", "-y", "--json", "-o", "other")
    play.site.pages["/"] = (500, {}, "broken")
    play.arpent("init", play.url + "/", "-y", "-o", "third")


@history
def notifications(play):
    small(play, 4)
    play.site.pages["/ping"] = (200, {}, "ok")
    play.site.pages["/refusing"] = (429, {}, "no")
    play.crawl("--hook-command", "echo $ARPENT_OUTCOME >> hook.txt")
    play.page("/p1", text="changed")
    play.crawl("--ping", play.url + "/ping", "--hook-command", "exit 3")
    play.arpent("notify", play.url + "/", "--ping", play.url + "/refusing", "-n")
    play.arpent("notify", play.url + "/", "--json")


@history
def hooks(play):
    small(play, 3)
    play.site.pages["/hook"] = lambda headers, earlier: (200 if earlier else 500, {}, "")
    hook = f'hook_url = ["{play.url}/hook"]\nhook_command = ["sh", "-c", "env | grep ARPENT_OUTCOME"]\n'
    play.file("arpent.toml", 'testing.retry_delays = ["0s"]\nlimits.max_tries = 1\n[notify]\n' + hook)
    play.crawl()
    play.crawl()
    play.crawl()
    play.site.pages["/"] = (500, {}, "broken")
    play.crawl()


@history
def lists_that_cannot_be_read(play):
    small(play, 3)
    play.crawl("--seeds", "missing.txt")
    play.file("empty.txt", "nothing\n")
    play.crawl("--seeds", "empty.txt")


@history
def damaged_state(play):
    small(play, 6)
    play.crawl()
    for state in (play.folder / "state").rglob("*.db"):
        state.write_bytes(b"SQLite format 3\0" + b"damaged" * 1000)
    play.arpent("report", play.url + "/")
    play.arpent("why", play.url + "/p1")
    play.arpent("notify", play.url + "/", "-n")
    play.crawl()


@history
def unreadable_waits(play):
    small(play, 3)
    play.crawl()
    waits = next((play.folder / "state").rglob("*.db")).parent / "retry-after"
    if waits.is_file():
        waits.unlink()
    waits.mkdir()
    play.crawl()
    play.arpent("why", play.url + "/p1", "--live")
    play.arpent("notify", play.url + "/")
    play.arpent("check", play.url + "/sitemap.xml")


@history
def held_state(play):
    small(play, 3)
    play.crawl()
    busy = []

    def slow(headers, earlier):
        if not busy:
            busy.append(play.beside("crawl", play.url + "/", "--rate", "unlimited", "-o", "out"))
            busy.append(play.beside("publish", play.url + "/", "-o", "out"))
        return "<html><body><p>The page that another command waits for.</p></body></html>"

    play.site.pages["/p1"] = slow
    play.crawl("--concurrency", "1")
    play.note("beside", busy)


@history
def several_sites(play):
    small(play, 4)
    play.page("/docs/", ["/docs/a"])
    play.page("/docs/a")
    play.site.pages["/broken/"] = (500, {}, "broken")
    sites = "".join(f'[[site]]\nurl = "{play.url}{path}"\noutput = "out{path}"\n' for path in ("/docs/", "/broken/"))
    play.file("arpent.toml", 'politeness.rate = "unlimited"\n' + sites)
    play.arpent("crawl")
    play.arpent("crawl", "--json")
    play.arpent("status")
    play.arpent("report", play.url + "/docs/")


@history
def wrong_usage(play):
    play.arpent("diff", "http://[", "http://[")
    play.arpent("check", "http://[")
    play.arpent("init", "http://[", "-y")
    play.arpent("audit", "https://www.example.org/", "--sitemap", "http://[")
    play.arpent("crawl")
    play.arpent("crawl", "not a url")
    play.arpent("crawl", "http://127.0.0.1:1/")
    play.arpent("publish", "https://www.example.org/")
    play.arpent("publish")
    play.arpent("report")
    play.arpent("why", "https://www.example.org/")
    play.arpent("notify", "https://www.example.org/")
    play.arpent("forget", "https://www.example.org/")
    play.arpent("diff", "a", "b")
    play.arpent("build", "nothing")
    play.file("broken.toml", "output = [")
    play.arpent("crawl", "https://www.example.org/", "-c", "broken.toml")
    play.file("wrong.toml", 'rate = "fast"\nconcurrency = -1\nunknown = true\n')
    play.arpent("crawl", "https://www.example.org/", "-c", "wrong.toml")
    play.arpent("status", "--state", "broken.toml")
    play.file("state/arpent/x.db", "not a database")
    play.arpent("status")
