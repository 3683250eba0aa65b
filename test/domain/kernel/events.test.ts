import { expect } from 'chai';
import { createEventBus, type DomainEvents } from '../../../domain/kernel/events.js';
import { gate, nextTurn } from '../../support/eventually.js';

const LEADING: DomainEvents['article.leading'] = {
  articleId: 1,
  authorNo: 2,
  title: 'a title',
  window: 'hot',
};

describe('events between areas', () => {
  it('are published when every listener of their name is done', async () => {
    const bus = createEventBus();
    const heard: unknown[] = [];
    const { open: finish, opened: slow } = gate();
    bus.on('article.leading', async (event) => void heard.push(event));
    bus.on('article.leading', async (event) => {
      await slow;
      heard.push(event);
    });
    bus.on('comment.created', async (event) => void heard.push(event));
    let announced = false;
    const announcement = bus.publish('article.leading', LEADING).then(() => {
      announced = true;
    });
    await nextTurn();
    expect([heard.length, announced]).to.deep.equal([1, false]);
    finish();
    await announcement;
    expect(heard).to.deep.equal([LEADING, LEADING]);
  });

  it('reject if a listener fails', async () => {
    const bus = createEventBus();
    bus.on('article.leading', async () => {});
    bus.on('article.leading', () => Promise.reject(new Error('not stored')));
    const fault = await bus.publish('article.leading', LEADING).catch((error: Error) => error);
    expect(fault).to.have.property('message', 'not stored');
  });

  it('may have no listener', () => createEventBus().publish('article.leading', LEADING));
});
