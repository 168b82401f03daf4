import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { checkAccessibility } from './check-accessibility';
import { THEMES, WIDTHS } from './looks';
import { drained, shareDashboard } from './share-dashboard';

const MAIL = { name: 'no mail', on: 'input', check: { type: 'pii', kinds: ['email'] }, action: 'block' };
let projectId: string;
let apiKey: string;
const dashboard = shareDashboard({
  env: { DEMO_PROVIDER: 'on', LOG_BODIES: 'true', ENCRYPTION_KEY: randomBytes(32).toString('base64') },
  fill: async (gateway) => {
    const key = await createTestKey(gateway, { project: { name: 'guarded' } });
    projectId = key.projectId;
    apiKey = key.apiKey;
    await callAdmin(gateway, `/projects/${projectId}/guardrails`, {
      method: 'PUT',
      body: { mode: 'shadow', rules: [MAIL] },
    });
    for (const text of ['hello', 'write to ann@example.com', 'darn it']) {
      await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo/demo', messages: [{ role: 'user', content: text }] }),
      });
    }
    await drained(gateway);
  },
});

const at = (rest = '') => `/guardrails?range=24h&project=${projectId}${rest}`;

describe.each([...WIDTHS])('guardrails, %d px wide', (width) => {
  test('a rule is added, moved, changed and deleted, and a version comes back', async () => {
    const { page, problems } = await dashboard.open(at(), { width });
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(`words ${width}`);
    await dialog.getByLabel('Looks for').selectOption('words');
    await dialog.getByLabel('Words').fill('darn\nheck no');
    await dialog.getByLabel('Then').selectOption('flag');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await page
      .getByText(/Saved as version \d+/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: `words ${width}` }).click();
    await page.getByRole('button', { name: 'Move up' }).click();
    await page.waitForFunction(
      (name) => document.querySelector('tbody tr')?.textContent?.includes(name),
      `words ${width}`,
    );
    await dialog.getByLabel('Looks for').selectOption('regex');
    await dialog.getByLabel('Expression').fill('(?=a)');
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.getByText(/RE2/).last().waitFor();
    await dialog.getByLabel('Expression').fill('dar+n');
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { rules } = await callAdmin<{ rules: { check: object }[] }>(
      dashboard.gateway,
      `/projects/${projectId}/guardrails`,
    );
    expect(rules[0]?.check).toEqual({ type: 'regex', pattern: 'dar+n' });
    await page.getByRole('link', { name: `words ${width}` }).click();
    await page.getByRole('button', { name: 'Delete rule' }).click();
    await page.getByText('Earlier versions stay').waitFor();
    await page.getByRole('button', { name: 'Delete rule' }).last().click();
    await page.getByRole('link', { name: `words ${width}` }).waitFor({ state: 'detached' });
    const { version } = await callAdmin<{ version: number }>(dashboard.gateway, `/projects/${projectId}/guardrails`);
    await page
      .getByRole('row', { name: new RegExp(`^${version - 1} `) })
      .getByRole('button', { name: 'Bring back' })
      .click();
    await page.getByRole('button', { name: 'Bring it back' }).click();
    await page.getByRole('link', { name: `words ${width}` }).waitFor();
    // As it was for the next one.
    const before = { mode: 'shadow', rules: [MAIL] };
    await callAdmin(dashboard.gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body: before });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
  }, 60_000);

  test.each([...THEMES])(
    'parts are ticked, and what holds streams is said, %s',
    async (theme) => {
      const policy = `/projects/${projectId}/guardrails`;
      await callAdmin(dashboard.gateway, policy, { method: 'PUT', body: { mode: 'enforce', rules: [] } });
      const { page, problems } = await dashboard.open(at('&open=new'), { width, theme });
      const dialog = page.getByRole('dialog');
      const boxes = dialog.getByRole('group', { name: 'Parts' }).getByRole('checkbox');
      const ticked = () =>
        boxes.evaluateAll((all) =>
          all.flatMap((one) => ((one as HTMLInputElement).checked ? one.parentElement?.textContent : [])),
        );
      await dialog.getByLabel('Name').fill('parts');
      expect(await ticked()).toEqual(['system', 'user', 'assistant', 'tool arguments', 'tool results']);
      for (const part of ['system', 'assistant']) await dialog.getByLabel(part, { exact: true }).uncheck();
      await dialog.getByLabel('tool results').press('Space');
      expect(await ticked()).toEqual(['user', 'tool arguments']);
      // An answer has no part of its user's: what is left cannot be unticked.
      await dialog.getByLabel('Checks').selectOption('output');
      expect(await ticked()).toEqual(['tool arguments']);
      expect(await boxes.count()).toBe(3);
      expect(await dialog.getByLabel('tool arguments').isDisabled()).toBe(true);
      await dialog.getByLabel('assistant', { exact: true }).check();
      await dialog.getByLabel('Looks for').selectOption('regex');
      await dialog.getByText('a match has no bound').waitFor();
      await dialog.getByLabel('Expression').fill('secret .*');
      expect(await checkAccessibility(page)).toEqual([]);
      expect(await dialog.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
      await dialog.getByRole('button', { name: 'Add rule' }).click();
      await page.getByText('Streamed answers wait for their end because of: parts.').first().waitFor();
      const { rules } = await callAdmin<{ rules: { on: string; parts: string[] }[] }>(dashboard.gateway, policy);
      expect(rules).toMatchObject([{ on: 'output', parts: ['assistant', 'tool_arguments'] }]);
      await page.getByRole('link', { name: 'parts' }).click();
      await dialog.getByText('As it was saved, this one does.').waitFor();
      expect(await ticked()).toEqual(['assistant', 'tool arguments']);
      await callAdmin(dashboard.gateway, policy, { method: 'PUT', body: { mode: 'shadow', rules: [MAIL] } });
      expect(problems).toEqual([]);
    },
    60_000,
  );

  test('a rule starts from a template, and is edited before it is saved', async () => {
    const policy = `/projects/${projectId}/guardrails`;
    await callAdmin(dashboard.gateway, policy, { method: 'PUT', body: { mode: 'shadow', rules: [] } });
    const { page, problems } = await dashboard.open(at(), { width });
    const dialog = page.getByRole('dialog');
    const templates = dialog.getByRole('group', { name: 'Start from a template' });
    await page.getByRole('button', { name: 'Mask personal data' }).click();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('personal data');
    expect(await dialog.getByLabel('Then').inputValue()).toBe('redact');
    await templates.getByRole('button', { name: 'Restrict topics' }).click();
    await templates.getByText('close in meaning to your examples').waitFor();
    expect(await templates.getByRole('button', { pressed: true }).allTextContents()).toEqual(['Restrict topics']);
    await dialog.getByLabel('Name').fill('no advice');
    await dialog.getByLabel('Examples').fill('Which shares should I buy?');
    expect(await checkAccessibility(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    // The next version builds on the one that the list shows.
    await page.getByRole('link', { name: 'no advice' }).waitFor();
    for (const [title, name] of [
      ['Mask personal data', 'personal data'],
      ['Use pseudonyms', 'pseudonyms'],
      ['Block secrets', 'secrets'],
      ['Block injection attempts', 'injection'],
      ['Block words', 'words'],
      ['Keep known links only', 'links'],
      ['Block words', 'words 2'],
    ] as const) {
      await page.getByRole('button', { name: 'Add rule' }).click();
      await templates.getByRole('button', { name: title }).click();
      await dialog.getByRole('button', { name: 'Add rule' }).click();
      await page.getByRole('link', { name, exact: true }).waitFor();
    }
    type Saved = { name: string; check: { examples?: string[] } };
    const { rules } = await callAdmin<{ rules: Saved[] }>(dashboard.gateway, policy);
    expect(rules.map(({ name }) => name)).toEqual([
      ...['no advice', 'personal data', 'pseudonyms', 'secrets', 'injection', 'words', 'links', 'words 2'],
    ]);
    expect(rules[0]?.check.examples).toEqual(['Which shares should I buy?']);
    await callAdmin(dashboard.gateway, policy, { method: 'PUT', body: { mode: 'shadow', rules: [MAIL] } });
    expect(problems).toEqual([]);
  }, 60_000);

  test('kinds of personal data are ticked, and what base64 stands for', async () => {
    const policy = `/projects/${projectId}/guardrails`;
    await callAdmin(dashboard.gateway, policy, { method: 'PUT', body: { mode: 'shadow', rules: [] } });
    const { page, problems } = await dashboard.open(at('&open=new'), { width });
    const dialog = page.getByRole('dialog');
    const kinds = dialog.getByRole('group', { name: 'Kinds' });
    await dialog.getByLabel('Name').fill('kinds');
    for (const kind of ['phone numbers', 'IP addresses']) await kinds.getByLabel(kind).uncheck();
    await dialog.getByRole('group', { name: 'Also read' }).getByLabel('decoded base64').press('Space');
    expect(await checkAccessibility(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('link', { name: 'kinds' }).click();
    const checked = (name: string) =>
      dialog.getByRole('group', { name }).getByRole('checkbox', { checked: true }).count();
    expect([await checked('Kinds'), await checked('Also read')]).toEqual([4, 1]);
    const { rules } = await callAdmin<{ rules: { check: object }[] }>(dashboard.gateway, policy);
    const check = { type: 'pii', kinds: ['email', 'card', 'iban', 'national_id'], decode: ['base64'] };
    expect(rules.map((rule) => rule.check)).toEqual([check]);
    await callAdmin(dashboard.gateway, policy, { method: 'PUT', body: { mode: 'shadow', rules: [MAIL] } });
    expect(problems).toEqual([]);
  }, 60_000);

  test('the mode is switched, live at once', async () => {
    const { page, problems } = await dashboard.open(at(), { width });
    await page.getByRole('button', { name: 'Enforce' }).click();
    await page.getByText('Rules act on everything').waitFor();
    const refused = await fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo/demo', messages: [{ role: 'user', content: `bob@example.com ${width}` }] }),
    });
    expect(refused.status).toBe(400);
    await page.getByRole('button', { name: 'Shadow' }).click();
    await page.getByText('nothing is changed or refused').waitFor();
    expect(problems).toEqual([]);
  }, 60_000);

  test('a text is tried, and stored requests are checked', async () => {
    const { page, problems } = await dashboard.open(at('&tab=bench'), { width });
    await page.getByLabel('Text', { exact: true }).fill('ask eve@example.com');
    await page.getByRole('button', { name: 'Check text' }).click();
    await page.getByText('It does not pass: no mail.').waitFor();
    await page.getByLabel('As part of').selectOption('output');
    await page.getByRole('button', { name: 'Check text' }).click();
    await page.getByText('It may pass.').waitFor();
    await page.getByRole('button', { name: 'Check stored requests' }).click();
    await page.getByText(/\d requests? of \d would not have passed/).waitFor();
    await page.getByText('blocked by no mail').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(problems).toEqual([]);
  }, 60_000);

  test('hits lead to their requests', async () => {
    const { page, problems } = await dashboard.open(at('&tab=hits'), { width });
    await page.getByRole('link', { name: 'no mail' }).waitFor();
    await page.getByRole('link', { name: 'no mail' }).click();
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    await page.getByTitle(/^Guardrail.*no mail/).waitFor();
    await page.locator('tbody tr').first().waitFor();
    expect(problems).toEqual([]);
  }, 60_000);

  test('many versions are folded, and no time is cut off', async () => {
    const { version } = await callAdmin<{ version: number }>(dashboard.gateway, `/projects/${projectId}/guardrails`);
    for (let saved = version; saved < 8; saved++) {
      const body = { mode: 'shadow', rules: [MAIL] };
      await callAdmin(dashboard.gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body });
    }
    const { page } = await dashboard.open(at(), { width });
    const rows = page.getByRole('table', { name: 'Versions of the policy' }).locator('tbody tr');
    await page.getByRole('button', { name: 'Show older versions' }).waitFor();
    expect(await rows.count()).toBe(5);
    const cut = await rows
      .locator('td')
      .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
    expect(cut).toBe(0);
    await page.getByRole('button', { name: 'Show older versions' }).click();
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length > 8);
    expect(await rows.count()).toBeGreaterThan(7);
  }, 60_000);

  test('without a project in the address those of the first one are shown, then those of the last visit', async () => {
    const { page, problems } = await dashboard.open('/guardrails', { width });
    const project = page.getByLabel('Project', { exact: true });
    await project.selectOption('guarded');
    await page.getByRole('link', { name: 'no mail' }).waitFor();
    await page.goto(`${new URL(page.url()).origin}/guardrails`);
    await page.getByRole('link', { name: 'no mail' }).waitFor();
    expect(await project.locator('option:checked').textContent()).toBe('guarded');
    expect(problems).toEqual([]);
  }, 60_000);
});
