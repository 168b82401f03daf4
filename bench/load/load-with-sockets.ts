// A small HTTP/1.1 client of our own: time to first byte of streams, and requests sent on time at a fixed rate, neither of
// which autocannon has (it sends a second's requests at the second's beginning).
import { AnswerReader } from './answer-reader';
import type { LoadJob, LoadResult } from './load-job';
import { createBodyMaker, createHeaderMaker, createPathMaker, roundOf } from './make-request';
import { Tally } from './tally';

interface NextRequest {
  readonly bytes: Buffer;
  readonly stream: boolean;
}

/** Renders whole requests, one shape after the other. */
function createRequests(job: LoadJob, runId: string): () => NextRequest {
  const { host } = new URL(job.url);
  const nextHeaders = createHeaderMaker(job.callers, job.headers);
  const makers = roundOf(job.requests).map((shape) => ({
    ...{ shape, make: createBodyMaker(shape, runId), path: createPathMaker(shape, runId) },
  }));
  let next = 0;
  return () => {
    const maker = makers[next++ % makers.length];
    if (maker === undefined) throw new RangeError('a job without requests');
    const body = maker.make();
    const headers = Object.entries(nextHeaders()).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `${maker.shape.method ?? 'POST'} ${maker.path()} HTTP/1.1\r\nhost: ${host}\r\n${headers.join('')}`;
    const length = maker.shape.method === 'GET' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
    const text = `${head}${length}\r\n${body}`;
    return { bytes: Buffer.from(text), stream: maker.shape.stream };
  };
}

type Done = (connection: Connection) => void;

/** One keep-alive connection with one request under way. */
class Connection {
  private socket: Bun.Socket | undefined;
  private unsent: Buffer | undefined;
  private reader = new AnswerReader();
  private request: NextRequest | undefined;
  private askedMs = 0;
  private hasFirst = false;
  private closed = false;

  constructor(
    private readonly job: LoadJob,
    private readonly tally: Tally,
    private readonly onDone: Done,
  ) {}

  /** `sinceMs`: when the request was due. */
  async send(request: NextRequest, sinceMs: number): Promise<void> {
    this.request = request;
    this.askedMs = sinceMs;
    this.reader = new AnswerReader();
    this.hasFirst = false;
    try {
      this.socket ??= await this.connect();
      this.write(request.bytes);
    } catch {
      this.finish('connection');
    }
  }

  close(): void {
    this.closed = true;
    this.socket?.end();
  }

  private connect(): Promise<Bun.Socket> {
    const { hostname, port } = new URL(this.job.url);
    return Bun.connect({
      hostname,
      port: Number(port || 80),
      socket: {
        data: (_socket, chunk) => this.take(chunk),
        drain: () => this.write(),
        // Of a socket given up before, this is no news.
        close: (socket) => (socket === this.socket ? this.lose() : undefined),
        error: (socket) => (socket === this.socket ? this.lose() : undefined),
      },
    });
  }

  /** What the socket does not take at once waits for `drain`. */
  private write(bytes = this.unsent): void {
    if (bytes === undefined) return;
    const sent = this.socket?.write(bytes) ?? 0;
    this.unsent = sent < bytes.length ? bytes.subarray(Math.max(0, sent)) : undefined;
  }

  private take(chunk: Buffer): void {
    if (this.request === undefined) return;
    try {
      const isDone = this.reader.push(chunk);
      if (!this.hasFirst && this.reader.hasBody) {
        this.hasFirst = true;
        this.tally.firstBytesMs.push(performance.now() - this.askedMs);
      }
      if (isDone) this.finish(this.verdict());
    } catch {
      this.lose('not HTTP');
    }
  }

  /** undefined = as expected. */
  private verdict(): string | undefined {
    const { reader, request, job } = this;
    if (reader.status !== job.expectStatus) return `status ${reader.status}`;
    return request?.stream === true && job.expectStatus === 200 && !reader.isWholeStream ? 'cut stream' : undefined;
  }

  private lose(failure = 'connection'): void {
    const { socket } = this;
    this.socket = undefined;
    this.unsent = undefined;
    socket?.terminate();
    if (!this.closed) this.finish(failure);
  }

  private finish(failure: string | undefined): void {
    if (this.request === undefined) return;
    this.request = undefined;
    if (failure === undefined) this.tally.latenciesMs.push(performance.now() - this.askedMs);
    else this.tally.fail(failure);
    this.onDone(this);
  }
}

/** Every connection sends its next request as soon as it has its answer. */
export async function loadClosed(job: LoadJob, runId: string): Promise<LoadResult> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const nextRequest = createRequests(job, runId);
  const tally = new Tally();
  const endMs = performance.now() + job.seconds * 1000;
  let sent = 0;
  let open = job.connections;
  const goOn: Done = (connection) => {
    if (performance.now() < endMs && sent < (job.amount ?? Number.POSITIVE_INFINITY)) {
      sent += 1;
      // A refused connection would be tried again without a pause, for ever in one turn.
      setImmediate(() => void connection.send(nextRequest(), performance.now()));
      return;
    }
    connection.close();
    open -= 1;
    if (open === 0) resolve();
  };
  for (let i = 0; i < job.connections; i++) goOn(new Connection(job, tally, goOn));
  await promise;
  return tally.result();
}

const TICK_MS = 1;
/** How long answers may take after the last request is sent. */
const LINGER_MS = 60_000;
const MAX_CONNECTIONS = 2000;

/** Requests at a fixed rate; latency counts from when a request was due to be sent, waiting for a connection included. */
export async function loadOpen(job: LoadJob, rate: number, runId: string): Promise<LoadResult> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const nextRequest = createRequests(job, runId);
  const idle: Connection[] = [];
  const waiting: number[] = [];
  const all: Connection[] = [];
  const total = Math.round(rate * job.seconds);
  let answered = 0;
  let sent = 0;
  const goOn: Done = (connection) => {
    answered += 1;
    const dueMs = waiting.shift();
    if (dueMs === undefined) idle.push(connection);
    else void connection.send(nextRequest(), dueMs);
    if (answered === total) resolve();
  };
  const open = (): Connection | undefined => {
    if (all.length >= MAX_CONNECTIONS) return undefined;
    const connection = new Connection(job, tally, goOn);
    all.push(connection);
    return connection;
  };
  const tally = new Tally();
  const startMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const due = Math.min(total, Math.floor(((nowMs - startMs) / 1000) * rate));
    for (; sent < due; sent++) {
      const connection = idle.pop() ?? open();
      if (connection === undefined) waiting.push(nowMs);
      else void connection.send(nextRequest(), nowMs);
    }
    if (sent === total) clearInterval(timer);
  }, TICK_MS);
  const timeout = setTimeout(resolve, job.seconds * 1000 + LINGER_MS);
  await promise;
  clearTimeout(timeout);
  for (let missing = answered; missing < total; missing++) tally.fail('no answer');
  const result = tally.result();
  for (const connection of all) connection.close();
  return result;
}
