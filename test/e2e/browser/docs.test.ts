import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { service } from '../../support/service.js';
import { launchChromium, openPage, type WatchedPage } from './chromium.js';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1_440, height: 900 };

/** One page for each window size: opening one takes half a second of CPU time. */
describe('the page of the documents in a browser', () => {
  let browser: Browser;
  const pages: Partial<Record<'phone' | 'desktop', WatchedPage>> = {};
  const pageOf = (name: 'phone' | 'desktop') => (pages[name] as WatchedPage).page;

  before(async function () {
    browser = await launchChromium(this);
    const { http } = await service();
    for (const [name, viewport] of [
      ['phone', PHONE],
      ['desktop', DESKTOP],
    ] as const) {
      pages[name] = await openPage(browser, viewport);
      await pageOf(name).goto(`${http}/docs`, { waitUntil: 'networkidle' });
    }
  });
  afterEach(() => {
    for (const { consoleErrors, foreign } of Object.values(pages)) {
      expect(consoleErrors).to.deep.equal([]);
      expect(foreign, 'other hosts').to.deep.equal([]);
    }
  });
  after(() => browser?.close());

  for (const name of ['phone', 'desktop'] as const) {
    it(`renders on a ${name} in light and dark, without requests to other hosts and without errors`, async () => {
      const page = pageOf(name);
      expect(await page.locator('article.call').count()).to.be.greaterThan(35);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(tooWide, `${colorScheme}: wider than the window by`).to.equal(0);
      }
    });
  }

  it('puts the address of the service into its examples', async () => {
    const { http } = await service();
    const example = pageOf('desktop').locator('#listRenderRecords pre').first();
    expect(await example.textContent()).to.include(`${http}/adopt/render`);
  });

  it('finds a call by its name', async () => {
    const page = pageOf('desktop');
    await page.getByRole('searchbox').fill('push chat');
    const links = page.locator('nav a[href="#pushChatNotification"]');
    await links.waitFor();
    expect(await page.locator('nav ul ul li:visible').count()).to.equal(1);
    await links.click();
    await page.locator('#pushChatNotification').waitFor();
    expect(new URL(page.url()).hash).to.equal('#pushChatNotification');
  });

  it('opens and closes its contents on a phone, by keyboard too', async () => {
    const page = pageOf('phone');
    const contents = page.locator('#contents');
    expect(await contents.isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Contents' }).press('Enter');
    await contents.waitFor();
    await page.keyboard.press('Escape');
    await contents.waitFor({ state: 'hidden' });
  });
});
