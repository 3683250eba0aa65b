import { Double, Int32, Long } from 'bson';
import { Query } from 'mingo';
import { type Document, isDocument } from './bson-types.js';
import { CommandError, notServed } from './errors.js';

/** Server-side JavaScript in its three forms; refused wherever an expression or pipeline may hold it. */
const SCRIPTS = new Set(['$where', '$function', '$accumulator']);

/** Throws NotImplemented, by name, when an expression or pipeline asks for server-side JavaScript. */
export function refuseScripts(value: unknown): void {
  if (Array.isArray(value)) value.forEach(refuseScripts);
  else if (isDocument(value))
    for (const key of Object.keys(value)) {
      if (SCRIPTS.has(key)) throw notServed(`${key} (server-side JavaScript)`);
      refuseScripts(value[key]);
    }
}

/** Numbers as JavaScript numbers, as the aggregation library reads them; longs beyond 2^53 stay longs. */
export function toPlain(value: unknown): unknown {
  if (value instanceof Int32 || value instanceof Double) return value.value;
  if (value instanceof Long) {
    const number = value.toNumber();
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) return value.map(toPlain);
  if (!isDocument(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
}

/** Compiles an aggregation expression to a test of a document, for $expr. */
export function compileExpression(
  expression: unknown,
  variables: Document = {},
): (document: Document) => boolean {
  refuseScripts(expression);
  const query = new Query({ $expr: toPlain(expression) }, { scriptEnabled: false, variables });
  return (document) => {
    try {
      return query.test(toPlain(document) as Document);
    } catch (error) {
      throw expressionError(error);
    }
  };
}

/** An error of the aggregation library as a command error: 168 for an unknown operator, else BadValue. */
export function expressionError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new CommandError(/not registered|unknown|unregistered/i.test(message) ? 168 : 2, message);
}
