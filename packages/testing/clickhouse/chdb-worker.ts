// ClickHouse's HTTP interface over chdb: `bun chdb-worker.ts <port> <folder> <installation>`. Enough of it for the client.
import { text } from 'node:stream/consumers';
import { createClient } from '@clickhouse/client';

const [port = '', path = '', installed = ''] = process.argv.slice(2);
const { createChdbConnection } = await import(Bun.resolveSync('chdb/connection', installed));
const options: object = { connection: createChdbConnection({ path }) };
const chdb = createClient(options);
/** Parameters of a request that are no settings. */
const NO_SETTINGS = new Set(['query', 'query_id', 'database', 'session_id', 'role', 'user', 'password']);

let turn: Promise<unknown> = Promise.resolve();

Bun.serve({
  port: Number(port),
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: (request) => {
    if (new URL(request.url).pathname === '/ping') return new Response('Ok.\n');
    // Settings hold for a session, of which there is one.
    const answer = turn.then(() => run(request));
    turn = answer.catch(() => {});
    return answer;
  },
});

async function run(request: Request): Promise<Response> {
  const asked = new URL(request.url).searchParams;
  const body = await request.text();
  const given = asked.get('query');
  const pairs = [...asked].filter(([name]) => !NO_SETTINGS.has(name) && !name.startsWith('param_'));
  const params = [...asked].flatMap(([name, value]) => (name.startsWith('param_') ? [[name.slice(6), value]] : []));
  try {
    const { stream } = await chdb.exec({
      query: given === null ? body : `${given}\n${body}`,
      clickhouse_settings: Object.fromEntries(pairs),
      query_params: Object.fromEntries(params),
    });
    return new Response(await text(stream));
  } catch (error) {
    const message = (error as Error).message;
    const code = /Code: (\d+)/.exec(message)?.[1] ?? String((error as { code?: unknown }).code ?? '1000');
    const { type = 'UNKNOWN' } = error as { readonly type?: string };
    const shown = `Code: ${code}. DB::Exception: ${message} (${type}) (version 26.1)`;
    return new Response(shown, { status: 500, headers: { 'x-clickhouse-exception-code': code } });
  }
}
