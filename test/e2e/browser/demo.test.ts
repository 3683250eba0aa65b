import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { launchChromium, openPage, type WatchedPage } from './chromium.js';

/** One page for all tests: opening one takes half a second of CPU time. */
describe('the demo page in a browser', () => {
  let browser: Browser;
  let demo: ServiceProcess;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    browser = await launchChromium(this);
    demo = await startServiceProcess({ DEMO: 'on' });
    const as = async (email: string, nickname: string) => demo.as(await demo.token(email, { nickname }));
    const author = await as('author@example.org', 'The author');
    const asker = await as('asker@example.org', 'The asker');
    const room = { saleNo: demo.saleNo, createMember: demo.authorNo };
    await asker.post('/chatroom', room);
    const { body } = await asker.get<{ joinMember: number }[]>('/chatroom');
    const article = { categoryId: 1, title: 'Bori & <i>friends</i>', context: 'A text', imageList: [] };
    await author.post('/community/article', article);
    const path = `/demo#${demo.authorNo}-${body[0]?.joinMember}`;
    watched = await openPage(browser, { width: 1_440, height: 900 });
    page = watched.page;
    await page.goto(demo.http + path);
    await page.locator('body[data-ready]').waitFor();
    await page.locator('#left .dot.on').waitFor();
    await page.locator('#right .dot.on').waitFor();
  });

  afterEach(() => {
    expect(watched.consoleErrors).to.deep.equal([]);
    expect(watched.foreign).to.deep.equal([]);
  });

  after(async () => {
    await browser?.close();
    await demo?.stop();
  });

  async function write(side: 'left' | 'right', text: string): Promise<void> {
    await page.locator(`#${side} textarea`).fill(text);
    await page.locator(`#${side} textarea`).press('Enter');
  }

  it('shows a message on the other side, who is typing, and that it was read', async () => {
    await page.locator('#left textarea').fill('Hello');
    await page.locator('#right .typing', { hasText: 'The author is typing' }).waitFor();
    await page.locator('#left textarea').press('Enter');
    await page.locator('#right .bubble:not(.mine)', { hasText: 'Hello' }).waitFor();
    await page.locator('#left .bubble.mine', { hasText: /Hello.*read/s }).waitFor();
    await write('right', 'Hello to you');
    await page.locator('#left .bubble:not(.mine)', { hasText: 'Hello to you' }).waitFor();
    await page.locator('#left .room', { hasText: 'Hello to you' }).waitFor();
    expect(await page.locator('#left .bubble').count()).to.equal(
      await page.locator('#right .bubble').count(),
    );
  });

  it('shows whatever people write as text', async () => {
    const hostile = '<img src=x onerror="document.title=1"><b>bold</b>';
    await write('left', hostile);
    const bubble = page.locator('#right .bubble:not(.mine)', { hasText: hostile });
    await bubble.waitFor();
    expect(await bubble.locator('img, b').count()).to.equal(0);
    expect(await page.locator('.card .opener', { hasText: 'Bori & <i>friends</i>' }).count()).to.equal(1);
  });

  it('notifies an absent member on the stream, and counts unread messages', async () => {
    await page.locator('#right').getByRole('button', { name: 'Close room' }).click();
    await page.locator('#left .presence', { hasText: 'not in this room' }).waitFor();
    await write('left', 'Are you there?');
    const notice = page.locator('#right .notice', { hasText: 'Are you there?' });
    await notice.waitFor();
    await page.locator('#right .room .unread').waitFor();
    await notice.click();
    await page.locator('#right .bubble:not(.mine)', { hasText: 'Are you there?' }).waitFor();
    await page.locator('#right .room .unread').waitFor({ state: 'detached' });
    await page.locator('#left .bubble.mine', { hasText: /Are you there\?.*read/s }).waitFor();
  });

  it('accepts hearts and comments, and notifies the author', async () => {
    await page.locator('.acting label', { hasText: 'The asker' }).click();
    const card = page.locator('.card').first();
    await card.locator('.opener').click();
    await card.locator('.heart').first().click();
    await card.locator('.heart[aria-pressed="true"]', { hasText: '1' }).waitFor();
    await card.getByPlaceholder('Write a comment').fill('What a pair');
    await card.getByPlaceholder('Write a comment').press('Enter');
    await card.locator('.comment', { hasText: 'What a pair' }).waitFor();
    await page.locator('#left .notice', { hasText: 'What a pair' }).waitFor();
  });

  it('shows adoption posts on its map, by keyboard too', async () => {
    await page.locator('.marker').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('.post h3', { hasText: 'Bori' }).waitFor();
    await page.locator('.post').getByRole('button', { name: 'Ask as The asker' }).click();
    await page.locator('#right .chat-bar', { hasText: 'The author' }).waitFor();
  });

  it('fits a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
  });
});
