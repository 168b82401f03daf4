import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { shareDashboard } from './share-dashboard';

/** A dashboard with four days of made-up requests, and a key by which to send more. */
export function shareWatched() {
  let apiKey: string;
  const dashboard = shareDashboard({
    env: { LOG_BODIES: 'true' },
    timeoutMs: 30_000,
    fill: async (gateway) => {
      ({ apiKey } = await createTestKey(gateway, { project: { name: 'watched' } }));
      await callAdmin(gateway, '/demo-data', { body: { days: 4, requests_a_day: 700 } });
    },
  });
  const send = (body: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }], ...body }),
    });
  return { dashboard, send, signedIn: (path?: string) => dashboard.open(path) };
}
