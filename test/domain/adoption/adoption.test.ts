import { expect } from 'chai';
import { AdoptionPost } from '../../../domain/adoption/adoption-post.model.js';
import { type Adoption, createAdoption } from '../../../domain/adoption/index.js';
import { interceptCalls, meanwhile } from '../../support/database-calls.js';
import { sleep } from '../../support/eventually.js';
import { service } from '../../support/service.js';

const POST = {
  authorNo: 7,
  title: 'Nabi looks for a home',
  name: 'Nabi',
  age: '3',
  kind: 'Korean Shorthair',
  latitude: 35.1796,
  longitude: 129.0756,
  thumbnail: '',
};

describe('adoption posts', () => {
  let now = Date.now();
  const clock = { now: () => now };

  before(async () => {
    await service();
  });

  it('are found by number, unknown numbers left out', async () => {
    const adoption = createAdoption({ clock });
    const no = await adoption.savePost(POST);
    const facts = { no, title: POST.title, authorNo: 7 };
    expect(await adoption.findPost(no)).to.deep.equal(facts);
    expect(await adoption.findPost(999_999_999)).to.equal(undefined);
    expect([...(await adoption.findPosts([no, no, 999_999_999]))]).to.deep.equal([[no, facts]]);
  });

  it('saved again under the same number keep their creation time', async () => {
    const adoption = createAdoption({ clock });
    const no = await adoption.savePost(POST);
    const { createdAt } = (await AdoptionPost.findById(no).lean()) ?? {};
    now += 60_000;
    expect(await adoption.savePost({ ...POST, id: no, title: 'Nabi has found one', authorNo: 8 })).to.equal(
      no,
    );
    expect(await adoption.findPost(no)).to.deep.equal({ no, title: 'Nabi has found one', authorNo: 8 });
    expect(await AdoptionPost.findById(no).lean()).to.deep.equal({
      ...POST,
      _id: no,
      title: 'Nabi has found one',
      authorNo: 8,
      modal: false,
      createdAt,
    });
  });

  const bringers: [string, (adoption: Adoption, id: number) => Promise<unknown>][] = [
    ['saved', (adoption, id) => adoption.savePost({ ...POST, id })],
    ['imported', (adoption, id) => adoption.importPosts([{ ...POST, id }])],
    ['reserved', (adoption, id) => adoption.reservePostNumbers(id)],
  ];
  for (const [how, bring] of bringers) {
    it(`${how} under a high number push the sequence past it, before anything is stored`, async () => {
      const adoption = createAdoption({ clock });
      const high = (await adoption.savePost(POST)) + 1_000;
      let other = 0;
      const stop = interceptCalls([AdoptionPost], async (_model, call, run) => {
        if (call !== 'find' && other === 0) {
          other = 1;
          other = await adoption.savePost(POST);
        }
        return run();
      });
      await bring(adoption, high);
      stop();
      if (how !== 'reserved') expect(other).to.equal(high + 1);
      expect(await adoption.savePost(POST)).to.be.above(high);
    });
  }

  it('are listed as the same array until a post is written here or the list expires', async () => {
    const [here, elsewhere] = [createAdoption({ clock }), createAdoption({ clock })];
    const before = await here.listRenderRecords();
    expect(await here.listRenderRecords()).to.equal(before);
    const mine = await here.savePost(POST);
    const after = await here.listRenderRecords();
    expect(after[0]?.id).to.equal(mine);
    const other = await elsewhere.savePost(POST);
    expect(await here.listRenderRecords()).to.equal(after);
    now += 60_000;
    expect((await here.listRenderRecords())[0]?.id).to.equal(other);
  });

  it('are read once for concurrent callers', async () => {
    const adoption = createAdoption({ clock });
    const [first, second] = await Promise.all([adoption.listRenderRecords(), adoption.listRenderRecords()]);
    expect(second).to.equal(first);
  });

  it('are read again after a failure', async () => {
    const adoption = createAdoption({ clock });
    const stop = interceptCalls([AdoptionPost], () => Promise.reject(new Error('database away')));
    const failed = await adoption.listRenderRecords().catch((error: Error) => error.message);
    stop();
    expect(failed).to.equal('database away');
    expect(await adoption.listRenderRecords()).not.to.have.length(0);
  });

  it('are listed from a read after the last local write', async () => {
    const adoption = createAdoption({ clock });
    let written = 0;
    const stale = await meanwhile(
      'after',
      [AdoptionPost, 'find'],
      async () => {
        written = await adoption.savePost(POST);
      },
      () => adoption.listRenderRecords(),
    );
    expect(stale[0]?.id).not.to.equal(written);
    expect((await adoption.listRenderRecords())[0]?.id).to.equal(written);
  });

  describe('written by another process', () => {
    const real = performance.now;
    let at = 0;
    beforeEach(() => {
      at = real.call(performance);
      performance.now = () => at;
    });
    afterEach(() => {
      performance.now = real;
    });

    for (const [cost, serves] of [
      [0, 2_000],
      [200, 4_000],
    ] as const) {
      it(`are listed after ${serves} ms where reading them takes ${cost} ms`, async () => {
        const [here, elsewhere] = [createAdoption({ clock }), createAdoption({ clock })];
        const advance = () => {
          at += cost;
        };
        const before = await meanwhile('after', [AdoptionPost, 'find'], advance, here.listRenderRecords);
        const no = await elsewhere.savePost(POST);
        now += serves - 1;
        expect(await here.listRenderRecords()).to.equal(before);
        now += 1;
        expect((await here.listRenderRecords())[0]?.id).to.equal(no);
      });
    }

    it('are listed at once if the clock was set back', async () => {
      const [here, elsewhere] = [createAdoption({ clock }), createAdoption({ clock })];
      await here.listRenderRecords();
      const no = await elsewhere.savePost(POST);
      now -= 3_600_000;
      expect((await here.listRenderRecords())[0]?.id).to.equal(no);
    });

    it('show a new title after 5 s', async () => {
      const [here, elsewhere] = [createAdoption({ clock }), createAdoption({ clock })];
      const no = await elsewhere.savePost(POST);
      expect((await here.findPost(no))?.title).to.equal(POST.title);
      await elsewhere.savePost({ ...POST, id: no, title: 'New' });
      expect((await here.findPost(no))?.title).to.equal(POST.title);
      at += 5_001;
      // The cache looks at its clock once a ms.
      await sleep(2);
      expect((await here.findPost(no))?.title).to.equal('New');
    });
  });

  it('are not cached if written while being read', async () => {
    const adoption = createAdoption({ clock });
    const no = await adoption.savePost(POST);
    await meanwhile(
      'after',
      [AdoptionPost, 'find'],
      () => adoption.savePost({ ...POST, id: no, title: 'New' }),
      () => adoption.findPost(no),
    );
    expect((await adoption.findPost(no))?.title).to.equal('New');
  });
});
