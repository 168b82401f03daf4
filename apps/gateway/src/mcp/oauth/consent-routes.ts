import type { Hono } from 'hono';
import type { Services } from '../../services/contract';
import { beginConsent, finishConsent, showClientDocument, showConsent, showResource } from './handle-oauth';

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

/** Pages for browsers and authorization servers. */
export function addConsentRoutes(app: Hono, services: Services): void {
  const nameKey = (id: string) => services.nameKey(id);
  app.get('/mcp/oauth/client.json', () => showClientDocument(services));
  app.get('/mcp/oauth/start/:ticket', (c) =>
    showConsent(services, { ticket: c.req.param('ticket'), request: c.req.raw }, nameKey),
  );
  app.post('/mcp/oauth/start/:ticket', (c) =>
    beginConsent(services, { ticket: c.req.param('ticket'), request: c.req.raw }),
  );
  app.get('/mcp/oauth/callback', (c) => finishConsent(services, c.req.raw));
  app.get(`${RESOURCE_METADATA}/*`, (c) => showResource(services, c.req.path.slice(RESOURCE_METADATA.length)));
  app.get(RESOURCE_METADATA, () => showResource(services, ''));
}
