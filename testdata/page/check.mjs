// Opens reports in Chromium and says what a reader meets: how long until the page is drawn,
// what axe finds wrong, what the page prints on the console or asks for, whether its parts
// work, and whether anything is wider than the window. Screenshots go to a folder: at 1280 and
// 400 pixels, light and dark, and the pages for a printer.
//
//   node check.mjs FOLDER REPORT...
//
// FOLDER holds node_modules with playwright-core and axe-core. The exit code is 1 for anything
// that axe finds, a problem, a page that takes over two seconds (TIMES=ignore in the
// environment leaves that out) or is larger than 1 MB, more than 8 printed pages, and where
// there is no Chromium: this target skips nothing.
import { createRequire } from 'node:module';
import { readFileSync, existsSync, statSync } from 'node:fs';
import { join, resolve, basename } from 'node:path';

const [folder, ...reports] = process.argv.slice(2).map((p) => resolve(p));
const require = createRequire(join(folder, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => existsSync(p));
if (!executablePath || reports.length === 0) {
  console.log('no Chromium is installed, or there are no reports');
  process.exit(1);
}
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let bad = 0;
const say = (name, list) => {
  for (const text of list) console.log(`  ${name}: ${text}`);
  bad += list.length;
};

// used does what a reader does, and returns what did not work.
const used = async (page) => {
  const problems = [];
  const works = async (what, is) => { if (!(await is)) problems.push(`${what}: nothing happens`); };
  const map = page.locator('[data-app=process-map]');
  if (await map.count()) {
    await map.locator('select').nth(1).selectOption({ index: 1 });
    await works('choosing a tool', map.locator('.details h3').count());
    await map.locator('input[type=range]').fill('95');
    await map.locator('input[type=range]').dispatchEvent('change');
    await works('the slider', map.locator('svg .node').count());
    const small = await map.locator('svg text').evaluateAll((all) => all.filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11).length);
    if (small) problems.push(`${small} labels of the map are smaller than 11 pixels`);
    for (let i = 0; i < 6; i++) await map.getByRole('button', { name: 'zoom out' }).click();
    await works('zooming out', map.locator('svg .node').count());
    await map.locator('svg .node').first().focus();
    await page.keyboard.press('Enter');
    await works('the keyboard in the map', map.locator('.node.chosen').count());
    const link = map.locator('.details .link').first();
    if (await link.count()) {
      await link.click();
      await works('a trajectory of the map', page.locator('.runs figure.trace').count());
    }
  }
  const run = page.locator('.runs .run summary').first();
  if (await run.count()) {
    await run.click();
    await works('opening a trajectory', page.locator('.runs .run figure.trace').count());
  }
  const finding = page.locator('.pair details summary').first();
  if (await finding.count()) {
    await finding.click();
    await works('opening a finding', page.locator('.pair details[open] pre').count());
  }
  const opener = page.locator('.opener').first();
  if (await opener.count()) {
    await opener.click();
    await works('opening a row', page.locator('.more.open pre').count());
  }
  const copy = page.locator('.copy:visible').first();
  if (await copy.count()) {
    await copy.click();
    await works('copying a command', page.evaluate(() => getSelection().toString().startsWith('awo ')));
  }
  await page.locator('details.appendix > summary').click();
  const sort = page.locator('th .sort:visible').first();
  await sort.focus();
  await page.keyboard.press('Enter');
  await works('Enter in a heading of a table', page.locator('th[aria-sort=ascending]').count());
  return problems;
};

for (const report of reports) {
  const name = basename(report, '.html');
  const size = statSync(report).size;
  if (size > 1e6) say(name, [`${size} bytes are more than 1 MB`]);
  const times = [];
  for (const width of [1280, 400]) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      const problems = [];
      page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') problems.push(m.text()); });
      page.on('pageerror', (e) => problems.push(String(e)));
      page.on('request', (r) => { if (!/^(file|data):/.test(r.url())) problems.push(`asks for ${r.url()}`); });
      const began = performance.now();
      await page.goto(`file://${report}`, { waitUntil: 'load' });
      times.push(Math.round(performance.now() - began));
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}-whole.png`), fullPage: true });
      problems.push(...(await used(page).catch((e) => [String(e).split('\n')[0]])));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) problems.push(`${wide} pixels stick out at the side`);
      if (await page.evaluate(() => document.querySelectorAll('img, iframe, object, [style*="url("]').length)) problems.push('a name became an element');
      await context.close();
      say(`${name} ${width} ${colorScheme}`, problems);

      // axe is a script that the policy of the page forbids: it looks at the page a second time.
      const open = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      const looked = await open.newPage();
      await looked.goto(`file://${report}`);
      await looked.evaluate(() => { for (const d of document.querySelectorAll('details')) d.open = true; for (const m of document.querySelectorAll('.more')) m.classList.add('open'); });
      await looked.addScriptTag({ content: axe });
      const found = await looked.evaluate(() => globalThis.axe.run());
      say(`${name} ${width} ${colorScheme} axe`, found.violations.map((v) => `${v.impact}: ${v.id}, ${v.nodes.length} times: ${v.help}: ${v.nodes[0].target.join(' ')}`));
      await open.close();
    }
  }
  if (Math.min(...times) > 2000 && process.env.TIMES !== 'ignore') say(name, [`it takes ${times.join(', ')} ms to open`]);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`file://${report}`);
  const pdf = await page.pdf({ path: join(folder, `${name}.pdf`), format: 'A4' });
  const printed = (pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) || []).length;
  if (printed > 8) say(name, [`${printed} pages are printed`]);
  await context.close();
  console.log(`${name}: ${size} bytes, opened in ${times.join(', ')} ms, ${printed} printed pages`);
}
await browser.close();
console.log(bad ? `${bad} problems` : 'no problems');
process.exit(bad ? 1 : 0);
