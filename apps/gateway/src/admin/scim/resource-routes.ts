import type { Context, Hono } from 'hono';
import type { AdminEnv } from '../admin-services';
import { notFound } from '../fields/find-or-refuse';
import { readText } from '../fields/read-body';
import { applyPatch } from './apply-patch';
import { MOST_RESULTS } from './discovery';
import { listAnswer, sendScim } from './list-answer';
import { parseFilter } from './parse-filter';
import { refuseMethods } from './refuse-methods';
import type { Resource, Show } from './resource';
import { ScimRefused } from './scim-error';
import { isSelected, readSelection, type Selection, selectAttributes } from './select-attributes';
import { invalid, shapeResource } from './shape-resource';

const DEFAULT_COUNT = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type BaseOf = (c: Context<AdminEnv>) => string;

/** The endpoints of one kind of resource. */
export function addResourceRoutes(scim: Hono<AdminEnv>, resource: Resource, baseOf: BaseOf): void {
  const { shape, linked } = resource;
  const one = `${shape.path}/:id`;
  const idOf = (c: Context<AdminEnv>) => {
    const id = c.req.param('id') ?? '';
    if (!UUID.test(id)) throw notFound(shape.name.toLowerCase());
    return id.toLowerCase();
  };
  const selectionOf = (c: Context<AdminEnv>) => readSelection(shape, (name) => queryOf(c, name));
  const present = async (c: Context<AdminEnv>, show: Show, selection: Selection) => {
    const shown = await show(baseOf(c), isSelected(selection, linked));
    return shown.map((each) => selectAttributes({ ...each }, selection));
  };
  const answer = async (c: Context<AdminEnv>, show: Show, selection: Selection, status: 200 | 201 = 200) => {
    const [body = {}] = await present(c, show, selection);
    return sendScim(c, body, status);
  };
  scim.get(shape.path, async (c) => {
    const [startIndex, count] = [Math.max(1, numberOf(c, 'startIndex', 1)), numberOf(c, 'count', DEFAULT_COUNT)];
    const filter = queryOf(c, 'filter');
    const selection = selectionOf(c);
    const { total, show } = await resource.list({
      filter: filter === undefined ? undefined : parseFilter(shape, filter),
      ...{ offset: startIndex - 1, limit: Math.min(Math.max(0, count), MOST_RESULTS) },
    });
    return sendScim(c, listAnswer(await present(c, show, selection), { total, startIndex }));
  });
  scim.post(shape.path, async (c) => {
    const selection = selectionOf(c);
    const show = await resource.create(c.get('actor'), shapeResource(shape, await readJson(c)));
    const [made = {}] = await show(baseOf(c), false);
    if ('id' in made) c.header('Location', `${baseOf(c)}${shape.path}/${made.id}`);
    return answer(c, show, selection, 201);
  });
  scim.get(one, async (c) => answer(c, await resource.find(idOf(c)), selectionOf(c)));
  scim.put(one, async (c) => {
    const [id, selection, given] = [idOf(c), selectionOf(c), shapeResource(shape, await readJson(c))];
    return answer(c, await resource.change(c.get('actor'), id, () => given), selection);
  });
  scim.patch(one, async (c) => {
    const [id, selection, body] = [idOf(c), selectionOf(c), await readJson(c)];
    const decide = (before: Parameters<typeof applyPatch>[1]) => applyPatch(shape, before, body);
    return answer(c, await resource.change(c.get('actor'), id, decide), selection);
  });
  scim.delete(one, async (c) => {
    await resource.remove(c.get('actor'), idOf(c));
    return c.body(null, 204);
  });
  refuseMethods(scim, shape.path, 'GET, POST');
  refuseMethods(scim, one, 'GET, PUT, PATCH, DELETE');
}

/** Names of parameters have no case. */
function queryOf(c: Context<AdminEnv>, name: string): string | undefined {
  const found = Object.entries(c.req.query()).find(([given]) => given.toLowerCase() === name.toLowerCase());
  return found?.[1] === '' ? undefined : found?.[1];
}

function numberOf(c: Context<AdminEnv>, name: string, otherwise: number): number {
  const text = queryOf(c, name);
  if (text === undefined) return otherwise;
  if (!/^-?\d{1,9}$/.test(text)) throw invalid(name, 'must be a whole number');
  return Number(text);
}

async function readJson(c: Context<AdminEnv>): Promise<unknown> {
  const text = await readText(c.req.raw);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ScimRefused('invalidSyntax', 'The body is not JSON.', cause);
  }
}
