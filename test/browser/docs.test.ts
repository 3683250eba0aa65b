import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { service } from '../support/service.js';
import { launchChromium, openPage } from './chromium.js';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1_440, height: 900 };

describe('the page of the documents in a browser', () => {
  let browser: Browser;

  before(async function () {
    browser = await launchChromium(this);
  });
  after(() => browser?.close());

  for (const [name, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`renders on a ${name} in the ${colorScheme}, asks no other host and complains of nothing`, async () => {
        const { http } = await service();
        const { page, complaints, foreign } = await openPage(browser, ['127.0.0.1'], {
          viewport,
          colorScheme,
        });
        await page.goto(`${http}/docs`, { waitUntil: 'networkidle' });
        expect(await page.locator('article.call').count()).to.be.greaterThan(35);
        const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(tooWide, 'wider than the window by').to.equal(0);
        expect(complaints).to.deep.equal([]);
        expect(foreign).to.deep.equal([]);
        await page.close();
      });
    }
  }

  it('puts the address of the service into its examples', async () => {
    const { http } = await service();
    const { page } = await openPage(browser, ['127.0.0.1']);
    await page.goto(`${http}/docs#listRenderRecords`);
    expect(await page.locator('#listRenderRecords pre').first().textContent()).to.include(
      `${http}/adopt/render`,
    );
    await page.close();
  });

  it('finds a call by its name', async () => {
    const { http } = await service();
    const { page } = await openPage(browser, ['127.0.0.1'], { viewport: DESKTOP });
    await page.goto(`${http}/docs`);
    await page.getByRole('searchbox').fill('push chat');
    const links = page.locator('nav a[href="#pushChatNotification"]');
    await links.waitFor();
    expect(await page.locator('nav ul ul li:visible').count()).to.equal(1);
    await links.click();
    await page.locator('#pushChatNotification').waitFor();
    expect(new URL(page.url()).hash).to.equal('#pushChatNotification');
    await page.close();
  });

  it('opens and closes its contents on a phone, by keyboard too', async () => {
    const { http } = await service();
    const { page } = await openPage(browser, ['127.0.0.1'], { viewport: PHONE });
    await page.goto(`${http}/docs`);
    const contents = page.locator('#contents');
    expect(await contents.isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'Contents' }).press('Enter');
    await contents.waitFor();
    await page.keyboard.press('Escape');
    await contents.waitFor({ state: 'hidden' });
    await page.close();
  });
});
