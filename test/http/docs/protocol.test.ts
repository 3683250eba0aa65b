import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { budgets } from '../../../domain/platform/rate-limits/rate-limits.js';
import { listCloseReasons } from '../../../gateway/connection/close-reasons.js';
import type { JsonSchema } from '../../../http/docs/schemas.js';
import { asyncApi, expectMessage } from '../../support/api-documents.js';

const { messages } = asyncApi.channels.socket;

/** One frame of the sample session. */
interface Frame {
  who: string;
  sent: boolean;
  /** Socket.IO's packet type, as the document explains them. */
  type: string;
  ackId: string;
  payload: unknown;
}

function framesOf(text: string): Frame[] {
  return [...text.matchAll(/^([AB]) ([<>]) (0|4\d)(\d*)(.*)$/gm)].map(
    ([, who = '', way, type = '', ackId = '', json = '']) => ({
      who,
      sent: way === '>',
      type,
      ackId,
      payload: JSON.parse(json),
    }),
  );
}

/** The documented message that a frame carries. @param asked events by who asked and the number of the acknowledgement */
function messageOf(
  { who, sent, type, ackId, payload }: Frame,
  asked: Map<string, string>,
): { key: string; value: unknown } {
  const [event, value] = Array.isArray(payload) ? payload : [];
  if (type === '42') return { key: (sent ? '' : 'server.') + event.replace(':', '.'), value };
  if (type === '43') return { key: `${asked.get(who + ackId)?.replace(':', '.')}.ack`, value: event };
  return { key: type === '44' ? 'server.connect_error' : '', value: payload };
}

/** The text between a heading that holds an event's name and the next heading. */
function sectionOf(text: string, event: string): string {
  const sections = text.split(/^#{2,3} /m);
  return sections.find((section) => (section.split('\n')[0] ?? '').includes(`\`${event}\``)) ?? '';
}

function fieldNames(schema: JsonSchema): string[] {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  const target = name ? asyncApi.components.schemas[name] : schema;
  return Object.keys((target?.properties ?? {}) as object);
}

describe('gateway/PROTOCOL.md', () => {
  const text = readFileSync(join(projectRoot(), 'gateway', 'PROTOCOL.md'), 'utf8');
  const frames = framesOf(text);

  it('has a section for every event, with every field of it', () => {
    for (const [key, { name, payload }] of Object.entries(messages)) {
      if (key.endsWith('.ack') || name === 'connect_error') continue;
      const section = key.startsWith('server.') ? text.slice(text.indexOf('## What the server sends')) : text;
      for (const field of fieldNames(payload)) {
        expect(sectionOf(section, name), `${field} of ${name}`).to.match(new RegExp(`\\| ${field} \\|`));
      }
    }
  });

  it('has every field of every acknowledgement', () => {
    for (const [key, { payload }] of Object.entries(messages)) {
      if (!key.endsWith('.ack')) continue;
      const [success] = payload.oneOf as JsonSchema[];
      const event = key.replace('.ack', '').replace('.', ':');
      for (const field of fieldNames(success ?? {}).filter((name) => name !== 'status')) {
        expect(sectionOf(text, event), `${field} of ${event}`).to.include(`| ${field} |`);
      }
    }
  });

  it('has every close reason', () => {
    for (const { code, reconnect } of listCloseReasons()) {
      expect(text).to.include(`| \`${code}\` | ${reconnect} |`);
    }
  });

  it('states the enforced budgets', () => {
    for (const { points, duration } of [budgets.message, budgets.socketEvent]) {
      expect(text).to.include(`| ${points} in ${duration} s |`);
    }
  });

  it('shows a session in which every frame matches the documents', () => {
    expect(frames.length).to.be.greaterThan(35);
    const asked = new Map<string, string>();
    for (const frame of frames) {
      const { who, ackId, payload } = frame;
      if (frame.type === '42' && ackId) asked.set(who + ackId, (payload as [string])[0]);
      const { key, value } = messageOf(frame, asked);
      if (key) expect(messages, key).to.have.property(key);
      // One request is wrong on purpose.
      const isFault = frame.sent && (value as { content?: string }).content === '';
      if (!isFault) expectMessage(key, value);
    }
    const names = (sent: boolean) =>
      frames
        .filter((frame) => frame.type === '42' && frame.sent === sent)
        .map(({ payload }) => (payload as string[])[0]);
    expect(names(true)).to.include.members([
      'room:join',
      'room:leave',
      'message:send',
      'typing',
      'auth:refresh',
    ]);
    expect(names(false)).to.include.members([
      'message',
      'message:read',
      'typing',
      'presence',
      'room',
      'notification',
      'drain',
    ]);
  });
});
