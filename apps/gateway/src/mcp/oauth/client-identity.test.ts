import { expect, test } from 'bun:test';
import { createSecretVault } from '@llm0/core/keys/secret-vault';
import type { McpServer } from '@llm0/core/mcp/server';
import { oauthClientRows } from '@llm0/drizzle/queries/mcp/grants';
import { mcpServers } from '@llm0/drizzle/schema/mcp';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { OauthFetch } from './bounded-fetch';
import { ClientIdentity } from './client-identity';
import type { Issuer } from './discover-issuer';

const issuer: Issuer = {
  ...{ url: 'https://issuer.test', resource: 'https://mcp.test', scopes: undefined },
  metadata: {
    issuer: 'https://issuer.test',
    authorization_endpoint: 'https://issuer.test/authorize',
    token_endpoint: 'https://issuer.test/token',
    registration_endpoint: 'https://issuer.test/register',
    response_types_supported: ['code'],
  },
};

test.each(TEST_DATABASES)('registers once, and again after its encryption key was lost: $name', async (kind) => {
  const { db, close } = await kind.open();
  const [row] = await db
    .insert(mcpServers)
    .values({ alias: `i-${crypto.randomUUID()}`, transport: 'http', url: 'https://mcp.test' })
    .returning();
  const server = {
    id: row?.id,
    alias: 'i',
    oauth: { clientId: null, clientSecret: undefined },
  } as unknown as McpServer;
  let registered = 0;
  const fetchFn = (async () => {
    registered += 1;
    const client = { client_id: `client-${registered}`, redirect_uris: ['http://gateway.test/mcp/oauth/callback'] };
    return Response.json(client, { status: 201 });
  }) as unknown as OauthFetch;
  const idBy = async (fill: number) => {
    const vault = createSecretVault(new Uint8Array(32).fill(fill));
    return (await new ClientIdentity({ db, vault, publicUrl: 'http://gateway.test' }).of(server, issuer, fetchFn))
      .client_id;
  };
  expect([await idBy(1), await idBy(1)]).toEqual(['client-1', 'client-1']);
  expect([await idBy(2), await idBy(2)]).toEqual(['client-2', 'client-2']);
  const { data } = await oauthClientRows.list(db, { limit: 9 }, { serverId: server.id });
  expect(data).toHaveLength(1);
  await close();
});
