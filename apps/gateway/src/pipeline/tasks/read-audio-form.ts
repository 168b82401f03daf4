// A file stays in memory while it is short. A longer one goes on as it comes, or to an unnamed file on disk if its model
// stands behind it or many others are on their way; both end with the request.
import type { FileHandle } from 'node:fs/promises';
import { declaredLength, readBounded, tooLarge } from '@llm0/core/async/bounded-body';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { boundaryOf, type FormPart } from '@llm0/core/forms/decode-form';
import type { FileRest, FormFrame } from '@llm0/core/tasks/task-request';
import type { TaskBody } from '../../dialects/dialect';
import type { Services, UnderWay } from '../../services/contract';
import { type FormBytes, FormStream, freePiece } from './form-stream';
import { StoredRest } from './stored-rest';
import { diskPace, isOnDisk, openUnnamed } from './unnamed-file';

/** What vendors take. */
export const MAX_AUDIO_BYTES = 25 * 1024 * 1024;
/** Fields around the file. */
const MAX_FORM_BYTES = 1024 * 1024;
/** A file up to here can be asked for again elsewhere, and cached. */
const KEPT_BYTES = 512 * 1024;
/** Of a large file, as many stay in memory. */
const HEAD_BYTES = 128 * 1024;
/** They decide about the request itself. */
const FIRST_FIELDS: ReadonlySet<string> = new Set(['model', 'response_format', 'stream', 'file']);

/** Each piece is gone once the next one is asked for. */
function* freed(pieces: readonly FormBytes[]): Generator<Uint8Array> {
  for (const piece of pieces) {
    yield piece.data;
    freePiece(piece);
  }
}

interface RestStart extends Pick<Whence, 'release'> {
  /** Behind the first bytes. */
  readonly stored?: StoredRest;
  /** Read already, behind those. */
  readonly pieces: readonly FormBytes[];
}

/** The rest of a file that is still on its way, with the fields behind it. */
class ArrivingRest implements FileRest {
  private isOpened = false;
  private isOver = false;
  private cause: Error | undefined;
  private readonly fields: [string, string][] = [];

  constructor(
    private readonly form: FormStream,
    private readonly start: RestStart,
    readonly frame: FormFrame | undefined,
  ) {}

  async *open(): AsyncGenerator<Uint8Array> {
    this.isOpened = true;
    try {
      const { stored, pieces, release } = this.start;
      let size = pieces.reduce((sum, { data }) => sum + data.byteLength, HEAD_BYTES + (stored?.size ?? 0));
      if (stored !== undefined) yield* stored.open();
      yield* freed(pieces);
      release();
      for (let event = await this.form.next(); event !== undefined; event = await this.form.next()) {
        // Generators within generators would cost as much as the decoder.
        if ('data' in event) {
          size += event.data.byteLength;
          if (size > MAX_AUDIO_BYTES) throw tooLarge(MAX_AUDIO_BYTES);
          yield event.data;
          freePiece(event);
        } else if ('begin' in event) this.fields.push([event.begin.name, await this.field(event.begin)]);
      }
      this.isOver = true;
    } catch (error) {
      throw this.blame(error as Error);
    }
  }

  blame(error: Error): Error {
    this.cause = error;
    return error;
  }

  later(): readonly (readonly [string, string])[] {
    return this.fields;
  }

  isSpent(): boolean {
    return this.isOpened;
  }

  isCutOff(): boolean {
    return !this.isOver;
  }

  fault(): Error | undefined {
    return this.cause instanceof GatewayError ? this.cause : undefined;
  }

  private async field({ name, fileName }: FormPart): Promise<string> {
    if (fileName === undefined && !FIRST_FIELDS.has(name)) return this.form.text(name);
    if (name === 'file' || fileName !== undefined) throw onlyOneFile(name);
    throw invalidRequest(name.slice(0, 80), `"${name.slice(0, 80)}" must stand in front of "file" in the form.`);
  }
}

const onlyOneFile = (name: string) => invalidRequest(name.slice(0, 80), 'The form must have one "file".');

interface ReadFile {
  readonly pieces: readonly Uint8Array[];
  readonly rest?: FileRest;
  readonly size?: number;
}

/** A form with one file of audio, and what to call at the end of its request. */
export interface AudioForm extends TaskBody {
  readonly close: () => Promise<void>;
}

/** Reads a form until its request can be decided. Throws `request_too_large` or `invalid_request`. */
export async function readAudioForm(
  { config }: Pick<Services, 'config'>,
  httpRequest: Request,
  underWay: UnderWay,
  open = openUnnamed,
): Promise<AudioForm> {
  const boundary = boundaryOf(httpRequest.headers.get('content-type') ?? '');
  const maxBytes = MAX_AUDIO_BYTES + MAX_FORM_BYTES;
  const declared = declaredLength(httpRequest.headers, Math.max(maxBytes, config.maxBodyBytes));
  if (httpRequest.body === null) throw invalidRequest('file', '"file" must be a file of audio.');
  const form = new FormStream(boundary, readBounded(httpRequest.body, { maxBytes }));
  // The runtime takes 1.5 MiB for a body that waits for its turn.
  const hasDisk = isOnDisk();
  form.isDrained = hasDisk && diskPace.isFast;
  const fields: JsonObject = {};
  const files: [string, TaskBody['files'][number][1]][] = [];
  const opened: FileHandle[] = [];
  const openFile = async () => {
    const file = await open();
    opened.push(file);
    return file;
  };
  const close = async () => {
    form.cancel();
    await opened.pop()?.close();
  };
  try {
    for (let event = await form.next(); event !== undefined; event = await form.next()) {
      if (!('begin' in event)) continue;
      const { name, fileName, type } = event.begin;
      if (fileName === undefined) {
        addField(fields, name, await form.text(name));
        continue;
      }
      if (name !== 'file' || files.length > 0) throw onlyOneFile(name);
      const start = await readStart(form, underWay, leastOf(form, declared));
      // Only the first bytes stay once the others were sent or written.
      const release = () => underWay.held.giveBack(start.size - HEAD_BYTES);
      const isModelKnown = typeof fields.model === 'string';
      const read = await readFile(form, start, { isModelKnown, hasDisk, declared, boundary, openFile, release });
      files.push([name, { ...read, name: fileName, type: type ?? 'application/octet-stream' }]);
      if (read.rest instanceof ArrivingRest) break;
    }
    return { fields, files, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Lists come as `timestamp_granularities[]`. */
function addField(fields: JsonObject, name: string, value: string): void {
  if (!name.endsWith('[]')) {
    fields[name] = value;
    return;
  }
  const list = name.slice(0, -2);
  const before = fields[list];
  fields[list] = Array.isArray(before) ? [...before, value] : [value];
}

interface Start {
  readonly pieces: readonly FormBytes[];
  readonly size: number;
  readonly isWhole: boolean;
}

/** A file that is longer for certain need not be kept to find that out. */
function leastOf(form: FormStream, declared: number | undefined): number {
  const left = declared === undefined ? 0 : declared - (form.position() ?? declared);
  return left > KEPT_BYTES + MAX_FORM_BYTES ? HEAD_BYTES : KEPT_BYTES;
}

/** The beginning of a file, of `least` bytes unless it is shorter. */
async function readStart(form: FormStream, underWay: UnderWay, least: number): Promise<Start> {
  const pieces: FormBytes[] = [];
  let size = 0;
  while (size < least) {
    const event = await form.next();
    if (event === undefined || !('data' in event)) return { pieces, size, isWhole: true };
    const room = underWay.held.take(event.data.byteLength);
    if (room !== undefined) await room;
    pieces.push(event);
    size += event.data.byteLength;
  }
  return { pieces, size, isWhole: false };
}

interface Whence {
  readonly isModelKnown: boolean;
  /** A file takes disk and not memory. */
  readonly hasDisk: boolean;
  readonly declared: number | undefined;
  readonly boundary: string;
  readonly openFile: () => Promise<FileHandle>;
  /** Called once the start was sent or written. */
  readonly release: () => void;
}

async function readFile(form: FormStream, start: Start, whence: Whence): Promise<ReadFile> {
  const { pieces, size, isWhole } = start;
  if (isWhole) return { pieces: pieces.map(({ data }) => data), size };
  const { isModelKnown, hasDisk, declared, release } = whence;
  const [head, behind] = cut(pieces);
  const frame = frameOf(form, start, whence);
  const waitsOnDisk = !isModelKnown || (form.isCrowded && hasDisk);
  const rest = waitsOnDisk ? await store(form, behind, whence) : { pieces: behind };
  if (rest instanceof StoredRest) {
    release();
    return { pieces: [head], rest, size: head.byteLength + rest.size };
  }
  form.isDrained = false;
  const most = Math.min(declared ?? MAX_AUDIO_BYTES, MAX_AUDIO_BYTES);
  return { pieces: [head], rest: new ArrivingRest(form, { ...rest, release }, frame), size: most };
}

/** The form that is to come, behind the first bytes of its file. */
function frameOf(form: FormStream, start: Start, { declared, boundary }: Whence): FormFrame | undefined {
  const position = form.position();
  if (declared === undefined || position === undefined) return undefined;
  return { bytes: declared - position + (start.size - HEAD_BYTES), boundaryLength: boundary.length };
}

/** The bytes that say what a file is, on their own, and the pieces behind them. */
function cut(pieces: readonly FormBytes[]): readonly [head: Buffer, behind: readonly FormBytes[]] {
  const head = Buffer.concat(
    pieces.map(({ data }) => data),
    HEAD_BYTES,
  );
  let at = 0;
  const behind = pieces.flatMap(({ data, isAlone }) => {
    const from = Math.max(0, HEAD_BYTES - at);
    at += data.byteLength;
    return from < data.byteLength ? [{ data: data.subarray(from), isAlone }] : [];
  });
  return [head, behind];
}

/** Writes the rest of a file to disk. What can't be written arrives, if its model is known. */
async function store(
  form: FormStream,
  behind: readonly FormBytes[],
  { isModelKnown, openFile }: Whence,
): Promise<StoredRest | Pick<RestStart, 'stored' | 'pieces'>> {
  const pieces = [...behind];
  let stored: StoredRest | undefined;
  try {
    stored = new StoredRest(await openFile());
    form.isDrained = diskPace.isFast;
    while (await hasPiece(form, pieces)) {
      const piece = pieces[0] as FormBytes;
      if (HEAD_BYTES + stored.size + piece.data.byteLength > MAX_AUDIO_BYTES) throw tooLarge(MAX_AUDIO_BYTES);
      await stored.append(piece.data);
      freePiece(piece);
      pieces.shift();
      form.isDrained = diskPace.isFast;
    }
    return stored;
  } catch (error) {
    if (!isModelKnown || error instanceof GatewayError) throw error;
    return { pieces, ...(stored && { stored }) };
  } finally {
    form.isDrained = false;
  }
}

async function hasPiece(form: FormStream, pieces: FormBytes[]): Promise<boolean> {
  if (pieces.length > 0) return true;
  const event = await form.next();
  if (event === undefined || !('data' in event)) return false;
  pieces.push(event);
  return true;
}
