import { expect, test } from 'bun:test';
import Ajv2020 from 'ajv/dist/2020';
import { configJsonSchema } from './json-schema';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isValid = ajv.compile(configJsonSchema());

const FILE = {
  version: 1,
  providers: [
    { name: 'a', base_url: 'http://a/v1', key: 'env:A', keys: [{ name: 'b', key: 'file:b', project_id: 'shop' }] },
  ],
  models: [{ provider: 'a', model: 'b', input_usd_per_million: 1, output_usd_per_million: '2' }],
  chains: [{ name: 'c', targets: [{ provider: 'a', model: 'b' }] }],
  aliases: [{ alias: 'd', project_id: 'shop', targets: [{ provider: 'a', model: 'b' }] }],
  mcp_servers: [{ alias: 'e', url: 'http://e', auth: { type: 'bearer', token: 'env:E' } }],
  backends: [{ name: 'f', url: 'http://f', headers: { 'X-Key': 'env:F' } }],
  alerts: [{ name: 'g', kind: 'spend', threshold: 1, webhook_url: 'env:G', routing_key: 'env:G', project_id: null }],
  tokens: [{ name: 'h', role: 'viewer', secret: { write_to: 'tokens/h' } }],
  projects: [
    {
      name: 'shop',
      monthly_cap_usd: '12.5',
      keys: [{ name: 'web', secret: { write_to: 'web' }, is_active: false }],
      customers: [{ customer_id: 'acme', daily_spend_limit_usd: 1 }],
      guardrails: { mode: 'off' },
      label_budgets: [{ label: 'feature', value: 'search', daily_usd: '20' }],
      aliases: [{ alias: 'd', targets: [{ provider: 'a', model: 'b' }] }],
    },
  ],
};

test('the schema takes a file of all kinds', () => {
  isValid(FILE);
  expect(isValid.errors).toBeNull();
  expect(isValid({ version: 1, projects: null })).toBe(true);
});

test.each([
  [{}],
  [{ version: 2 }],
  [{ version: 1, project: [] }],
  [{ version: 1, projects: [{}] }],
  [{ version: 1, projects: [{ name: 'x', colour: 'red' }] }],
  [{ version: 1, projects: [{ name: 'x', keys: [{ name: 'k', secret: { write: 'x' } }] }] }],
  [{ version: 1, projects: [{ name: 'x', keys: [{ name: 'k', key: `llm0_live_${'0'.repeat(64)}` }] }] }],
  [{ version: 1, providers: [{ name: 'x', key: 'sk-plain' }] }],
  [{ version: 1, tokens: [{ name: 'x', role: 'owner' }] }],
  [{ version: 1, tokens: [{ name: 'x', token: `llm0_admin_${'0'.repeat(48)}` }] }],
  [{ version: 1, chains: [{ targets: [] }] }],
  [{ version: 1, projects: [{ name: 'x', label_budgets: [{ label: 'feature' }] }] }],
])('the schema refuses %j', (file) => {
  expect(isValid(file)).toBe(false);
});
