import type { ContentDocument, OperationDocument, ResponseDocument } from '../documents.js';

/** Text between single quotes for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function addressOf(path: string, { parameters = [] }: OperationDocument): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const found = parameters.find((parameter) => parameter.name === name);
    return String(found?.example);
  });
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.example !== undefined);
  const text = query.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`).join('&');
  return `ORIGIN${filled}${text && `?${text}`}`;
}

/** The body of an example call, as options. */
function bodyOptions({ requestBody }: OperationDocument): string[] {
  if (!requestBody) return [];
  const [[type, content]] = Object.entries(requestBody.content) as [[string, ContentDocument]];
  const example = content.example as Record<string, unknown>;
  if (type === 'application/x-www-form-urlencoded') {
    return Object.entries(example).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  }
  return [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(example))}`];
}

/** A command for a shell in which TOKEN is set; ORIGIN stands for the address of the service. */
export function curlOf(method: string, path: string, operation: OperationDocument): string {
  const { content } = operation.responses[200] as ResponseDocument;
  const streams = Object.keys(content).some((type) => type.startsWith('text/event-stream'));
  const verb =
    method === 'get' || operation.requestBody
      ? method === 'patch'
        ? '-X PATCH '
        : ''
      : `-X ${method.toUpperCase()} `;
  return [
    `curl ${streams ? '-N' : '-s'} ${verb}${quoted(addressOf(path, operation))}`,
    '-H "Authorization: $TOKEN"',
    ...bodyOptions(operation),
  ].join(' \\\n  ');
}
