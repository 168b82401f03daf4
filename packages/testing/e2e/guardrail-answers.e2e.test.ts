import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { Matrix } from '../guardrails/matrix';
import { argumentsOf, leaksIn, PLANTED, REDACTED, saidIn } from '../guardrails/planted';
import { isAll } from '../lane';
import { BODIES, ROUTES, type Route, rulesOf, useGuardrails, VENDORS } from './guardrails.fixture';

describe('guardrails cannot be walked around by answers', () => {
  const { world, enforce, post } = useGuardrails();
  const matrix = new Matrix();
  afterAll(() => matrix.write());

  const OUTPUT_PARTS = {
    assistant: (text: string): FakeBehaviour => ({ text }),
    reasoning: (text: string): FakeBehaviour => ({ reasoning: text, text: 'Done.' }),
    refusal: (text: string): FakeBehaviour => ({ refusal: text }),
    tool_arguments: (text: string): FakeBehaviour => ({
      toolCalls: [{ name: 'look', arguments: argumentsOf(text) }],
    }),
  } as const;
  type OutputPart = keyof typeof OUTPUT_PARTS;

  /** All ways in which an answer is cut: by pieces of events, and byte by byte on the wire. */
  function cutsOf(part: OutputPart): readonly FakeBehaviour[] {
    if (part === 'assistant' || part === 'refusal') {
      return [1, 2, 3, 5, 9, 20, PLANTED.length].map((chunks) => ({ chunks, byteByByte: chunks === 20 }));
    }
    const length = part === 'reasoning' ? PLANTED.length : argumentsOf(PLANTED).length;
    const all = Array.from({ length: length - 1 }, (_, index) => ({ cutAt: index + 1, byteByByte: index % 50 === 7 }));
    return isAll ? all : all.filter((_, index) => index % 10 === 7);
  }

  describe.each(['redact', 'block'])('output, %s', (action) => {
    beforeAll(() => enforce(rulesOf(action, 'output')));

    const cells = Object.entries(ROUTES).flatMap(([route, { vendors }]) =>
      vendors.flatMap((vendor) => [false, true].map((stream) => ({ route, vendor, stream }))),
    );
    test.each(cells)(
      '$route from $vendor, stream: $stream',
      async ({ route, vendor, stream }) => {
        for (const part of Object.keys(OUTPUT_PARTS) as OutputPart[]) {
          const { path, body } = ROUTES[route] as Route;
          const cuts = stream ? cutsOf(part) : [{}];
          const content = BODIES[route]?.('unknown', '') ?? {};
          world().upstream.control.enqueue(...cuts.map((cut) => ({ ...OUTPUT_PARTS[part](PLANTED), ...cut })));
          const answers = cuts.map(async () => {
            const response = await post(path(vendor, stream), body(VENDORS[vendor], content, stream));
            const text = await response.text();
            if (action === 'block' && part === 'assistant') expect(text).toContain('guardrail_blocked');
            if (action === 'redact' && part === 'assistant') expect(saidIn(text)).toContain(REDACTED);
            if (action === 'redact' && part === 'tool_arguments') expect(saidIn(text)).toContain(REDACTED);
            return leaksIn(text);
          });
          const leaks = (await Promise.all(answers)).flat();
          matrix.note({ on: 'output', route, vendor, stream, part, action, tries: cuts.length, leaks: leaks.length });
          expect([part, [...new Set(leaks)]]).toEqual([part, []]);
        }
      },
      60_000,
    );
  });
});
