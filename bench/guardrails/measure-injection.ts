import { LocalEmbedder } from '@llm0/core/embedding/local-embedder';
import { SHIPPED_MODEL } from '@llm0/core/embedding/shipped-model';
import type { TextCheck } from '@llm0/core/guardrails/check';
import { checkInjection } from '@llm0/core/guardrails/checks/injection';
import { type LabelledText, readAttackSets } from './read-attacks';

/** What the check says of one set. */
export interface InjectionScore {
  readonly set: string;
  readonly attacks: number;
  readonly found: number;
  readonly harmless: number;
  readonly wrong: number;
  /** Median milliseconds a text. */
  readonly ms: number;
}

const DEADLINE_MS = 60_000;

/** By the words and the shipped embedder together. */
export async function measureInjection(): Promise<readonly InjectionScore[]> {
  const local = new LocalEmbedder({ ...SHIPPED_MODEL, onBroken: (message) => console.error(message) });
  try {
    const check = checkInjection({ embed: (text) => local.embed(text, DEADLINE_MS, true) });
    const scores: InjectionScore[] = [];
    for (const [set, texts] of Object.entries(await readAttackSets()))
      scores.push({ set, ...(await score(check, texts)) });
    return scores;
  } finally {
    local.stop();
  }
}

async function score(check: TextCheck, texts: readonly LabelledText[]): Promise<Omit<InjectionScore, 'set'>> {
  const counts = { attacks: 0, found: 0, harmless: 0, wrong: 0 };
  const times: number[] = [];
  for (const { text, isAttack } of texts) {
    const startMs = performance.now();
    const { count } = await check.judge(asked(text), new AbortController().signal);
    times.push(performance.now() - startMs);
    counts[isAttack ? 'attacks' : 'harmless']++;
    if (count > 0) counts[isAttack ? 'found' : 'wrong']++;
  }
  return { ...counts, ms: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0 };
}

const asked = (text: string) =>
  ({ text, on: 'input', part: 'user', projectId: 'bench', keyId: 'bench', requestId: 'bench' }) as const;
