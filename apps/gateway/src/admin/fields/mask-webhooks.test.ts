import { expect, test } from 'bun:test';
import { tokenActor } from '../access/actors';
import { jsonUsd } from './json-money';
import { maskFor } from './mask-webhooks';

const viewer = tokenActor('v', 'viewer', null);
const SECRET = 'https://user:pass@hooks.example.com:8443/services/T0/B0/secret?token=1#x';
const MASKED = 'https://hooks.example.com:8443/…';

test('viewers see only scheme and host, at any depth; admins see all', () => {
  const shown = {
    data: [
      { webhook_url: SECRET, last_error: `could not post to ${SECRET}`, threshold: 1, cost_usd: jsonUsd(1) },
      { after: { webhook_url: SECRET }, before: null },
      { checks: [{ type: 'webhook', url: SECRET, headers: { 'x-to': SECRET } }] },
      { base_url: 'https://api.example.com/v1', resource: 'provider' },
    ],
  };
  expect(maskFor(tokenActor('a', 'admin', null), shown)).toBe(shown);
  const seen = JSON.parse(JSON.stringify(maskFor(viewer, shown)));
  expect(seen).toEqual({
    data: [
      { webhook_url: MASKED, last_error: `could not post to ${MASKED}`, threshold: 1, cost_usd: 1e-9 },
      { after: { webhook_url: MASKED }, before: null },
      { checks: [{ type: 'webhook', url: MASKED, headers: { 'x-to': MASKED } }] },
      { base_url: 'https://api.example.com/v1', resource: 'provider' },
    ],
  });
});

test('invalid addresses are hidden', () => {
  expect(maskFor(viewer, { webhook_url: 'http://[' })).toEqual({ webhook_url: '…' });
});
