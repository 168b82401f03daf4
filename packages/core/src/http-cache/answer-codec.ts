import { parseJson } from '../chat/json';
import type { StoredAnswer } from './stored-answer';

const VERSION = 'http-1';

type Described = Omit<StoredAnswer, 'body'>;
interface Header extends Described {
  readonly v: string;
  /** The body is plain text; otherwise base64. */
  readonly isText: boolean;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** One text: a line of JSON, then the body. */
export function encodeAnswer({ body, ...described }: StoredAnswer): string {
  const text = asText(body);
  const header: Header = { v: VERSION, isText: text !== undefined, ...described };
  return `${JSON.stringify(header)}\n${text ?? Buffer.from(body).toString('base64')}`;
}

/** undefined for anything this version did not write. */
export function decodeAnswer(text: string): StoredAnswer | undefined {
  const end = text.indexOf('\n');
  const header = end === -1 ? undefined : (parseJson(text.slice(0, end)) as Header | null | undefined);
  if (header?.v !== VERSION) return undefined;
  const { v: _version, isText, ...described } = header;
  const rest = text.slice(end + 1);
  return { ...described, body: Buffer.from(rest, isText ? 'utf8' : 'base64') };
}

function asText(body: Uint8Array): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}
