import type { z } from '@hono/zod-openapi';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { reasonOf } from '../../admin/admin-router';
import { chainName } from '../../admin/chains/schema';
import { text } from '../../admin/fields/fields';
import { isObject } from '../read-list';
import { type ConfigProblem, InvalidConfig, type Path } from './config-problem';
import { fileSchema, type KeySecret, keySecretSchema } from './file-schema';
import type { ConfigSource } from './read-sources';
import { type FollowManaged, isFollowedThere, placeholderOf, resolveSecrets } from './resolve-references';
import { type Kind, kindOf } from './resource-kinds';

/** A resource that the file describes. */
export interface Wanted {
  readonly kind: Kind;
  /** Name for people, unique within its kind: `shop/web`. */
  readonly name: string;
  /** Fields of the admin API with the texts of references, without what its path says. */
  readonly body: JsonObject;
  /** Id or name of its project; null for all projects. */
  readonly project?: string | null;
  /** Name in its path: a provider, model, chain or customer. */
  readonly at: readonly string[];
  /** The secret of a key or token; a reference with its text. */
  readonly secret?: KeySecret & { readonly text?: string };
  readonly source: ConfigSource;
  readonly path: Path;
}

type Place = Pick<Wanted, 'source' | 'path'>;
type Env = Readonly<Record<string, string | undefined>>;
type Section = Exclude<keyof z.infer<typeof fileSchema>, 'version'>;

/** All resources of the files. Throws `InvalidConfig` with everything that is wrong with them. */
export function readResources(
  sources: readonly ConfigSource[],
  env: Env,
  managed: FollowManaged = notFollowed,
): readonly Wanted[] {
  const reader = new ResourceReader(env, managed);
  for (const source of sources) reader.readFile(source);
  if (reader.problems.length === 0) reader.refuseDoubles();
  if (reader.problems.length > 0) throw new InvalidConfig(reader.problems);
  return reader.wanted;
}

const notFollowed: FollowManaged = () => ({ problem: 'secret managers cannot be asked here' });

export const problemAt = ({ source, path }: Place, message: string, field: Path = []): ConfigProblem => {
  const at = [...path, ...field];
  return { file: source.path, line: source.lineOf(at), path: at, message };
};

class ResourceReader {
  readonly wanted: Wanted[] = [];
  readonly problems: ConfigProblem[] = [];

  constructor(
    private readonly env: Env,
    private readonly managed: FollowManaged,
  ) {}

  readFile(source: ConfigSource): void {
    const place = { source, path: [] };
    const parsed = fileSchema.safeParse(source.value);
    if (!parsed.success) {
      this.refuseAll(place, parsed.error);
      return;
    }
    const file = source.value as JsonObject;
    for (const [section, read] of Object.entries(this.readers)) {
      for (const [entry, at] of this.entriesOf(file, section, place)) read(entry, at);
    }
  }

  /** Two descriptions of one resource would undo each other at every apply. */
  refuseDoubles(): void {
    const first = new Map<string, Wanted>();
    for (const one of this.wanted) {
      for (const known of identitiesOf(one)) {
        const other = first.get(known);
        if (other === undefined) first.set(known, one);
        else {
          const where = `${other.source.path}:${other.source.lineOf(other.path)}`;
          this.problems.push(problemAt(one, `${nounOf(one.kind)} "${one.name}" is given twice; first in ${where}`));
        }
      }
    }
  }

  private readonly readers: Readonly<Record<Section, (entry: JsonObject, at: Place) => void>> = {
    providers: (entry, at) => this.readProvider(entry, at),
    teams: (body, at) => this.add('team', { at: [String(body.name)], body, place: at }),
    projects: (entry, at) => this.readProject(entry, at),
    models: ({ provider, model, ...body }, at) => {
      const names = [
        this.nameOf(provider, text(), below(at, 'provider')),
        this.nameOf(model, text(), below(at, 'model')),
      ];
      this.add('model', { at: names, body, place: at });
    },
    chains: ({ name, ...body }, at) =>
      this.add('chain', { at: [this.nameOf(name, chainName, below(at, 'name'))], body, place: at }),
    aliases: ({ project_id: project, ...body }, at) =>
      this.add('alias', { at: [String(body.alias)], project: this.projectOf(project, at), body, place: at }),
    mcp_servers: (body, at) => this.add('mcp_server', { at: [String(body.alias)], body, place: at }),
    backends: (body, at) => this.add('backend', { at: [String(body.name)], body, place: at }),
    tokens: (entry, at) => this.addWithSecret('token', null, entry, at),
    alerts: ({ project_id: project, ...body }, at) => {
      const ofProject = project === undefined ? {} : { project: this.projectOf(project, at) };
      this.add('alert', { at: [String(body.name)], ...ofProject, body, place: at });
    },
  };

  private readProvider({ keys, key, ...body }: JsonObject, at: Place): void {
    const provider = String(body.name);
    this.add('provider', { at: [provider], body, place: at });
    const all: (readonly [JsonObject, Place])[] = key === undefined ? [] : [[{ key }, at]];
    all.push(...this.entriesOf({ keys: keys ?? null }, 'keys', at));
    // The order of the file is the order of use, for each project by itself.
    const counts = new Map<JsonValue, number>();
    for (const [entry, keyAt] of all) {
      const owner = entry.project_id ?? null;
      const position = (counts.get(owner) ?? 0) + 1;
      counts.set(owner, position);
      this.addProviderKey(provider, { position, ...entry }, keyAt);
    }
  }

  private addProviderKey(provider: string, { project_id: project, ...body }: JsonObject, place: Place): void {
    const named = { name: 'default', ...body };
    const at = [provider, String(named.name)];
    this.add('provider_key', { at, project: this.projectOf(project, place), body: named, place });
  }

  private readProject({ keys, customers, guardrails, aliases, label_budgets, ...body }: JsonObject, at: Place): void {
    const project = String(body.name);
    this.add('project', { at: [project], body, place: at });
    const lists = { keys, customers, aliases, label_budgets };
    const nested = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list ?? null]));
    if (guardrails !== undefined && guardrails !== null) {
      const place = below(at, 'guardrails');
      if (isObject(guardrails)) this.add('guardrails', { at: [], project, body: guardrails, place });
      else this.problems.push(problemAt(place, 'must be a mapping'));
    }
    for (const [entry, place] of this.entriesOf(nested, 'customers', at)) {
      const { customer_id: customer, ...limits } = entry;
      const name = this.nameOf(customer, text(256), below(place, 'customer_id'));
      this.add('customer_limits', { at: [name], project, body: limits, place });
    }
    for (const [entry, place] of this.entriesOf(nested, 'aliases', at)) {
      if (entry.project_id !== undefined)
        this.problems.push(problemAt(place, 'is the project around it', ['project_id']));
      this.add('alias', { at: [String(entry.alias)], project, body: entry, place });
    }
    for (const [entry, place] of this.entriesOf(nested, 'label_budgets', at)) {
      this.add('label_budget', { at: [String(entry.label), String(entry.value)], project, body: entry, place });
    }
    for (const [entry, place] of this.entriesOf(nested, 'keys', at)) this.addWithSecret('key', project, entry, place);
  }

  private addWithSecret(
    kind: 'key' | 'token',
    project: string | null,
    { secret, ...body }: JsonObject,
    place: Place,
  ): void {
    const parsed = keySecretSchema.optional().safeParse(secret);
    if (!parsed.success) this.refuseAll(below(place, 'secret'), parsed.error);
    // The file has references only.
    if (body[kind] !== undefined) this.problems.push(problemAt(place, 'use the field secret', [kind]));
    const { [kind]: _own, ...rest } = body;
    this.add(kind, { at: [String(body.name)], project, body: rest, secret: this.followed(parsed.data, place), place });
  }

  private followed(secret: KeySecret | undefined, place: Place): Wanted['secret'] {
    const [[field, reference] = ['', '']] = Object.entries(secret ?? {});
    if (secret === undefined || field === 'env' || !isFollowedThere(reference)) return secret;
    const followed = this.managed(reference);
    if (followed === undefined) return secret;
    if ('text' in followed) return { ...secret, text: followed.text };
    // A new key goes where nothing is.
    if (field === 'write_to' && followed.isMissing === true) return secret;
    this.problems.push(problemAt(place, `${reference}: ${followed.problem}`, ['secret', field]));
    return secret;
  }

  private add(
    kind: Kind,
    { place, body, ...one }: Pick<Wanted, 'at' | 'body' | 'project' | 'secret'> & { readonly place: Place },
  ): void {
    const parts = kindOf(kind).secrets ?? {};
    const refuse = (path: Path, message: string) =>
      this.problems.push(problemAt({ ...place, path: [] }, message, path));
    const { env, managed } = this;
    const resolved = resolveSecrets(body, place.path, parts, { env, managed, file: place.source.path, refuse });
    this.judge(kind, resolved, place);
    const { project } = one;
    const of = kind === 'project' || project === undefined || project === null ? [] : [project];
    const name = kind === 'alert' ? (one.at[0] ?? '') : [...of, ...one.at].join('/');
    this.wanted.push({ kind, name, body: resolved, ...one, ...place });
  }

  /** By the schema of a new one: whether it is new turns out later. */
  private judge(kind: Kind, body: JsonObject, place: Place): void {
    const { created, fields, changeOnly = [], needs = [] } = kindOf(kind);
    const given = (field: string) => body[field] !== undefined;
    const missing = [...needs, ...(body.webhook_format === 'pagerduty' ? ['routing_key'] : [])];
    const supplied = missing.filter((field) => !given(field)).map((field) => [field, placeholderOf(field)]);
    const now = Object.entries(body).filter(([field]) => !changeOnly.includes(field));
    const judged = created.safeParse({ ...Object.fromEntries(now), ...Object.fromEntries(supplied) });
    if (!judged.success) this.refuseAll(place, judged.error);
    for (const field of changeOnly.filter(given)) {
      const later = fields[field]?.safeParse(body[field]);
      if (later?.success === false) this.refuseAll(below(place, field), later.error);
    }
  }

  private *entriesOf(from: JsonObject, field: string, place: Place): Generator<readonly [JsonObject, Place]> {
    const list = from[field] ?? [];
    if (!Array.isArray(list)) {
      this.problems.push(problemAt(place, 'must be a list', [field]));
      return;
    }
    for (const [index, entry] of list.entries()) {
      const at = { ...place, path: [...place.path, field, index] };
      if (isObject(entry)) yield [entry, at];
      else this.problems.push(problemAt(at, 'must be a mapping'));
    }
  }

  private nameOf(value: JsonValue | undefined, schema: z.ZodType<string>, place: Place): string {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    this.refuseAll(place, parsed.error);
    return '';
  }

  private projectOf(value: JsonValue | undefined, place: Place): string | null {
    return value === undefined || value === null ? null : this.nameOf(value, text(), below(place, 'project_id'));
  }

  private refuseAll(place: Place, error: z.ZodError): void {
    for (const issue of error.issues) {
      const path = issue.path as Path;
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) this.problems.push(problemAt(place, 'there is no such field', [...path, key]));
      } else this.problems.push(problemAt(place, reasonOf(issue), path));
    }
  }
}

const below = ({ source, path }: Place, field: string): Place => ({ source, path: [...path, field] });

/** A price may also stand with its provider. */
function identitiesOf({ kind, name, project, at, body }: Wanted): readonly string[] {
  const own = JSON.stringify([kind, project ?? null, kind === 'alert' ? name : at]);
  if (kind !== 'provider' || !Array.isArray(body.models)) return [own];
  const prices = body.models.map((one) => JSON.stringify(['model', null, [at[0], isObject(one) ? one.model : null]]));
  return [own, ...prices];
}

export const nounOf = (kind: Kind): string => kind.replaceAll('_', ' ');
