// What the gateway refuses by a body alone is found without sending it, by the very schemas that it reads bodies with.

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
 * gateway would; what depends on its state or on its settings (`EGRESS_ALLOW`) cannot be known here.
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
  return {
    get: (path, query) => api.get(path, query),
    post: async (path, body = {}) => (body.dry_run === true ? api.post(path, body) : judge('POST', path, body)),
    patch: async (path, body) => judge('PATCH', path, body),
    delete: async () => ({ text: '', body: {} }),
  };
}
