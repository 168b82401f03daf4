import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { VendorCall } from './hostile-wire';

/** What a vendor would write on its bill for one request. */
export interface BillLine {
  readonly path: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: number;
}

const CHARACTERS_A_TOKEN = 4;
const PICO_A_NANO = 1_000;
/** Fields that hold what a model reads. */
const SAID = ['messages', 'input', 'prompt', 'contents', 'content', 'requests', 'system', 'instructions', 'tools'];
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

type Prices = Readonly<Record<string, number>>;
/** Read, not imported: the literal types of 580 kB take seconds to check. */
const MODELS = join(import.meta.dir, '../../core/data/models.json');
const models: readonly { readonly model: string; readonly pico_usd_per_token: Prices }[] =
  await Bun.file(MODELS).json();
const PRICES = new Map(models.map(({ model, pico_usd_per_token: prices }) => [model, prices]));

/** What the vendor did beside reading what was sent. */
export interface Work {
  readonly outputTokens?: number;
  /** Who answers, where it is not who was asked. */
  answeredBy?(call: VendorCall): string | undefined;
  /** Tokens that were read, but not sent with the request: files, searches, prompts that are kept there. */
  furtherInput?(call: VendorCall): number;
}

/** What a call costs: by the model that answered, at the tier that was asked for. */
export function billFor(call: VendorCall, work: Work): BillLine {
  const model = work.answeredBy?.(call) ?? modelOf(call);
  const prices = PRICES.get(model);
  const tier = typeof call.body.service_tier === 'string' ? call.body.service_tier : undefined;
  const price = (kind: 'input' | 'output') => prices?.[`${kind}_${tier}`] ?? prices?.[kind] ?? 0;
  const said = SAID.reduce((sum, name) => sum + characters(call.body[name]), 0);
  const inputTokens = Math.ceil(said / CHARACTERS_A_TOKEN) + (work.furtherInput?.(call) ?? 0);
  const made = Math.min(work.outputTokens ?? 0, limitOf(call.body));
  const nanoUsd = Math.floor((inputTokens * price('input') + made * price('output')) / PICO_A_NANO);
  return { path: call.path, model, inputTokens, outputTokens: made, nanoUsd };
}

export function modelOf({ path, body }: Pick<VendorCall, 'path' | 'body'>): string {
  if (typeof body.model === 'string') return body.model;
  return decodeURIComponent(/\/models\/([^:?/]{1,200})/.exec(path)?.[1] ?? 'unknown');
}

/** The largest of those it finds, for each answer that is asked for. */
function limitOf(body: JsonObject): number {
  const config = (body.generationConfig ?? {}) as JsonObject;
  const limits = [...LIMITS.map((name) => body[name]), config.maxOutputTokens].filter((one) => typeof one === 'number');
  const answers = [body.n, body.best_of, config.candidateCount].filter((one) => typeof one === 'number');
  return limits.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...limits) * Math.max(1, ...answers);
}

function characters(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + characters(one), 0);
}
