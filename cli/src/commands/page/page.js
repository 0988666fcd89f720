// The live parts of the page are fetched again when something changed, and each minute, unless the page is hidden. What is the same stays,
// so that nobody clicks beside it.
const live = () => document.querySelectorAll('[data-live]');
const change = (old, now) => {
    if (old.isEqualNode(now)) return;
    if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== now.nodeName || old.childNodes.length !== now.childNodes.length
        || old.attributes.length !== now.attributes.length) {
        old.replaceWith(now.cloneNode(true));
        return;
    }
    for (const { name, value } of now.attributes) old.setAttribute(name, value);
    [...old.childNodes].forEach((child, at) => change(child, now.childNodes[at]));
};
const refresh = async () => {
    if (document.hidden) return;
    const place = new URL(location.href);
    place.searchParams.set('live', '');
    try {
        const answer = await fetch(place, { headers: { Accept: 'text/html' } });
        const now = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelectorAll('[data-live]');
        const isOther = (part, at) => part.dataset.version !== now[at].dataset.version;
        if (!answer.ok || now.length !== live().length) return;
        // The rest of the page is of an earlier session.
        if ([...live()].some(isOther)) location.reload();
        else live().forEach((part, at) => change(part, now[at]));
    } catch {
        // The program has ended; the page stays as it is.
    }
};
if (live().length) {
    // A browser has few connections for all of its tabs.
    let events;
    const follow = () => {
        events?.close();
        if (document.hidden) return;
        events = new EventSource('/changes');
        events.addEventListener('message', refresh);
    };
    document.addEventListener('visibilitychange', follow);
    follow();
    setInterval(refresh, 60000);
}
