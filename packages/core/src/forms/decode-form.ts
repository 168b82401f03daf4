import { invalidRequest } from '../errors/gateway-error';

/** The beginning of one field or file. */
export interface FormPart {
  readonly name: string;
  /** Absent for fields. */
  readonly fileName?: string | undefined;
  readonly type?: string | undefined;
}

export interface FormSink {
  begin(part: FormPart): void;
  /** Bytes of the part that began last; they stay as they are. `isAlone`: nothing else uses their buffer. */
  data(bytes: Uint8Array, isAlone: boolean): void;
  end(): void;
}

const MAX_HEADER_BYTES = 8 * 1024;
const MAX_BOUNDARY_LENGTH = 70;
const HEADERS_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const CARRIAGE_RETURN = 13;
const NOTHING = Buffer.alloc(0);

/** Boundary of a form's Content-Type; throws `invalid_request` without one. */
export function boundaryOf(contentType: string): string {
  const boundary = parameterOf(contentType, 'boundary');
  if (boundary !== undefined && boundary !== '' && boundary.length <= MAX_BOUNDARY_LENGTH) return boundary;
  throw invalidRequest('Content-Type', 'The Content-Type of a form must name its boundary.');
}

/**
 * Incremental decoder of `multipart/form-data`: any chunking of the same bytes gives the same parts. Holds no more than
 * the headers of a part. Throws `invalid_request`. Source: https://www.rfc-editor.org/rfc/rfc7578
 */
export class FormDecoder {
  private readonly delimiter: Buffer;
  /** Bytes that may be the beginning of a delimiter or of headers. */
  private rest: Buffer = LINE_END;
  private state: 'preamble' | 'delimited' | 'headers' | 'data' | 'over' = 'preamble';

  constructor(
    boundary: string,
    private readonly sink: FormSink,
  ) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Bytes that belong to no event yet. */
  get waiting(): number {
    return this.rest.length;
  }

  /** True if the chunk was copied, so that nothing needs it any more. */
  push(chunk: Uint8Array): boolean {
    if (this.state === 'over') return true;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const isCopied = this.rest.length > 0;
    this.rest = isCopied ? Buffer.concat([this.rest, bytes]) : bytes;
    while (this.step());
    return isCopied;
  }

  /** Throws for a form that is cut off. */
  finish(): void {
    if (this.state !== 'over') throw invalidRequest('', 'The form in the request body is incomplete.');
  }

  /** False until there are more bytes. */
  private step(): boolean {
    switch (this.state) {
      case 'preamble':
        return this.passUntilDelimiter(() => {});
      case 'data':
        return this.passUntilDelimiter((bytes, isAlone) => this.sink.data(bytes, isAlone));
      case 'delimited':
        return this.readDelimiterEnd();
      case 'headers':
        return this.readHeaders();
      default:
        this.rest = NOTHING;
        return false;
    }
  }

  private passUntilDelimiter(pass: (bytes: Uint8Array, isAlone: boolean) => void): boolean {
    const { rest, delimiter } = this;
    const at = rest.indexOf(delimiter);
    const length = at === -1 ? rest.length - this.begunLength() : at;
    // Without a copy of its last bytes, a large buffer would stay for them.
    const isLast = at === -1 && length > 0;
    this.rest = isLast ? Buffer.from(rest.subarray(length)) : rest.subarray(at === -1 ? 0 : at + delimiter.length);
    if (length > 0) pass(rest.subarray(0, length), isLast);
    if (at === -1) return false;
    if (this.state === 'data') this.sink.end();
    this.state = 'delimited';
    return true;
  }

  /** Last bytes that may begin a delimiter: a boundary has no line end, so at most one place does. */
  private begunLength(): number {
    const tail = this.rest.subarray(1 - this.delimiter.length);
    const at = tail.lastIndexOf(CARRIAGE_RETURN);
    const begun = at === -1 ? NOTHING : tail.subarray(at);
    return begun.equals(this.delimiter.subarray(0, begun.length)) ? begun.length : 0;
  }

  private readDelimiterEnd(): boolean {
    if (this.rest.length < LINE_END.length) return false;
    const end = this.rest.toString('latin1', 0, LINE_END.length);
    if (end === '--') this.state = 'over';
    else if (end === '\r\n') this.state = 'headers';
    else throw malformed();
    // The line end is the first one of the headers.
    if (end === '--') this.rest = NOTHING;
    return true;
  }

  private readHeaders(): boolean {
    const at = this.rest.indexOf(HEADERS_END);
    if (at === -1 && this.rest.length <= MAX_HEADER_BYTES) return false;
    if (at === -1 || at > MAX_HEADER_BYTES) throw malformed();
    this.sink.begin(readPart(this.rest.toString('utf8', 0, at)));
    this.rest = this.rest.subarray(at + HEADERS_END.length);
    this.state = 'data';
    return true;
  }
}

const malformed = () => invalidRequest('', 'The form in the request body is malformed.');

function readPart(headers: string): FormPart {
  const lines = headers.split('\r\n');
  const headerOf = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim();
  const disposition = headerOf('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (name === undefined) throw malformed();
  return { name, fileName: parameterOf(disposition, 'filename'), type: headerOf('content-type') };
}

/** By semicolons, but for those in quotes. */
function splitParameters(header: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < header.length; at++) {
    if (header[at] === '"') isQuoted = !isQuoted;
    if (header[at] !== ';' || isQuoted) continue;
    parts.push(header.slice(from, at));
    from = at + 1;
  }
  return [...parts, header.slice(from)];
}

/** A parameter of a header, quoted or not. */
function parameterOf(header: string, name: string): string | undefined {
  for (const parameter of splitParameters(header).slice(1)) {
    const [key = '', value] = splitOnce(parameter, '=');
    if (key.trim().toLowerCase() !== name || value === undefined) continue;
    const text = value.trim();
    return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
  }
  return undefined;
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
