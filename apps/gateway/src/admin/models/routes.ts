import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import type { Page, PageRequest } from '@llm0/drizzle/queries/page';
import {
  deletePrice,
  getPrice,
  listPrices,
  putPrice,
  type StoredPrice,
} from '@llm0/drizzle/queries/routing/model-pricing';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readCursor, writeCursor } from '../fields/name-cursor';
import {
  modelBodySchema,
  modelChangesSchema,
  modelSchema,
  refuseUnpriced,
  showModel,
  toPricedModel,
  withPrices,
} from './schema';

const at = routesOf('models');
const modelPath = z.strictObject({ provider: text(), model: text() });
const filter = {
  ...{ provider: text().optional(), model: text().optional(), q: text().optional() },
  retires_before: z.iso
    .date()
    .optional()
    .openapi({ description: 'Models with an earlier `deprecation_date`, past or future' }),
};
interface Wanted {
  readonly provider?: string;
  readonly model?: string;
  readonly q?: string;
  readonly retires_before?: string;
}

/** A list of all models is large, and most readers want little of each. */
const fields = z
  .string()
  .regex(/^[a-z0-9_]+(,[a-z0-9_]+)*$/, 'must be names of fields, separated by commas')
  .max(1000)
  .transform((names) => new Set(names.split(',')))
  .optional()
  .openapi({ type: 'string', description: 'Only these fields, separated by commas; all by default' });

const list = defineRoute({
  ...at('get', '/models', 'List priced models by provider and name'),
  request: { query: z.strictObject({ ...filter, fields, ...pageQuery }) },
  responses: { 200: answers(pageOf(modelSchema), 'Models') },
});
const params = z.object({
  provider: text(),
  model: text().openapi({ description: 'Percent-encoded; any characters' }),
});
const show = defineRoute({
  ...at('get', '/models/{provider}/{model}', 'Show a model with its price'),
  request: { params },
  responses: { 200: answers(modelSchema, 'The model') },
});
const change = defineRoute({
  ...at('patch', '/models/{provider}/{model}', 'Change the given prices; applies at once'),
  request: { params, body: takes(modelChangesSchema) },
  responses: { 200: answers(modelSchema, 'The model as it is now') },
});
const put = defineRoute({
  ...at('put', '/models', "Set a model's prices; the query names it: `?provider=…&model=…`; applies at once"),
  request: { query: modelPath, body: takes(modelBodySchema) },
  responses: { 200: answers(modelSchema, 'The model as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/models', "Remove a model's price; the query names it"),
  request: { query: modelPath },
  responses: { 204: { description: 'Deleted' } },
});

const WHAT = 'model with a price';

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables'>;

export function modelRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db } = services;
  const changes = new AuditedChanges(db, {
    resource: 'model',
    what: WHAT,
    idOf: nameOf,
    show: showModel,
    goLive: () => bringTablesIntoForce(services, mirror),
  });
  return createRouter()
    .openapi(list, async (c) => {
      const query = c.req.valid('query');
      const prices = (await listPrices(db)).filter((price) => isWanted(price, query));
      return c.json(
        showPage(pageOfPrices(prices, query), (price) => only(showModel(price), query.fields)),
        200,
      );
    })
    .openapi(show, async (c) => {
      return c.json(showModel(required(await getPrice(db, c.req.valid('param')), WHAT)), 200);
    })
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const body = c.req.valid('json');
      let stored: StoredPrice | null = null;
      const find = async (tx: Db) => {
        stored = await getPrice(tx, at);
        return stored;
      };
      const write = async (tx: Db) =>
        stored && putPrice(tx, refuseUnpriced(toPricedModel(at, withPrices(stored, body), stored)));
      return c.json(showModel(await changes.update(c.get('actor'), find, write)), 200);
    })
    .openapi(put, async (c) => {
      const at = c.req.valid('query');
      const body = c.req.valid('json');
      const write = (tx: Db, existing: StoredPrice | null) =>
        putPrice(tx, refuseUnpriced(toPricedModel(at, body, existing)));
      return c.json(showModel(await changes.put(c.get('actor'), (tx) => getPrice(tx, at), write)), 200);
    })
    .openapi(remove, async (c) => {
      const at = c.req.valid('query');
      await changes.remove(
        c.get('actor'),
        (tx) => deletePrice(tx, at),
        (tx) => getPrice(tx, at),
      );
      return c.body(null, 204);
    });
}

const nameOf = (at: { provider: string; model: string }) => `${at.provider}/${at.model}`;

function isWanted(price: StoredPrice, wanted: Wanted): boolean {
  if (wanted.provider !== undefined && price.provider !== wanted.provider) return false;
  if (wanted.model !== undefined && price.model !== wanted.model) return false;
  const { retires_before: end } = wanted;
  if (end !== undefined && (price.deprecationDate === undefined || price.deprecationDate >= end)) return false;
  return wanted.q === undefined || nameOf(price).toLowerCase().includes(wanted.q.toLowerCase());
}

/** The asked fields; a reader who asks for some knows the others to be missing. */
const only = <T extends object>(shown: T, names: ReadonlySet<string> | undefined): T =>
  names === undefined ? shown : (Object.fromEntries(Object.entries(shown).filter(([name]) => names.has(name))) as T);

/** The cursor is the last name shown; names are listed in order. */
function pageOfPrices(prices: readonly StoredPrice[], page: PageRequest): Page<StoredPrice> {
  const after = page.cursor === undefined ? 0 : indexAfter(prices, page.cursor);
  const data = prices.slice(after, after + page.limit);
  const last = data.at(-1);
  const isEnd = last === undefined || after + page.limit >= prices.length;
  return {
    data,
    nextCursor: isEnd ? null : writeCursor([last.provider, last.model]),
  };
}

function indexAfter(prices: readonly StoredPrice[], cursor: string): number {
  const [provider, model] = readCursor(cursor);
  const exact = prices.findIndex((price) => price.provider === provider && price.model === model);
  if (exact >= 0) return exact + 1;
  const next = prices.findIndex(
    (price) => price.provider > provider || (price.provider === provider && price.model > model),
  );
  return next < 0 ? prices.length : next;
}
