import type { JsonObject } from '@llm0/core/chat/json';
import { MAP_PRICES } from '@llm0/core/pricing/price-map';
import { RequestFailed } from '../admin-client';
import { isObject } from '../read-list';
import { type AddNote, asNumber, asText } from './import-plan';
import type { ResolveValue } from './resolve-values';
import { type NamedModel, readModelName } from './vendors';

const MAX_DEPLOYMENTS = 2000;

/** One entry of `model_list`, its references resolved where they are needed. */
export interface Deployment {
  /** Place in the file, for people. */
  readonly at: string;
  /** The name clients send. */
  readonly group: string;
  readonly named: NamedModel;
  readonly params: JsonObject;
  readonly info: JsonObject;
  /** All of it, as the file has it. */
  readonly entry: JsonObject;
  readonly baseUrl?: string;
  /** From `weight`, else `rpm`, else `tpm`; undefined = average. */
  readonly weight?: number;
  readonly order?: number;
}

/** The deployments that a vendor here can serve; every other one is noted. */
export function readDeployments(config: JsonObject, resolve: ResolveValue, note: AddNote): readonly Deployment[] {
  const list = config.model_list ?? [];
  if (!Array.isArray(list)) throw new RequestFailed('model_list is not a list.');
  if (list.length > MAX_DEPLOYMENTS) throw new RequestFailed(`model_list has more than ${MAX_DEPLOYMENTS} entries.`);
  const credentials = readCredentials(config, note);
  const used = new Set<string>();
  const deployments = list.flatMap((entry, index) => {
    const at = `model_list[${index}]`;
    if (!isObject(entry) || !isObject(entry.litellm_params)) {
      note('left out', at, 'it has no litellm_params');
      return [];
    }
    const named = asText(entry.litellm_params.litellm_credential_name);
    if (named !== undefined) used.add(named);
    if (named !== undefined && !credentials.has(named))
      note('left out', at, 'its credential is not in credential_list');
    const params = { ...entry.litellm_params, ...(named === undefined ? {} : credentials.get(named)) };
    const deployment = readDeployment({ at, entry, params }, resolve, note);
    return deployment === undefined ? [] : [deployment];
  });
  for (const name of credentials.keys()) {
    if (!used.has(name)) note('left out', `credential_list ${name.slice(0, 100)}`, 'no deployment names it');
  }
  return deployments;
}

/** Modes of models that have no format of their own here. */
const MEDIA = new Set([
  ...['image_generation', 'image_edit', 'audio_transcription', 'audio_speech', 'video_generation', 'moderation'],
  ...['rerank', 'realtime', 'ocr', 'batch', 'search'],
]);

interface Entry {
  readonly at: string;
  readonly entry: JsonObject;
  readonly params: JsonObject;
}

function readDeployment({ at, entry, params }: Entry, resolve: ResolveValue, note: AddNote): Deployment | undefined {
  const group = asText(entry.model_name);
  const model = resolve(params.model).text;
  if (group === undefined || model === undefined) {
    note('left out', at, 'it has no model_name or no model');
    return undefined;
  }
  const place = `${at} ${group}`;
  const named = readModelName(model, asText(params.custom_llm_provider));
  if (named === undefined) {
    // The file's text; a variable's value must not appear.
    const shown = String(params.model).slice(0, 100);
    if (model === '*')
      note('differs', place, 'every model of a configured vendor can be asked for by its own name already');
    else note('left out', place, `the provider of the model "${shown}" is unknown`);
    return undefined;
  }
  const info = isObject(entry.model_info) ? entry.model_info : {};
  if (named.model === '' || MEDIA.has(String(info.mode))) {
    const why = named.model === '' ? 'it names no model' : `mode ${info.mode}: the vendor's own API is at /passthrough`;
    note('left out', place, why);
    return undefined;
  }
  if ('unknown' in named.vendor) {
    note('left out', place, named.vendor.unknown);
    return undefined;
  }
  // Older files have limits beside the parameters.
  const said = { ...entry, ...params };
  const weight = asNumber(said.weight) ?? asNumber(said.rpm) ?? asNumber(said.tpm);
  const limits = ['rpm', 'tpm'].filter((name) => said[name] !== undefined);
  if (limits.length > 0)
    note(
      'differs',
      place,
      `${limits.join(' and ')}: a share of the requests here, no limit; keys and customers have those`,
    );
  const base = resolve(params.api_base ?? params.base_url);
  if (base.variable !== undefined && base.text === undefined) {
    note('left out', place, `${base.variable} is not set, which has its address`);
    return undefined;
  }
  return { at: place, group, named, params, info, entry, baseUrl: base.text, weight, order: asNumber(params.order) };
}

function readCredentials({ credential_list: list }: JsonObject, note: AddNote): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const [index, one] of (Array.isArray(list) ? list : []).entries()) {
    const name = isObject(one) ? asText(one.credential_name) : undefined;
    if (name !== undefined && isObject(one) && isObject(one.credential_values)) found.set(name, one.credential_values);
    else note('left out', `credential_list[${index}]`, 'it has no credential_name or no credential_values');
  }
  return found;
}

const PARAMETERS = 'callers send parameters by themselves';
const ONE_TIME_OUT = 'REQUEST_TIMEOUT and STREAM_IDLE_TIMEOUT hold for all';

/** Parameters of deployments that are taken over are null. */
const FATE: Readonly<Record<string, string | null>> = {
  ...Object.fromEntries(
    [
      ...['model', 'api_key', 'api_base', 'base_url', 'api_version', 'custom_llm_provider', 'litellm_credential_name'],
      ...['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'aws_region_name', 'weight', 'order'],
      ...['extra_headers', 'headers', 'rpm', 'tpm', ...MAP_PRICES],
    ].map((name) => [name, null]),
  ),
  ...Object.fromEntries(
    [
      ...['temperature', 'top_p', 'top_k', 'max_tokens', 'max_completion_tokens', 'seed', 'stop', 'user', 'extra_body'],
      ...['presence_penalty', 'frequency_penalty', 'response_format', 'reasoning_effort', 'thinking', 'tools'],
    ].map((name) => [name, PARAMETERS]),
  ),
  timeout: ONE_TIME_OUT,
  stream_timeout: ONE_TIME_OUT,
  max_retries: 'at most two attempts per target',
  num_retries: 'at most two attempts per target',
  max_budget: 'budgets are those of projects, keys and customers',
  budget_duration: 'budgets are those of projects, keys and customers',
  max_parallel_requests: 'keys have max_concurrency, targets have no bound of their own',
  tags: 'requests are not routed by tags: give each kind a project or an alias of its own',
  organization: 'keys of OpenAI belong to one organization: store one of that organization',
  aws_role_name: 'store a pair of keys, or a Bedrock API key',
  aws_profile_name: 'store a pair of keys, or a Bedrock API key',
  azure_ad_token: 'store an API key of the resource',
};

/** Fields of an entry beside the parameters; older files may hold limits there. */
const OF_ENTRY = new Set(['model_name', 'litellm_params', 'model_info', 'weight', 'rpm', 'tpm']);
const OF_INFO = new Set([
  ...['mode', 'base_model', 'access_groups', 'max_input_tokens', 'max_output_tokens', ...MAP_PRICES],
]);

/** One line for each skipped parameter or field, with its deployments. */
export function noteParameters(deployments: readonly Deployment[], note: AddNote): void {
  const owners = new Map<string, Set<string>>();
  for (const { group, params, info, entry } of deployments) {
    const lost = [
      ...fieldsOf(params, (name) => Object.hasOwn(FATE, name) && FATE[name] === null, 'litellm_params'),
      ...fieldsOf(info, (name) => OF_INFO.has(name), 'model_info'),
      ...fieldsOf(entry, (name) => OF_ENTRY.has(name), 'model_list'),
    ];
    for (const name of lost) owners.set(name, (owners.get(name) ?? new Set()).add(group));
  }
  for (const [place, groups] of owners) {
    const [first, second, ...more] = groups;
    const who = [first, second].filter((one) => one !== undefined).join(', ');
    const name = place.slice(place.indexOf('.') + 1);
    const isParameter = place.startsWith('litellm_params.') && Object.hasOwn(FATE, name);
    const why = (isParameter ? FATE[name] : undefined) ?? 'has no counterpart here';
    note('left out', place, `of ${who}${more.length > 0 ? ` and ${more.length} more` : ''}: ${why}`);
  }
}

const fieldsOf = (from: JsonObject, isTaken: (name: string) => boolean, place: string): readonly string[] =>
  Object.entries(from).flatMap(([name, value]) => (value === null || isTaken(name) ? [] : [`${place}.${name}`]));

/** Reads a mapping of texts and resolves references. Notes anything else. */
export function readHeaders(
  { params, at }: Pick<Deployment, 'params' | 'at'>,
  resolve: ResolveValue,
  note: AddNote,
): Readonly<Record<string, string>> {
  const given = params.extra_headers ?? params.headers;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    const { text, variable } = resolve(value);
    if (text !== undefined) headers[name] = text;
    else note('left out', `${at} extra_headers`, `${name.slice(0, 100)}: ${variable ?? 'its value'} is not set`);
  }
  return headers;
}
