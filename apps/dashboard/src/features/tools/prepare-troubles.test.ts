import { expect, test } from 'bun:test';
import type { McpServer } from '../../api/tools';
import { serverTroubles } from './prepare-troubles';

const server = (health: Partial<McpServer['health']>) =>
  ({
    id: 'a',
    alias: 'tickets',
    health: { state: 'failing', error: null, held_back_count: 0, ...health },
  }) as McpServer;

test('a trouble goes on after the name of its server, which it does not repeat', () => {
  const errorOf = (error: string | null) => serverTroubles([server({ error })]).map((trouble) => trouble.error);
  expect(errorOf('tickets answered with status 503.')).toEqual([' answered with status 503.']);
  expect(errorOf('ticketsmith is away')).toEqual([': ticketsmith is away']);
  expect(errorOf(null)).toEqual([' does not answer.']);
  expect(serverTroubles([server({ state: 'ok', held_back_count: 2 })])).toMatchObject([{ waiting: 2, error: null }]);
  expect(serverTroubles([server({ state: 'ok' }), server({ state: 'inactive', held_back_count: 2 })])).toEqual([]);
});
