import { z } from '@hono/zod-openapi';
import { type Chain, mergeChains } from '@llm0/core/routing/chain';
import type { Db } from '@llm0/drizzle/client';
import { deleteChain, listChains, putChain, type StoredChain } from '@llm0/drizzle/queries/routing/chains';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { pageOf } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { refuseUnknownProviders } from '../providers/known-providers';
import { chainBodySchema, chainName, chainSchema, type ShownChain, showChain, toChain } from './schema';

const at = routesOf('chains');
const params = z.object({ name: chainName });

const list = defineRoute({
  ...at('get', '/chains', 'List the chains: edited ones, then presets'),
  responses: { 200: answers(pageOf(chainSchema), 'Chains; always one page') },
});
const show = defineRoute({
  ...at('get', '/chains/{name}', 'Show a chain'),
  request: { params },
  responses: { 200: answers(chainSchema, 'The chain') },
});
const put = defineRoute({
  ...at('put', '/chains/{name}', 'Replace a chain; applies at once'),
  request: { params, body: takes(chainBodySchema) },
  responses: { 200: answers(chainSchema, 'The chain as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/chains/{name}', 'Delete an edited chain; restores a preset'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'routing' | 'presetChains' | 'providerAdmin'>;

export function chainRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, presetChains } = services;
  const shown = (chain: ShownChain) => showChain(chain, services.routing());
  const withOrigin = (chain: Chain | StoredChain): ShownChain => ({
    ...chain,
    isPreset: presetChains.some((preset) => preset.name === chain.name),
    updatedAtMs: 'updatedAtMs' in chain ? chain.updatedAtMs : null,
  });
  const inForce = async (tx: Db) => mergeChains(await listChains(tx), presetChains).map(withOrigin);
  const find = async (tx: Db, name: string) => (await inForce(tx)).find((chain) => chain.name === name) ?? null;
  const changes = new AuditedChanges(db, {
    resource: 'chain',
    what: 'edited chain',
    idOf: (chain: ShownChain) => chain.name,
    show: shown,
    goLive: () => bringTablesIntoForce(services, mirror),
  });
  return createRouter()
    .openapi(list, async (c) => c.json({ data: (await inForce(db)).map(shown), next_cursor: null }, 200))
    .openapi(show, async (c) => c.json(shown(required(await find(db, c.req.valid('param').name), 'chain')), 200))
    .openapi(put, async (c) => {
      const { name } = c.req.valid('param');
      const chain = toChain(name, c.req.valid('json'));
      const write = async (tx: Db) => {
        await refuseUnknownProviders(services, tx, chain.steps);
        return withOrigin(await putChain(tx, chain));
      };
      return c.json(shown(await changes.put(c.get('actor'), (tx) => find(tx, name), write)), 200);
    })
    .openapi(remove, async (c) => {
      const { name } = c.req.valid('param');
      await changes.remove(c.get('actor'), async (tx) => {
        const gone = await deleteChain(tx, name);
        return gone && withOrigin(gone);
      });
      return c.body(null, 204);
    });
}
