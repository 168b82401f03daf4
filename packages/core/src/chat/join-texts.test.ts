import { expect, test } from 'bun:test';
import type { ChatEvent } from './event';
import { joinTexts } from './join-texts';

test('pieces of one text are one, and nothing else is', () => {
  const call = (toolIndex: number, text: string): ChatEvent => ({ type: 'tool-arguments', choice: 0, toolIndex, text });
  const said = (choice: number, text: string): ChatEvent => ({ type: 'text', choice, text });
  const thought: ChatEvent = { type: 'reasoning', choice: 0, text: 'hm' };
  const start: ChatEvent = { type: 'start' };
  expect(
    joinTexts([
      start,
      said(0, 'a'),
      said(0, 'b'),
      said(1, 'c'),
      thought,
      said(0, 'd'),
      call(0, 'e'),
      call(0, 'f'),
      call(1, 'g'),
    ]),
  ).toEqual([start, said(0, 'ab'), said(1, 'c'), thought, said(0, 'd'), call(0, 'ef'), call(1, 'g')]);
  const events = [start, said(0, 'a')];
  expect(joinTexts(events)).toBe(events);
});
