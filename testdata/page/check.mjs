// Opens reports in Chromium and says what a reader meets: how long until the process
// map stands, what axe finds wrong for readers who cannot see or point, and whether
// the page printed a problem. Screenshots go to a folder, light and dark.
//
//   node check.mjs FOLDER REPORT...
//
// FOLDER holds node_modules with playwright-core and axe-core. The exit code is 1 for
// a fault that axe does not call minor, a problem on the console, or a page that takes over two seconds
// (TIMES=ignore in the environment leaves the last one out).
import { createRequire } from 'node:module';
import { readFileSync, existsSync } from 'node:fs';
import { join, resolve, basename } from 'node:path';

const [folder, ...reports] = process.argv.slice(2).map((p) => resolve(p));
const require = createRequire(join(folder, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => existsSync(p));
if (!executablePath) {
  console.log('skipped: no Chromium is installed');
  process.exit(0);
}
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let bad = 0;
for (const report of reports) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 }, bypassCSP: true });
    const page = await context.newPage();
    const problems = [];
    page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') problems.push(m.text()); });
    page.on('pageerror', (e) => problems.push(String(e)));
    page.on('request', (r) => { if (!r.url().startsWith('file:') && !r.url().startsWith('data:')) problems.push(`asks for ${r.url()}`); });
    const began = performance.now();
    await page.goto(`file://${report}`);
    await page.waitForSelector('.map canvas');
    const took = performance.now() - began;

    // What a reader does: choose a tool, show more steps, sort a table, open a run.
    await page.selectOption('[data-app=process-map] select >> nth=1', { index: 1 });
    await page.locator('[data-app=process-map] input[type=range]').fill('95');
    await page.locator('[data-app=process-map]').screenshot({ path: join(folder, `${basename(report, '.html')}-map-${colorScheme}.png`) });
    if (!(await page.locator('.details h3').count())) problems.push('choosing a tool shows nothing');
    await page.locator('[data-app=timelines] summary').first().click();
    if (!(await page.locator('[data-app=timelines] ol li').count())) problems.push('opening a run shows nothing');
    await page.locator('[data-app=timelines]').screenshot({ path: join(folder, `${basename(report, '.html')}-runs-${colorScheme}.png`) });
    const rest = page.locator('.rest').first();
    if (await rest.count()) {
      const before = await page.locator('table.folded').count();
      await rest.click();
      if ((await page.locator('table.folded').count()) !== before - 1) problems.push('a long table does not open');
    }
    const sort = page.locator('th .sort').first();
    await sort.focus();
    await page.keyboard.press('Enter');
    if ((await page.locator('th[aria-sort=ascending]').count()) !== 1) problems.push('Enter does not sort');

    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: join(folder, `${basename(report, '.html')}-top-${colorScheme}.png`) });
    await page.addScriptTag({ content: axe });
    const found = await page.evaluate(() => globalThis.axe.run());
    const serious = found.violations.filter((v) => v.impact !== 'minor');
    console.log(`${basename(report)} ${colorScheme}: ${Math.round(took)} ms, ${found.passes.length} checks of axe passed, ${serious.length} faults, ${problems.length} problems`);
    for (const v of found.violations) console.log(`  ${v.impact}: ${v.id}, ${v.nodes.length} times: ${v.help}\n    ${v.nodes[0].target.join(' ')}`);
    for (const p of problems) console.log(`  ${p}`);
    if (serious.length || problems.length || (took > 2000 && process.env.TIMES !== 'ignore')) bad++;
    await context.close();
  }
  // On a telephone, and on paper: nothing may stick out at the side.
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, bypassCSP: true });
  const page = await context.newPage();
  await page.goto(`file://${report}`);
  await page.waitForSelector('.map canvas');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await page.screenshot({ path: join(folder, `${basename(report, '.html')}-narrow.png`) });
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 794, height: 1123 });
  const paper = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await page.screenshot({ path: join(folder, `${basename(report, '.html')}-print.png`) });
  for (const [what, out] of [['narrow', wide], ['print', paper]]) {
    console.log(`${basename(report)} ${what}: ${out > 0 ? `${out} pixels stick out` : 'fits'}`);
    if (out > 0) bad++;
  }
  await context.close();
}
await browser.close();
process.exit(bad ? 1 : 0);
