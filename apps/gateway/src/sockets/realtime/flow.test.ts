import { expect, test } from 'bun:test';
import { Flow, type Frame } from './flow';

function open() {
  const events: string[] = [];
  const passed: string[] = [];
  const decisions = new Map<string, PromiseWithResolvers<void>>();
  const source = { pause: () => events.push('pause'), resume: () => events.push('resume') };
  const flow: Flow = new Flow(source, (frame: Frame) => {
    const text = String(frame);
    if (!text.startsWith('wait')) {
      passed.push(text);
      return undefined;
    }
    const decision = Promise.withResolvers<void>();
    decisions.set(text, decision);
    return decision.promise.then(() => void passed.push(text));
  });
  const decide = async (frame: string) => {
    decisions.get(frame)?.resolve();
    for (let i = 0; i < 5; i++) await Promise.resolve();
  };
  return { flow, events, passed, decide };
}

test('frames behind one that waits keep their order, and the source is not read meanwhile', async () => {
  const { flow, events, passed, decide } = open();
  for (const frame of ['a', 'wait 1', 'b', 'wait 2', 'c']) flow.push(frame);
  expect(passed).toEqual(['a']);
  await decide('wait 1');
  expect(passed).toEqual(['a', 'wait 1', 'b']);
  expect(events).toEqual(['pause']);
  await decide('wait 2');
  expect(passed).toEqual(['a', 'wait 1', 'b', 'wait 2', 'c']);
  expect(events).toEqual(['pause', 'resume']);
});

test('a source that waits for two reasons is read after both', async () => {
  const { flow, events, decide } = open();
  flow.push('wait 1');
  flow.stop('backpressure');
  flow.stop('backpressure');
  await decide('wait 1');
  expect(flow.isStoppedBy('backpressure')).toBe(true);
  expect(events).toEqual(['pause']);
  flow.go('backpressure');
  flow.go('backpressure');
  expect(events).toEqual(['pause', 'resume']);
});
