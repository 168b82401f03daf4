// Errors appear on a page in the gateway's words; the authorization server's text never does.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import type { McpServer } from '@llm0/core/mcp/server';
import type { StoredConsent } from '@llm0/drizzle/queries/mcp/grants';
import { refuseCrossSite } from '../../admin/access/refuse-cross-site';
import type { Services } from '../../services/contract';
import { askPage, donePage, failedPage, sendOn } from './consent-pages';

type Needs = Pick<Services, 'mcp' | 'log' | 'config'>;
/** Name of a key, for the consent page. */
type NameKey = (keyId: string) => Promise<string | undefined>;

const COOKIE = 'llm0_mcp_consent';
/** Browsers take it from this host alone, not from its neighbours. */
const SECURE_COOKIE = `__Host-${COOKIE}`;
const COOKIE_SECONDS = 900;
const PRESS = 'Nothing was connected. Open the link yourself, in a browser that keeps cookies, and press Continue.';
const MAX_FORM_BYTES = 1024;
const ENDED = 'This link has ended or was used before. Ask your agent for a new one.';

interface Opened {
  readonly ticket: string;
  readonly request: Request;
}

/** `GET /mcp/oauth/client.json`: client metadata for authorization servers. */
export function showClientDocument({ mcp }: Needs): Response {
  const { identity } = mcp.oauth;
  return Response.json(
    { client_id: identity.documentUrl, ...identity.metadata() },
    { headers: { 'Cache-Control': 'max-age=3600' } },
  );
}

/**
 * `GET /.well-known/oauth-protected-resource/…`: access metadata. The operator issues keys; there is no authorization
 * server.
 */
export function showResource({ mcp }: Needs, path: string): Response {
  const at = path.startsWith('/mcp') ? path : '/mcp';
  const resource = `${mcp.oauth.identity.publicUrl}${at}`;
  const document = { resource, resource_name: 'llm0 gateway', bearer_methods_supported: ['header'] };
  return Response.json(document, { headers: { 'Cache-Control': 'max-age=3600', 'Access-Control-Allow-Origin': '*' } });
}

/** `GET /mcp/oauth/start/{ticket}`: the consent page. Only its button, in this browser, continues. */
export async function showConsent(services: Needs, { ticket, request }: Opened, nameKey: NameKey): Promise<Response> {
  const found = await findAsked(services, ticket);
  if (found === undefined) return failedPage(404, ENDED);
  const { consent, server } = found;
  const keyName = (await nameKey(consent.apiKeyId)) ?? 'a key that is gone';
  const { publicUrl } = services.mcp.oauth.identity;
  const browser =
    readCookie(request, publicUrl) ?? Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  const facts = { alias: server.alias, host: new URL(server.url).host, keyName, customerId: consent.customerId };
  return askPage({ ...facts, token: tokenOf(browser, ticket) }, cookieOf(publicUrl, browser));
}

/** `POST /mcp/oauth/start/{ticket}`: on to the authorization server. */
export async function beginConsent(services: Needs, { ticket, request }: Opened): Promise<Response> {
  const { oauth } = services.mcp;
  const browser = readCookie(request, oauth.identity.publicUrl);
  if (browser === undefined || !(await isPressed(request, oauth.identity.publicUrl, tokenOf(browser, ticket))))
    return failedPage(403, PRESS);
  const found = await findAsked(services, ticket);
  if (found === undefined) return failedPage(404, ENDED);
  try {
    const url = await oauth.consents.begin(found.consent, found.server, oauth.fetchFor(found.server), browser);
    return sendOn(url, cookieOf(oauth.identity.publicUrl, browser));
  } catch (error) {
    services.log.warn({ err: error, server: found.server.alias }, 'consent for an MCP server could not begin');
    return failedPage(502, error instanceof GatewayError ? error.message : 'The authorization server cannot be used.');
  }
}

/** `GET /mcp/oauth/callback`: back from the authorization server. */
export async function finishConsent(services: Needs, request: Request): Promise<Response> {
  const { oauth } = services.mcp;
  const query = new URL(request.url).searchParams;
  const state = query.get('state') ?? '';
  const browser = readCookie(request, oauth.identity.publicUrl) ?? '';
  const taken = state === '' ? null : await oauth.consents.take({ state, browser });
  if (taken === null) return failedPage(400, ENDED);
  const server = findServer(services, taken.consent.serverId);
  if (server === undefined) return failedPage(404, 'The server is not there any more.');
  const code = query.get('code');
  if (code === null) {
    const error = /^[a-z_]{1,60}$/.exec(query.get('error') ?? '')?.[0] ?? 'no code came back';
    return failedPage(400, `The authorization server refused: ${error}.`);
  }
  try {
    await oauth.consents.finish(taken, server, { code, iss: query.get('iss') ?? undefined }, oauth.fetchFor(server));
    return donePage(server.alias);
  } catch (error) {
    services.log.warn({ err: error, server: server.alias }, 'consent for an MCP server failed');
    return failedPage(502, 'The answer of the authorization server is invalid. Nothing was stored.');
  }
}

async function findAsked(
  services: Needs,
  ticket: string,
): Promise<{ readonly consent: StoredConsent; readonly server: McpServer & { readonly url: string } } | undefined> {
  const consent = await services.mcp.oauth.consents.find(ticket);
  const server = consent === null ? undefined : findServer(services, consent.serverId);
  return consent === null || server === undefined ? undefined : { consent, server };
}

function findServer({ mcp }: Needs, serverId: string): (McpServer & { readonly url: string }) | undefined {
  const found = [...mcp.servers().values()].find(({ id }) => id === serverId);
  return found === undefined || found.url === null ? undefined : { ...found, url: found.url };
}

/** Checks the page's origin and its secret token. */
async function isPressed(request: Request, publicUrl: string, token: string): Promise<boolean> {
  const origin = request.headers.get('origin');
  // `Host` may be forged together with it.
  if (origin !== null && origin !== new URL(publicUrl).origin) return false;
  try {
    refuseCrossSite(request);
  } catch {
    return false;
  }
  // A form must declare its length.
  if (!(Number(request.headers.get('content-length') ?? Number.NaN) <= MAX_FORM_BYTES)) return false;
  return new URLSearchParams(await request.text()).get('token') === token;
}

const tokenOf = (browser: string, ticket: string): string => hashSecret(`${browser} ${ticket}`);

const cookieNameOf = (publicUrl: string): string => (publicUrl.startsWith('https:') ? SECURE_COOKIE : COOKIE);

function cookieOf(publicUrl: string, browser: string): string {
  const name = cookieNameOf(publicUrl);
  const where = name === SECURE_COOKIE ? 'Path=/; Secure' : 'Path=/mcp/oauth';
  return `${name}=${browser}; ${where}; HttpOnly; SameSite=Lax; Max-Age=${COOKIE_SECONDS}`;
}

function readCookie(request: Request, publicUrl: string): string | undefined {
  const name = cookieNameOf(publicUrl);
  const found = (request.headers.get('cookie') ?? '').split(';').map((one) => one.trim().split('='));
  return found.find((one) => one[0] === name)?.[1]?.match(/^[\w-]{43}$/)?.[0];
}
