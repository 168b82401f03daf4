// A vendor that refuses a batch leaves it to the gateway. One that is away is asked again until it answers.

import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import type { Target } from '@llm0/core/routing/target';
import {
  type ForwardedBatch,
  type ForwardedPart,
  moveBatch,
  OPEN,
  type StoredBatch,
} from '@llm0/drizzle/queries/batches/batches';
import { forgetPlaces, keepLines, placeResults, type ResultPlace } from '@llm0/drizzle/queries/batches/lines';
import type { AskVendor, VendorBatch, VendorLine } from '@llm0/providers/batches';
import type { ConnectedProvider, Services } from '../services/contract';
import { readInput } from './read-input';

/** Waits between two looks: a tenth of the batch's age. */
const LOOK_MS = { min: 500, max: 60_000 };
const ASK_TIMEOUT_MS = 120_000;
const LINES_A_WRITE = 1000;
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

export type ForwardNeeds = Pick<Services, 'batches' | 'files' | 'connect' | 'fetch' | 'clock' | 'log'>;

export interface Forwarding {
  readonly batch: StoredBatch;
  /** Lines in the vendor's format; undefined if they have no vendor in common. */
  readonly encode: () => Promise<EncodedBatch | undefined>;
}

/** Lines of one vendor by their models. */
export interface EncodedBatch {
  readonly provider: string;
  /** Lines that only the gateway can run. */
  readonly own: readonly number[];
  readonly groups: readonly [EncodedGroup, ...EncodedGroup[]];
}

export interface EncodedGroup {
  readonly model: string;
  /** Names that its lines give the model. */
  readonly names: ReadonlySet<string>;
  readonly lines: readonly VendorLine[];
}

/** One step: sends the batch, looks for its end, or takes its results. */
export async function forwardBatch(services: ForwardNeeds, { batch, encode }: Forwarding): Promise<void> {
  const { state } = batch.forwarded ?? { state: 'taken' };
  if (state === 'wanted' || state === 'sending') await send(services, { batch, encode });
  else if (state === 'sent') await look(services, batch);
}

/** False once its results are here, or the gateway runs it. */
export const isForwarded = ({ forwarded }: Pick<StoredBatch, 'forwarded'>): boolean =>
  forwarded !== null && forwarded.state !== 'taken';

async function send(services: ForwardNeeds, { batch, encode }: Forwarding): Promise<void> {
  if (batch.cancellingAtMs !== null && batch.forwarded?.state === 'wanted') return runHere(services, batch);
  const encoded = await encode();
  const vendor = encoded && vendorOf(services, batch, { provider: encoded.provider, model: encoded.groups[0].model });
  if (encoded === undefined || vendor === undefined) return runHere(services, batch);
  const { provider } = encoded;
  try {
    const parts = await sendGroups(services, { batch, vendor, encoded });
    if (parts.every(({ vendorId }) => vendorId === undefined)) return await runHere(services, batch);
    const sent = await noteSent(services, batch, { encoded, parts });
    const inProgress = { status: 'in_progress', inProgressAtMs: services.clock.nowMs() } as const;
    await moveBatch(services.batches.db, { id: batch.id, from: ['validating'] }, inProgress);
    await services.batches.work.lookAgain(sent ?? batch, LOOK_MS.min);
  } catch (err) {
    // Without an answer, the vendor may have taken it.
    services.log.warn({ err, batch: batch.id, provider }, 'a batch could not be sent yet');
    await services.batches.work.lookAgain(batch, waitOf(services, batch));
  }
}

interface Sending {
  readonly batch: StoredBatch;
  readonly vendor: Vendor;
  readonly encoded: EncodedBatch;
}

/** Sends each group once. What the vendor refuses runs here, as lines that it lost do. */
async function sendGroups(services: ForwardNeeds, { batch, vendor, encoded }: Sending) {
  const parts = [...(batch.forwarded?.parts ?? [])];
  // A process may have died before it was told an id.
  let isUnsure = batch.forwarded?.state === 'sending';
  for (const [index, { model, lines }] of encoded.groups.entries()) {
    if (parts.some((part) => part.model === model)) continue;
    const mark = index === 0 ? batch.id : `${batch.id} ${model}`;
    await note(services, batch, forwardedOf(encoded, 'sending', parts));
    try {
      const earlier = isUnsure ? await vendor.part.find(vendor.ask, mark) : undefined;
      isUnsure = false;
      const { id: vendorId } = earlier ?? (await vendor.part.create(vendor.ask, { mark, model, lines }));
      parts.push({ model, vendorId });
    } catch (err) {
      if (!(err instanceof GatewayError)) throw err;
      services.log.warn({ err, batch: batch.id, provider: encoded.provider }, REFUSED);
      parts.push({ model });
    }
  }
  return parts;
}

function forwardedOf(
  { provider, groups }: EncodedBatch,
  state: ForwardedBatch['state'],
  parts: readonly ForwardedPart[],
): ForwardedBatch {
  const named = groups.flatMap(({ model, names }) => [...names].map((name) => [name, model] as const));
  const models = groups.length === 1 ? {} : { models: Object.fromEntries(named) };
  const { vendorId } = parts[0] ?? {};
  return { state, provider, model: groups[0].model, ...(vendorId && { vendorId }), parts, ...models };
}

const REFUSED = 'the provider took no batch; the gateway runs it';

const waitOf = ({ clock }: Pick<ForwardNeeds, 'clock'>, { createdAtMs }: StoredBatch): number =>
  Math.min(LOOK_MS.max, Math.max(LOOK_MS.min, (clock.nowMs() - createdAtMs) / 10));

async function runHere(services: ForwardNeeds, batch: StoredBatch): Promise<void> {
  const own = await moveBatch(services.batches.db, { id: batch.id, from: OPEN }, { forwarded: null });
  if (own !== null) await services.batches.work.enqueue(own);
}

const note = ({ batches }: ForwardNeeds, { id }: StoredBatch, forwarded: ForwardedBatch) =>
  moveBatch(batches.db, { id, from: OPEN }, { forwarded });

interface Sent {
  readonly encoded: EncodedBatch;
  readonly parts: readonly ForwardedPart[];
}

/** What the vendor doesn't have runs here at once. */
async function noteSent({ batches }: ForwardNeeds, { id }: StoredBatch, { encoded, parts }: Sent) {
  const refused = new Set(parts.flatMap(({ model, vendorId }) => (vendorId === undefined ? [model] : [])));
  const left = encoded.groups.filter(({ model }) => refused.has(model)).flatMap(({ lines }) => lines);
  const own = [...encoded.own, ...left.map((line) => Number(line.id))];
  const hasOwn = own.length > 0 ? ({ hasOwn: true } as const) : {};
  return batches.db.transaction(async (tx) => {
    await keepLines(tx, id, own);
    return moveBatch(tx, { id, from: OPEN }, { forwarded: { ...forwardedOf(encoded, 'sent', parts), ...hasOwn } });
  });
}

/** While the vendor works; without its connection, its lines can only be run here. */
async function look(services: ForwardNeeds, batch: StoredBatch): Promise<void> {
  const { provider = '', model = '', vendorId, parts = [{ model, vendorId }] } = batch.forwarded ?? {};
  const vendor = vendorOf(services, batch, { provider, model });
  if (vendor === undefined) return runHere(services, batch);
  try {
    // Chunks that were added before aren't added again; a process that died may not have come to it.
    if (batch.forwarded?.hasOwn === true) await services.batches.work.enqueue(batch);
    const ids = parts.flatMap(({ vendorId: id }) => (id === undefined ? [] : [id]));
    if (batch.cancellingAtMs !== null) await cancelThere(services, { batch, vendor, ids });
    const found: VendorBatch[] = [];
    for (const id of ids) found.push(await vendor.part.read(vendor.ask, id));
    const paths = found.flatMap(({ results }) => results);
    if (found.every(({ isEnded }) => isEnded)) return await takeResults(services, { batch, vendor, paths });
  } catch (err) {
    services.log.warn({ err, batch: batch.id, provider }, "a provider's batch could not be read yet");
  }
  await services.batches.work.lookAgain(batch, waitOf(services, batch));
}

interface Cancelling {
  readonly batch: StoredBatch;
  readonly vendor: Vendor;
  readonly ids: readonly string[];
}

/** Tells the vendor until it answers. A refusal means that it has ended, which a look finds out. */
async function cancelThere(services: ForwardNeeds, { batch, vendor, ids }: Cancelling): Promise<void> {
  if (batch.forwarded?.isCancelled === true) return;
  let isUntold = false;
  for (const id of ids) {
    await vendor.part.cancel(vendor.ask, id).catch((err: unknown) => {
      if (err instanceof GatewayError) return;
      services.log.warn({ err, batch: batch.id }, "a provider's batch could not be cancelled yet");
      isUntold = true;
    });
  }
  // The look goes on: it may have ended meanwhile.
  if (isUntold) return;
  await note(services, batch, { ...batch.forwarded, state: 'sent', isCancelled: true });
}

interface Vendor {
  readonly part: NonNullable<ConnectedProvider['provider']['batches']>;
  readonly ask: AskVendor;
}

interface Ended {
  readonly batch: StoredBatch;
  readonly vendor: Vendor;
  /** Of all results. */
  readonly paths: readonly string[];
}

/** Keeps the results, then has all lines run: those with a result get it as their provider's answer. */
async function takeResults(services: ForwardNeeds, { batch, vendor, paths }: Ended): Promise<void> {
  const { batches, files } = services;
  const resultsId = batch.forwarded?.resultsId ?? Bun.randomUUIDv7();
  await files.store.write(resultsId, downloads(vendor, paths));
  // Places in a file of a process that was killed meanwhile.
  await forgetPlaces(batches.db, batch.id);
  let places: ResultPlace[] = [];
  for await (const { at, length, text } of readInput(files.store.read(resultsId), MAX_RESULT_BYTES)) {
    const line = lineOf(vendor, text);
    if (line === undefined) continue;
    places.push({ line, at, length });
    if (places.length < LINES_A_WRITE) continue;
    await placeResults(batches.db, batch.id, places);
    places = [];
  }
  await placeResults(batches.db, batch.id, places);
  const forwarded = { ...batch.forwarded, state: 'taken' as const, resultsId };
  const taken = await moveBatch(batches.db, { id: batch.id, from: OPEN }, { forwarded });
  if (taken !== null) await batches.work.enqueue(taken);
}

async function* downloads({ ask }: Vendor, paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    const { body } = await ask(path);
    if (body !== null) yield* body;
    yield new Uint8Array([0x0a]);
  }
}

/** Number of a line that the vendor ran; what can't be read is as if it wasn't there. */
function lineOf({ part }: Vendor, text: string): number | undefined {
  try {
    const result = part.decodeResult(JSON.parse(text) as JsonObject);
    const line = Number(result?.id);
    return Number.isInteger(line) && line >= 0 ? line : undefined;
  } catch {
    return undefined;
  }
}

/** No refusal: the same request may be taken later, or was taken by a vendor whose proxy failed. */
const isAway = ({ status }: Response): boolean => status >= 500 || status === 408 || status === 429;

/** undefined where the target has no batches, or several keys: a batch is one account's. */
export function vendorOf(
  services: Pick<Services, 'connect' | 'fetch'>,
  { projectId }: Pick<StoredBatch, 'projectId'>,
  { provider, model }: Target,
): Vendor | undefined {
  const connected = services.connect({ provider, model }, projectId);
  const part = connected?.provider.batches;
  if (connected === undefined || part === undefined || connected.keys !== undefined) return undefined;
  const { connection, fetch = services.fetch } = connected;
  const ask: AskVendor = async (path, init = {}) => {
    const headers = { ...part.headers(connection), ...(init.headers as Record<string, string> | undefined) };
    // A form has a boundary of its own.
    if (init.body instanceof FormData) for (const name of ['content-type', 'Content-Type']) delete headers[name];
    const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const response = await fetch(`${part.root(connection)}${path}`, { ...init, headers, redirect: 'manual', signal });
    if (response.ok) return response;
    const message = `${provider} answered ${response.status}: ${(await response.text()).slice(0, 300)}`;
    throw isAway(response) ? new Error(message) : invalidRequest('', message);
  };
  return { part, ask };
}
