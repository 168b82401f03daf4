import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { McpServer } from '@llm0/core/mcp/server';
import type { RequestContext } from '../../pipeline/request/open-context';
import { HttpUpstream } from '../upstream/http-upstream';
import { type BookedCall, CallBooking } from './call-booking';

const PRICE_NANO_USD = 10_000_000;
const server = { alias: 'web', url: 'http://web.test/mcp', timeoutMs: 1000, pricePerCallNanoUsd: PRICE_NANO_USD };
const LEGACY = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };

interface Script {
  readonly call: () => Response;
  /** Whether a session may be opened; `number` from 1. */
  readonly opens?: (number: number) => boolean;
  readonly headers?: () => Record<string, string>;
}

/** A server of an older revision. */
function upstreamOf({ call, opens = () => true, headers = () => ({}) }: Script) {
  let opened = 0;
  const fetch = async (_url: string, { body }: { body: string }): Promise<Response> => {
    const { id, method } = JSON.parse(body) as { id?: string; method: string };
    if (method === 'tools/call') return call();
    if (method !== 'initialize') return new Response(null, { status: id === undefined ? 202 : 404 });
    opened += 1;
    if (!opens(opened)) return new Response('no', { status: 502 });
    return Response.json({ jsonrpc: '2.0', id, result: LEGACY }, { headers: { 'mcp-session-id': `s${opened}` } });
  };
  return new HttpUpstream({
    server: server as unknown as McpServer & { url: string },
    fetch: fetch as unknown as typeof globalThis.fetch,
    credentials: { headers, refused: async () => true },
    self: {},
  });
}

/** What is booked for one call that failed. */
async function book(upstream: HttpUpstream): Promise<number> {
  const rows: { costNanoUsd: number }[] = [];
  const services = {
    hotStore: { settle: (row: { costNanoUsd: number }) => void rows.push(row) },
    leases: { add: () => {}, remove: () => {} },
    metrics: { observeToolCall: () => {} },
    clock: { monotonicMs: () => 0 },
    bodyLog: { keep: () => {} },
  };
  const principal = { project: { id: 'p' }, key: { id: 'k' } };
  const admission = { principal, decision: { type: 'admitted', nowMs: 0 }, plan: { server } };
  const call = { ctx: { requestId: 'r', startMs: 0 } as RequestContext, admission, job: {}, params: {} };
  const booking = new CallBooking(services as never, call as unknown as BookedCall);
  try {
    const answer = await upstream.ask({
      ...{
        method: 'tools/call',
        params: { name: 'search' },
        caller: { keyId: 'k' },
        client: { era: 'modern', capabilities: {} } as never,
      },
      ...{ signal: new AbortController().signal, maxBytes: 1000, onSent: (isSent) => booking.noteSent(isSent) },
    });
    const part = await answer.next();
    if (part?.kind === 'response' && part.response.error !== undefined) booking.refuse(part.response.error, 0);
    answer.close();
  } catch (error) {
    booking.fail(error as GatewayError);
  }
  return rows[0]?.costNanoUsd ?? Number.NaN;
}

const rpcError = (code: number): JsonObject => ({ jsonrpc: '2.0', id: null, error: { code, message: 'no' } });
const answers = (status: number) => () => new Response('no', { status });

describe('a call that was answered', () => {
  test.each([500, 502, 504, 520, 524, 408, 499, 599])('%d may have run, and is paid', async (status) => {
    expect(await book(upstreamOf({ call: answers(status) }))).toBe(PRICE_NANO_USD);
  });

  test.each([400, 401, 403, 404, 405, 409, 413, 422, 429, 501, 503, 521, 522, 529])(
    '%d was refused, and is free',
    async (status) => expect(await book(upstreamOf({ call: answers(status) }))).toBe(0),
  );

  test.each([
    [500, -32603, PRICE_NANO_USD],
    [500, -32000, PRICE_NANO_USD],
    [500, -32601, 0],
    [502, -32602, 0],
    [400, -32602, 0],
    [200, -32603, PRICE_NANO_USD],
    [200, -32601, 0],
  ])('%d with the error %d in its words: %d', async (status, code, costNanoUsd) => {
    expect(await book(upstreamOf({ call: () => Response.json(rpcError(code), { status }) }))).toBe(costNanoUsd);
  });
});

describe('a call that was never sent is free', () => {
  test('since its session could not be opened', async () => {
    // The first one is the gateway's own.
    expect(await book(upstreamOf({ call: answers(200), opens: (number) => number === 1 }))).toBe(0);
  });

  test('since the session was lost, and could not be opened again', async () => {
    expect(await book(upstreamOf({ call: answers(404), opens: (number) => number <= 2 }))).toBe(0);
  });

  test('since its credentials were refused, and there are no others', async () => {
    let isRefused = false;
    const headers = () => {
      if (isRefused) throw new GatewayError('upstream_error', 'There are no others.');
      return {};
    };
    const call = () => {
      isRefused = true;
      return new Response('no', { status: 401 });
    };
    expect(await book(upstreamOf({ call, headers }))).toBe(0);
  });
});
