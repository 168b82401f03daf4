import { z } from '@hono/zod-openapi';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { chainName } from '../../admin/chains/schema';
import { text } from '../../admin/fields/fields';
import { dataOf, isObject } from '../read-list';
import { keySecretSchema } from './file-schema';
import { type Kind, kindOf } from './resource-kinds';
import { secretFormOf } from './secret-forms';

const REFERENCE: JsonObject = { type: 'string', pattern: '^(?:env|file):.' };
/** Ids and names both. */
const PROJECT: JsonObject = { type: ['string', 'null'] };

/** JSON Schema of the file, for editors and checks: the admin API's own schemas, put together. */
export function configJsonSchema(): JsonObject {
  const providerKey = entryOf('provider_key', { project_id: PROJECT, name: toJson(text()) });
  const customer = entryOf('customer_limits', { customer_id: toJson(text(256)) }, ['customer_id']);
  const { project_id: _project, ...nestedAlias } = propertiesOf(entryOf('alias', {}));
  const alias = entryOf('alias', { project_id: PROJECT });
  const provider = entryOf('provider', { key: REFERENCE, keys: listOf(providerKey) });
  const price = entryOf('model', { provider: toJson(text()), model: toJson(text()) }, ['provider', 'model']);
  const project = entryOf('project', {
    keys: listOf(entryOf('key', { secret: toJson(keySecretSchema) })),
    customers: listOf(customer),
    guardrails: entryOf('guardrails', {}),
    aliases: listOf({ ...alias, properties: nestedAlias }),
    label_budgets: listOf(entryOf('label_budget', {})),
  });
  return {
    ...{ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'LLM0 Gateway configuration' },
    ...{ type: 'object', additionalProperties: false, required: ['version'] },
    properties: {
      version: { const: 1 },
      teams: listOf(entryOf('team', {})),
      projects: listOf(project),
      providers: listOf(provider),
      chains: listOf(entryOf('chain', { name: toJson(chainName) }, ['name'])),
      aliases: listOf(alias),
      models: listOf(price),
      mcp_servers: listOf(entryOf('mcp_server', {})),
      backends: listOf(entryOf('backend', {})),
      alerts: listOf(entryOf('alert', { project_id: PROJECT })),
      tokens: listOf(entryOf('token', { secret: toJson(keySecretSchema) })),
    },
  };
}

const listOf = (items: JsonObject): JsonObject => ({ type: ['array', 'null'], items });

/** A new resource, with references for its secrets and further fields of the file. */
function entryOf(kind: Kind, more: JsonObject, names: readonly string[] = []): JsonObject {
  const { created, fields, changeOnly = [], needs = [], secrets = {} } = kindOf(kind);
  const { properties: _, required: __, ...schema } = toJson(created);
  const properties = { ...propertiesOf(toJson(created)) };
  const own = secretFormOf(kind)?.field;
  if (own !== undefined) delete properties[own];
  for (const field of changeOnly) {
    const change = fields[field];
    if (change !== undefined) properties[field] = toJson(change);
  }
  for (const [place, form] of Object.entries(secrets)) {
    if (form !== 'either' && !place.includes('.')) properties[place] = REFERENCE;
  }
  const required = dataOf(toJson(created), 'required').filter((field) => !needs.includes(String(field)));
  return { ...schema, properties: { ...properties, ...more }, required: [...required, ...names] };
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

function toJson(schema: z.ZodType): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // Without the functions that hang on it.
  return JSON.parse(JSON.stringify(json as JsonValue)) as JsonObject;
}
