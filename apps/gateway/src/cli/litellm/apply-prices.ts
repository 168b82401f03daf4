import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { getIfThere } from '../read-list';
import { type Applying, type ImportClient, type ImportStep, pick, tell } from './apply-step';
import type { ImportPlan, PlannedPrice, UnpricedModel } from './import-plan';

/** Prices to set, and the steps to report afterwards. */
interface Pricing {
  readonly models: JsonObject[];
  readonly told: ImportStep[];
}

/**
 * Sets the file's prices; names without a price get those of their models. Prices apply to every project, so existing
 * ones stay unless requested.
 */
export async function applyPrices(
  { prices, unpriced }: Pick<ImportPlan, 'prices' | 'unpriced'>,
  applying: Applying,
): Promise<void> {
  const { api, steps, isDryRun } = applying;
  const pricing: Pricing = { models: [], told: [] };
  for (const price of prices) await addPrice(price, pricing, applying);
  for (const one of unpriced) await addCopy(one, pricing, applying);
  const { models, told } = pricing;
  const refusals: ImportStep[] = [];
  if (models.length > 0) {
    await tell(refusals, { what: 'prices', name: `${models.length} models` }, async () => {
      await api.post('/models/import', { models, dry_run: isDryRun });
      return ['updated', ''];
    });
  }
  const isSet = refusals.every(({ outcome }) => outcome !== 'failed');
  const isKept = ({ outcome }: ImportStep) => outcome === 'unchanged' || outcome === 'missing';
  steps.push(...(isSet ? told : [...told.filter(isKept), ...refusals]));
}

async function addPrice(price: PlannedPrice, { models, told }: Pricing, { api, takesPrices }: Applying): Promise<void> {
  const { provider, model, ...fields } = price;
  const at = { what: 'price', name: `${provider}/${model}` };
  const known = await findPrice(api, price);
  if (known === undefined) {
    models.push(price);
    told.push({ ...at, outcome: 'created', detail: `for every project: ${describe(fields)}` });
    return;
  }
  const changed = Object.keys(fields).filter((field) => !isSame(fields[field], known[field]));
  const before = pick(known, changed);
  if (changed.length === 0) {
    told.push({ ...at, outcome: 'unchanged', detail: '' });
  } else if (takesPrices) {
    // Models without a price in the file keep theirs.
    models.push({ ...known, ...price });
    const changes = changed.map((field) => `${shortName(field)} ${shown(before[field])} → ${shown(fields[field])}`);
    told.push({ ...at, outcome: 'updated', detail: `for every project: ${changes.join(', ')}` });
  } else {
    const detail = `${describe(before)} here, ${describe(pick(fields, changed))} in the file: --prices takes it, for every project`;
    told.push({ ...at, outcome: 'unchanged', detail });
  }
}

/** Copies the price of a model to a name that only the file defines, unless the name has one. */
async function addCopy(one: UnpricedModel, { models, told }: Pricing, { api }: Applying): Promise<void> {
  const { provider, model, base } = one;
  if ((await findPrice(api, one)) !== undefined) return;
  const at = { what: 'price', name: `${provider}/${model}` };
  const found = base === undefined ? undefined : await findPrice(api, base);
  if (found === undefined) {
    const detail = `refused under a cap until it has one: llm0 models set ${provider} "${model}"`;
    told.push({ ...at, outcome: 'missing', detail });
    return;
  }
  models.push({ ...found, provider, model });
  told.push({ ...at, outcome: 'created', detail: `that of ${base?.provider}/${base?.model}: ${describe(found)}` });
}

const SUFFIX = '_usd_per_million';
const DESCRIBED = ['context_window', 'max_output_tokens', 'mode'];

/** Finds the price of a model for import. */
async function findPrice(
  api: ImportClient,
  { provider, model }: Pick<UnpricedModel, 'provider' | 'model'>,
): Promise<JsonObject | undefined> {
  const body = await getIfThere(api, `/models/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`);
  if (body === undefined) return undefined;
  const isTaken = (field: string) => field.endsWith(SUFFIX) || DESCRIBED.includes(field);
  return Object.fromEntries(Object.entries(body).filter(([field, value]) => isTaken(field) && value !== null));
}

/** Amounts may be text on either side. */
const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Number(a) === Number(b));

const shortName = (field: string): string => field.replace(SUFFIX, '').replaceAll('_', ' ');

/** Dollars without trailing zeros. */
const shown = (value: JsonValue | undefined): string => {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' && /^\d+\.\d+$/.test(value) ? withoutZeros(value) : String(value);
};

const describe = (fields: JsonObject): string =>
  Object.entries(fields)
    .map(([field, value]) => `${shortName(field)} ${shown(value)}`)
    .join(', ');

/** A decimal without trailing zeros. */
function withoutZeros(decimal: string): string {
  let end = decimal.length;
  while (decimal[end - 1] === '0') end--;
  return decimal.slice(0, decimal[end - 1] === '.' ? end - 1 : end);
}
