import type { AsyncApiDocument, OpenApiDocument } from '../documents.js';

export function renderPage(_openApi: OpenApiDocument, _asyncApi: AsyncApiDocument): string {
  return '<!doctype html>';
}
