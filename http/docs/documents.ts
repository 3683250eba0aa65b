import type { JsonSchema } from './schemas.js';

/** The parts of both documents that are built here and shown on the page. */

export interface ParameterDocument {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
  example: string | number | undefined;
}

export interface ContentDocument {
  schema: JsonSchema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface ResponseDocument {
  description: string;
  headers?: Record<string, JsonSchema>;
  content: Record<string, ContentDocument>;
}

export interface OperationDocument {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: ParameterDocument[];
  requestBody?: { required: boolean; content: Record<string, ContentDocument> };
  responses: Record<string, ResponseDocument>;
}

interface InfoDocument {
  title: string;
  version: string;
  description: string;
  license: object;
}

export interface OpenApiDocument {
  openapi: string;
  info: InfoDocument;
  servers: object[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationDocument>>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<string, JsonSchema>;
    securitySchemes: Record<string, JsonSchema>;
  };
}

export interface MessageDocument {
  name: string;
  title: string;
  summary: string;
  contentType: string;
  payload: JsonSchema;
  examples: { name: string; payload: unknown }[];
}

export interface AsyncOperationDocument {
  action: 'send' | 'receive';
  title: string;
  summary: string;
  description: string;
  channel: { $ref: string };
  messages: { $ref: string }[];
  reply?: { channel: { $ref: string }; messages: { $ref: string }[] };
}

export interface AsyncApiDocument {
  asyncapi: string;
  info: InfoDocument & { tags: { name: string; description: string }[] };
  defaultContentType: string;
  servers: Record<string, JsonSchema>;
  channels: Record<
    'socket' | 'eventStream',
    {
      address: string;
      title: string;
      servers: { $ref: string }[];
      messages: Record<string, MessageDocument>;
    }
  >;
  operations: Record<string, AsyncOperationDocument>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
}
