import type { Turns } from './conversation';

/** What a model makes instead of text. */
export type MediaKind = 'image' | 'speech';

export interface Media {
  readonly kind: MediaKind;
  /** `data:` */
  readonly url: string;
}

export const MEDIA_PATHS = {
  image: 'images/generations',
  speech: 'audio/speech',
} as const satisfies Record<MediaKind, string>;

interface Model {
  readonly id: string;
  readonly output_modalities?: readonly string[];
}

/** undefined for a model that answers with text, and for an unknown one. */
export function mediaOf(known: readonly Model[], name: string): MediaKind | undefined {
  const outputs = known.find(({ id }) => id === name)?.output_modalities ?? ['text'];
  if (outputs.includes('text')) return undefined;
  return outputs.includes('image') ? 'image' : outputs.includes('audio') ? 'speech' : undefined;
}

const VOICE = 'alloy';

/** The last thing said, as a prompt or as a text to speak. Fields of *Other fields* win. */
export function mediaBody(
  kind: MediaKind,
  turns: Turns,
  other: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const said = turns.findLast(({ role, text }) => role === 'user' && text.trim() !== '')?.text ?? '';
  return kind === 'image' ? { prompt: said, ...other } : { input: said, voice: VOICE, ...other };
}

/** Pictures of an answer in JSON. */
export function picturesOf(answer: unknown): readonly Media[] {
  const { data, output_format: format = 'png' } = answer as { data?: unknown; output_format?: string };
  return (Array.isArray(data) ? data : []).flatMap((one: { b64_json?: unknown }) =>
    typeof one?.b64_json === 'string'
      ? [{ kind: 'image', url: `data:image/${format === 'svg' ? 'svg+xml' : format};base64,${one.b64_json}` } as const]
      : [],
  );
}

/** Sound of an answer in bytes. */
export async function speechOf(response: Response): Promise<Media> {
  const type = response.headers.get('content-type') ?? 'audio/mpeg';
  const bytes = new Uint8Array(await response.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return { kind: 'speech', url: `data:${type};base64,${btoa(text)}` };
}

/** Arguments of one call. */
const PIECE = 32_768;
