import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { asyncApi, openApi } from '../../support/api-documents.js';

/** Findings of Redocly's recommended rules, warnings included; they check the format's structure, too. */
async function redocly(document: object): Promise<string[]> {
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/document.json',
    config: await createConfig({ extends: ['recommended'] }),
  });
  return problems.map(
    ({ severity, ruleId, message, location }) =>
      `${severity} ${ruleId}: ${message} at ${location.map(({ pointer }) => pointer).join()}`,
  );
}

describe('the documents in other tools', () => {
  describe('/openapi.json', () => {
    it('passes Redocly’s recommended rules', async () => {
      expect(openApi.openapi).to.match(/^3\.1\./);
      expect(await redocly(openApi)).to.deep.equal([]);
    });

    it('would not pass with two names for the parameter of one path', async () => {
      const { delete: deletion, ...rest } = openApi.paths['/community/comment/{id}'] ?? {};
      const paths = {
        ...openApi.paths,
        '/community/comment/{id}': rest,
        '/community/comment/{other}': { delete: deletion },
      };
      const document = { ...openApi, paths };
      expect((await redocly(document)).join()).to.include('no-identical-paths');
    });
  });

  describe('/asyncapi.json', () => {
    it('passes Redocly’s recommended rules', async () => {
      expect(await redocly(asyncApi)).to.deep.equal([]);
    });
  });
});
