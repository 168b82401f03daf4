import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { type EverythingServer, startEverythingServer } from '../mcp/everything-server';
import { type HostileServer, startHostileServer } from '../mcp/hostile-server';
import { callAdmin } from '../stores/start-gateway';
import { ON_ONE_KIND, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const MODERN = '2026-07-28';
/** The official clients, each with the revision that it speaks. */
const KINDS = ['of today', 'of today in the old revision', 'of before'] as const;
type ClientKind = (typeof KINDS)[number];

describe.each(ON_ONE_KIND)('official MCP clients on %s stores', (kind) => {
  let world: TestEnvironment;
  let servers: readonly EverythingServer[];
  let hanging: HostileServer;
  let key: string;
  const closes: (() => Promise<void>)[] = [];

  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  const admin = (method: string, path: string, body?: object): Promise<any> =>
    callAdmin(world.gateway, path, { method, body });

  const connect = async (which: ClientKind, path = '/mcp'): Promise<Client> => {
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    const url = new URL(path, world.gateway.url);
    if (which === 'of before') {
      const old = new OldClient({ name: 'test', version: '1' });
      await old.connect(new OldTransport(url, { requestInit }));
      closes.push(() => old.close());
      // Both have the methods that these tests call.
      return old as unknown as Client;
    }
    const mode = which === 'of today' ? { pin: MODERN } : 'legacy';
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    closes.push(() => client.close());
    return client;
  };

  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    servers = [startEverythingServer(MODERN), startEverythingServer('2025-11-25')];
    hanging = startHostileServer();
    for (const [n, alias] of ['new', 'old'].entries()) {
      await admin('POST', '/mcp/servers', { approve: 'all', alias, url: servers[n]?.url });
    }
    await admin('POST', '/mcp/servers', { approve: 'all', alias: 'hanging', url: hanging.urlOf('hanging') });
    const { id } = await admin('POST', '/projects', { name: 'agents' });
    const body = { name: 'k', rate_limit_per_minute: null, allowed_tools: ['*'] };
    key = String((await admin('POST', `/projects/${id}/keys`, body)).key);
  }, 60_000);
  afterAll(async () => {
    for (const close of closes) await close().catch(() => {});
    for (const server of servers) await server.stop();
    await hanging.stop();
    await world.close();
  });

  describe.each(KINDS)('%s', (which) => {
    test('list and call tools of two servers through one URL with one key', async () => {
      const client = await connect(which);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['new__test_simple_text', 'old__test_simple_text']));
      expect(names.every((name) => /^(new|old|hanging)__/.test(name))).toBe(true);
      for (const alias of ['new', 'old']) {
        const said = await client.callTool({ name: `${alias}__test_simple_text`, arguments: {} });
        expect(JSON.stringify(said.content)).toContain('simple text');
        const failed = await client.callTool({ name: `${alias}__test_error_handling`, arguments: {} });
        expect(failed.isError).toBe(true);
      }
    }, 60_000);

    test('see one server as it is under its own URL', async () => {
      const client = await connect(which, '/mcp/old');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('test_simple_text');
      expect(tools.some(({ name }) => name.includes('__'))).toBe(false);
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
    }, 60_000);

    test('read resources, templates, prompts and completions of both', async () => {
      const client = await connect(which);
      const { resources } = await client.listResources();
      const { resourceTemplates } = await client.listResourceTemplates();
      const { prompts } = await client.listPrompts();
      for (const alias of ['new', 'old']) {
        const found = resources.find(({ uri }) => uri.includes(`.${alias}+`) && uri.endsWith('static-text'));
        const { contents } = await client.readResource({ uri: found?.uri ?? '' });
        expect(contents).toMatchObject([{ uri: found?.uri, text: expect.stringContaining('static text') }]);
        const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes(`.${alias}+`));
        const uri = template?.uriTemplate.replace('{id}', '7') ?? '';
        expect(JSON.stringify(await client.readResource({ uri }))).toContain('Data for ID: 7');
        const name = `${alias}__test_prompt_with_arguments`;
        expect(prompts.map((one) => one.name)).toContain(name);
        const prompt = await client.getPrompt({ name, arguments: { arg1: 'one', arg2: 'two' } });
        expect(JSON.stringify(prompt.messages)).toContain("arg1='one', arg2='two'");
        const argument = { name: 'arg1', value: 'par' };
        const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument });
        expect(completion.values).toEqual(['paris', 'park']);
      }
    }, 60_000);

    test('hear how far a call is, and what it logs', async () => {
      const client = await connect(which);
      for (const alias of ['new', 'old']) {
        const told: number[] = [];
        const onprogress = ({ progress }: { readonly progress: number }) => void told.push(progress);
        const name = `${alias}__test_tool_with_progress`;
        // The second argument of the old one is a schema.
        if (which === 'of before') {
          await (client as unknown as OldClient).callTool({ name, arguments: {} }, undefined, { onprogress });
        } else {
          await client.callTool({ name, arguments: {} }, { onprogress });
        }
        expect([alias, told]).toEqual([alias, [0, 50, 100]]);
      }
      if (which !== 'of before') return;
      const old = client as unknown as OldClient;
      const lines: unknown[] = [];
      old.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void lines.push(params.data));
      await old.setLoggingLevel('info');
      await old.callTool({ name: 'old__test_tool_with_logging', arguments: {} });
      expect(lines).toHaveLength(3);
    }, 60_000);

    test('are told of changed lists', async () => {
      let told = 0;
      const client = await connect(which);
      if (which === 'of before') {
        (client as unknown as OldClient).fallbackNotificationHandler = async ({ method }) => {
          if (method === 'notifications/tools/list_changed') told += 1;
        };
      } else {
        client.setNotificationHandler('notifications/tools/list_changed', () => {
          told += 1;
        });
      }
      const subscription = which === 'of today' ? await client.listen({ toolsListChanged: true }) : undefined;
      const endMs = performance.now() + 20_000;
      while (told === 0 && performance.now() < endMs) {
        // The gateway's own stream to the server may not be there yet.
        await client.callTool({ name: 'new__test_trigger_tool_change', arguments: {} });
        await Bun.sleep(100);
      }
      expect(told).toBeGreaterThan(0);
      await subscription?.close();
    }, 60_000);

    test('cancel a call, and its server is cancelled within a second', async () => {
      const client = await connect(which);
      const [open, cancelled] = [hanging.openCalls(), hanging.cancelled.length];
      const leaving = new AbortController();
      const ask = { name: 'hanging__a', arguments: {} };
      const options = { signal: leaving.signal };
      const pending =
        which === 'of before'
          ? (client as unknown as OldClient).callTool(ask, undefined, options)
          : client.callTool(ask, options);
      const failed = pending.then(
        () => false,
        () => true,
      );
      await waitUntil(() => hanging.openCalls() > open, 5000);
      const startMs = performance.now();
      leaving.abort();
      await waitUntil(() => hanging.cancelled.length > cancelled && hanging.openCalls() === open, 5000);
      expect(performance.now() - startMs).toBeLessThan(1000);
      expect(await failed).toBe(true);
    }, 60_000);
  });
});
