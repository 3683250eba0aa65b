import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';

/** A log of JSON lines. Errors of the stream are the caller's. */
export const createLog = (stream: NodeJS.WritableStream): Logger =>
  pino(
    {
      name: 'database',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err },
    },
    stream,
  );
