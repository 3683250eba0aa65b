import { expect } from 'chai';
import { AdoptionPost } from '../../../domain/adoption/adoption-post.model.js';
import { createAdoption } from '../../../domain/adoption/index.js';
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

  it('are found by number, and left out where there is none', async () => {
    const adoption = createAdoption({ clock });
    const no = await adoption.createPost(POST);
    const facts = { no, title: POST.title, authorNo: 7 };
    expect(await adoption.findPost(no)).to.deep.equal(facts);
    expect(await adoption.findPost(999_999_999)).to.equal(undefined);
    expect([...(await adoption.findPosts([no, no, 999_999_999]))]).to.deep.equal([[no, facts]]);
  });

  it('saved again under the same number replace the post and keep its creation time', async () => {
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

  it('imported under a high number push the sequence past it', async () => {
    const adoption = createAdoption({ clock });
    const high = (await adoption.createPost(POST)) + 1_000;
    expect(await adoption.savePost({ ...POST, id: high })).to.equal(high);
    expect(await adoption.createPost(POST)).to.equal(high + 1);
  });

  it('are listed as the same array until a post is written here or it has aged', async () => {
    const [here, elsewhere] = [createAdoption({ clock }), createAdoption({ clock })];
    const before = await here.listRenderRecords();
    expect(await here.listRenderRecords()).to.equal(before);
    const mine = await here.createPost(POST);
    const after = await here.listRenderRecords();
    expect(after[0]?.id).to.equal(mine);
    const other = await elsewhere.createPost(POST);
    expect(await here.listRenderRecords()).to.equal(after);
    now += 60_000;
    expect((await here.listRenderRecords())[0]?.id).to.equal(other);
  });
});
