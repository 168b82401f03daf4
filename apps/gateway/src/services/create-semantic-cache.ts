import { basename, resolve } from 'node:path';
import type { SemanticCache } from '@llm0/core/cache/semantic/semantic-cache';
import { StoredSemanticCache } from '@llm0/core/cache/semantic/stored-semantic-cache';
import type { Embedder } from '@llm0/core/embedding/embedder';
import { LocalEmbedder } from '@llm0/core/embedding/local-embedder';
import { RemoteEmbedder } from '@llm0/core/embedding/remote-embedder';
import type { Database } from '@llm0/drizzle/client';
import { openLookUpPool, sharedLookUps } from '@llm0/drizzle/look-up-pool';
import { createSemanticStore } from '@llm0/drizzle/queries/caches/semantic-cache';
import type { Logger } from 'pino';
import type { Config } from '../config/config';
import { ConfigError } from '../config/values';
import type { Metrics } from '../observe/metrics';

export interface SemanticCacheParts {
  readonly config: Config;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly fetch: typeof globalThis.fetch;
  /** The model in this repository. */
  readonly shipped: Embedder;
  /** The hot store's clock. */
  readonly nowMs: () => number;
}

/** PGlite does one thing at a time: look-ups that queued up would hold up everything else. */
const EMBEDDED_LOOK_UPS = 4;

/** The semantic cache, asleep until a project asks for it: no model, no connection, no timer before. */
export async function createSemanticCache(
  parts: SemanticCacheParts,
): Promise<{ readonly cache: SemanticCache; close(): Promise<void> }> {
  const { config, database, metrics, log, nowMs } = parts;
  const pool = config.databaseUrl === undefined ? undefined : openLookUpPool(config.databaseUrl);
  const onWarning = (message: string) => log.warn(message);
  const embedder = await createEmbedder(parts, (message) => log.warn({ reason: message }, 'the embedder broke'));
  const cache = new StoredSemanticCache({
    embedder,
    store: createSemanticStore({ db: database.db, lookUps: pool ?? sharedLookUps(database.db) }),
    nowMs,
    onLookUp: (outcome, ms) => metrics.semanticLookUps.observe({ outcome }, ms),
    onRefusal: (guard) => metrics.semanticRefusals.inc({ guard }),
    onDrop: (entries) => metrics.semanticDrops.inc(entries),
    onWarning,
    keepTexts: config.logBodies,
    deadlineMs: config.testing.lookUpDeadlineMs,
    maxLookUps: pool === undefined ? EMBEDDED_LOOK_UPS : undefined,
  });
  return { cache, close: async () => pool?.close() };
}

async function createEmbedder(parts: SemanticCacheParts, onBroken: (message: string) => void): Promise<Embedder> {
  const { serviceUrl, serviceApi, serviceModel, serviceKey, modelPath } = parts.config.embedding;
  if (serviceUrl !== undefined) {
    return new RemoteEmbedder({
      url: serviceUrl,
      api: serviceApi,
      model: serviceModel,
      apiKey: serviceKey,
      fetch: parts.fetch,
    });
  }
  if (modelPath === undefined) return parts.shipped;
  const folder = resolve(modelPath);
  return new LocalEmbedder({ model: await nameModel(folder), modelPath: folder, englishOnly: false, onBroken });
}

/** Names a model by its contents: another model in the same folder has another name. */
async function nameModel(folder: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for (const name of ['onnx/model_quantized.onnx', 'onnx/model.onnx', 'tokenizer.json']) {
    const file = Bun.file(`${folder}/${name}`);
    if (await file.exists()) hasher.update(await file.arrayBuffer());
    else if (name === 'tokenizer.json') {
      throw new ConfigError('EMBEDDING_MODEL_PATH', folder, 'a folder with tokenizer.json, config.json and onnx/');
    }
  }
  return `${basename(folder)}:${hasher.digest('hex').slice(0, 16)}`;
}
