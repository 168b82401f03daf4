import { HTTPParser } from 'http-parser-js';

const TAIL_BYTES = 160;
const MOST_BYTES = 16 * 1024;
/** How the streams of the dialects end. */
const STREAM_ENDS = ['[DONE]', 'message_stop', 'response.completed'];

/** Reads one HTTP/1.1 answer from chunks cut anywhere, with the parser autocannon has; keeps no body but its end. */
export class AnswerReader {
  status = 0;
  /** True once a byte of the body is in. */
  hasBody = false;
  private isDone = false;
  private tail = '';
  private readonly parser = new HTTPParser(HTTPParser.RESPONSE);

  constructor() {
    this.parser.onHeadersComplete = ({ statusCode }) => {
      this.status = statusCode;
    };
    this.parser.onBody = (chunk, offset, length) => {
      this.hasBody = true;
      const end = offset + length;
      const last = chunk.toString('latin1', Math.max(offset, end - TAIL_BYTES), end);
      this.tail = (this.tail + last).slice(-TAIL_BYTES);
    };
    this.parser.onMessageComplete = () => {
      this.isDone = true;
    };
  }

  /** True once the answer is complete. Throws for what is no HTTP answer. */
  push(chunk: Buffer): boolean {
    // The parser takes a whole answer that comes at once for its head, and refuses one of 80 kB.
    for (let at = 0; at < chunk.length && !this.isDone; at += MOST_BYTES) {
      const used = this.parser.execute(chunk.subarray(at, at + MOST_BYTES));
      if (used instanceof Error) throw new Error('not an HTTP answer', { cause: used });
    }
    return this.isDone;
  }

  /** Whether a streamed answer said that it is over, as a broken one does not. */
  get isWholeStream(): boolean {
    return STREAM_ENDS.some((end) => this.tail.includes(end));
  }
}
