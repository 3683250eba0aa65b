import type { z } from 'zod';
import type { ErrorCode } from '../../domain/kernel/errors.js';
import type { JsonSchema } from './json-schema.js';

export type Tag =
  | 'Articles'
  | 'Bookmarks'
  | 'Comments'
  | 'Likes'
  | 'Chat'
  | 'Adoption listing'
  | 'Notifications';

/** What is said of a path or query parameter beside what its zod schema says. */
export interface ParameterNote {
  description: string;
  example?: string | number;
  /** Bounds that the schema checks by a function, which no conversion can read. */
  bounds?: { minimum?: number; maximum?: number; default?: string | number };
  /** Overrules the schema: for what is accepted in any form. */
  schema?: JsonSchema;
}

export interface BodyNote {
  /** What is accepted, where the route does not say it: one of these. */
  schemas?: { schema: z.ZodType; title: string }[];
  /** Media types; application/json unless told otherwise. */
  contentTypes?: string[];
  /** What each field means, by dotted path. */
  fields: Record<string, string>;
  /** Documented fields that are accepted and ignored, and why. */
  ignored?: Record<string, string>;
  example: Record<string, unknown>;
}

/**
 * What the documents tell of a call beside its route definition. Inputs, authentication and the
 * errors that follow from them are taken from the definition.
 */
export interface Operation {
  id: string;
  tag: Tag;
  summary: string;
  description: string;
  parameters?: Record<string, ParameterNote>;
  /** Request headers of this call alone. */
  headers?: Record<string, ParameterNote & { schema: JsonSchema }>;
  body?: BodyNote;
  answer: {
    description: string;
    schema: JsonSchema;
    contentType?: string;
    headers?: Record<string, string>;
    example?: unknown;
  };
  /** Errors of its own, the reason as a client reads it. */
  errors: Partial<Record<ErrorCode, string>>;
  /** Whether the session cookie may stand in for a token. (contract, section 4) */
  cookie?: boolean;
}

/** The answer of a mutation that has nothing else to say. */
export const done: Operation['answer'] = {
  description: 'It is done, and stored.',
  schema: { $ref: '#/components/schemas/Done' },
};

/**
 * Table keys are written as interface.md writes the calls: `GET /community/article/{article_id}`. Where it
 * gives a path's parameter two names, the document has one: such paths are the same to OpenAPI.
 */
export type OperationTable = Record<string, Operation>;
