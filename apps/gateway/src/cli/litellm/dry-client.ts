// What the gateway refuses by a body alone is found without sending it, by the very schemas that it reads bodies with; whether
// it may reach an address it is asked.

import type { z } from '@hono/zod-openapi';
import type { JsonObject } from '@llm0/core/chat/json';
import { invalidInput } from '../../admin/admin-router';
import { aliasChangesSchema, newAliasSchema } from '../../admin/aliases/schema';
import { keyChangesSchema, newKeySchema } from '../../admin/keys/schema';
import { newProjectSchema, projectChangesSchema } from '../../admin/projects/schema';
import {
  newProviderKeySchema,
  newProviderSchema,
  providerChangesSchema,
  providerKeyChangesSchema,
} from '../../admin/providers/schema';
import { type AdminClient, RequestFailed } from '../admin-client';
import { dataOf, isObject } from '../read-list';
import type { ImportClient } from './apply-step';

type Method = 'POST' | 'PATCH';

/** What each path takes, with an id behind it or without. */
const SCHEMAS: readonly (readonly [path: RegExp, bodies: Readonly<Record<Method, z.ZodType>>])[] = [
  [/^\/projects(?:\/[^/]+)?$/, { POST: newProjectSchema, PATCH: projectChangesSchema }],
  [/^\/projects\/[^/]+\/keys(?:\/[^/]+)?$/, { POST: newKeySchema, PATCH: keyChangesSchema }],
  [/^\/aliases(?:\/[^/]+)?$/, { POST: newAliasSchema, PATCH: aliasChangesSchema }],
  [/^\/providers(?:\/[^/]+)?$/, { POST: newProviderSchema, PATCH: providerChangesSchema }],
  [/^\/providers\/[^/]+\/keys(?:\/[^/]+)?$/, { POST: newProviderKeySchema, PATCH: providerKeyChangesSchema }],
];

/**
 * Reads through the client given, and changes nothing: bodies are judged, and answers empty. Throws `RequestFailed` as the
 * gateway would, but for what depends on its state.
 */
export function createDryClient(api: AdminClient): ImportClient {
  const judge = (method: Method, path: string, body: JsonObject) => {
    const schema = SCHEMAS.find(([pattern]) => pattern.test(path))?.[1][method];
    if (schema === undefined) throw new Error(`no schema for ${method} ${path}`);
    const result = schema.safeParse(body);
    if (result.success) return { text: '', body: {} };
    const { kind, message } = invalidInput(result.error);
    throw new RequestFailed(`400 ${kind}: ${message}`, 400);
  };
  /** Servers that would not be there: what leads to them would be refused. */
  const refused = new Set<unknown>();
  const judgeAll = async (method: Method, path: string, body: JsonObject) => {
    const answer = judge(method, path, body);
    const name = /^\/providers(?:\/([^/]+))?$/.exec(path);
    if (name !== null && typeof body.base_url === 'string') {
      const address = { name: name[1] ?? body.name ?? '', base_url: body.base_url };
      await api.post('/providers/check', address).catch((error: unknown) => {
        refused.add(address.name);
        throw error;
      });
    }
    const targets = path.startsWith('/aliases') ? dataOf(body, 'targets') : [];
    const lost = targets.find((target) => isObject(target) && refused.has(target.provider));
    if (isObject(lost))
      throw new RequestFailed(`400 invalid_request: there would be no provider "${lost.provider}"`, 400);
    return answer;
  };
  return {
    get: (path, query) => api.get(path, query),
    post: async (path, body = {}) => (body.dry_run === true ? api.post(path, body) : judgeAll('POST', path, body)),
    patch: async (path, body) => judgeAll('PATCH', path, body),
    delete: async () => ({ text: '', body: {} }),
  };
}
