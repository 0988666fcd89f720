// Every ten seconds the live part of the page is fetched again, unless somebody types in it or the page is hidden.
const live = document.querySelector('[data-live]');
if (live) {
    setInterval(async () => {
        if (document.hidden || live.contains(document.activeElement)) return;
        try {
            const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
            const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
            const now = page.querySelector('[data-live]');
            if (answer.ok && now) live.replaceChildren(...now.childNodes);
        } catch {
            // The program has ended; the page stays as it is.
        }
    }, 10000);
}
