// What lies beside the data plane: sign-in, the admin API, and addresses that only the gateway can reach.
import { connect } from 'node:net';
import type { Attack, AttackContext } from '../attack';
import { APIS, type Api, ask } from './ask-with';

const GUESSES = 300;
/** Guesses a minute that may be looked at, from one address. */
const LOOKED_AT = 30;
/** The status of a request by hand. */
function sendHead({ gateway }: AttackContext, head: string, body: string): Promise<number> {
  const { hostname, port } = new URL(gateway.url);
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = connect(Number(port), hostname, () => {
    socket.write(`${head}\r\nhost: x\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  });
  socket.on('data', (data) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1] ?? 0)));
  socket.on('error', () => resolve(0)).on('close', () => resolve(0));
  return promise.finally(() => socket.destroy());
}

async function guess(context: AttackContext, headOf: (index: number) => [head: string, body: string]) {
  const statuses = new Map<number, number>();
  for (let i = 0; i < GUESSES; i++) {
    const status = await sendHead(context, ...headOf(i));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  if (statuses.has(0)) return `${statuses.get(0)} of ${GUESSES} guesses got no answer`;
  const refused = statuses.get(429) ?? 0;
  return refused < GUESSES - LOOKED_AT ? `${GUESSES - refused} of ${GUESSES} guesses were looked at` : undefined;
}

/** As the dashboard's own page sends it. */
const JSON_TYPE = 'content-type: application/json\r\norigin: http://x\r\nsec-fetch-site: same-origin';
const forwardedFor = (i: number) => `x-forwarded-for: 203.0.113.${i % 250}, 198.51.100.${i % 250}`;

/** Paths that end, begin or are written like the one that stands open. */
const LIKE_SESSIONS = [
  ...['/admin/v1/session', '/admin/v1/session/', '/admin/v1/projects/v1/session', '/admin/v1/session/../projects'],
  ...['/admin/v1/session%2f..%2fprojects', '/admin/v1/logs/v1/session', '/admin//v1/projects', '/admin/v1/./projects'],
  ...[
    '/ADMIN/v1/projects',
    '/admin/v1/projects?x=/v1/session',
    '/admin/v1/projects#/v1/session',
    '/admin/v1/projects/',
  ],
  ...['/admin/v1/keys/v1/session', '/admin/v1/audit/v1/session', '/admin/v1/%70rojects', '/admin/../admin/v1/projects'],
];

const PRIVATE_HOSTS = [
  ...[
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '2130706433',
    '0x7f000001',
    '127.1',
    '0177.0.0.1',
  ],
  ...['[::]', 'LOCALHOST', 'localhost.', '127.0.0.1.nip.io', '[::ffff:7f00:1]'],
];
const NOBODY = ['http://10.0.0.1/a.png', 'http://169.254.169.254/latest/meta-data/', 'http://192.168.0.1:22/'];
const CLOSED_PORT = 1;

const image = (url: string) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  max_tokens: 10,
});
const MEDIA_MODELS = ['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash'];

export const ADMIN: readonly Attack[] = [
  {
    name: 'guessing the admin token by sign-ins',
    play: (context) =>
      guess(context, (i) => [
        `POST /admin/v1/session HTTP/1.1\r\n${JSON_TYPE}\r\n${forwardedFor(i)}`,
        JSON.stringify({ token: `guess-${i}-0123456789` }),
      ]),
  },
  {
    name: 'guessing the admin token by headers',
    play: (context) =>
      guess(context, (i) => [
        `GET /admin/v1/projects HTTP/1.1\r\nauthorization: Bearer guess-${i}-0123456789\r\n${forwardedFor(i)}`,
        '',
      ]),
  },
  {
    name: 'the admin API with a data-plane key, or none',
    play: async ({ send, gateway, key }) => {
      const spec = await fetch(`${gateway.url}/admin/v1/openapi.json`, {
        headers: { authorization: `Bearer ${gateway.adminToken}` },
      });
      const { paths } = (await spec.json()) as { paths: Record<string, Record<string, object>> };
      const open: string[] = [];
      for (const [template, methods] of Object.entries(paths)) {
        const path = template.replace(/\{[^}]+\}/g, key.projectId);
        const whole = path.startsWith('/admin') ? path : `/admin/v1${path.replace(/^\/v1/, '')}`;
        for (const method of Object.keys(methods)) {
          const body = method === 'get' || method === 'delete' ? undefined : {};
          const { status } = await send(whole, { method: method.toUpperCase(), body });
          if (status < 400 && !whole.endsWith('/openapi.json')) open.push(`${method} ${path}`);
        }
      }
      return open.length === 0 ? undefined : `answered: ${open.join(', ')}`;
    },
  },
  {
    name: 'paths that look like the open one',
    play: async (context) => {
      const open: string[] = [];
      for (const path of LIKE_SESSIONS) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          const status = await sendHead(
            context,
            `${method} ${path} HTTP/1.1\r\n${JSON_TYPE}`,
            method === 'GET' ? '' : '{}',
          );
          if (status >= 200 && status < 300) open.push(`${method} ${path}`);
        }
      }
      return open.length === 0 ? undefined : `answered: ${open.join(', ')}`;
    },
  },
  {
    name: 'media from private addresses',
    ...{ perMinute: 1_000, project: { strict_caps: false } },
    play: async (context) => {
      const port = new URL(context.upstream.url).port;
      for (const model of MEDIA_MODELS) {
        for (const host of PRIVATE_HOSTS) {
          await ask(context, 'chat', 'x', {
            more: { model, ...image(`http://${host}:${port}/secret.png`) },
            leaveAfterMs: 5_000,
          });
        }
        for (const url of NOBODY)
          await ask(context, 'chat', 'x', { more: { model, ...image(url) }, leaveAfterMs: 5_000 });
      }
      const fetched = context.upstream.calls.filter(({ path }) => path.includes('secret'));
      return fetched.length === 0 ? undefined : `${fetched.length} private addresses were asked`;
    },
  },
  {
    name: 'telling open ports from closed ones',
    ...{ perMinute: 1_000, project: { strict_caps: false } },
    play: async (context) => {
      const open = new URL(context.upstream.url).port;
      for (const model of MEDIA_MODELS) {
        const answers: string[] = [];
        for (const port of [open, CLOSED_PORT]) {
          const { status, text } = await ask(context, 'chat', 'x', {
            more: { model, ...image(`http://127.0.0.1:${port}/`) },
          });
          const { error } = JSON.parse(text || '{}') as { error?: { message: string } };
          answers.push(`${status} ${error?.message ?? ''}`.replaceAll(`:${port}/`, ':port/'));
        }
        if (model !== 'gpt-4o-mini' && new Set(answers).size > 1)
          return `${model} tells them apart: ${answers.join(' | ')}`;
      }
      return undefined;
    },
  },
  ...(['chat', 'messages'] as const).map(
    (api: Api): Attack => ({
      name: `errors that tell nothing of the inside: ${api}`,
      perMinute: 1_000,
      play: async (context) => {
        const { send } = context;
        const texts: string[] = [];
        for (const body of [
          '{',
          '[]',
          'null',
          '{"model":{}}',
          '{"__proto__":{"x":1},"constructor":{"prototype":{}}}',
        ]) {
          texts.push((await send(APIS[api]('x').path, { body })).text);
        }
        const told = texts.find((text) =>
          /\bat (?:async )?\w+ \(|\.ts:\d+|\/src\/|node_modules|hostile-vendor-key/.test(text),
        );
        return told === undefined ? undefined : `told: ${told.slice(0, 200)}`;
      },
    }),
  ),
];
