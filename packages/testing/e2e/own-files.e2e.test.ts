// Parts of chat requests may name files of `/v1/files`: vendors get their content.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const PDF = Buffer.from('%PDF-1.7\n\x00\x01 and more', 'latin1');
const PICTURE = Buffer.from('\x89PNG\r\n\x1a\nand more', 'latin1');
const NOTES = Buffer.from('notes of a meeting');
const NOBODYS = `file-${'0'.repeat(32)}`;

describe.each(ON_ONE_KIND)('files in chat on %s stores', (kind) => {
  let world: TestEnvironment;
  let openai: OpenAI;
  let anthropic: Anthropic;
  let projectId: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);
  const clientsOf = async (project: object = {}) => {
    const key = await createTestKey(world.gateway, { project: { cache_enabled: false, ...project } });
    const { apiKey } = key;
    return {
      ...key,
      openai: new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 }),
      anthropic: new Anthropic({ apiKey, baseURL: world.gateway.url, maxRetries: 0 }),
    };
  };
  beforeEach(async () => {
    world.upstream.control.reset();
    ({ openai, anthropic, projectId } = await clientsOf());
  });

  const upload = async (bytes: Buffer, name: string, client = openai) =>
    (await client.files.create({ file: await toFile(bytes, name), purpose: 'user_data' })).id;
  const ask = (id: string, model = 'openai/gpt-4o-mini', client = openai) =>
    client.chat.completions.create({
      ...{ model, max_tokens: 20 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'read this' },
            { type: 'file', file: { file_id: id } },
          ],
        },
      ],
    });
  const sent = () => JSON.stringify(world.upstream.requests.at(-1)?.body);
  const base64 = (bytes: Buffer) => bytes.toString('base64');

  test('are refused where they are no PDF, picture or text', async () => {
    const id = await upload(Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff, 0xfe]), 'archive.zip');
    for (const model of ['anthropic/claude-haiku-4-5', 'gemini-2.5-flash']) {
      expect([model, await ask(id, model).catch(({ status, param }) => [status, param])]).toEqual([
        ...[model, [400, 'messages']],
      ]);
    }
    const source = { type: 'file', file_id: id } as never;
    const content = [{ type: 'document', source } as const];
    const asked = anthropic.messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 20,
      messages: [{ role: 'user', content }],
    });
    expect(await asked.catch(({ status, message }) => [status, message])).toEqual([
      ...[400, expect.stringContaining('is no PDF, picture or text')],
    ]);
    expect(world.upstream.requests).toEqual([]);
  });

  test("are the same in Anthropic's own SDK: uploaded, listed, read, sent and deleted", async () => {
    const { files } = anthropic.beta;
    const pdf = await files.upload({ file: await toFile(PDF, 'report.pdf') });
    expect(pdf).toMatchObject({
      type: 'file',
      filename: 'report.pdf',
      mime_type: 'application/pdf',
      size_bytes: PDF.length,
    });
    expect(new Date(pdf.created_at).getTime()).toBeGreaterThan(Date.now() - 60_000);
    const notes = await files.upload({ file: await toFile(NOTES, 'notes.txt'), expires_in_seconds: 3600 });
    expect([notes.mime_type, typeof notes.expires_at]).toEqual(['text/plain', 'string']);
    const listed = [];
    for await (const { id } of files.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual([notes.id, pdf.id]);
    expect(await files.retrieveMetadata(pdf.id)).toEqual(pdf);
    expect(Buffer.from(await (await files.download(notes.id)).arrayBuffer())).toEqual(NOTES);
    const content = [{ type: 'document', source: { type: 'file', file_id: pdf.id } } as const];
    await anthropic.beta.messages.create({
      ...{ model: 'claude-haiku-4-5', max_tokens: 20, betas: ['files-api-2025-04-14'] },
      messages: [{ role: 'user', content }],
    });
    expect(sent()).toContain(`"media_type":"application/pdf","data":"${base64(PDF)}"`);
    expect((await openai.files.retrieve(pdf.id)).purpose).toBe('user_data');
    expect(await files.delete(pdf.id)).toEqual({ id: pdf.id, type: 'file_deleted' });
    const gone = await files
      .retrieveMetadata(pdf.id)
      .catch(({ status, error }) => [status, error.type, error.error.type]);
    expect(gone).toEqual([404, 'error', 'not_found_error']);
  });

  test('reach each vendor as it takes them', async () => {
    const [pdf, notes] = [await upload(PDF, 'report.pdf'), await upload(NOTES, 'notes.txt')];
    await ask(pdf);
    expect(sent()).toContain(`{"filename":"report.pdf","file_data":"data:application/pdf;base64,${base64(PDF)}"}`);
    await ask(pdf, 'anthropic/claude-haiku-4-5');
    expect(sent()).toContain(`"media_type":"application/pdf","data":"${base64(PDF)}"`);
    await ask(pdf, 'gemini/gemini-2.5-flash');
    expect(sent()).toContain(`{"mimeType":"application/pdf","data":"${base64(PDF)}"}`);
    await ask(await upload(PICTURE, 'p.png'));
    expect(sent()).toContain(`{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64(PICTURE)}"}}`);
    await openai.responses.create({
      model: 'openai/gpt-4o-mini',
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: await upload(PICTURE, 'p.png') }] }],
    });
    expect(sent()).toContain(`{"type":"input_image","image_url":"data:image/png;base64,${base64(PICTURE)}"}`);
    for (const model of ['openai/gpt-4o-mini', 'anthropic/claude-haiku-4-5']) {
      await ask(notes, model);
      expect(sent()).toContain('"text":"notes.txt\\n\\nnotes of a meeting"');
    }
  });

  test('are read by Responses and Messages, too', async () => {
    const [pdf, picture] = [await upload(PDF, 'report.pdf'), await upload(PICTURE, 'p.png')];
    await openai.responses.create({
      model: 'openai/gpt-4o-mini',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_id: pdf },
            { type: 'input_image', file_id: picture, detail: 'low' },
          ],
        },
      ],
    });
    for (const bytes of [PDF, PICTURE]) expect(sent()).toContain(base64(bytes));
    expect(sent()).not.toContain('file_id');
    await anthropic.beta.messages.create({
      ...{ model: 'anthropic/claude-haiku-4-5', max_tokens: 20 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'file', file_id: pdf } },
            { type: 'image', source: { type: 'file', file_id: picture } },
          ],
        },
      ],
    });
    for (const bytes of [PDF, PICTURE]) expect(sent()).toContain(`"data":"${base64(bytes)}"`);
  });

  test("another project's and unknown ones are 404 by their place, and cost nothing", async () => {
    const other = await clientsOf();
    const foreign = await upload(PDF, 'secret.pdf', other.openai);
    for (const id of [foreign, NOBODYS]) {
      const refused = await ask(id).catch((error: unknown) => error);
      expect(refused).toMatchObject({ status: 404, param: 'messages[0].content[1].file.file_id' });
      expect(String(refused)).toContain(id);
    }
    expect(world.upstream.requests).toHaveLength(0);
    const ledger = await settledLedger(world.gateway);
    expect(ledger.open_holds).toBe(0);
  });

  test("a provider's own are refused by their place", async () => {
    expect(await ask('file-abc123').catch((error: unknown) => error)).toMatchObject({
      ...{ status: 400, param: 'messages[0].content[1].file.file_id' },
    });
    expect(world.upstream.requests).toHaveLength(0);
  });

  test('are judged: a text by its words, and what no rule can read is refused by name', async () => {
    const rule = { name: 'no notes', on: 'input', action: 'block', check: { type: 'words', words: ['meeting'] } };
    const body = { mode: 'enforce', rules: [rule] };
    await callAdmin(world.gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body });
    const refusalOf = async (bytes: Buffer) => ask(await upload(bytes, 'x')).catch((error: unknown) => error);
    expect(await refusalOf(NOTES)).toMatchObject({ status: 400, code: 'guardrail_blocked' });
    expect(String(await refusalOf(PDF))).toContain('(such as "no notes") can\'t read files other than text');
    expect(world.upstream.requests).toHaveLength(0);
  });
});
