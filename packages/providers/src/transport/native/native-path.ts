import { GatewayError } from '@llm0/core/errors/gateway-error';

const CONTROL_OR_BACKSLASH = /[\\\p{Cc}]/u;
const MAX_ROUNDS = 3;

/**
 * Throws `invalid_request` for a path that could leave its root: dots that go up, in any spelling, and anything that some
 * server may take for a slash.
 */
export function checkPath(path: string): void {
  let text = path;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Servers differ in characters for slash and dot, and some ignore text after a semicolon.
    const plain = text.normalize('NFKC');
    const isUp = plain.split('/').some((segment) => /^\s*\.{1,2}\s*(?:;|$)/.test(segment));
    const isOdd = CONTROL_OR_BACKSLASH.test(plain) || slashes(plain) !== slashes(text);
    if (isUp || isOdd || text.includes('//')) throw badPath();
    const decoded = decodePath(text);
    if (decoded === text) break;
    text = decoded;
  }
  if (!path.startsWith('/') || /[?#]/.test(path)) throw badPath();
}

const slashes = (text: string): number => text.split('/').length;

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badPath();
  }
}

export function badPath(): GatewayError {
  return new GatewayError(
    'invalid_request',
    "This path can't be forwarded. Use a plain path without dots, empty segments or encoded separators.",
  );
}
