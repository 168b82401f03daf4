import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { Document, isMap, isScalar, isSeq } from 'yaml';
import { MONEY, plainDecimal } from '../../admin/fields/json-money';
import { DEFAULT_TEAM_ID } from '../../admin/teams/schema';
import { dataOf, isObject } from '../read-list';
import { takesNull } from './compare';
import type { Found, GatewayState } from './load-state';
import { nounOf } from './read-resources';
import { type Kind, kindOf, secretFieldsOf } from './resource-kinds';

export interface Exported {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Fields of which null means something else than leaving them out. */
const KEEPS_NULL: ReadonlySet<string> = new Set(['rate_limit_per_minute', 'max_customers']);
/** Fields that the place of an entry says, and ids of people and organizations, which other gateways lack. */
const IMPLIED: ReadonlySet<string> = new Set(['project_id', 'position', 'team_id', 'user_id', 'organization_id']);
const HEAD = ` Secrets are not exported. A comment names each; write a reference such as env:NAME to set it.`;

/** The state of a gateway as a file that leads to it again. */
export function exportConfig(state: GatewayState): Exported {
  return new Exporter(state).run();
}

class Exporter {
  private readonly notes: string[] = [];
  /** Secrets that an entry has, by their fields. */
  private readonly hidden = new Map<JsonObject, readonly string[]>();

  constructor(private readonly state: GatewayState) {}

  run(): Exported {
    const file: JsonObject = { version: 1 };
    const sections = {
      teams: this.teams(),
      providers: this.providers(),
      projects: this.of('project', null).map((project) => this.project(project)),
      models: this.prices().map((price) =>
        this.entry(price, { provider: price.at[0] ?? '', model: price.at[1] ?? '' }),
      ),
      chains: this.of('chain', null)
        .filter(({ shown }) => shown.edited === true)
        .map((chain) => this.entry(chain, { name: chain.name })),
      aliases: this.of('alias', null).map((alias) => this.entry(alias, { alias: alias.name })),
      mcp_servers: this.of('mcp_server', null).map((server) => this.entry(server, { alias: server.name })),
      backends: this.of('backend', null).map((backend) => this.entry(backend, { name: backend.name })),
      alerts: this.alerts(),
      tokens: this.of('token', null).map((token) =>
        this.entry(token, { name: token.name, secret: { write_to: `tokens/${fileName(token.name)}` } }),
      ),
    };
    for (const [section, entries] of Object.entries(sections)) if (entries.length > 0) file[section] = entries;
    return { text: this.write(file), notes: this.notes };
  }

  private write(file: JsonObject): string {
    const document = new Document(file, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
    document.commentBefore = HEAD;
    this.addComments(document.contents, file);
    return document.toString({ lineWidth: 0 });
  }

  private addComments(node: unknown, value: JsonValue): void {
    if (isMap(node) && isObject(value)) {
      const fields = this.hidden.get(value);
      if (fields !== undefined) node.commentBefore = fields.map((field) => ` ${field}: env:NAME`).join('\n');
      for (const { key, value: inner } of node.items) {
        this.addComments(inner, value[String(isScalar(key) ? key.value : key)] ?? null);
      }
    } else if (isSeq(node) && Array.isArray(value)) {
      for (const [index, inner] of node.items.entries()) this.addComments(inner, value[index] ?? null);
    }
  }

  private project(project: Found): JsonObject {
    const nested = (kind: Kind) => this.of(kind, project.id);
    const keys = nested('key').map((key) => {
      const secret = { write_to: `keys/${fileName(project.name)}/${fileName(key.name)}` };
      return this.entry(key, { name: key.name, secret });
    });
    const customers = nested('customer_limits').map((one) => this.entry(one, { customer_id: one.at[0] ?? '' }));
    const [guardrails] = nested('guardrails');
    const aliases = nested('alias').map((alias) => this.entry(alias, { alias: alias.name }));
    const labels = nested('label_budget').map((one) =>
      this.entry(one, { label: one.at[0] ?? '', value: one.at[1] ?? '' }),
    );
    const entry = this.entry(project, { name: project.name, ...this.teamOf(project) });
    if (keys.length > 0) entry.keys = keys;
    if (customers.length > 0) entry.customers = customers;
    if (guardrails !== undefined) entry.guardrails = this.entry(guardrails, {});
    if (aliases.length > 0) entry.aliases = aliases;
    if (labels.length > 0) entry.label_budgets = labels;
    return entry;
  }

  /** Each gateway has the default team. */
  private teams(): JsonObject[] {
    return this.of('team', null).flatMap((team) => {
      const entry = this.entry(team, { name: team.name });
      return team.id === DEFAULT_TEAM_ID && Object.keys(entry).length === 1 ? [] : [entry];
    });
  }

  private teamOf({ shown: { team_id: id = null } }: Found): JsonObject {
    if (id === DEFAULT_TEAM_ID) return {};
    const name = this.state.withId('team', String(id))?.name;
    const isOnly = name !== undefined && this.state.named('team', null, [name]).length === 1;
    return { team_id: isOnly ? name : id };
  }

  private providers(): JsonObject[] {
    const stored = new Map(this.of('provider', null).map((one) => [one.name, this.entry(one, { name: one.name })]));
    // As the gateway lists them: in the order of use.
    const keys = this.state.all.filter(({ kind }) => kind === 'provider_key');
    const single = new Set(this.withoutDoubles(keys.toSorted(byName)));
    for (const key of keys.filter((one) => single.has(one))) {
      const [provider = '', name = ''] = key.at;
      const owner = stored.getOrInsertComputed(provider, () => ({ name: provider }));
      const project: JsonObject = key.project === null ? {} : { project_id: this.projectName(key.project) };
      owner.keys = [...dataOf(owner, 'keys'), this.entry(key, { name, ...project })];
    }
    return [...stored.values()];
  }

  /** Shipped prices come with the gateway; those of a provider's models stand there. */
  private prices(): readonly Found[] {
    const models = this.of('provider', null).flatMap(({ name, shown }) =>
      dataOf(shown, 'models').map((one) => `${name}/${isObject(one) ? one.model : ''}`),
    );
    return this.of('model', null).filter(({ name, shown }) => shown.edited === true && !models.includes(name));
  }

  private alerts(): JsonObject[] {
    const alerts = this.state.all.filter(({ kind }) => kind === 'alert').sort(byName);
    return this.withoutDoubles(alerts).map((alert) => {
      const project: JsonObject = alert.project === null ? {} : { project_id: this.projectName(alert.project) };
      return this.entry(alert, { name: alert.name, ...project });
    });
  }

  private projectName(id: string): string {
    const name = this.state.withId('project', id)?.name;
    return name === undefined || this.state.projects.get(name)?.length !== 1 ? id : name;
  }

  private of(kind: Kind, project: string | null): readonly Found[] {
    const found = this.state.all.filter((one) => one.kind === kind && one.project === project);
    return this.withoutDoubles(found.sort(byName));
  }

  /** A file names things; of several with one name it can describe one. */
  private withoutDoubles(found: readonly Found[]): readonly Found[] {
    return found.filter((one, index) => {
      const before = found[index - 1];
      const isDouble = before?.name === one.name && (before.project === one.project || one.kind === 'alert');
      const note = `Several are called ${nounOf(one.kind)} "${one.name}"; the file has one of them.`;
      if (isDouble && !this.notes.includes(note)) this.notes.push(note);
      return !isDouble;
    });
  }

  private entry({ kind, shown }: Found, named: JsonObject): JsonObject {
    const { fields, createOnly = [], normal, shown: schemas } = kindOf(kind);
    const secret = secretFieldsOf(kind);
    const entry: JsonObject = { ...named };
    for (const field of [...createOnly, ...Object.keys(fields), ...pricesIn(kind, shown)]) {
      const value = shown[field];
      const isTold = Object.hasOwn(named, field) || IMPLIED.has(field);
      if (value === undefined || secret.includes(field) || isTold) continue;
      if (value === null && !KEEPS_NULL.has(field)) continue;
      if (isEmpty(value) && !takesNull(schemas[field])) continue;
      entry[field] = plain(normal?.(field, value) ?? value, field);
    }
    const hidden = hiddenOf(kind, shown);
    if (hidden.length > 0) this.hidden.set(entry, hidden);
    return entry;
  }
}

const byName = (a: Found, b: Found): number => {
  const [one, other] = [a, b].map(({ at, project }) => `${at.join('/')}\n${project ?? ''}`);
  return one === other ? 0 : String(one) < String(other) ? -1 : 1;
};

const pricesIn = (kind: Kind, shown: JsonObject): readonly string[] =>
  kind === 'model' ? Object.keys(shown).filter((field) => MONEY.test(field)) : [];

const isEmpty = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Amounts as numbers where these are exact. */
function plain(value: JsonValue, name: string): JsonValue {
  if (typeof value === 'string' && MONEY.test(name)) {
    return plainDecimal(String(Number(value))) === value ? Number(value) : value;
  }
  if (Array.isArray(value)) return value.map((one) => plain(one, ''));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, plain(one, field)]));
}

/** Secrets that a resource has. */
function hiddenOf(kind: Kind, shown: JsonObject): readonly string[] {
  const headers = dataOf(shown, 'header_names').map((name) => `headers.${name}`);
  const env = dataOf(shown, 'env_names').map((name) => `env.${name}`);
  if (kind === 'provider_key') return ['key'];
  if (kind === 'alert') return ['webhook_url', ...(shown.has_routing_key === true ? ['routing_key'] : [])];
  const { auth } = shown;
  const hasAuth = kind === 'mcp_server' && isObject(auth) && auth.type !== 'none';
  return [...headers, ...env, ...(hasAuth ? ['auth'] : [])];
}

const fileName = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_');
