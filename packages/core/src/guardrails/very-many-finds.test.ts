// Tens of thousands of finds that wait for one token's end, given out in turns.
import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { GuardrailCompiler } from './compile-guardrails';
import { createWindow } from './piece-window';
import type { GuardrailRule } from './policy';

const compiler = new GuardrailCompiler({});
const CHECKS: readonly GuardrailRule['check'][] = [{ type: 'secrets' }, { type: 'words', words: ['key', 'other'] }];

function windowOf(actions: readonly GuardrailRule['action'][]) {
  const rules = CHECKS.map(
    (check, index): GuardrailRule => ({
      ...{ name: check.type, on: 'both', check, action: actions[index] ?? 'redact', onError: 'block' },
    }),
  );
  const policy = { mode: 'enforce', rules, pseudonymScope: 'request', version: 1 } as const;
  const guardrails = compiler.compile({ policy, keyRules: null, pseudonymSecret: '' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  const { detectors } = guardrails.rulesFor('output', 'assistant');
  const told: string[] = [];
  const window = createWindow('plain', detectors, (hit, original) => {
    told.push(`${hit.start} ${hit.end} ${hit.rules.join()} ${original.length}`);
    return detectors[hit.rule]?.watches === true ? undefined : `[${hit.kind}]`;
  });
  return { window, told };
}

test.each([[['redact', 'redact']], [['redact', 'flag']], [['flag', 'redact']]] as const)(
  'what is given out in turns is what is given out at once: %j',
  async (actions) => {
    const cuts = fc.uniqueArray(fc.nat(24_000), { maxLength: 4 });
    const text = fc.constantFrom(
      ...['', 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].map((end) => `${'key-'.repeat(6000)}${end} x other`),
    );
    await fc.assert(
      fc.asyncProperty(text, cuts, async (whole, places) => {
        const [atOnce, inSlices] = [windowOf(actions), windowOf(actions)];
        const expected = atOnce.window.whole(whole);
        let given = '';
        let from = 0;
        for (const to of [...places.sort((a, b) => a - b), whole.length]) {
          given += await inSlices.window.writeInSlices(whole.slice(from, to), false);
          from = to;
        }
        given += await inSlices.window.writeInSlices('', true);
        expect(given).toBe(expected);
        expect(inSlices.told.toSorted()).toEqual(atOnce.told.toSorted());
      }),
      { numRuns: runs(12) },
    );
  },
);
