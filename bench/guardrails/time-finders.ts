import { findCards } from '@llm0/core/guardrails/finders/card';
import { findEmails } from '@llm0/core/guardrails/finders/email';
import { findIbans } from '@llm0/core/guardrails/finders/iban';
import { findIpAddresses } from '@llm0/core/guardrails/finders/ip-address';
import { findNationalIds } from '@llm0/core/guardrails/finders/national-id';
import { findPattern } from '@llm0/core/guardrails/finders/pattern';
import { findPhones } from '@llm0/core/guardrails/finders/phone';
import { SECRET_FINDERS } from '@llm0/core/guardrails/finders/secrets';
import { findWords } from '@llm0/core/guardrails/finders/words';
import type { Finder } from '@llm0/core/guardrails/span';
import { TextWindow, type WindowRule } from '@llm0/core/guardrails/text-window';
import { nextTurn } from '@llm0/core/waits/in-turns';

/** What a rule costs on the text that is hardest on it. */
export interface WorstCase {
  readonly rule: string;
  /** What a megabyte of it is made of. */
  readonly piece: string;
  readonly totalMs: number;
  /** The longest time in which nothing else had its turn, where the text comes in slices. */
  readonly stretchMs: number;
}

const WORDS = Array.from({ length: 500 }, (_, index) => `forbidden${index}`);
const FINDERS: Readonly<Record<string, Finder>> = {
  'pii: e-mail': findEmails,
  'pii: card': findCards,
  'pii: IBAN': findIbans,
  'pii: IP': findIpAddresses,
  'pii: phone': findPhones,
  'pii: national id': findNationalIds,
  ...Object.fromEntries(SECRET_FINDERS.map((finder, index) => [`secrets ${index + 1}`, finder])),
  'words (500)': findWords(WORDS),
  regex: findPattern('(?i)\\bproject-[a-z]{1,8}\\d{0,3}'),
};
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
  ],
];
const SAMPLE = 30_000;
const MEGABYTE = 1_000_000;
/** What `judgeText` gives a window at once. */
const SLICE = 16 * 1024;
const ROUNDS = 2000;

const repeated = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const ruleOf = (name: string, finder: Finder): WindowRule => ({
  finder,
  folding: name.startsWith('words') ? 'words' : 'width',
});

/** Milliseconds for `pii`, `secrets` and 500 words over a prompt of 2 kB, in which there is nothing to find. */
export function timePrompt(): number {
  const rules = Object.entries(FINDERS)
    .filter(([name]) => name !== 'regex')
    .map(([name, finder]) => ruleOf(name, finder));
  const judge = () => {
    const window = new TextWindow(rules, () => undefined);
    return window.push(PROMPT) + window.flush();
  };
  for (let round = 0; round < ROUNDS; round++) judge();
  return (
    cpuMs(() => {
      for (let round = 0; round < ROUNDS; round++) judge();
    }) / ROUNDS
  );
}

/** Of a core: others on this machine do not count. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The worst of many pieces, repeated to a megabyte. */
export async function timeWorstCases(): Promise<readonly WorstCase[]> {
  const cases: WorstCase[] = [];
  for (const [name, finder] of Object.entries(FINDERS)) {
    const rule = ruleOf(name, finder);
    const samples = PIECES.map((piece) => ({ piece, ms: timeOnce(rule, repeated(piece, SAMPLE)) }));
    const piece = samples.toSorted((a, b) => b.ms - a.ms)[0]?.piece ?? 'a';
    cases.push({ rule: name, piece, ...(await timeSliced(rule, repeated(piece, MEGABYTE))) });
  }
  return cases;
}

function timeOnce(rule: WindowRule, text: string): number {
  const window = new TextWindow([rule], () => undefined);
  return cpuMs(() => {
    window.push(text);
    window.flush();
  });
}

async function timeSliced(rule: WindowRule, text: string): Promise<Pick<WorstCase, 'totalMs' | 'stretchMs'>> {
  const window = new TextWindow([rule], () => undefined);
  let totalMs = 0;
  let stretchMs = 0;
  const time = async (work: () => void) => {
    await nextTurn();
    const ms = cpuMs(work);
    totalMs += ms;
    stretchMs = Math.max(stretchMs, ms);
  };
  for (let at = 0; at < text.length; at += SLICE) await time(() => window.push(text.slice(at, at + SLICE)));
  await time(() => window.flush());
  return { totalMs, stretchMs };
}
