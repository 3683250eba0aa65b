import type { z } from 'zod';
import { type ErrorCode, listErrorCodes } from '../../domain/kernel/errors.js';
import type { MessageDocument } from './documents.js';
import { exampleOf } from './example.js';
import { acceptedBy, describeFields, type JsonSchema, number, ref } from './json-schema.js';
import { resources } from './resources.js';
import type { SocketRequest } from './socket-requests.js';

const retryAfterMs = number('milliseconds to wait, where the request may be repeated', 1_000);

/** Refusals that any request may get. */
const ALWAYS: ErrorCode[] = ['INVALID_INPUT', 'RATE_LIMITED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];

/** An error as an acknowledgement carries it. */
export const errorAck: JsonSchema = {
  ...resources.Error,
  description: 'The error body, with the time to wait where the request may be repeated.',
  properties: { ...(resources.Error?.properties as Record<string, JsonSchema>), retryAfterMs },
};

function successAck(fields: Record<string, JsonSchema>): JsonSchema {
  return {
    type: 'object',
    title: 'Success',
    properties: { status: { type: 'integer', description: '200 on success', const: 200 }, ...fields },
    required: ['status', ...Object.keys(fields)],
    additionalProperties: false,
  };
}

/** What a request is acknowledged with: success, or one of the errors. */
export function ackMessage(event: string, { ack = {}, errors }: SocketRequest): MessageDocument {
  const codes = new Set([...ALWAYS, ...(Object.keys(errors) as ErrorCode[])]);
  const success = successAck(ack);
  const refusals = listErrorCodes().filter(({ code }) => codes.has(code));
  return {
    name: `${event} acknowledgement`,
    title: `Acknowledgement of ${event}`,
    summary: `Success, or one of ${refusals.map(({ code }) => code).join(', ')}`,
    contentType: 'application/json',
    payload: { oneOf: [success, ref('ErrorAck')] },
    examples: [
      { name: 'success', payload: exampleOf(success, resources) },
      ...refusals.map(({ code, status, text: reason, retryable }) => ({
        name: code,
        payload: {
          status,
          message: code,
          errors: [errors[code] ?? reason],
          ...(retryable ? { retryAfterMs: 1_000 } : {}),
        },
      })),
    ],
  };
}

/** What a client sends: fields from the gateway's own schema. */
export function requestMessage(event: string, schema: z.ZodType, note: SocketRequest): MessageDocument {
  return {
    name: event,
    title: note.summary,
    summary: note.description,
    contentType: 'application/json',
    payload: describeFields(acceptedBy(schema), note.fields),
    examples: [{ name: event, payload: note.example }],
  };
}

/** What the server sends, with an example made from its payload's schema. */
export function pushMessage(
  event: string,
  title: string,
  summary: string,
  payload: JsonSchema,
): MessageDocument {
  const example = exampleOf(payload, resources);
  return {
    name: event,
    title,
    summary,
    contentType: 'application/json',
    payload,
    examples: [{ name: event, payload: example }],
  };
}
