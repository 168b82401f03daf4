import { connect } from 'node:net';
import type { FuzzOptions } from '../attack-options';
import { checkAnswer, type FuzzAnswer } from './check-answer';
import { type FuzzCase, makeCase } from './make-case';
import { type OpenGateway, openGateway } from './open-gateway';
import { shrink } from './shrink';
import { setVendor } from './vendor-fetch';

export interface Finding {
  readonly index: number;
  readonly what: string;
  /** The smallest request that still shows it. */
  readonly request: string;
  readonly answer: string;
}

export interface FuzzResult {
  readonly seed: number;
  readonly count: number;
  readonly findings: readonly Finding[];
  readonly statuses: ReadonlyMap<number, number>;
  /** Resident beyond what it was after the first part. */
  readonly grownBytes: number;
  readonly isClean: boolean;
}

export interface FuzzRun extends FuzzOptions {
  readonly say: (line: string) => void;
}

/** Of so many, one is sent as bytes on a connection. */
const OVER_THE_WIRE = 50;
/** What the runtime itself answers to what is no HTTP/1.1. */
const NO_HTTP = 505;
const ANSWER_MS = 10_000;
const MOST_GROWN_BYTES = 150 * 1024 * 1024;
const SAY_EVERY = 50_000;
/** Caches are full, and code is compiled, after this share of a run. */
const WARM_SHARE = 0.3;
/** Findings of one kind are one finding. */
const MOST_FINDINGS = 40;
const SHOWN = 400;

/** Sends so many malformed requests; the same ones for the same seed. */
export async function runFuzz(run: FuzzRun): Promise<FuzzResult> {
  const gateway = await openGateway();
  try {
    return await playAll(gateway, run);
  } finally {
    await gateway.close();
  }
}

/** The same on a gateway that is open. */
export async function playAll(gateway: OpenGateway, { seed, count, from, say }: FuzzRun): Promise<FuzzResult> {
  const findings = new Map<string, Finding>();
  const statuses = new Map<number, number>();
  let warmBytes = 0;
  say(`fuzz: seed ${seed}, ${count} requests from number ${from}`);
  for (let index = from; index < from + count; index++) {
    const one = makeCase(seed, index, gateway.grammar, gateway.credentials);
    const { status, finding } = await play(gateway, one);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (finding !== undefined && findings.size < MOST_FINDINGS && !findings.has(kindOf(finding, one))) {
      const smallest = await shrink(one, async (smaller) => (await play(gateway, smaller)).finding === finding);
      const found = { index, what: finding, ...describe(smallest, (await ask(gateway, smallest)).text) };
      const whole = {
        ...found,
        answer: `${found.answer}${gateway
          .takeErrors()
          .join('')
          .slice(0, SHOWN * 3)}`,
      };
      findings.set(kindOf(finding, one), whole);
      say(showFinding(seed, whole));
    }
    const done = index - from + 1;
    if (done % SAY_EVERY === 0) say(`${done} requests, ${Math.round(process.memoryUsage.rss() / 1024 / 1024)} MB`);
    if (done === Math.ceil(count * WARM_SHARE)) warmBytes = residentBytes();
  }
  const grownBytes = residentBytes() - warmBytes;
  const isClean = findings.size === 0 && grownBytes < MOST_GROWN_BYTES;
  return { seed, count, findings: [...findings.values()], statuses, grownBytes, isClean };
}

function residentBytes(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}

async function play(gateway: OpenGateway, one: FuzzCase): Promise<{ status: number; finding: string | undefined }> {
  gateway.takeErrors();
  const isOnWire = one.index % OVER_THE_WIRE === OVER_THE_WIRE - 1;
  if (isOnWire) {
    const status = await sendBytes(gateway, one);
    return {
      status,
      finding:
        status >= 500 && status !== NO_HTTP && one.vendor === 'honest' ? `status ${status} on the wire` : undefined,
    };
  }
  const answer = await ask(gateway, one);
  return { status: answer.status, finding: answer.status === -1 ? answer.text : checkAnswer(one, answer) };
}

/** Status 0: such a request cannot be made; -1: no answer came. */
async function ask(gateway: OpenGateway, one: FuzzCase): Promise<FuzzAnswer> {
  setVendor(one.vendor === 'mutating', one.seed);
  const request = makeRequest(one);
  if (request === undefined) return { status: 200, type: '', text: '' };
  const late = Promise.withResolvers<FuzzAnswer>();
  const timer = setTimeout(
    () => late.resolve({ status: -1, type: '', text: `no answer within ${ANSWER_MS} ms` }),
    ANSWER_MS,
  );
  try {
    return await Promise.race([
      (async () => {
        const response = await gateway.fetch(request);
        const type = response.headers.get('content-type') ?? '';
        // A stream of news has no end of its own.
        if (one.method === 'GET' && type === 'text/event-stream') {
          await response.body?.cancel();
          return { status: response.status, type, text: '' };
        }
        return { status: response.status, type, text: await textOf(response).catch(() => '') };
      })(),
      late.promise,
    ]);
  } catch (error) {
    return { status: -1, type: '', text: `thrown: ${error}` };
  } finally {
    clearTimeout(timer);
  }
}

function makeRequest({ method, path, headers, body }: FuzzCase): Request | undefined {
  try {
    const isBodiless = method === 'GET' || method === 'HEAD';
    return new Request(`http://gateway.test${path}`, {
      ...{ method, headers: { ...headers } },
      ...(body === undefined || isBodiless ? {} : { body: body as unknown as BodyInit }),
    });
  } catch {
    return undefined;
  }
}

/** As they are, by hand; 0 when the connection ended without an answer. */
async function sendBytes(
  { port }: OpenGateway,
  { method, path, headers, body, vendor, seed }: FuzzCase,
): Promise<number> {
  setVendor(vendor === 'mutating', seed);
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = connect(port, '127.0.0.1', () => {
    const lines = Object.entries({
      host: 'x',
      'content-length': String(body?.length ?? 0),
      ...headers,
      connection: 'close',
    });
    socket.write(
      [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n'),
    );
    if (body !== undefined) socket.write(body);
  });
  socket.on('data', (data: Buffer) =>
    resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1', 0, 20))?.[1] ?? 0)),
  );
  socket.on('error', () => resolve(0)).on('close', () => resolve(0));
  socket.setTimeout(1_000, () => resolve(0));
  return promise.finally(() => socket.destroy());
}

const kindOf = (finding: string, { method, path }: FuzzCase) =>
  `${finding} ${method} ${path
    .split('?')[0]
    ?.split('/')
    .slice(0, 5)
    .join('/')
    .replace(/[0-9a-f-]{36}/g, 'id')}`;

function describe(
  { method, path, headers, body, vendor }: FuzzCase,
  answer: string,
): Pick<Finding, 'request' | 'answer'> {
  const { authorization: _secret, ...shown } = headers;
  const request = `${method} ${path} ${JSON.stringify(shown)} ${body?.toString() ?? ''}${vendor === 'honest' ? '' : ' (the vendor answers oddly)'}`;
  return { request: request.slice(0, SHOWN * 2), answer: answer.slice(0, SHOWN) };
}

const showFinding = (seed: number, { index, what, request, answer }: Finding) =>
  `${what}\n  again: bun run attack --fuzz 1 --seed ${seed} --from ${index}\n  ${request}\n  ${answer}`;

/** The end of a run. */
export function showFuzz({ count, findings, statuses, grownBytes }: FuzzResult): string {
  const seen = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}×${times}`);
  const grown = `memory ${Math.round(grownBytes / 1024 / 1024)} MB beyond its first part`;
  return `${count} requests, ${findings.length} findings, ${grown}\n${seen.join(' ')}`;
}

/** Without a network, nobody decompresses an answer. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-encoding') !== 'gzip') return response.text();
  return Buffer.from(Bun.gunzipSync(await response.bytes())).toString();
}
