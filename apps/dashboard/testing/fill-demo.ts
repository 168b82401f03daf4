import { callAdmin } from '@llm0/testing/stores/start-gateway';
import type { Gateway } from './fill-tools';

const ALERTS = [
  { name: 'A cap is near', kind: 'budget_share', threshold: 0.9, window_minutes: 60 },
  { name: 'Requests fail', kind: 'error_rate', threshold: 0.05, window_minutes: 15 },
  { name: 'Answers are slow', kind: 'latency_p95', threshold: 20_000, window_minutes: 30 },
  { name: 'A provider is down', kind: 'provider_down', threshold: 5 },
];
const RULES = [
  { name: 'contact data', on: 'both', check: { type: 'pii', kinds: ['email', 'phone'] }, action: 'redact' },
  { name: 'code names', on: 'both', check: { type: 'words', words: ['Project Falcon'] }, action: 'flag' },
];
const PROMPTS = [
  'Write to ann@example.com that her refund is on its way.',
  'Summarize the ticket of +1 415 555 0132.',
  'What is new in Project Falcon?',
];

/** Alerts, a service behind the gateway, and guardrails of a project that found something in its requests. */
export async function fillDemo(gateway: Gateway, { projectId, apiKey, backendUrl }: Owner): Promise<void> {
  for (const alert of ALERTS) {
    await callAdmin(gateway, '/alerts', { body: { ...alert, webhook_url: 'https://hooks.example.com/on-call' } });
  }
  await callAdmin(gateway, '/backends', {
    body: { name: 'rerank', url: backendUrl, price_per_request_usd: 0.0005 },
  });
  const body = { mode: 'enforce', rules: RULES };
  await callAdmin(gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body });
  for (const content of PROMPTS) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...{ 'x-llm0-run-id': 'support-agent-41', 'x-llm0-run-budget-usd': '0.5' },
      },
      body: JSON.stringify({ model: 'claude-haiku-4-5', messages: [{ role: 'user', content }] }),
    });
    await answer.text();
  }
}

interface Owner {
  readonly projectId: string;
  readonly apiKey: string;
  /** Where the service behind the gateway answers. */
  readonly backendUrl: string;
}
