import { expect, test } from 'bun:test';
import { Shared } from './share';

const world = () => {
  let isOpen = true;
  return {
    get isOpen() {
      return isOpen;
    },
    close: async () => {
      isOpen = false;
    },
  };
};

test('reuses matching sockets, drops broken ones and closes the longest idle one', async () => {
  const shared = new Shared<ReturnType<typeof world>>(2, ({ isOpen }) => isOpen);
  const take = (key: string) => shared.take(key, async () => world());
  const first = await take('a');
  const beside = await take('a');
  expect(beside).not.toBe(first);
  await shared.giveBack('a', first);
  expect(await take('b')).not.toBe(first);
  expect(await take('a')).toBe(first);

  await first.close();
  await shared.giveBack('a', first);
  expect(await take('a')).not.toBe(first);

  const three = [world(), world(), world()] as const;
  for (const one of three) await shared.giveBack('c', one);
  expect(three.map(({ isOpen }) => isOpen)).toEqual([false, true, true]);
});
