// The body log holds short media in base64, and the size alone of longer ones.
import { isObject, type JsonObject, parseJson } from '@llm0/core/chat/json';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import { type SentFile, sizeOf, type TaskRequest } from '@llm0/core/tasks/task-request';

/** Of all media of a body: in base64 they fit into what the log stores. */
const MOST_BYTES = 128 * 1024;
const MOST_CHARACTERS = Math.ceil(MOST_BYTES / 3) * 4;
/** Shorter strings are no media. */
const LEAST_CHARACTERS = 1024;
/** Of a stream of events, unfinished images included. */
const MOST_STREAM_BYTES = 256 * 1024;

/** `{type, bytes, data}`; without `data` where it is long. */
function loggedMedia(type: string, pieces: readonly Uint8Array[], bytes: number): JsonObject {
  return { type, bytes, ...(bytes > MOST_BYTES ? {} : { data: Buffer.concat(pieces).toString('base64') }) };
}

/** A request with its files as media. */
export function loggedRequest(request: TaskRequest): JsonObject {
  let left = MOST_BYTES;
  const logged = (file: SentFile): JsonObject => {
    const bytes = sizeOf(file);
    const { name, type, pieces, rest } = file;
    if (rest !== undefined || bytes > left) return { name, type, bytes };
    left -= bytes;
    return { name, ...loggedMedia(type, pieces, bytes) };
  };
  const withMedia = (_name: string, value: unknown) => (isFile(value) ? logged(value) : value);
  return JSON.parse(JSON.stringify(request, withMedia)) as JsonObject;
}

const isFile = (value: unknown): value is SentFile =>
  typeof value === 'object' && value !== null && 'pieces' in value && 'name' in value && 'type' in value;

/** A whole answer as JSON text; `bytes`: what its caller gets instead of JSON. */
export function loggedAnswer(json: JsonObject, bytes?: { readonly type: string; readonly body: string | Uint8Array }) {
  const audio = bytes !== undefined && typeof bytes.body !== 'string' ? soundOf(bytes.type, [bytes.body]) : {};
  let left = MOST_CHARACTERS;
  const shortened = (_name: string, value: unknown) => {
    if (typeof value !== 'string' || value.length < LEAST_CHARACTERS) return value;
    if (value.length > left) return { bytes: Math.floor((value.length * 3) / 4) };
    left -= value.length;
    return value;
  };
  return JSON.stringify({ ...json, ...audio }, shortened);
}

function soundOf(type: string, pieces: readonly Uint8Array[]): JsonObject {
  const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { audio: loggedMedia(type, pieces, bytes) };
}

/** A stream on its way to the log. */
export class LoggedStream {
  private pieces: Uint8Array[] = [];
  private bytes = 0;

  constructor(
    /** Content-Type. */
    private readonly type: string,
    /** Media type of the sound in events. */
    private readonly soundType: string,
  ) {}

  push(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    if (this.bytes > MOST_STREAM_BYTES) this.pieces = [];
    // The runtime may use the memory again.
    else this.pieces.push(Uint8Array.from(piece));
  }

  /** What came, as a whole answer in JSON text. */
  answer(): string {
    const { type, bytes, pieces } = this;
    if (!type.startsWith('text/event-stream')) return JSON.stringify({ audio: loggedMedia(type, pieces, bytes) });
    if (bytes > MOST_STREAM_BYTES) return JSON.stringify({ type, bytes });
    const decoder = new SseDecoder();
    const found = pieces.flatMap((piece) => [...decoder.push(piece)].map(({ data }) => parseJson(data)));
    return loggedAnswer(joinEvents(found.filter(isObject), this.soundType));
  }
}

/** The events that end something, and the sound of all others. */
function joinEvents(events: readonly JsonObject[], soundType: string): JsonObject {
  const ends = events.filter(({ type }) => /\.(?:completed|done)$/.test(String(type)));
  const images = ends.filter(({ b64_json: image }) => typeof image === 'string');
  const sound = events.flatMap(({ audio }) => (typeof audio === 'string' ? [Buffer.from(audio, 'base64')] : []));
  const { b64_json: _image, revised_prompt: _prompt, ...facts } = ends.at(-1) ?? {};
  return {
    ...facts,
    ...(images.length === 0 ? {} : { data: images.map(pictureOf) }),
    ...(sound.length === 0 ? {} : soundOf(soundType, sound)),
  };
}

const pictureOf = ({ b64_json, revised_prompt }: JsonObject): JsonObject => ({
  ...{ b64_json: b64_json ?? null },
  ...(revised_prompt === undefined ? {} : { revised_prompt }),
});
