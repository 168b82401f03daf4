// Names without an end, and floods: what each leaves behind.
import { allLogs } from '../../e2e/environment';
import { callAdmin } from '../../stores/start-gateway';
import type { Attack, AttackContext } from '../attack';
import { APIS, ask } from './ask-with';

const NAMES = 2_000;
const AT_ONCE = 50;
const CUSTOMERS = 100;
/** Series that a gateway may begin with anybody's requests: statuses, providers, histograms. */
const MOST_SERIES = 300;
/** Rows of refusals a key leaves in a second; the others are folded into one. */
const ROWS_A_SECOND = 10;

async function inSlices(count: number, play: (index: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, k) => play(i + k)));
  }
}

const countSeries = async ({ gateway }: AttackContext) =>
  (await (await fetch(`${gateway.url}/metrics`)).text()).split('\n').length;

async function growsSeries(context: AttackContext, play: (index: number) => Promise<unknown>) {
  const before = await countSeries(context);
  await inSlices(NAMES, play);
  const grown = (await countSeries(context)) - before;
  return grown > MOST_SERIES ? `${grown} series more in /metrics` : undefined;
}

export const NAMES_WITHOUT_END: readonly Attack[] = [
  {
    name: 'two thousand invented models',
    ...{
      perMinute: 100_000,
      project: { strict_caps: false, monthly_cap_usd: null, unknown_model_policy: 'allow_unpriced' },
    },
    play: (context) =>
      growsSeries(context, (i) => ask(context, 'chat', 'x', { more: { model: `openai/made-up-${i}` } })),
  },
  {
    name: 'two thousand invented paths, methods and agents',
    play: (context) =>
      growsSeries(context, (i) =>
        context.send(`/v${i}/made-up-${i}`, {
          method: i % 2 ? 'GET' : `M${i}`,
          headers: { 'user-agent': `agent-${i}` },
        }),
      ),
  },
  {
    name: 'two thousand invented customers and labels',
    ...{ perMinute: 100_000, project: { max_customers: CUSTOMERS } },
    play: async (context) => {
      let refused = 0;
      const gained = await growsSeries(context, async (i) => {
        const headers = { 'x-customer-id': `made-up-${i}`, [`x-llm0-label-${i}`]: `value-${i}` };
        const { status } = await ask(context, 'chat', 'the same', { headers });
        if (status === 429) refused += 1;
      });
      return gained ?? (refused < NAMES - CUSTOMERS ? `only ${refused} of ${NAMES} customers were refused` : undefined);
    },
  },
  {
    name: 'two thousand idempotency keys',
    perMinute: 100_000,
    play: (context) =>
      inSlices(NAMES, (i) => ask(context, 'chat', 'the same', { headers: { 'idempotency-key': `k-${i}` } })),
  },
  {
    name: 'five thousand requests beyond a limit of one a minute',
    play: async (context) => {
      const startMs = performance.now();
      await inSlices(5_000, () => ask(context, 'chat', 'x'));
      const seconds = Math.ceil((performance.now() - startMs) / 1000) + 1;
      await Bun.sleep(2_500);
      const rows = await allLogs(
        { ...context.gateway } as Parameters<typeof allLogs>[0],
        `project_id=${context.key.projectId}&status=rate_limited`,
      );
      const most = ROWS_A_SECOND * seconds + seconds;
      const counted = await callAdmin<{ requests: number }>(
        context.gateway,
        `/stats/overview?project_id=${context.key.projectId}`,
      );
      if (rows.length > most) return `${rows.length} rows of refusals in ${seconds} s`;
      return counted.requests < 5_000 ? `only ${counted.requests} of 5000 requests were counted` : undefined;
    },
  },
  {
    name: 'floods of every kind of request, without a key',
    play: async ({ send }) => {
      const headers = { authorization: '' };
      const paths = [APIS.chat('x').path, '/v1/models', '/v1/responses/resp_1', '/passthrough/openai/v1/files', '/'];
      await inSlices(NAMES, (i) => send(paths[i % paths.length] ?? '/', { headers }));
    },
  },
  {
    name: 'two thousand invented keys',
    play: async ({ send }) => {
      await inSlices(NAMES, (i) =>
        send('/v1/models', { headers: { authorization: `Bearer llm0_live_${i.toString(16).padStart(64, '0')}` } }),
      );
    },
  },
];
