import { createServer } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { openDriver } from '../driver.js';
import { listen } from '../worker-process.js';

/**
 * The limit of reads over HTTP: bare Koa routes that answer with the records of the service's queries. No token,
 * validation, rate limit, names or documented form. `koa-routes.js URI`.
 */
const db = (await openDriver(process.argv[2] as string)).db();

/** The member who reads. */
const me = 1;

const projection = (fields: string) => Object.fromEntries(fields.split(' ').map((field) => [field, 1]));

/** Fields of an article in a list, and of a post on the map. */
const SUMMARY = projection('authorNo title context views comments hearts publishedAt thumbnail');
const RENDERED = projection('name age kind latitude longitude thumbnail modal');
const LIKED = { hearts: -1, views: -1, _id: -1 } as const;

interface Numbered {
  _id: number;
}
const articles = db.collection<Numbered>('articles');
const messages = db.collection('messages');

function roomsOf(match: object) {
  const newest = [{ $sort: { seq: -1 } }, { $limit: 1 }];
  const head = { from: 'messages', localField: '_id', foreignField: 'chatNo', pipeline: newest, as: 'head' };
  return db
    .collection('rooms')
    .aggregate([{ $match: match }, { $lookup: head }])
    .toArray();
}

const router = new Router();
router.get('/community/list/recent', async (ctx) => {
  const [list, best] = await Promise.all([
    articles.find({ state: 'live' }, { projection: SUMMARY }).sort({ _id: -1 }).limit(10).toArray(),
    articles.find({ state: 'live' }, { projection: SUMMARY }).sort(LIKED).limit(1).toArray(),
  ]);
  ctx.body = { hot: best[0], weekly: best[0], list };
});
router.get('/community/article/:id', async (ctx) => {
  ctx.body = await articles.findOneAndUpdate(
    { _id: Number(ctx.params.id), state: 'live' },
    { $inc: { views: 1 } },
    { returnDocument: 'after' },
  );
});
router.get('/community/comment/:id', async (ctx) => {
  const articleId = Number(ctx.params.id);
  await articles.findOne({ _id: articleId, state: 'live' }, { projection: { _id: 1 } });
  ctx.body = await db
    .collection('comments')
    .find({ articleId, state: { $in: ['live', 'flagged'] } })
    .toArray();
});
router.get('/chatroom', async (ctx) => {
  ctx.body = (await Promise.all([roomsOf({ creator: me }), roomsOf({ joiner: me })])).flat();
});
router.get('/chatroom/:no', async (ctx) => {
  const chatNo = Number(ctx.params.no);
  await Promise.all([
    db.collection<Numbered>('rooms').findOne({ _id: chatNo }),
    messages.find({ chatNo }).sort({ seq: -1 }).limit(1).toArray(),
  ]);
  ctx.body = await messages.find({ chatNo }).sort({ seq: -1 }).limit(1_000).toArray();
});
router.get('/adopt/render', async (ctx) => {
  ctx.body = await db
    .collection('adoptionPosts')
    .find({}, { projection: RENDERED })
    .sort({ _id: -1 })
    .limit(50_000)
    .toArray();
});
router.get('/notification/all', async (ctx) => {
  ctx.body = await db
    .collection('notifications')
    .find({ memberNo: me, deleted: false })
    .sort({ n: -1 })
    .limit(10_000)
    .toArray();
});

const app = new Koa();
app.use(router.routes());
listen(createServer(app.callback()));
