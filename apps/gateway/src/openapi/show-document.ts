import { buildDataPlaneDocument } from './data-plane-document';

const known = new Map<string, Uint8Array<ArrayBuffer>>();

/** `GET /openapi.json`: built on first use, then cached as bytes. */
export function showDataPlaneDocument(version: string): Response {
  const bytes = known.get(version) ?? new TextEncoder().encode(JSON.stringify(buildDataPlaneDocument(version)));
  known.set(version, bytes);
  return new Response(bytes, {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' },
  });
}
