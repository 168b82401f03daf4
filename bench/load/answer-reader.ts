const CR_LF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const TAIL_BYTES = 160;
/** How the streams of the dialects end. */
const STREAM_ENDS = ['[DONE]', 'message_stop', 'response.completed'];

/** Reads one HTTP/1.1 answer from chunks cut anywhere; keeps no body but its end. */
export class AnswerReader {
  status = 0;
  /** True once a byte of the body is in. */
  hasBody = false;
  private pending: Buffer = Buffer.alloc(0);
  private state: 'head' | 'length' | 'size' | 'data' | 'trailer' | 'done' = 'head';
  private left = 0;
  private tail = '';

  /** True once the answer is complete. Throws for what is no HTTP answer. */
  push(chunk: Buffer): boolean {
    let bytes = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    while (this.state !== 'done') {
      const used = this.step(bytes);
      if (used === 0) break;
      bytes = bytes.subarray(used);
    }
    this.pending = bytes;
    return this.state === 'done';
  }

  /** Whether a streamed answer said that it is over, as a broken one does not. */
  get isWholeStream(): boolean {
    return STREAM_ENDS.some((end) => this.tail.includes(end));
  }

  /** Takes one piece from the front; 0 = more bytes are needed. */
  private step(bytes: Buffer): number {
    if (this.state === 'head') return this.readHead(bytes);
    if (this.state === 'length') return this.readLength(bytes);
    const lineEnd = this.state === 'data' ? -1 : bytes.indexOf(CR_LF);
    if (this.state !== 'data' && lineEnd === -1) return 0;
    if (this.state === 'size') {
      this.left = Number.parseInt(bytes.toString('latin1', 0, lineEnd), 16);
      if (Number.isNaN(this.left)) throw new Error('not a chunked body');
      this.state = this.left === 0 ? 'trailer' : 'data';
      return lineEnd + CR_LF.length;
    }
    if (this.state === 'trailer') {
      if (lineEnd === 0) this.state = 'done';
      return lineEnd + CR_LF.length;
    }
    return this.readChunk(bytes);
  }

  private readHead(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END);
    if (end === -1) return 0;
    const head = bytes.toString('latin1', 0, end);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
    if (status === undefined) throw new Error(`not an HTTP answer: ${head.slice(0, 60)}`);
    this.status = Number(status);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.left = Number(length ?? 0);
    if (length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)) this.state = 'size';
    else this.state = this.left === 0 ? 'done' : 'length';
    return end + HEAD_END.length;
  }

  private readLength(bytes: Buffer): number {
    const used = Math.min(this.left, bytes.length);
    if (used === 0) return 0;
    this.keep(bytes.subarray(0, used));
    this.left -= used;
    if (this.left === 0) this.state = 'done';
    return used;
  }

  /** Data of a chunk, and the line end after it. */
  private readChunk(bytes: Buffer): number {
    if (this.left > 0) {
      const used = Math.min(this.left, bytes.length);
      if (used === 0) return 0;
      this.keep(bytes.subarray(0, used));
      this.left -= used;
      return used;
    }
    if (bytes.length < CR_LF.length) return 0;
    this.state = 'size';
    return CR_LF.length;
  }

  private keep(bytes: Buffer): void {
    this.hasBody = true;
    const last = bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES)).toString('latin1');
    this.tail = (this.tail + last).slice(-TAIL_BYTES);
  }
}
