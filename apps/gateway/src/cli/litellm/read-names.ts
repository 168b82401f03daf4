import type { JsonObject } from '@llm0/core/chat/json';
import { isObject } from '../read-list';
import { type AddNote, asText, type PlannedAlias } from './import-plan';
import type { PlacedDeployment } from './plan-providers';

/** Maximum of a key. */
const MAX_NAMES = 1000;

/** Models of the proxy, by their names here. */
export interface NamesOfFile {
  /** Names for `allowed_models`; undefined: every model. */
  readonly all?: readonly string[];
  /** From `model_info.access_groups`. */
  readonly byGroup: ReadonlyMap<string, readonly string[]>;
}

interface Planned {
  readonly placed: readonly PlacedDeployment[];
  readonly aliases: readonly PlannedAlias[];
}

/** LiteLLM serves only `model_list`; notes undeterminable names. */
export function readNames(config: JsonObject, { placed, aliases }: Planned, note: AddNote): NamesOfFile {
  const byGroup = new Map<string, string[]>();
  for (const deployment of placed) {
    const { access_groups: groups } = deployment.info;
    for (const group of Array.isArray(groups) ? groups : []) {
      const name = asText(group);
      if (name !== undefined) byGroup.set(name, [...(byGroup.get(name) ?? []), nameHere(deployment)]);
    }
  }
  const all = [...new Set([...placed.map(nameHere), ...aliases.map(({ alias }) => alias)])];
  const why = whyEverything(config, all);
  if (why === undefined) return { all, byGroup };
  note('differs', 'client key', `it may call every model that the gateway has, ${why}: "llm0 keys update" narrows it`);
  return { byGroup };
}

function whyEverything(config: JsonObject, names: readonly string[]): string | undefined {
  if (servesEverything(config)) return 'as the file has "*"';
  if (names.length === 0) return 'as the file has none that could be taken over';
  return names.length > MAX_NAMES ? `as the file has more than ${MAX_NAMES} names` : undefined;
}

/** Wildcards have no alias: clients use the vendor's own names. */
function nameHere({ group, provider, model }: PlacedDeployment): string {
  const star = model.indexOf('*');
  if (star >= 0) return `${provider}/${model.slice(0, star)}*`;
  return group.includes('*') ? `${provider}/${model}` : group;
}

function servesEverything({ model_list: list }: JsonObject): boolean {
  const params = (Array.isArray(list) ? list : []).map((one) => (isObject(one) ? one.litellm_params : undefined));
  return params.some((one) => isObject(one) && one.model === '*');
}
