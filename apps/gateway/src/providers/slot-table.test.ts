import { expect, test } from 'bun:test';
import { TurnQueue } from '@llm0/core/limits/turn-queue';
import { Peers } from '@llm0/core/routing/places/peers';
import { SlotTable } from './slot-table';

test('places outlive a changed limit, and only a limit makes processes count each other', () => {
  const peers = new Peers();
  const table = new SlotTable(peers, new TurnQueue());
  expect([table.find('openai', null), table.find('openai', undefined), peers.isNeeded]).toEqual([
    undefined,
    undefined,
    false,
  ]);
  const slots = table.find('openai', 2);
  expect([slots?.tryTake(), slots?.tryTake(), slots?.tryTake(), peers.isNeeded]).toEqual([true, true, false, true]);
  expect([table.find('openai', 3) === slots, slots?.tryTake(), table.find('groq', 1)?.isFull]).toEqual([
    true,
    true,
    false,
  ]);
});
