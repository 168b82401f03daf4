import type { MiddlewareHandler } from 'hono';
import type { Actor, AdminEnv } from '../admin-services';
import { isRawJson, parseStored } from './json-money';

/** A webhook's full address is a secret; the rest shows its owner. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '…';
  const { protocol, host } = new URL(url);
  if (protocol === 'mailto:') return 'mailto:…';
  return `${protocol}//${host}/…`;
}

const WEBHOOK = /webhook/i;
const URLS = /(?:https?:\/\/|mailto:)[^\s"'<>]+/gi;

/** Masks webhook URLs at any depth for those who may not change them. */
export function maskFor<T>(actor: Pick<Actor, 'may'>, shown: T): T {
  return actor.may('change_settings') ? shown : (mask(shown, false) as T);
}

/** Masks all route answers: no route shows a viewer such a URL. */
export const maskAnswers: MiddlewareHandler<AdminEnv> = async (c, next) => {
  await next();
  const actor = c.get('actor');
  const isJson = c.res.headers.get('content-type')?.startsWith('application/json') === true;
  if (actor === undefined || actor.may('change_settings') || !isJson) return;
  const text = await c.res.clone().text();
  if (!WEBHOOK.test(text)) return;
  const { status, headers } = c.res;
  c.res = new Response(JSON.stringify(maskFor(actor, parseStored(text))), { status, headers });
};

/** `isOfWebhook`: the value belongs to a webhook, by its name or its parent's `type`. */
function mask(value: unknown, isOfWebhook: boolean): unknown {
  if (typeof value === 'string') return isOfWebhook ? value.replace(URLS, maskUrl) : value;
  if (Array.isArray(value)) return value.map((one) => mask(one, isOfWebhook));
  if (value === null || typeof value !== 'object' || isRawJson(value)) return value;
  const names = Object.keys(value);
  const isWebhook = isOfWebhook || names.some((name) => WEBHOOK.test(name)) || isOfType(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mask(one, isWebhook)]));
}

const isOfType = (value: object): boolean => 'type' in value && value.type === 'webhook';
