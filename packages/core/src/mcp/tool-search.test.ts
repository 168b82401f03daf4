import { afterAll, describe, expect, test } from 'bun:test';
import { threadMs } from '@llm0/testing/thread-time';
import { countTokens } from 'gpt-tokenizer';
import type { TextEmbedder } from '../embedding/built-in-embeddings';
import { none } from '../embedding/embedder';
import { LocalEmbedder } from '../embedding/local-embedder';
import { SHIPPED_MODEL } from '../embedding/shipped-model';
import { declareTools } from './declare-tools';
import type { HostedTool } from './tool-host';
import { ToolSearch } from './tool-search';
import { ToolVectors } from './tool-vectors';
import { TWO_HUNDRED_TOOLS } from './tools.fixture';

const shipped = new LocalEmbedder({ ...SHIPPED_MODEL, onBroken: (message) => console.error(message) });
afterAll(() => shipped.stop());

const off: TextEmbedder = { embed: () => Promise.resolve(none('failed')) };
const find = async (search: ToolSearch, query: string, limit = 5, tools = TWO_HUNDRED_TOOLS) =>
  (await search.find(tools, { query, limit })).map(({ server, name }) => `${server}.${name}`);

describe('by words alone', () => {
  const search = new ToolSearch({ embedder: off });
  test.each([
    ['create issue', 'github.create_issue'],
    ['createIssue', 'github.create_issue'],
    ['pull requests search', 'github.search_pull_request'],
    ['delete an invoice', 'billing.delete_invoice'],
    ['assign ticket support', 'support.assign_ticket'],
    ['list channels in slack', 'slack.list_channel'],
  ])('%s', async (query, first) => {
    expect((await find(search, query))[0]).toBe(first);
  });

  test('nothing is found for what is not there, and nothing breaks', async () => {
    for (const query of ['xyzzy', '', ' ', '(((', '*'.repeat(500), '\u0000', 'a'.repeat(10_000)]) {
      expect(await find(search, query)).toEqual([]);
    }
    expect(await find(search, 'create issue', 5, [])).toEqual([]);
  });

  test('hostile tools are found like others', async () => {
    const tools: HostedTool[] = [
      {
        server: '__proto__',
        name: 'constructor',
        description: 'x '.repeat(100_000),
        inputSchema: { properties: null },
      },
      { server: 'a', name: '', description: '\ud800', inputSchema: {} },
      { server: 'a', name: 'find_me', description: '', inputSchema: { properties: { __proto__: 1 } } },
    ];
    expect(await find(search, 'find', 5, tools)).toEqual(['a.find_me']);
  });
});

describe('with the shipped embedder', () => {
  const search = new ToolSearch({ embedder: shipped, waitMs: 25_000 });
  test.each([
    ['remove a bill for good', 'billing.delete_invoice'],
    ['write to everybody in the chat room', 'slack.'],
    ['which bugs are still open', 'github.'],
  ])('%s is found by what it means', async (query, wanted) => {
    const found = await find(search, query, 8);
    expect(found.filter((name) => name.startsWith(wanted)).length).toBeGreaterThan(0);
  });

  test('declarations found among 200 tools take at most 2 % of the tokens of the lists', async () => {
    const lists = TWO_HUNDRED_TOOLS.map(({ server, name, ...rest }) => ({ name: `${server}__${name}`, ...rest }));
    const full = countTokens(JSON.stringify(lists));
    const shares: string[] = [];
    for (const query of [
      'create an issue',
      'search messages',
      'export the dashboard as a file',
      'customers to assign',
    ]) {
      const found = await search.find(TWO_HUNDRED_TOOLS, { query, limit: 5 });
      expect(found).toHaveLength(5);
      const tokens = countTokens(declareTools(found, { toolCharacters: 1400, characters: 3500 }).text);
      shares.push(`${tokens} (${((100 * tokens) / full).toFixed(2)} %)`);
      expect(tokens).toBeLessThanOrEqual(full * 0.02);
    }
    console.log(`tokens: lists of 200 tools ${full}, declarations found ${shares.join(', ')}`);
  }, 60_000);
});

describe('vectors of tools', () => {
  test('are made once, two at a time, and kept', async () => {
    let [asked, running, most] = [0, 0, 0];
    const embed = async () => {
      asked++;
      most = Math.max(most, ++running);
      await Bun.sleep(1);
      running--;
      return { type: 'vector' as const, vector: new Float32Array([1, 0]) };
    };
    const vectors = new ToolVectors({ embedder: { embed } });
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    const [first, second] = await Promise.all([vectors.get(texts, 5000), vectors.get(texts, 5000)]);
    expect([...first, ...second].filter((vector) => vector !== undefined)).toHaveLength(40);
    await vectors.get(texts, 0);
    expect({ asked, most }).toEqual({ asked: 20, most: 2 });
  });

  test('late vectors serve the next search', async () => {
    const gate = Promise.withResolvers<void>();
    const embed = async () => {
      await gate.promise;
      return { type: 'vector' as const, vector: new Float32Array([1]) };
    };
    const vectors = new ToolVectors({ embedder: { embed } });
    expect(await vectors.get(['a', 'b', 'c'], 20)).toEqual([undefined, undefined, undefined]);
    gate.resolve();
    expect((await vectors.get(['a', 'b', 'c'], 5000)).every((vector) => vector !== undefined)).toBe(true);
  });

  test('failed embeddings are not retried endlessly', async () => {
    let asked = 0;
    const embed = async () => {
      asked++;
      return none('too_long');
    };
    const vectors = new ToolVectors({ embedder: { embed } });
    for (let i = 0; i < 3; i++) await vectors.get(['a'], 1000);
    expect(asked).toBe(1);
  });

  test('a broken embedder is asked for few of them, and holds nobody up', async () => {
    let asked = 0;
    const embed = async () => {
      asked++;
      return none('failed');
    };
    const search = new ToolSearch({ embedder: { embed } });
    const startedMs = threadMs();
    expect((await find(search, 'create issue'))[0]).toBe('github.create_issue');
    expect(threadMs() - startedMs).toBeLessThan(1000);
    expect(asked).toBeLessThan(5);
  });
});
