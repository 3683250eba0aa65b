import { expect } from 'chai';
import {
  judgeIndexes,
  judgeSchema,
  judgeTopology,
  judgeWriteConcern,
} from '../../../scripts/doctor/database.js';

const up = (name: string) => ({ name, isUp: true });
const facts = {
  version: '7.0.12',
  setName: 'rs0',
  isSharded: false,
  isEmbedded: false,
  isEmpty: false,
  schema: { prepared: 1, finished: 1 },
  missingIndexes: [],
  skewMs: 0,
  members: [up('a'), up('b'), up('c')],
  writeConcern: { w: 'majority', journal: true },
};

describe('npm run doctor on a database', () => {
  it('finds a MongoDB without a majority to lose, and writes that wait for none', () => {
    expect(judgeTopology(facts)).to.deep.equal({
      result: 'ok',
      text: 'MongoDB 7.0.12, replica set rs0 of 3',
    });
    expect(judgeTopology({ ...facts, setName: undefined, members: [] }).text).to.include('single server');
    expect(judgeTopology({ ...facts, members: facts.members.slice(1) }).text).to.include('2 members');
    const oneDown = [...facts.members.slice(1), { name: 'a:27017', isUp: false }];
    expect(judgeTopology({ ...facts, members: oneDown }).text).to.include('a:27017 is down');
    expect(judgeWriteConcern(facts).result).to.equal('ok');
    expect(judgeWriteConcern({ ...facts, writeConcern: { w: 1, journal: true } }).result).to.equal('warning');
    expect(judgeWriteConcern({ ...facts, writeConcern: { w: 0, journal: false } }).result).to.equal(
      'failure',
    );
  });

  it('finds data of another release', () => {
    expect(judgeSchema(facts).result).to.equal('ok');
    expect(judgeSchema({ ...facts, schema: { prepared: 1, finished: 0 } }).result).to.equal('warning');
    expect(judgeSchema({ ...facts, schema: { prepared: 0, finished: 0 } }).result).to.equal('failure');
    expect(judgeSchema({ ...facts, schema: { prepared: 9, finished: 9 } }).result).to.equal('failure');
  });

  it('expects of older data what its migration brings, which a start does on the embedded database', () => {
    const older = {
      ...facts,
      schema: { prepared: 0, finished: 0 },
      missingIndexes: ['adoptionPosts {"importKey":1} unique'],
    };
    const embedded = { ...older, isEmbedded: true };
    expect(judgeSchema(embedded).result).to.equal('warning');
    expect(judgeSchema(embedded).text).to.match(/^schema version 0: the next start brings the data to 1/);
    expect(judgeSchema({ ...facts, isEmbedded: true, schema: { prepared: 9, finished: 9 } }).result).to.equal(
      'failure',
    );
    expect(judgeIndexes(older).remedy).to.equal('npm run migrate builds them');
    expect(judgeIndexes(embedded).remedy).to.equal('the next start builds them');
    expect(judgeIndexes({ ...older, schema: facts.schema }).remedy).to.equal('npm run verify -- --repair');
  });
});
