import { expect } from 'chai';
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

  it('answers the same with and without _csrf, whatever it is', async () => {
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
    expect(bodies).to.deep.equal(['[1]', '[1]', '[2]']);
  });

  it('refuses a bad token, though it needs none', async () => {
    const { status } = await call('/adopt/render', { headers: { Authorization: 'nonsense' } });
    expect(status).to.equal(401);
  });

  it('accepts no other method', async () => {
    const { status, headers } = await anyone.post('/adopt/render', {});
    expect([status, headers.get('allow')]).to.deep.equal([405, 'HEAD, GET']);
  });
});
