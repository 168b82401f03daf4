import type { JsonObject } from '@llm0/core/chat/json';
import type { Kind } from './resource-kinds';

/** Names and ids that paths of the admin API are made of. */
export interface PathParts {
  readonly at: readonly string[];
  /** Id of the project, where the kind belongs to one. */
  readonly project: string | null;
  readonly id?: string;
}

type PathOf = (parts: PathParts & { readonly name: string; readonly last: string }) => string;

const PATHS = {
  provider: ({ name }) => `/providers/${name}`,
  team: ({ id }) => `/teams/${id}`,
  project: ({ id }) => `/projects/${id}`,
  provider_key: ({ name, id }) => `/providers/${name}/keys/${id}`,
  model: ({ name, last }) => `/models?${new URLSearchParams({ provider: name, model: last })}`,
  chain: ({ name }) => `/chains/${encodeURIComponent(name)}`,
  alias: ({ id }) => `/aliases/${id}`,
  mcp_server: ({ id }) => `/mcp/servers/${id}`,
  backend: ({ id }) => `/backends/${id}`,
  guardrails: ({ project }) => `/projects/${project}/guardrails`,
  customer_limits: ({ project, name }) => `/projects/${project}/customers/${encodeURIComponent(name)}/limits`,
  key: ({ project, id }) => `/projects/${project}/keys/${id}`,
  label_budget: ({ id }) => `/label-budgets/${id}`,
  alert: ({ id }) => `/alerts/${id}`,
  token: ({ id }) => `/tokens/${id}`,
} as const satisfies Record<Kind, PathOf>;

/** Path of one resource. */
export function pathOf(kind: Kind, parts: PathParts): string {
  const path: PathOf = PATHS[kind];
  return path({ ...parts, name: parts.at[0] ?? '', last: parts.at.at(-1) ?? '' });
}

/** Path that a new resource is posted to. */
export const collectionOf = (kind: Kind, parts: PathParts): string =>
  pathOf(kind, { ...parts, id: '' }).replace(/\/[^/]*$/, '');

/** Id in the audit. */
export function auditIdOf(kind: Kind, { at, project, id = '' }: PathParts): string {
  if (kind === 'guardrails') return project ?? '';
  if (kind === 'customer_limits') return `${project}/${at[0]}`;
  if (kind === 'provider_key') return `${at[0]}/${id}`;
  return kind === 'provider' || kind === 'chain' || kind === 'model' ? at.join('/') : id;
}

/** Kinds whose bodies name their project. */
export const NAMES_PROJECT: ReadonlySet<Kind> = new Set(['alias', 'provider_key', 'label_budget', 'alert']);

export const apiIdOf = (shown: JsonObject): string | undefined => (typeof shown.id === 'string' ? shown.id : undefined);
