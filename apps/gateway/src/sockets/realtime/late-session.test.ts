import { expect, test } from 'bun:test';
import { LateSession } from './late-session';
import type { SessionSocket } from './session-socket';

test('a session that ends by its first frame ends alone: nothing is resumed that is closed', async () => {
  const seen: string[] = [];
  const wire = {
    send: () => 0,
    pause: () => void seen.push('pause'),
    resume: () => void seen.push('resume'),
    close: () => void seen.push('close'),
  };
  const ended = Promise.withResolvers<void>();
  const session = {
    open: () => {},
    receive: () => late.closed(),
    closed: () => {
      seen.push('closed');
      ended.resolve();
    },
  };
  const late = new LateSession({ open: async () => session as unknown as SessionSocket, onClose: () => {} });
  late.open(wire as unknown as Parameters<LateSession['open']>[0]);
  late.receive('{"setup":{}}');
  await ended.promise;
  expect(seen).toEqual(['pause', 'closed']);
});
