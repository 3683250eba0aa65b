import { expect } from 'chai';
import { AdoptionPost } from '../../../domain/adoption/adoption-post.model.js';
import type { RenderRecord } from '../../../domain/adoption/index.js';
import type { Domain } from '../../../domain/domain.js';
import { adoptionRoutes } from '../../../http/adoption/adoption.routes.js';
import { anyone, call } from '../../support/api.js';
import { service } from '../../support/service.js';

const POST = {
  authorNo: 1,
  title: 'Bori looks for a home',
  name: '보리',
  age: 'about 2 years',
  kind: 'Jindo',
  latitude: 37.5665,
  longitude: 126.978,
  thumbnail: '/images/bori.png',
};

describe('GET /adopt/render', () => {
  it('shows exactly the documented fields, newest first, without a token', async () => {
    const { domain } = await service();
    const first = await domain.adoption.savePost(POST);
    const second = await domain.adoption.savePost({ ...POST, name: 'Nari', modal: true });
    const { status, headers, body } = await anyone.get<RenderRecord[]>('/adopt/render?_csrf=token');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json;charset=UTF-8');
    const common = {
      age: 'about 2 years',
      kind: 'Jindo',
      latitude: 37.5665,
      longitude: 126.978,
      thumbnail: '/images/bori.png',
    };
    expect(body.slice(0, 2)).to.deep.equal([
      { ...common, id: second, name: 'Nari', modal: true },
      { ...common, id: first, name: '보리', modal: false },
    ]);
  });

  it('44: answers the same with and without _csrf, whatever it is', async () => {
    const plain = (await anyone.get('/adopt/render')).body;
    for (const query of ['?_csrf=', '?_csrf=a&_csrf=b', '?_csrf[$ne]=1', '?page=2']) {
      expect((await anyone.get(`/adopt/render${query}`)).body).to.deep.equal(plain);
    }
  });

  it('is serialised once for all callers that get the same list', async () => {
    let times = 0;
    const one = { toJSON: () => (times += 1) };
    const adoption = { listRenderRecords: async () => list } as unknown as Domain['adoption'];
    const [call] = adoptionRoutes({ adoption });
    const bodies: unknown[] = [];
    let list = [one];
    for (const change of [false, false, true]) {
      if (change) list = [one];
      const ctx = { set() {}, body: undefined };
      await call?.definition.handle({ ctx } as never);
      bodies.push(String(ctx.body));
    }
    expect(bodies).to.deep.equal(['[1]\n', '[1]\n', '[2]\n']);
  });

  it('refuses a bad token, though it needs none', async () => {
    const { status } = await call('/adopt/render', { headers: { Authorization: 'nonsense' } });
    expect(status).to.equal(401);
  });

  it('accepts no other method', async () => {
    const { status, headers } = await anyone.post('/adopt/render', {});
    expect([status, headers.get('allow')]).to.deep.equal([405, 'HEAD, GET']);
  });

  it('44: lists the newest fifty thousand posts', async () => {
    const { domain } = await service();
    const last = await domain.adoption.savePost(POST);
    const posts = Array.from({ length: 50_000 }, (_, i) => ({ ...POST, _id: last + 1 + i, modal: false }));
    await AdoptionPost.collection.insertMany(posts as never[]);
    // The list is cached: another post makes it be read again.
    const newest = await domain.adoption.savePost({ ...POST, id: last + 50_001 });
    const { status, body } = await anyone.get<RenderRecord[]>('/adopt/render');
    expect([status, body.length, body[0]?.id]).to.deep.equal([200, 50_000, newest]);
  });
});
