import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startOnServers } from '@llm0/testing/e2e/environment';
import { fakePicture } from '@llm0/testing/fake-upstream/render-tasks';
import { startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { THEMES, WIDTHS } from './looks';
import { drained, shareDashboard } from './share-dashboard';
import { sidewaysOverflow } from './watch-page';

type TestKey = Awaited<ReturnType<typeof createTestKey>>;

const upstream = startFakeUpstream();
let page: Page;
let problems: string[];
let key: TestKey;

const dashboard = shareDashboard({
  // Without the demo provider: what a key may use is what is set up.
  start: () => startOnServers({ OPENAI_API_KEY: 'sk-fake', OPENAI_BASE_URL: upstream.baseUrl, LOG_BODIES: 'true' }),
  fill: async (gateway) => {
    key = await createTestKey(gateway);
  },
});
beforeAll(async () => {
  ({ page, problems } = await dashboard.open('/playground', { width: 1440 }));
}, 30_000);
afterAll(() => upstream.stop());

/** A new conversation, as a key of this project, with these models. */
async function begin(from: TestKey, ...models: string[]): Promise<void> {
  await page.goto(`${dashboard.gateway.url}/playground`);
  await page.getByRole('button', { name: 'New conversation' }).click();
  const names = await callAdmin<{ name: string }>(dashboard.gateway, `/projects/${from.projectId}`);
  await choose('Project', names.name);
  // The first one is chosen by itself.
  await page.waitForFunction(
    (field) => field instanceof HTMLInputElement && field.value === 'test',
    await page.getByRole('combobox', { name: 'Key', exact: true }).elementHandle(),
  );
  while ((await page.getByRole('button', { name: /^Remove model/ }).count()) > 0) {
    await page
      .getByRole('button', { name: /^Remove model/ })
      .last()
      .click();
  }
  for (const [at, model] of models.entries()) {
    if (at > 0) await page.getByRole('button', { name: 'Compare with another model' }).click();
    await choose(at === 0 ? 'Model' : `Model ${at + 1}`, model);
  }
}

/** By typing into the list, and taking what it offers first. */
async function choose(label: string, typed: string): Promise<void> {
  const field = page.getByRole('combobox', { name: label, exact: true });
  if ((await field.inputValue()) === typed) return;
  const option = page.getByRole('option', { name: typed }).first();
  // A page that has just begun may take the focus elsewhere, which closes the list: it is opened again then.
  for (let tries = 0; tries < 4 && !(await option.isVisible()); tries++) {
    await field.fill('');
    await field.fill(typed);
    await option.waitFor({ timeout: 4000 }).catch(() => undefined);
  }
  await option.waitFor();
  await field.press('Enter');
}

const say = (number: number, text: string) => page.getByLabel(`Turn ${number}`, { exact: true }).fill(text);
const send = () => page.keyboard.press('Control+Enter');
const answerOf = (model: string) => page.getByRole('region', { name: `Answer from ${model}`, exact: true });
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('the playground', () => {
  test('a chat of three turns by keyboard, with an image and a call of a tool; a reload keeps it', async () => {
    await begin(key, 'gpt-4o-mini');
    await page.getByLabel('System prompt').fill('Be brief');
    await page.getByRole('main').getByText('Tools', { exact: true }).click();
    await page.getByLabel('Definitions (JSON)').fill('[{"name": "get_weather", "parameters": {"type": "object"}}]');
    await say(1, 'What is this?');
    await page.getByLabel('Image files').setInputFiles({
      ...{ name: 'pixel.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') },
    });
    await page.getByText('70 B').waitFor();
    upstream.control.enqueue({
      text: 'A **red** pixel <img src=x onerror=alert(1)> ![far](https://far.example/x.png)',
    });
    await page.getByLabel('Turn 1', { exact: true }).focus();
    await send();
    await answerOf('gpt-4o-mini').locator('strong', { hasText: 'red' }).waitFor();
    expect(await answerOf('gpt-4o-mini').locator('img').count()).toBe(0);
    await page.getByText('Image “far” at far.example').waitFor();

    upstream.control.enqueue({ toolCalls: [{ name: 'get_weather', arguments: '{"city":"Berlin"}' }] });
    await say(3, 'And the weather?');
    await send();
    await page.getByRole('textbox', { name: 'Result of get_weather' }).fill('{"degrees": 21}');
    upstream.control.enqueue({ text: '21 degrees.' });
    await send();
    await answerOf('gpt-4o-mini').getByText('21 degrees.').waitFor();
    const { messages, tools } = (upstream.requests.at(-1) as { body: unknown }).body as {
      messages: object[];
      tools: object[];
    };
    expect(tools).toHaveLength(1);
    expect(messages).toMatchObject([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'text' }, { image_url: { url: `data:image/png;base64,${PIXEL}` } }] },
      { role: 'assistant' },
      { role: 'user', content: 'And the weather?' },
      { role: 'assistant', tool_calls: [{ function: { name: 'get_weather', arguments: '{"city":"Berlin"}' } }] },
      { role: 'tool', content: '{"degrees": 21}' },
    ]);
    await page.getByText('Cost').first().waitFor();
    await page.getByRole('link', { name: 'View this request' }).last().waitFor();
    await page.getByText('Route', { exact: true }).click();
    await page.getByText('1. openai/gpt-4o-mini').waitFor();

    // Over navigation with the answer, over a reload without.
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    await answerOf('gpt-4o-mini').getByText('21 degrees.').waitFor();
    await page.reload();
    await page.getByText('pixel.png').waitFor();
    expect(await page.getByLabel('Turn 6', { exact: true }).inputValue()).toBe('21 degrees.');
    expect(await page.getByRole('textbox', { name: 'Result of get_weather' }).inputValue()).toBe('{"degrees": 21}');

    // Said anew from an earlier turn: what came after it is gone.
    upstream.control.enqueue({ text: 'Rather orange.' });
    await page.getByRole('button', { name: 'Regenerate' }).first().click();
    await answerOf('gpt-4o-mini').getByText('Rather orange.').waitFor();
    // Its card has the text; the turn has it to be rewritten.
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    expect(await page.getByLabel('Turn 2', { exact: true }).inputValue()).toBe('Rather orange.');
    expect(await page.getByLabel('Turn 4', { exact: true }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('four side by side: one fails, one is stopped, the others answer, and one goes on', async () => {
    await begin(key, 'gpt-4o-mini', 'gpt-4o', 'gpt-4.1', 'gpt-4.1-mini');
    upstream.control.setModel('gpt-4o', { status: 400, body: '{"error":{"message":"Not like this."}}' });
    upstream.control.setModel('gpt-4.1', { chunks: 1000, gapMs: 30 });
    upstream.control.setModel('gpt-4.1-mini', { text: 'The fourth.' });
    await say(1, 'All of you');
    await send();
    await page.getByText('Not like this.').waitFor();
    await page.getByText('upstream_rejected').waitFor();
    await page.getByText('The provider rejected the request').waitFor();
    await answerOf('gpt-4.1-mini').getByText('The fourth.').waitFor();
    await answerOf('gpt-4.1').getByText('word word').waitFor();
    await page.getByRole('button', { name: 'Stop gpt-4.1', exact: true }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    expect(await page.getByText('Tokens out').count()).toBe(3);
    await page.getByRole('button', { name: 'Continue with this answer' }).last().click();
    expect(await page.getByLabel('Turn 2', { exact: true }).inputValue()).toBe('The fourth.');
    upstream.control.reset();
    // Escape stops whatever is on its way.
    upstream.control.setDefault({ chunks: 1000, gapMs: 30 });
    await say(3, 'Again');
    await send();
    await answerOf('gpt-4o').getByText('word word').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('stopped', { exact: true }).nth(3).waitFor();
    upstream.control.reset();
    expect(problems.filter((problem) => !problem.includes('status of 400'))).toEqual([]);
  });

  test('JSON that does not fit its schema is shown where it fails; what cannot be sent is said before', async () => {
    await begin(key, 'gpt-4o-mini');
    await page.getByLabel('Response format', { exact: true }).selectOption('json_schema');
    const schema = page.getByLabel('JSON schema');
    await schema.fill('{"type": "object"');
    await page.getByText('This is not JSON').first().waitFor();
    expect(await page.getByRole('button', { name: 'Send ⌘' }).isDisabled()).toBe(true);
    await schema.fill('{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}');
    await say(1, 'How old?');
    upstream.control.enqueue({ text: '{"age":"old"}' });
    await send();
    await page.getByText('Does not match the schema').waitFor();
    await page.getByText('/age:').waitFor();
    upstream.control.enqueue({ text: '{"age":7}' });
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await page.getByText('Fits the schema.').waitFor();
  });

  test('a spend cap that is reached is shown as such, with where to raise it', async () => {
    const capped = await createTestKey(dashboard.gateway, { project: { monthly_cap_usd: '0.000001' } });
    await begin(capped, 'gpt-4o-mini');
    await say(1, 'Dear');
    await send();
    const alert = page.getByRole('alert');
    await alert.getByText('spend_cap_exceeded').waitFor();
    await alert.getByText("The project's monthly spend cap doesn't cover this request").waitFor();
    await alert.getByRole('link', { name: 'Projects & keys' }).waitFor();
    const { data } = await callAdmin<{ data: object[] }>(dashboard.gateway, '/audit?resource=playground&limit=1');
    expect(data[0]).toMatchObject({ actor: 'ADMIN_TOKEN', action: 'send', resource_id: capped.keyId });

    await callAdmin(dashboard.gateway, '/projects', { body: { name: 'without keys' } });
    await page.reload();
    await choose('Project', 'without keys');
    await page.getByRole('button', { name: 'Create a one-day key' }).click();
    await page.getByText('available to this key').waitFor();
    // With nothing focused, the page's keys hold all the same.
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await send();
    await answerOf('gpt-4o-mini').getByText('word').waitFor();
  });

  test('a logged request runs again; one whose prompt may not be read says what is missing', async () => {
    const body = { model: 'gpt-4o', temperature: 0.3, messages: [{ role: 'user', content: 'Logged before' }] };
    const answer = await fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text();
    const from = answer.headers.get('x-request-id') ?? '';
    await drained(dashboard.gateway);
    // Prompts are kept a moment after the row is there.
    const isKept = () => callAdmin(dashboard.gateway, `/logs/${from}/bodies`).then(Boolean, () => false);
    while (!(await isKept())) await Bun.sleep(50);
    await page.goto(`${dashboard.gateway.url}/playground?rerun=${from}`);
    await page.getByText('The logged request was loaded exactly as it was sent').waitFor();
    expect(await page.getByLabel('Turn 1', { exact: true }).inputValue()).toBe('Logged before');
    expect(await page.getByLabel('Temperature').inputValue()).toBe('0.3');
    expect(page.url()).not.toContain('rerun=');
    await page.getByText('available to this key').waitFor();
    await page.getByLabel('Turn 1', { exact: true }).focus();
    await send();
    await answerOf('gpt-4o').getByText('word').waitFor();
    await page.getByText('exact cache hit').waitFor();

    await page.getByRole('button', { name: 'View code' }).click();
    const code = (await page.getByRole('dialog').textContent()) ?? '';
    for (const part of ['Authorization: Bearer $LLM0_API_KEY', 'temperature=0.3', 'new OpenAI'])
      expect(code).toContain(part);
    expect(await checkAccessibility(page)).toEqual([]);
    await page.keyboard.press('Escape');

    const { token } = await callAdmin<{ token: string }>(dashboard.gateway, '/tokens', {
      body: { name: 'v', role: 'viewer' },
    });
    const viewer = await dashboard.openApart({ adminToken: null });
    await viewer.page.goto(`${dashboard.gateway.url}/playground?rerun=${from}`);
    viewer.page.setDefaultTimeout(8000);
    await viewer.page.getByLabel('Admin token').fill(token);
    await viewer.page.getByRole('button', { name: 'Sign in' }).click();
    await viewer.page.getByText('The prompt is missing. Your token may not read').waitFor();
    expect(await viewer.page.getByRole('combobox', { name: 'Model', exact: true }).inputValue()).toBe('gpt-4o');
    // Who may only read sends with a key of their own, which no storage of the browser ever holds.
    await viewer.page.getByLabel('Key', { exact: true }).fill(key.apiKey);
    await viewer.page.getByLabel('Turn 1', { exact: true }).fill('Pasted');
    await viewer.page.keyboard.press('Control+Enter');
    await viewer.page.getByRole('region', { name: 'Answer from gpt-4o' }).getByText('word').waitFor();
    await viewer.page.waitForFunction(() => JSON.stringify({ ...sessionStorage }).includes('Pasted'));
    const kept = await viewer.page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(kept).not.toContain(key.apiKey);
    await viewer.page.getByRole('button', { name: 'Sign out' }).click();
    await viewer.page.getByLabel('Admin token').waitFor();
    expect(await viewer.page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  test('a model that paints makes a picture, one that speaks makes a sound', async () => {
    const before = problems.length;
    await begin(key, 'gpt-image-2');
    await say(1, 'a cat');
    await send();
    const picture = answerOf('gpt-image-2').getByRole('img');
    await picture.waitFor();
    expect(await picture.getAttribute('src')).toBe(`data:image/png;base64,${fakePicture('a cat')}`);
    await begin(key, 'tts-1');
    await say(1, 'Hello');
    await send();
    const sound = answerOf('tts-1').locator('audio');
    await sound.waitFor();
    expect(await sound.getAttribute('src')).toStartWith('data:audio/mpeg;base64,');
    expect(problems.slice(before)).toEqual([]);
  });

  test('nothing axe finds, and no sideways scrolling, wide and narrow, light and dark', async () => {
    await begin(key, 'gpt-4o-mini', 'gpt-4o', 'gpt-4.1', 'gpt-4.1-mini');
    await page.getByRole('main').getByText('Tools', { exact: true }).click();
    await page.getByText('More', { exact: true }).click();
    await page.getByRole('button', { name: 'Add image URL' }).click();
    await page.getByLabel('Image URL').fill('https://far.example/x.png');
    await page.getByLabel('Image URL').press('Enter');
    await page.getByText('remote, not loaded here').waitFor();
    await page.getByLabel('Turn 1', { exact: true }).evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(['12345'], 'pasted.png', { type: 'image/png' }));
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await page.getByText('pasted.png').waitFor();
    await page.getByRole('button', { name: 'Remove pasted.png' }).click();
    await page.getByRole('button', { name: 'Remove far.example' }).click();
    upstream.control.setDefault({ text: `| a | b |\n|---|---|\n| ${'x'.repeat(300)} | 1 |\n\n${'y'.repeat(300)}` });
    await say(1, 'z'.repeat(500));
    await send();
    await page.getByText('Tokens out').nth(3).waitFor();
    const found: string[] = [];
    for (const theme of THEMES) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate((name) => {
          document.documentElement.dataset.theme = name;
        }, theme);
        const at = `${theme} at ${width}: `;
        found.push(...(await checkAccessibility(page)).map((problem) => at + problem));
        if ((await sidewaysOverflow(page)) > 0) found.push(`${at}scrolls sideways`);
      }
    }
    expect(found).toEqual([]);
  });

  test('a phone shows the message and its button at once, and key and model behind another', async () => {
    await begin(key, 'gpt-4o-mini');
    await page.setViewportSize({ width: 390, height: 844 });
    for (const shown of [
      page.getByLabel('Turn 1', { exact: true }),
      page.getByRole('button', { name: /^Send .*Ctrl/ }),
    ]) {
      const box = await shown.boundingBox();
      expect((box?.y ?? 844) + (box?.height ?? 0)).toBeLessThan(844);
    }
    const model = page.getByRole('combobox', { name: 'Model', exact: true });
    expect(await model.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Model and key gpt-4o-mini' }).click();
    expect(await model.isVisible()).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await page.getByRole('button', { name: /^Model and key/ }).isVisible()).toBe(false);
  });
});
