// An MCP server that lets nobody in without a token, and the authorization server that gives them; both by their RFCs.
import { createHash } from 'node:crypto';

interface Code {
  readonly challenge: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string | null;
  readonly scope: string | null;
}

export interface OauthServerUnderTest {
  readonly url: string;
  readonly issuer: string;
  /** Authorization headers that tool calls came with. */
  readonly seen: string[];
  /** Requests for tokens, as they came. */
  readonly asked: Record<string, string>[];
  /** Tokens that count. */
  readonly tokens: Set<string>;
  /** Refresh tokens that count; each serves once. */
  readonly refreshTokens: Set<string>;
  /** What the callback says of who sends it; undefined = as it is. */
  issAs: string | undefined;
  /** Seconds that a token lasts. */
  lastsSeconds: number;
  /** Ids of clients that may ask for codes; undefined = those it registered. */
  takesDocuments: boolean;
  stop(): Promise<void>;
}

const SECRET = 'client-secret-of-the-test';

export function startOauthServer(): OauthServerUnderTest {
  const codes = new Map<string, Code>();
  const clients = new Set<string>(['operator-client']);
  const under = {
    seen: [] as string[],
    asked: [] as Record<string, string>[],
    tokens: new Set<string>(),
    refreshTokens: new Set<string>(),
    issAs: undefined as string | undefined,
    lastsSeconds: 3600,
    takesDocuments: false,
  };

  const give = (scope: string | null, withRefresh: boolean) => {
    const token = `token-${crypto.randomUUID()}`;
    under.tokens.add(token);
    const refresh = `refresh-${crypto.randomUUID()}`;
    if (withRefresh) under.refreshTokens.add(refresh);
    return Response.json({
      ...{ access_token: token, token_type: 'Bearer', expires_in: under.lastsSeconds },
      ...(scope === null ? {} : { scope }),
      ...(withRefresh ? { refresh_token: refresh } : {}),
    });
  };
  const refuse = (error: string) => Response.json({ error }, { status: 400 });

  const answerToken = async (request: Request, issuer: string): Promise<Response> => {
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    under.asked.push({ ...form, authorization: request.headers.get('authorization') ?? '' });
    if (form.resource !== `${issuer}/mcp`) return refuse('invalid_target');
    if (form.grant_type === 'client_credentials') {
      const basic = `Basic ${Buffer.from(`operator-client:${SECRET}`).toString('base64')}`;
      const isKnown = request.headers.get('authorization') === basic || form.client_secret === SECRET;
      return isKnown ? give(form.scope ?? null, false) : refuse('invalid_client');
    }
    if (form.grant_type === 'refresh_token') {
      return under.refreshTokens.delete(form.refresh_token ?? '') ? give(null, true) : refuse('invalid_grant');
    }
    const code = codes.get(form.code ?? '');
    codes.delete(form.code ?? '');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    const isRight = code?.challenge === challenge && code.redirectUri === form.redirect_uri;
    return isRight && code.resource === form.resource ? give(code.scope, true) : refuse('invalid_grant');
  };

  const authorize = (url: URL, issuer: string): Response => {
    const asked = url.searchParams;
    const clientId = asked.get('client_id') ?? '';
    const isKnown = clients.has(clientId) || (under.takesDocuments && clientId.startsWith('https:'));
    if (!isKnown || asked.get('code_challenge_method') !== 'S256') return new Response('no', { status: 400 });
    const code = crypto.randomUUID();
    const redirectUri = asked.get('redirect_uri') ?? '';
    codes.set(code, {
      ...{ clientId, redirectUri, challenge: asked.get('code_challenge') ?? '' },
      ...{ resource: asked.get('resource'), scope: asked.get('scope') },
    });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', asked.get('state') ?? '');
    back.searchParams.set('iss', under.issAs ?? issuer);
    return Response.redirect(back.href, 302);
  };

  const answerMcp = async (request: Request, issuer: string): Promise<Response> => {
    const authorization = request.headers.get('authorization') ?? '';
    if (!under.tokens.has(authorization.replace(/^Bearer /, ''))) {
      const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp", scope="read"`;
      return new Response('who are you', { status: 401, headers: { 'WWW-Authenticate': challenge } });
    }
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method } = (await request.json()) as {
      id?: number;
      method: string;
    };
    if (id === undefined) return new Response(null, { status: 202 });
    const reply = (result: object) => Response.json({ jsonrpc: '2.0', id, result });
    const serverInfo = { name: 'guarded', version: '1' };
    if (method === 'initialize')
      return reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
    if (method === 'tools/list') return reply({ tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'none' } });
    under.seen.push(authorization);
    return reply({ content: [{ type: 'text', text: `you are ${authorization.slice(-8)}` }] });
  };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const url = new URL(request.url);
      const issuer = url.origin;
      switch (url.pathname) {
        case '/mcp':
          return answerMcp(request, issuer);
        case '/.well-known/oauth-protected-resource/mcp':
          return Response.json({
            ...{ resource: `${issuer}/mcp`, authorization_servers: [issuer], scopes_supported: ['read', 'write'] },
          });
        case '/.well-known/oauth-authorization-server':
          return Response.json({
            ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
            ...{ registration_endpoint: `${issuer}/register`, response_types_supported: ['code'] },
            ...{ code_challenge_methods_supported: ['S256'], authorization_response_iss_parameter_supported: true },
            client_id_metadata_document_supported: under.takesDocuments,
          });
        case '/authorize':
          return authorize(url, issuer);
        case '/token':
          return answerToken(request, issuer);
        case '/register': {
          const clientId = `registered-${crypto.randomUUID()}`;
          clients.add(clientId);
          return Response.json({ ...((await request.json()) as object), client_id: clientId }, { status: 201 });
        }
        default:
          return new Response('nothing here', { status: 404 });
      }
    },
  });
  const issuer = `http://127.0.0.1:${server.port}`;
  return Object.assign(under, { issuer, url: `${issuer}/mcp`, stop: () => server.stop(true) });
}

export const OAUTH_CLIENT_SECRET = SECRET;
