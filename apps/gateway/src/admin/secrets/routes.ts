// A secret that no known key opens stays as it is, and is counted.
import { z } from '@hono/zod-openapi';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { Db } from '@llm0/drizzle/client';
import {
  findSealedByOthers,
  replaceSealed,
  type SealedCursor,
  type SealedRow,
} from '@llm0/drizzle/queries/access/sealed-secrets';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';

const at = routesOf('providers');
const BATCH = 100;

const reencrypt = defineRoute({
  ...at('post', '/secrets/reencrypt', 'Encrypt stored secrets with the current ENCRYPTION_KEY, up to 100 at a time'),
  request: {
    body: takes(
      z
        .strictObject({
          after: z
            .string()
            .regex(/^\d{1,2}(?::[\da-f-]{36})?$/)
            .nullish(),
        })
        .openapi('SecretsReencrypt', { description: '`after`: `next` of the call before; absent = from the start' }),
    ),
  },
  responses: {
    200: answers(
      z
        .object({
          reencrypted: z.int(),
          unreadable: z.int().openapi({ description: 'Sealed with a key that this gateway does not have' }),
          next: z.string().nullable().openapi({ description: 'null = all secrets were seen' }),
        })
        .openapi('SecretsReencrypted'),
      'Counts of this batch',
    ),
  },
});

type Needs = Pick<AdminServices, 'db' | 'providerAdmin'>;

export function secretRoutes({ db, providerAdmin: { vault } }: Needs) {
  return createRouter().openapi(reencrypt, async (c) => {
    // Throws without ENCRYPTION_KEY.
    const { keyId } = vault.seal('', '');
    const [table, afterId] = (c.req.valid('json').after ?? '0').split(':');
    const { rows, next } = await findSealedByOthers(db, keyId, { table: Number(table), afterId }, BATCH);
    const readable = rows.flatMap((row) => reseal(vault, row));
    const reencrypted =
      readable.length === 0
        ? 0
        : await recordChange(db, c.get('actor'), async (tx) => {
            const result = await replaceAll(tx, readable);
            return {
              result,
              action: 'reencrypt',
              resource: 'secrets',
              resourceId: null,
              after: { key_id: keyId, count: result },
            };
          });
    const unreadable = rows.length - readable.length;
    return c.json({ reencrypted, unreadable, next: next && textOf(next) }, 200);
  });
}

type Resealed = readonly [row: SealedRow, fresh: Pick<SealedRow, 'bytes' | 'keyId'>];

function reseal(vault: SecretVault, row: SealedRow): Resealed[] {
  try {
    return [[row, vault.seal(vault.open(row, row.id), row.id)]];
  } catch {
    return [];
  }
}

async function replaceAll(db: Db, resealed: readonly Resealed[]): Promise<number> {
  let count = 0;
  for (const [row, fresh] of resealed) if (await replaceSealed(db, row, fresh)) count += 1;
  return count;
}

const textOf = ({ table, afterId }: SealedCursor): string =>
  afterId === undefined ? `${table}` : `${table}:${afterId}`;
