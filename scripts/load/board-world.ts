import { type AnyBulkWriteOperation, type Document, MongoClient } from 'mongodb';

/** Records written together. */
const BATCH = 2_000;

const TEXT = 'She likes warm places, is used to children and will not mind another cat in the house. ';

async function write(
  uri: string,
  collection: string,
  count: number,
  record: (i: number) => Document,
): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const target = client.db().collection(collection);
    for (let from = 0; from < count; from += BATCH) {
      const records = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => record(from + i));
      await target.insertMany(records as never[], { ordered: false });
    }
  } finally {
    await client.close();
  }
}

async function reserve(uri: string, name: string, value: number): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const change: AnyBulkWriteOperation = {
      updateOne: { filter: { _id: name as never }, update: { $max: { value } }, upsert: true },
    };
    await client.db().collection('sequences').bulkWrite([change]);
  } finally {
    await client.close();
  }
}

/** Live articles 1 … count, of these authors in turn. */
export async function seedArticles(uri: string, count: number, authors: number[]): Promise<void> {
  const first = Date.now() - count * 60_000;
  await reserve(uri, 'article', count);
  await write(uri, 'articles', count, (i) => ({
    _id: i + 1,
    authorNo: authors[i % authors.length],
    categoryId: 1 + (i % 5),
    title: `Article ${i + 1} about a cat`,
    context: TEXT.repeat(3),
    images: [],
    thumbnail: '/cat.jpg',
    state: 'live',
    publishedAt: new Date(first + i * 60_000),
    views: i % 97,
    hearts: i % 13,
    heartsVersion: 0,
    comments: 0,
    commentsVersion: 0,
  }));
}

/** Comments on article 1, every third one a reply to the comment before. */
export async function seedComments(uri: string, count: number, authors: number[]): Promise<void> {
  await reserve(uri, 'comment', count);
  await write(uri, 'comments', count, (i) => ({
    _id: i + 1,
    articleId: 1,
    parentId: i % 3 === 1 ? i : 0,
    authorNo: authors[i % authors.length],
    context: TEXT,
    state: 'live',
    publishedAt: new Date(),
    hearts: 0,
    heartsVersion: 0,
    repliesVersion: 0,
  }));
}

/** Adoption posts 2 … count + 1. */
export async function seedPosts(uri: string, count: number, authors: number[]): Promise<void> {
  await reserve(uri, 'adoption', count + 1);
  await write(uri, 'adoptionPosts', count, (i) => ({
    _id: i + 2,
    authorNo: authors[i % authors.length],
    title: `Post ${i + 2}`,
    name: 'Mimi',
    age: '2',
    kind: 'cat',
    latitude: 37 + i / 10_000,
    longitude: 127,
    thumbnail: '/mimi.jpg',
    modal: false,
    createdAt: new Date(),
  }));
}

/** Rooms first … first + count - 1 of one member with others in turn, each with messages of both. */
export async function seedRooms(
  uri: string,
  first: number,
  count: number,
  memberNo: number,
  others: number[],
  messagesEach: number,
): Promise<void> {
  const nobody = { seq: 0, others: 0 };
  await reserve(uri, 'room', first + count);
  await write(uri, 'rooms', count, (i) => ({
    _id: first + i,
    saleNo: 2 + i,
    creator: memberNo,
    joiner: others[i % others.length],
    createdAt: new Date(),
    read: { creator: nobody, joiner: nobody },
  }));
  await write(uri, 'messages', count * messagesEach, (k) => {
    const [i, seq] = [Math.floor(k / messagesEach), (k % messagesEach) + 1];
    const byCreator = seq % 2 === 1;
    const sent = { creator: Math.ceil(seq / 2), joiner: Math.floor(seq / 2) };
    return {
      _id: `0199${String(first + i).padStart(8, '0')}${String(seq).padStart(8, '0')}`,
      chatNo: first + i,
      seq,
      senderNo: byCreator ? memberNo : others[i % others.length],
      contentType: 'text',
      content: TEXT,
      sentAt: new Date(Date.now() - (messagesEach - seq) * 1_000 - i),
      sent,
      read: { creator: { seq, others: sent.joiner }, joiner: { seq, others: sent.creator } },
    };
  });
}

/** Notifications of one member, newest last. */
export async function seedNotifications(uri: string, count: number, memberNo: number): Promise<void> {
  await reserve(uri, 'notification', count);
  await write(uri, 'notifications', count, (i) => ({
    _id: i + 1,
    memberNo,
    n: i + 1,
    type: 'comment',
    content: TEXT,
    url: '/board/1',
    originNo: 0,
    publishedAt: new Date(),
    checked: false,
    deleted: false,
    cause: `load:${i + 1}`,
  }));
}
