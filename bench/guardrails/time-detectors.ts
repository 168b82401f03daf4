import type { ChatRequest } from '@llm0/core/chat/request';
import { guardRequest } from '@llm0/core/guardrails/chat/guard-request';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import type { Guardrails } from '@llm0/core/guardrails/guardrails';
import type { GuardrailCheck, GuardrailRule } from '@llm0/core/guardrails/policy';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';

/** What a rule costs on the text that is hardest on it. */
export interface WorstCase {
  readonly rule: string;
  /** What a megabyte of it is made of. */
  readonly piece: string;
  readonly totalMs: number;
  /** From beginning to end: with what a thread of its own does. */
  readonly wallMs: number;
  /** The longest time in which nothing else had its turn, of the event loop. */
  readonly stretchMs: number;
}

const WORDS = Array.from({ length: 500 }, (_, index) => `forbidden${index}`);
const CHECKS: Readonly<Record<string, GuardrailCheck>> = {
  'pii: e-mail': { type: 'pii', kinds: ['email'] },
  'pii: card': { type: 'pii', kinds: ['card'] },
  'pii: IBAN': { type: 'pii', kinds: ['iban'] },
  'pii: IP': { type: 'pii', kinds: ['ip'] },
  'pii: phone': { type: 'pii', kinds: ['phone'] },
  'pii: phone, ten countries': {
    ...{ type: 'pii', kinds: ['phone'] },
    countries: ['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'PL', 'BR', 'SE'],
  },
  'pii: national id': { type: 'pii', kinds: ['national_id'] },
  secrets: { type: 'secrets' },
  'words (500)': { type: 'words', words: WORDS },
  regex: { type: 'regex', pattern: '(?i)\\bproject-[a-z]{1,8}\\d{0,3}' },
  'regex, with wide counts': { type: 'regex', pattern: '.{1,100}x' },
  'regex, without a bound': { type: 'regex', pattern: '(?s)a.*b' },
};
const PROMPT_CHECKS: readonly GuardrailCheck[] = [
  { type: 'pii' },
  { type: 'secrets' },
  { type: 'words', words: WORDS },
];
const PROMPT =
  'Please summarise the meeting of 12 March with Mr. Smith: the budget of 4,200 EUR was approved, see https://example.com/doc?id=42, and the deadline moved to 10:30 on Friday. '
    .repeat(12)
    .slice(0, 2048);
const PIECES = [
  ...[
    '1',
    '4 ',
    '5-',
    '6759 ',
    '1.',
    '1-',
    '+1',
    '00',
    'X1',
    '12345678Z',
    'a',
    '@',
    'a@',
    'DE',
    'DE89 ',
    '::',
    '\u200b',
    'é',
    'а',
  ],
  ...[
    'sk-',
    '=',
    'a=',
    'IGQVJa=',
    'eyJa1=',
    'A1b',
    'secret: ',
    'http://a:b@',
    '-----BEGIN ',
    '-----BEGIN RSA PRIVATE KEY-----',
    'project-',
    `${'a'.repeat(99)}x`,
  ],
];
const SAMPLE = 30_000;
const SAMPLES = 3;
const MEGABYTE = 1_000_000;
const ROUNDS = 2000;
const USER = { on: 'input', part: 'user' } as const;

const repeated = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

function compile(checks: readonly GuardrailCheck[]): Guardrails {
  const rules = checks.map(
    (check, index): GuardrailRule => ({ name: `r${index}`, on: 'both', check, action: 'redact', onError: 'block' }),
  );
  const policy = { mode: 'enforce', rules, pseudonymScope: 'request', version: 1 } as const;
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: '' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return guardrails;
}

const guardOf = (guardrails: Guardrails): RequestGuard =>
  new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => performance.now() },
  });

/** Milliseconds for `pii`, `secrets` and 500 words over a request with a prompt of 2 kB, in which there is nothing to find. */
export async function timePrompt(): Promise<number> {
  const guardrails = compile(PROMPT_CHECKS);
  const messages = [{ role: 'user', content: PROMPT }];
  const request: ChatRequest = {
    ...{ model: 'gpt-4o-mini', stream: false },
    messages: [{ role: 'user', content: [{ type: 'text', text: PROMPT }] }],
    wire: { format: 'openai-chat', body: { model: 'gpt-4o-mini', messages }, headers: {} },
  } as unknown as ChatRequest;
  const judge = () => guardRequest(guardOf(guardrails), request);
  for (let round = 0; round < ROUNDS; round++) await judge();
  const before = process.threadCpuUsage();
  for (let round = 0; round < ROUNDS; round++) await judge();
  return cpuMsSince(before) / ROUNDS;
}

/** Of this thread: others on this machine do not count. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The worst of many pieces, repeated to a megabyte, as a request judges it. */
export async function timeWorstCases(): Promise<readonly WorstCase[]> {
  const cases: WorstCase[] = [];
  for (const [rule, check] of Object.entries(CHECKS)) {
    const guardrails = compile([check]);
    let worst = { piece: 'a', ms: -1 };
    for (const piece of PIECES) {
      const text = repeated(piece, SAMPLE);
      const times: number[] = [];
      for (let round = 0; round < SAMPLES; round++) times.push((await timeJudging(guardrails, text)).wallMs);
      const ms = Math.min(...times);
      if (ms > worst.ms) worst = { piece, ms };
    }
    cases.push({ rule, piece: worst.piece, ...(await timeJudging(guardrails, repeated(worst.piece, MEGABYTE))) });
  }
  return cases;
}

async function timeJudging(
  guardrails: Guardrails,
  text: string,
): Promise<Pick<WorstCase, 'totalMs' | 'stretchMs' | 'wallMs'>> {
  let stretchMs = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    stretchMs = Math.max(stretchMs, cpuMsSince(last));
    last = process.threadCpuUsage();
  };
  const timer = setInterval(look, 0);
  const [before, startMs] = [process.threadCpuUsage(), performance.now()];
  await guardOf(guardrails).judge(text, USER);
  look();
  clearInterval(timer);
  return { totalMs: cpuMsSince(before), stretchMs, wallMs: performance.now() - startMs };
}
