import { GatewayError } from '@llm0/core/errors/gateway-error';
import {
  type BatchDialect,
  createBatch,
  type LineFault,
  moveBatch,
  type StoredBatch,
} from '@llm0/drizzle/queries/batches/batches';
import { insertLines, type NewLine } from '@llm0/drizzle/queries/batches/lines';
import type { Services } from '../services/contract';
import { checkLines } from './check-lines';
import { holdBatch } from './hold-batch';
import type { LineEndpoint, LineOrigin } from './line-endpoint';
import { readInput } from './read-input';

const DAY_MS = 86_400_000;
/** Larger ones aren't sent to a vendor, which gets them in one piece. */
const MAX_FORWARDED_BYTES = 32 * 1024 * 1024;
/** Lines of one insert. */
const LINES_A_WRITE = 1000;
/** Headers of the request that makes a batch which its lines get. */
const KEPT_HEADERS = /^(?:x-customer-id|x-llm0-.*|anthropic-(?:beta|version))$/;

/** A batch whose input is in the file store. */
export interface NewBatch {
  readonly dialect: BatchDialect;
  readonly path: string;
  readonly endpoint: LineEndpoint;
  readonly inputFileId: string;
  readonly origin: LineOrigin;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly outputExpiresAfterSeconds?: number | null;
}

/**
 * Reads the input to its end, holds the most that it may cost, and hands it to the queue. With faults, the batch has
 * failed. Throws 402 if its hold doesn't fit; there is no batch then.
 */
export async function openBatch(services: Services, asked: NewBatch): Promise<StoredBatch> {
  const { batches, files, config, clock, hotStore } = services;
  const { origin, inputFileId, path, dialect, endpoint, metadata = null, outputExpiresAfterSeconds = null } = asked;
  const input = readInput(files.store.read(inputFileId), config.maxBodyBytes);
  const checked = await checkLines(input, { dialect, path, endpoint, origin });
  const { lines, boundNanoUsd, faults } = checked;
  const id = Bun.randomUUIDv7();
  const createdAtMs = clock.nowMs();
  const expiresAtMs = createdAtMs + DAY_MS;
  const isFaulty = faults.length > 0;
  if (!isFaulty) await holdBatch(services, origin, { id, boundNanoUsd, expiresAtMs });
  const { project, key } = origin.principal;
  try {
    const batch = await createBatch(batches.db, {
      ...{
        id,
        projectId: project.id,
        apiKeyId: key.id,
        dialect,
        endpoint: path,
        inputFileId,
        createdAtMs,
        expiresAtMs,
      },
      ...{ headers: keptHeaders(origin.headers), metadata, outputExpiresAfterSeconds },
      ...{ boundNanoUsd: isFaulty ? 0 : boundNanoUsd, total: isFaulty ? 0 : lines.length },
      // Until all of its lines are written, it is one that was cut off.
      ...{ status: 'failed', endedAtMs: createdAtMs, errors: isFaulty ? faults : CUT_OFF },
    });
    if (isFaulty) return batch;
    return await startBatch(services, batch, { lines, asked });
  } catch (error) {
    const { id: projectId } = project;
    await hotStore.reserve({ requestId: id, projectId, keyId: key.id, change: { to: 0 }, untilMs: expiresAtMs });
    throw error;
  }
}

const CUT_OFF: readonly LineFault[] = [
  { code: 'interrupted', message: 'The gateway stopped while it read the input.', param: null, line: null },
];

async function startBatch(
  { batches, config }: Services,
  { id }: StoredBatch,
  { lines, asked }: { readonly lines: readonly NewLine[]; readonly asked: NewBatch },
): Promise<StoredBatch> {
  const bytes = lines.reduce((sum, { length }) => sum + length, 0);
  for (let at = 0; at < lines.length; at += LINES_A_WRITE) {
    await insertLines(batches.db, id, lines.slice(at, at + LINES_A_WRITE));
  }
  const isWanted = config.vendorBatches && asked.endpoint.encodeFor !== undefined && bytes <= MAX_FORWARDED_BYTES;
  const forwarded = isWanted ? ({ state: 'wanted' } as const) : null;
  const started = { status: 'validating', endedAtMs: null, errors: null, forwarded } as const;
  const batch = await moveBatch(batches.db, { id, from: ['failed'] }, started);
  if (batch === null) throw new GatewayError('conflict', 'The batch was deleted before it began.');
  await batches.work.enqueue(batch);
  return batch;
}

function keptHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => KEPT_HEADERS.test(name)));
}
