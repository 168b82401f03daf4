import type { TextEmbedder } from '@llm0/core/embedding/built-in-embeddings';
import { webhookSecret } from '@llm0/core/guardrails/checks/webhook-secret';
import { createTextChecks, type TextChecks } from '@llm0/core/guardrails/create-checks';
import type { Db } from '@llm0/drizzle/client';
import { findKeyHash } from '@llm0/drizzle/queries/access/api-keys';
import { findProjectSecret } from '@llm0/drizzle/queries/access/project-secret';
import type { EgressOptions } from '@llm0/providers/transport/egress/fetch-guarded';
import { postGuarded } from '@llm0/providers/transport/egress/post-guarded';
import { LRUCache } from 'lru-cache';
import { type AskModelNeeds, createAskModel } from './ask-model';

export interface GuardrailCheckParts extends Pick<AskModelNeeds, 'services' | 'answerChat'> {
  readonly db: Db;
  readonly embedder: TextEmbedder;
  readonly fetch: typeof globalThis.fetch;
  readonly egress: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges'>;
}

/** Checks of whole texts, with all that they ask. */
export function createGuardrailChecks({ db, embedder, fetch, egress, ...asking }: GuardrailCheckParts): TextChecks {
  return createTextChecks({
    embed: (text, deadlineMs) => embedder.embed(text, deadlineMs, true),
    ...createAskModel({ ...asking, findKeyHash: (path) => findKeyHash(db, path) }),
    post: (request, signal) => postGuarded({ ...request, ...egress, fetch }, signal),
    webhookSecret: secretsOf(db),
    nowMs: Date.now,
    createId: () => Bun.randomUUIDv7(),
  });
}

/** Loaded once per project, because it never changes. */
function secretsOf(db: Db): (projectId: string) => Promise<Uint8Array> {
  const known = new LRUCache<string, Uint8Array>({ max: 1000 });
  return async (projectId) => {
    const found = known.get(projectId) ?? (await readSecret(db, projectId));
    known.set(projectId, found);
    return found;
  };
}

async function readSecret(db: Db, projectId: string): Promise<Uint8Array> {
  const secret = await findProjectSecret(db, projectId);
  if (secret === null) throw new Error('the project is gone');
  return webhookSecret(secret);
}
