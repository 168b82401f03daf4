import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';
import { type Command, PAGE, UsageError } from '../command';
import { column } from '../format-table';
import { dataOf, isObject } from '../read-list';

const project = { kind: 'project', help: 'id or name of a project (all projects)' } as const;

const HEDGE = {
  kind: 'number',
  help: 'milliseconds without output until the next target is called too (never)',
} as const;

export const ROUTING_COMMANDS: readonly Command[] = [
  {
    name: 'aliases list',
    summary: 'List aliases, newest first',
    options: { project, ...PAGE },
    run: ({ api, fields }) => api.get('/aliases', fields),
    shown: (body) => dataOf(body).map(withTargets),
    columns: [
      column('alias'),
      column('project_id', { title: 'project' }),
      column('strategy'),
      column('targets'),
      column('id'),
    ],
  },
  {
    name: 'aliases set',
    summary: 'Create or change an alias; applies at once',
    args: ['alias'],
    options: {
      project,
      targets: { kind: 'list', help: 'provider/model,provider/model…, in order' },
      weights: { kind: 'list', help: 'one for each target, with --strategy weighted' },
      strategy: { kind: 'text', help: 'priority, weighted, least_latency or cheapest (priority)' },
      'hedge-after-ms': HEDGE,
      'session-affinity': {
        kind: 'json',
        help: 'true or false: keep conversations at the target with the warm prompt cache (true)',
      },
      failover: { kind: 'text', help: 'on: add the chains of its targets; off: try one target only' },
      'retry-timeouts': {
        kind: 'json',
        help: 'true or false: try the next target after a timed-out answer without streaming (false)',
      },
      'request-timeouts-ms': { kind: 'list', help: 'milliseconds, one for each target (REQUEST_TIMEOUT)' },
      'answer-timeouts-ms': { kind: 'list', help: 'milliseconds, one for each target (ANSWER_TIMEOUT)' },
    },
    run: async ({ api, args, fields }) => {
      const projectId = projectIdOf(fields);
      const changes = {
        targets: readTargets(fields),
        strategy: fields.strategy,
        hedge_after_ms: fields.hedge_after_ms,
        session_affinity: fields.session_affinity,
        failover: fields.failover,
        retry_timeouts: fields.retry_timeouts,
      };
      const existing = await findAlias(api, args.alias ?? '', projectId);
      if (existing !== undefined) return api.patch(`/aliases/${existing}`, given(changes));
      return api.post('/aliases', { alias: args.alias ?? '', project_id: projectId, ...given(changes) });
    },
    shown: withTargets,
  },
  {
    name: 'aliases delete',
    summary: 'Delete an alias; applies at once',
    args: ['alias'],
    options: { project },
    run: async ({ api, args, fields }) => {
      const found = await findAlias(api, args.alias ?? '', projectIdOf(fields));
      if (found === undefined) throw new RequestFailed(`There is no alias "${args.alias}" there.`);
      return api.delete(`/aliases/${found}`);
    },
    note: (_, { args }) => `deleted the alias ${args.alias}`,
  },
  {
    name: 'chains list',
    summary: 'List the current failover chains',
    run: ({ api }) => api.get('/chains'),
    shown: (body) => dataOf(body).map(withTargets),
    columns: [column('name'), column('targets'), column('local_tier', { title: 'local tier' }), column('edited')],
  },
  {
    name: 'chains set',
    summary: 'Replace a chain; applies at once',
    args: ['name'],
    options: {
      targets: { kind: 'json', help: `'[{"provider":"p","model":"m","matches":["m","m-*"]}]' in order` },
      'local-tier': { kind: 'text', help: 'flagship, balanced or budget (none)' },
      'hedge-after-ms': HEDGE,
    },
    run: ({ api, args, fields }) => api.put(chainPath(args.name), fields),
    shown: withTargets,
  },
  {
    name: 'chains reset',
    summary: 'Delete an edited chain; restores a preset',
    args: ['name'],
    run: ({ api, args }) => api.delete(chainPath(args.name)),
    note: (_, { args }) => `${args.name} is deleted, or a preset again`,
  },
];

const chainPath = (name = '') => `/chains/${encodeURIComponent(name)}`;

const projectIdOf = ({ project_id: id }: JsonObject): string | null => (typeof id === 'string' ? id : null);

/** The alias's id: the project's own, or that of all projects. */
async function findAlias(api: AdminClient, alias: string, projectId: string | null): Promise<string | undefined> {
  const { body } = await api.get('/aliases', { alias, project_id: projectId ?? undefined, limit: 1000 });
  const found = dataOf(body).find((one) => isObject(one) && one.project_id === projectId);
  return isObject(found) ? String(found.id) : undefined;
}

/** Options with one number for each target, and the field each is. */
const BY_TARGET = [
  ['weights', 'weight'],
  ['request_timeouts_ms', 'request_timeout_ms'],
  ['answer_timeouts_ms', 'answer_timeout_ms'],
] as const;

/** `provider/model` up to the first slash: models may have slashes themselves. */
function readTargets({ targets, ...fields }: JsonObject): JsonValue | undefined {
  const lists = BY_TARGET.filter(([option]) => Array.isArray(fields[option]));
  if (!Array.isArray(targets)) {
    if (lists[0] !== undefined) throw new UsageError(`--${lists[0][0].replaceAll('_', '-')} needs --targets`);
    return undefined;
  }
  return targets.map((name, index): JsonObject => {
    const slash = String(name).indexOf('/');
    if (slash <= 0) throw new UsageError(`"${name}" is not provider/model`);
    const target: JsonObject = { provider: String(name).slice(0, slash), model: String(name).slice(slash + 1) };
    for (const [option, field] of lists) {
      const values = fields[option] as readonly JsonValue[];
      if (values.length !== targets.length) {
        throw new UsageError(`--${option.replaceAll('_', '-')} needs one number for each target`);
      }
      target[field] = Number(values[index]);
    }
    return target;
  });
}

function given(fields: Record<string, JsonValue | undefined>): JsonObject {
  const sent: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) sent[name] = value;
  return sent;
}

/** Targets as one line each row. */
function withTargets(item: JsonValue): JsonValue {
  if (!isObject(item) || !Array.isArray(item.targets)) return item;
  const names = item.targets.map((target) => (isObject(target) ? `${target.provider}/${target.model}` : ''));
  return { ...item, targets: names.join(' → ') };
}
