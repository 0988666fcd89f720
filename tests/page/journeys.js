// The journeys of tests/page/run. The scene comes on standard input.
const assert = require('node:assert');
const fs = require('node:fs');
const puppeteer = require('puppeteer-core');

const scene = JSON.parse(fs.readFileSync(0, 'utf8'));
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = [390, 768, 1440];
const pathOf = url => '/site/' + url.replace('://', '_').replace(':', '_').replace(/\/$/, '').replaceAll('/', '_');

/** Somebody at a browser: everything that is done is a click, a text or a look. */
class User {
    constructor(page) {
        this.page = page;
        this.clicks = 0;
        // A script of a site would open one.
        page.on('dialog', dialog => { throw new Error(`a dialog: ${dialog.message()}`); });
    }

    async open(path) {
        await this.page.goto(scene.address + path);
    }

    async click(text) {
        for (const element of await this.page.$$('main a, main button'))
            if (await element.evaluate(element => element.textContent) === text) {
                this.clicks++;
                return Promise.all([this.page.waitForNavigation(), element.click()]);
            }
        assert.fail(`nothing to click: ${text}`);
    }

    async type(selector, text) {
        await this.page.type(selector, text);
    }

    /** Empty while the page loads itself again. */
    text() {
        return this.page.$eval('main', main => main.innerText).catch(() => '');
    }

    /** Waits until the page shows something; without JavaScript by loading it again. */
    async sees(text, hasScript) {
        for (let tries = 0; tries < 100; tries++) {
            if ((await this.text()).includes(text)) return;
            await new Promise(resolve => setTimeout(resolve, 300));
            if (!hasScript) await this.page.reload();
        }
        assert.fail(`the page does not show ${text}: ${await this.text()}`);
    }
}

async function logIn(user) {
    await user.open('/');
    await user.type('#token', scene.token);
    await user.click('Log in');
}

async function journeys(mode, [good, shrunk], user) {
    const hasScript = mode === 'with JavaScript';
    const journey = async (name, steps) => {
        user.clicks = 0;
        await user.open('/');
        await steps();
        console.log(`${mode}: ${name}: ${user.clicks} clicks`);
    };
    await journey('which site is broken', async () => {
        const rows = await user.page.$$eval('tbody tr', rows => rows.map(row => row.innerText));
        const places = [scene.down, shrunk, good].map(url => rows.findIndex(row => row.includes(url)));
        assert(places[0] < places[2] && places[1] < places[2] && places[0] >= 0, `the worst first: ${places}`);
        assert(rows[places[0]].includes('unreachable') && rows[places[1]].includes('refused'), rows.join('\n'));
    });
    await journey('why is this page missing', async () => {
        await user.click(good);
        await user.type('#url', '/gone');
        await user.click('Why');
        await user.sees('404', hasScript);
    });
    await journey('publish a refused crawl once', async () => {
        await user.click(shrunk);
        await user.sees('refused', hasScript);
        await user.click('Publish once');
        await user.sees('in spite of the guard', hasScript);
        await user.click('Publish once');
        await user.sees('exit code 0', hasScript);
    });
    await journey('roll back', async () => {
        await user.click(good);
        const before = await user.page.$$eval('#sets tbody tr', rows => rows.length);
        assert(before >= 3, `${before} sets`);
        await user.click('What a rollback to it changes');
        await user.sees('- ' + good + 'articles/', hasScript);
        await user.click('Roll back');
        await user.click('Roll back');
        await user.sees('exit code 0', hasScript);
    });
    await journey('pause until a Monday', async () => {
        await user.click(good);
        await user.click('Pause');
        await user.type('#value', 'next Monday');
        await user.click('Pause');
        await user.sees('expected a time such as', hasScript);
        await user.page.$eval('#value', field => { field.value = ''; });
        await user.type('#value', '2099-01-05');
        await user.click('Pause');
        await user.sees('exit code 0', hasScript);
        await user.sees('paused until 2099-01-05', hasScript);
    });
}

/** Every page on every width, light and dark. */
async function look(page, url) {
    const places = ['/', pathOf(url), `${pathOf(url)}/why?url=${url}gone`, `${pathOf(url)}/set/1`, `${pathOf(url)}/do/pause`, '/nothing'];
    for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        for (const width of WIDTHS) {
            await page.setViewport({ width, height: 900 });
            for (const place of places) {
                await page.goto(scene.address + place);
                const at = `${place}, ${scheme}, ${width} px`;
                assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `wider than the window: ${at}`);
                await page.evaluate(axe);
                const { violations } = await page.evaluate(() => axe.run());
                assert.deepEqual(violations.map(found => `${found.id}: ${found.nodes[0].html}`), [], at);
            }
        }
    }
    console.log(`axe-core: nothing found on ${places.length} pages, ${WIDTHS.length} widths, light and dark`);
}

/** The addresses on loopback are shown as names. */
async function pictures(page, url) {
    const urls = [...Object.values(scene.modes).flat(), scene.slow, scene.down];
    const hosts = ['www.example.com', 'shop.example.com', 'docs.example.com', 'blog.example.com', 'wiki.example.com', 'old.example.com'];
    const names = urls.map((url, at) => [url.slice(0, -1), `https://${hosts[at]}`]);
    names.push(['%22%3E%3Cscript%3Ealert(3)', 'a-page-that-is-gone']);
    const take = async (name, place, width, height, scheme) => {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await page.setViewport({ width, height });
        await page.goto(scene.address + place);
        await page.evaluate(names => {
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            for (let text = texts.nextNode(); text; text = texts.nextNode())
                for (const [url, name] of names) text.data = text.data.replaceAll(url, name);
        }, names);
        await page.screenshot({ path: `${scene.pictures}/${name}.png` });
    };
    await take('page-sites', '/', 1200, 620, 'light');
    await take('page-site', pathOf(url), 1200, 1000, 'light');
}

(async () => {
    const browser = await puppeteer.launch({ executablePath: scene.browser, args: ['--no-sandbox'] });
    try {
        for (const [mode, sites] of Object.entries(scene.modes)) {
            const context = await browser.createBrowserContext();
            const page = await context.newPage();
            await page.setJavaScriptEnabled(mode === 'with JavaScript');
            await page.setViewport({ width: mode === 'with JavaScript' ? 1440 : 390, height: 900 });
            const user = new User(page);
            await logIn(user);
            if (mode === 'with JavaScript') {
                await user.sees('pages done', true);
                if (scene.pictures) await pictures(page, sites[0]);
            }
            await journeys(mode, sites, user);
            await context.close();
        }
        const page = await browser.newPage();
        await page.setBypassCSP(true);
        await logIn(new User(page));
        await look(page, Object.values(scene.modes)[0][0]);
    } finally {
        await browser.close();
    }
})().catch(error => {
    console.error(error.message);
    process.exitCode = 1;
});
