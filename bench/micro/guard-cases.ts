import type { ChatEvent } from '@llm0/core/chat/event';
import { joinTexts } from '@llm0/core/chat/join-texts';
import { AnswerGuard } from '@llm0/core/guardrails/chat/answer-guard';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import type { Guardrails } from '@llm0/core/guardrails/guardrails';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { MicroCase } from './cases';

const CHUNKS = 500;
const WORDS = Array.from({ length: 500 }, (_, index) => `forbidden${index}`);
const CHECKS: readonly GuardrailRule['check'][] = [
  { type: 'pii' },
  { type: 'secrets' },
  { type: 'words', words: WORDS },
];
/** Prose with what nearly is something in it, in pieces as models say it: a word or a part of one, and its blank before it. */
const PROSE =
  'In 2026, about 1,250 of the readers who wrote to us (see section 4.2.1) asked how long-lived connections are kept open: ' +
  'the server sends a comment every 15 seconds, and `Last-Event-ID` says where to go on. Visit https://example.com/docs/sse ' +
  'for more.\n\n```ts\nconst source = new EventSource("/stream?from=" + lastEventId);\n```\n\n- It works -- mostly.\n';

const piecesOf = (text: string): readonly string[] =>
  text.match(/\s*[A-Za-z]{1,6}|\s*\d{1,3}|\s*[^\sA-Za-z\d]|\s+/g) ?? [];

function eventsOf(pieces: readonly string[]): readonly (readonly ChatEvent[])[] {
  return Array.from({ length: CHUNKS }, (_, index) => [
    { type: 'text', choice: 0, text: pieces[index % pieces.length] ?? '' },
  ]);
}

function guardrailsOf(checks: readonly GuardrailRule['check'][]): Guardrails {
  const rules = checks.map((check): GuardrailRule => ({ ...RULE, name: check.type, check }));
  const policy = { mode: 'enforce', rules, pseudonymScope: 'request', version: 1 } as const;
  const compiled = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: '' });
  if (compiled === undefined) throw new Error('no rules to measure');
  return compiled;
}
const RULE = { on: 'both', action: 'redact', onError: 'block' } as const;

async function judge(guardrails: Guardrails, batches: readonly (readonly ChatEvent[])[]): Promise<number> {
  const guard = new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined },
    monotonicMs: () => performance.now(),
  });
  const judging = new AnswerGuard(guard);
  let events = 0;
  for (const batch of batches) events += (await judging.push(batch)).length;
  return events + (await judging.end()).length;
}

/** As chunks come from a vendor that is fast: some seventy of them in one read of a socket. */
const READS = 7;
function eventsOfReads(pieces: readonly string[]): readonly (readonly ChatEvent[])[] {
  const events = eventsOf(pieces).flat();
  const each = Math.ceil(events.length / READS);
  return Array.from({ length: READS }, (_, index) => joinTexts(events.slice(index * each, (index + 1) * each)));
}

/** What it costs to judge all of a streamed answer that has nothing to find in it, chunk by chunk. */
export function guardCases(): readonly MicroCase[] {
  const all = guardrailsOf(CHECKS);
  const [words, prose] = [eventsOf(['word ']), eventsOf(piecesOf(PROSE))];
  const read = eventsOfReads(piecesOf(PROSE));
  return [
    { name: `guard: ${CHUNKS} chunks of one word`, run: () => judge(all, words) },
    { name: `guard: ${CHUNKS} chunks of prose`, run: () => judge(all, prose) },
    { name: `guard: ${CHUNKS} chunks of prose, in ${READS} reads`, run: () => judge(all, read) },
    ...CHECKS.map((check) => {
      const alone = guardrailsOf([check]);
      return { name: `guard: ${CHUNKS} chunks of prose, ${check.type} alone`, run: () => judge(alone, prose) };
    }),
  ];
}
