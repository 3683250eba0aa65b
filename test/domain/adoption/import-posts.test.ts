import { expect } from 'chai';
import { AdoptionPost } from '../../../domain/adoption/adoption-post.model.js';
import { type Adoption, createAdoption, type ImportedPost } from '../../../domain/adoption/index.js';
import { meanwhile } from '../../support/database-calls.js';
import { service } from '../../support/service.js';

let rows = 0;

/** A post that no other test imports. */
function post(over: Partial<ImportedPost> = {}): ImportedPost {
  rows += 1;
  return {
    authorNo: 7,
    title: `Imported ${rows}`,
    name: 'Nabi',
    age: '3',
    kind: 'Korean Shorthair',
    latitude: 35.1796,
    longitude: 129.0756,
    thumbnail: '/nabi.png',
    ...over,
  };
}

describe('imported posts', () => {
  let here: Adoption;
  let elsewhere: Adoption;
  const clock = { now: () => Date.UTC(2026, 0, 1) };

  before(async () => {
    await service();
  });
  beforeEach(() => {
    [here, elsewhere] = [createAdoption({ clock }), createAdoption({ clock })];
  });

  // By number first: no index serves a title alone.
  const stored = (...titles: string[]) =>
    AdoptionPost.find({ _id: { $gt: 0 }, title: { $in: titles } })
      .sort({ _id: 1 })
      .lean();

  it('are stored with and without a number, and a repeated import changes nothing', async () => {
    const high = (await here.savePost(post())) + 100;
    const [numbered, first, second] = [post({ id: high }), post(), post()];
    const all = [first, numbered, second];
    expect(await here.importPosts(all)).to.deep.equal(['created', 'created', 'created']);
    const before = await stored(...all.map(({ title }) => title));
    const { id: _, ...fields } = numbered;
    expect(before[0]).to.deep.equal({
      ...fields,
      _id: high,
      modal: false,
      createdAt: new Date(clock.now()),
    });
    // Those without a number come behind it, each with one of its own.
    expect(before.slice(1).map(({ _id, title }) => [_id, title])).to.deep.equal([
      [high + 1, first.title],
      [high + 2, second.title],
    ]);
    expect(await here.importPosts(all)).to.deep.equal(['unchanged', 'unchanged', 'unchanged']);
    for (const record of before) expect(await AdoptionPost.findById(record._id).lean()).to.deep.equal(record);
  });

  const changes: Partial<ImportedPost>[] = [
    { age: '4' },
    { kind: 'Siamese' },
    { latitude: 1 },
    { longitude: 2 },
    { thumbnail: '/other.png' },
  ];
  for (const change of changes) {
    it(`replace ${Object.keys(change)[0]}, and that alone, where it has changed`, async () => {
      const row = post();
      await here.importPosts([row]);
      const [before] = await stored(row.title);
      expect(await elsewhere.importPosts([{ ...row, ...change }])).to.deep.equal(['updated']);
      expect(await stored(row.title)).to.deep.equal([{ ...before, ...change }]);
    });
  }

  it('with a number may change their author, title and name', async () => {
    const id = (await here.savePost(post())) + 1;
    const row = post({ id });
    await here.importPosts([row]);
    const changed = { ...row, authorNo: 8, title: `${row.title}, changed`, name: 'Bori' };
    expect(await here.findPost(id)).to.include({ authorNo: 7 });
    expect(await here.importPosts([changed])).to.deep.equal(['updated']);
    expect(await here.findPost(id)).to.deep.equal({ no: id, title: changed.title, authorNo: 8 });
    expect((await here.listRenderRecords())[0]).to.include({ id, name: 'Bori' });
  });

  it('differ if author, title or name differ', async () => {
    const row = post();
    const all = [row, { ...row, authorNo: 8 }, { ...row, name: 'Bori' }, { ...row, title: `${row.title}!` }];
    expect(await here.importPosts(all)).to.deep.equal(['created', 'created', 'created', 'created']);
  });

  it('never overwrite a post without a number by its number', async () => {
    const row = post();
    await here.importPosts([row]);
    const before = await stored(row.title);
    const id = before[0]?._id as number;
    expect(await here.importPosts([post({ id }), post()])).to.deep.equal(['taken', 'created']);
    expect(await stored(row.title)).to.deep.equal(before);
    // Its own number, told beside its own identity, is no other post's.
    expect(await here.importPosts([{ ...row, id, age: '9' }])).to.deep.equal(['updated']);
  });

  for (const numbered of [false, true]) {
    it(`${numbered ? 'with' : 'without'} a number: what another import has stored meanwhile is told`, async () => {
      const id = numbered ? (await here.savePost(post())) + 10 : undefined;
      const [same, other, mine] = [post({ id }), post(id === undefined ? {} : { id: id + 1 }), post()];
      const outcomes = await meanwhile(
        'before',
        [AdoptionPost, 'insertMany'],
        () => elsewhere.importPosts([same, { ...other, age: '1' }]),
        () => here.importPosts([same, mine, other]),
      );
      expect(outcomes).to.deep.equal(['unchanged', 'created', 'updated']);
      expect((await stored(other.title)).map(({ age }) => age)).to.deep.equal([other.age]);
      expect(await stored(same.title)).to.have.length(1);
    });
  }

  it('refused by the database are not reported as stored', async () => {
    const refused = await meanwhile(
      'before',
      [AdoptionPost, 'insertMany'],
      () => {
        throw new Error('database away');
      },
      () => here.importPosts([post()]).catch((error: Error) => error.message),
    );
    expect(refused).to.equal('database away');
  });

  it('may be empty', async () => {
    expect(await here.importPosts([])).to.deep.equal([]);
  });
});
