import { expect, test } from 'bun:test';
import { Activity } from './activity';

test('large bodies wait for room in the order they came, and are told to come back where it takes too long', async () => {
  const activity = new Activity(1000, 30);
  const [first, second, third] = [activity.enter(), activity.enter(), activity.enter()];
  await first.reserve(200);
  const order: string[] = [];
  const waiting = second.reserve(150).then(() => order.push('second'));
  const refused = third.reserve(10).catch((error: unknown) => error);
  await Bun.sleep(1);
  expect(order).toEqual([]);
  first();
  await waiting;
  expect(await refused).toBeUndefined();
  const fourth = activity.enter();
  expect(await fourth.reserve(200).catch((error: unknown) => error)).toMatchObject({
    kind: 'overloaded',
    param: 'body',
  });
  second();
  third();
  await fourth.reserve(5000);
});
