import { expect, test } from 'bun:test';
import { closeConnections, stopListening } from './stop-listening';

const BUSY_MS = 400;
/** Two requests on a connection of their own each: one before, one while the server's loop is busy. */
const CLIENT = `
  const [url] = process.argv.slice(-1);
  const ask = async () => (await fetch(url, { method: 'POST', body: 'x' })).text();
  await ask();
  console.log('connected');
  await Bun.sleep(${BUSY_MS / 2});
  const both = await Promise.allSettled([ask(), ask()]);
  console.log(JSON.stringify(both.map((answer) => answer.value ?? String(answer.reason))));
`;

for (const [name, close] of [
  ['the listener', stopListening],
  ['all connections', closeConnections],
] as const) {
  test(`closing ${name}: requests that came while the loop was busy are answered, on new and on idle connections`, async () => {
    const server = Bun.serve({ port: 0, fetch: async (request) => new Response(`got ${await request.text()}`) });
    const client = Bun.spawn([process.execPath, '--no-env-file', '-e', CLIENT, `http://127.0.0.1:${server.port}/`], {
      stdout: 'pipe',
    });
    const lines = client.stdout.pipeThrough(new TextDecoderStream()).getReader();
    expect((await lines.read()).value).toBe('connected\n');
    const busyUntil = performance.now() + BUSY_MS;
    while (performance.now() < busyUntil);
    await close(server);
    expect((await lines.read()).value).toBe('["got x","got x"]\n');
    await server.stop(true);
    await client.exited;
  });
}
