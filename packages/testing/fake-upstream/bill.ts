import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import { usageCounts } from './fake-format';

/** What the vendor bills one of its keys for one model. */
export interface Billed {
  readonly key: string;
  readonly model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

interface BilledRequest {
  readonly key: string;
  readonly model: string;
  /** What its answer reports. */
  readonly told: Tokens;
  /** What it takes where nobody waits for the end: all it read, and all it would have said. */
  readonly untold: Tokens;
  isCut: boolean;
}

interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** The books of a vendor that bills whatever it received and did not refuse. */
export class Bill {
  private requests: BilledRequest[] = [];

  /** A request came in. `model`: as it names it. */
  note(request: Request, body: JsonObject, { model, behaviour }: { model: string; behaviour: FakeBehaviour }): void {
    if ((behaviour.status ?? 200) >= 400) return;
    const { prompt, completion } = usageCounts(behaviour);
    const limit = limitOf(body) ?? Number.POSITIVE_INFINITY;
    const entry: BilledRequest = {
      ...{ key: credential(request.headers), model, isCut: behaviour.usage === null },
      told: { input: prompt, output: completion },
      untold: { input: Math.max(prompt, Math.ceil(textBytes(body) / 4)), output: Math.min(completion, limit) },
    };
    request.signal.addEventListener('abort', () => {
      entry.isCut = true;
    });
    this.requests.push(entry);
  }

  /** By key and model, so far. */
  list(): readonly Billed[] {
    const byName = new Map<string, Billed>();
    for (const { key, model, told, untold, isCut } of this.requests) {
      const name = `${key}\n${model}`;
      const billed = byName.get(name) ?? { key, model, requests: 0, inputTokens: 0, outputTokens: 0 };
      const { input, output } = isCut ? untold : told;
      billed.requests += 1;
      billed.inputTokens += input;
      billed.outputTokens += output;
      byName.set(name, billed);
    }
    return [...byName.values()];
  }

  clear(): void {
    this.requests = [];
  }
}

const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;

function credential(headers: Headers): string {
  const name = KEY_HEADERS.find((one) => headers.has(one));
  return name === undefined ? '' : (headers.get(name) ?? '').replace(/^Bearer /, '');
}

function textBytes(value: JsonValue | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + textBytes(item), 0);
}

export function limitOf(body: JsonObject): number | undefined {
  const config = (body.generationConfig ?? body.inferenceConfig ?? {}) as JsonObject;
  const limits = [body.max_completion_tokens, body.max_tokens, body.max_output_tokens];
  return [...limits, config.maxOutputTokens, config.maxTokens].find((limit) => typeof limit === 'number');
}
