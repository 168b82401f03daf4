import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { closedVault } from '@llm0/core/keys/secret-vault';
import { type ImportUnderTest, openImport, type Step, type Told } from './import.fixture';

const PRODUCTION = await Bun.file(join(import.meta.dir, '__fixtures__/production.yaml')).text();
const ENV = { OPENAI_API_KEY: 'sk-openai-env-000001', AZURE_API_KEY_EU: 'azure-eu-key-000000' };
/** Its addresses where nothing needs a name server. */
const LOCAL = PRODUCTION.replace(/https:\/\/contoso-\w+\.openai\.azure\.com/g, 'http://127.0.0.1:9').replace(
  'http://gpu.example.com:8000',
  'http://127.0.0.1:10',
);

describe('llm0 import litellm', () => {
  let made: ImportUnderTest;
  beforeAll(async () => {
    made = await openImport(ENV);
  }, 60_000);
  afterAll(() => made.close());
  const run: ImportUnderTest['run'] = (...given) => made.run(...given);
  const steps: ImportUnderTest['steps'] = (...given) => made.steps(...given);
  const call: ImportUnderTest['call'] = (...given) => made.call(...given);
  const read: ImportUnderTest['read'] = (path) => made.read(path);

  test('a dry run says what would be, and changes nothing', async () => {
    const before = await Promise.all(['/projects', '/aliases', '/providers', '/models'].map(read));
    const dry = await run(LOCAL, ['--dry-run', '--project', 'dry']);
    expect(dry).toMatchObject({ code: 0, err: expect.stringMatching(/^nothing was changed/) });
    expect(dry.out).toMatch(/^alias +gpt-4o +created +azure\/gpt-4o-eu/m);
    expect(dry.out).toMatch(/^left out +litellm_params\.temperature +– +of gpt-4o-mini: callers/m);
    expect(await Promise.all(['/projects', '/aliases', '/providers', '/models'].map(read))).toEqual(before);
  });

  test('a dry run refuses by itself what the gateway would', async () => {
    const text =
      "model_list: [{model_name: 'a b', litellm_params: {model: gpt-4o, api_key: 'sk with spaces'}}]\n" +
      'litellm_settings: {max_budget: -5, budget_duration: 1mo, default_key_generate_params: {max_budget: -1}}';
    const dry = await run(text, ['--dry-run', '--project', 'refused', '--json']);
    const real = await run(text, ['--project', 'refused', '--json']);
    const failed = ({ out }: Told) =>
      (JSON.parse(out).steps as Step[]).filter(({ outcome }) => outcome === 'failed').map(({ what }) => what);
    expect([failed(dry), failed(real)]).toEqual([['project'], ['project']]);
    expect([dry.code, real.code]).toEqual([1, 1]);
    expect(dry.out).not.toContain('sk with');
    expect(dry.out).toContain(JSON.parse(real.out).steps[0].detail.replace(/ \(request .*/, ''));
  });

  /** What a run tells, without what only a real one has: request ids, and the key's secret. */
  const told = ({ out }: Told) =>
    (JSON.parse(out).steps as Step[]).map(({ what, name, outcome, detail }) => {
      const isNewKey = what === 'client key' && outcome === 'created';
      return [what, name, outcome, isNewKey ? '' : detail.replace(/ \(request [^)]*\)/g, '')];
    });
  const model = (name: string, params: string) => `{model_name: ${name}, litellm_params: {${params}}}`;
  const at = 'model: hosted_vllm/x, api_base: "http://127.0.0.1:79/v1"';

  test.each([
    ['production', LOCAL],
    ['a key that no vendor has', `model_list: [${model('a', "model: gpt-4o, api_key: 'sk with spaces'")}]`],
    ['a header that is none', `model_list: [${model('b', `${at}, extra_headers: {'Bad Name': x}`)}]`],
    ['a header that requests need', `model_list: [${model('c', `${at}, extra_headers: {Host: x}`)}]`],
    ['a private address', `model_list: [${model('d', 'model: hosted_vllm/x, api_base: "http://10.1.2.3/v1"')}]`],
    ['a name too long', `model_list: [${model('e'.repeat(600), 'model: gpt-4o')}]`],
    ['limits that are none', 'litellm_settings: {default_key_generate_params: {max_budget: -1}}\nmodel_list: []'],
  ])('a dry run tells what the real run does: %s', async (name, text) => {
    const line = ['--project', `same ${name}`, '--json'];
    const dry = await run(text, [...line, '--dry-run']);
    const real = await run(text, line);
    expect([told(dry), dry.code]).toEqual([told(real), real.code]);
    const again = await run(text, [...line, '--dry-run']);
    const realAgain = await run(text, line);
    expect([told(again), again.code]).toEqual([told(realAgain), realAgain.code]);
  });

  test('a dry run tells that secrets cannot be stored', async () => {
    const closed = await openImport(ENV, { vault: closedVault });
    try {
      const text = `model_list: [${model('f', 'model: gpt-4o, api_key: sk-f-000000')}, ${model('g', `${at}, extra_headers: {X-A: b}`)}]`;
      const line = ['--project', 'closed', '--json'];
      const dry = await closed.run(text, [...line, '--dry-run']);
      const real = await closed.run(text, line);
      expect(told(dry)).toEqual(told(real));
      expect(dry.out).toContain('ENCRYPTION_KEY is not set');
      expect([dry.code, real.code]).toEqual([1, 1]);
    } finally {
      await closed.close();
    }
  });

  test('takes everything over, shows no secret but the new key, and changes nothing when it is run again', async () => {
    const known = { input_usd_per_million: 2.5, output_usd_per_million: 10, cache_read_usd_per_million: 1.25 };
    const body = JSON.stringify({ ...known, context_window: 128_000 });
    await call('/models?provider=azure&model=gpt-4o', { method: 'PUT', body });
    const first = await run(LOCAL, ['--project', 'shop']);
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^client key +litellm +created +llm0_live_[0-9a-f]{64} /m);
    expect(first.out).toMatch(/^vendor key +anthropic +missing +ANTHROPIC_API_KEY is not set/m);
    expect(first.out + first.err).not.toMatch(/sk-|never-shown|azure-eu-key-/);

    const project = (await read('/projects')).data.find((one) => one.name === ('shop' as never));
    expect(project).toMatchObject({ monthly_cap_usd: 250.5, drop_params: true, cache_enabled: true });
    const aliases = (await read(`/aliases?project_id=${project?.id}`)).data;
    expect(aliases).toHaveLength(9);
    const [key] = (await read(`/projects/${project?.id}/keys`)).data;
    expect(key?.allowed_models).toEqual(expect.arrayContaining(aliases.map(({ alias }) => alias)));
    expect(first.out).toMatch(/^price +azure\/gpt-4o-eu +created +that of azure\/gpt-4o: /m);
    expect(first.out).toMatch(/^price +server-127-0-0-1-10\/Qwen\/Qwen3-32B +missing/m);
    const [copied] = (await read('/models?provider=azure&model=gpt-4o-eu')).data;
    expect(copied).toMatchObject({ ...known, context_window: 128_000 });
    const [azure] = (await read('/providers')).data.filter((one) => one.name === ('azure' as never));
    expect(azure).toMatchObject({ base_url: 'http://127.0.0.1:9', options: { apiVersion: '2024-10-21' } });

    const again = await steps(LOCAL, ['--project', 'shop']);
    expect(again.filter((step) => !['unchanged', 'missing'].includes(step.outcome))).toEqual([]);
    expect((await read(`/aliases?project_id=${project?.id}`)).data).toEqual(aliases);
  });

  test('imports of a new file at the same time make one of everything', async () => {
    const text =
      'model_list: [{model_name: at-once, litellm_params: {model: hosted_vllm/x, api_base: "http://127.0.0.1:77", ' +
      'api_key: sk-at-once-000000}}]\nlitellm_settings: {max_budget: 1, budget_duration: 1mo}';
    const runs = await Promise.all(Array.from({ length: 4 }, () => run(text, ['--project', 'at once', '--json'])));
    const failed = runs.flatMap(({ out }) =>
      (JSON.parse(out).steps as Step[]).filter((one) => one.outcome === 'failed'),
    );
    expect(failed).toEqual([]);
    const projects = (await read('/projects')).data.filter((one) => one.name === ('at once' as never));
    expect(projects).toHaveLength(1);
    const keys = (await read(`/projects/${projects[0]?.id}/keys`)).data;
    expect(keys).toHaveLength(1);
    expect(runs.filter(({ out }) => out.includes('llm0_live_') && out.includes('shown only once'))).toHaveLength(1);
    const shown = /llm0_live_\w+/.exec(runs.find(({ out }) => out.includes('shown only once'))?.out ?? '')?.[0];
    expect(shown).toStartWith(String(keys[0]?.prefix));
    expect((await read(`/aliases?project_id=${projects[0]?.id}`)).data).toHaveLength(1);
    expect((await read('/providers/server-127-0-0-1-77/keys')).data).toHaveLength(1);
  });

  test('changes of the file apply by name', async () => {
    const changed = LOCAL.replace('rpm: 200', 'rpm: 300').replace('max_budget: 250.5', 'max_budget: 99');
    const env = { ...ENV, OPENAI_API_KEY: 'sk-openai-env-000002' };
    const updated = (await steps(changed, ['--project', 'shop'], env)).filter(({ outcome }) => outcome === 'updated');
    expect(updated.map(({ what, name }) => `${what} ${name}`)).toEqual([
      ...['project shop', 'vendor key openai', 'alias gpt-4o', 'alias gpt-4'],
    ]);
  });

  describe('prices of models that have one', () => {
    const priced = (input: number) =>
      'model_list:\n  - model_name: mine\n    litellm_params:\n' +
      `      {model: gpt-4o-mini, api_key: sk-x-00000000, input_cost_per_token: ${input}, output_cost_per_token: 5.0e-7}`;
    const price = async () => (await read('/models?provider=openai&model=gpt-4o-mini')).data[0];
    const pricesOf = (told: readonly Step[]) => told.filter(({ what }) => what.startsWith('price'));

    beforeAll(async () => {
      const body = { input_usd_per_million: 0.15, output_usd_per_million: 0.6, cache_read_usd_per_million: 0.075 };
      await call('/models?provider=openai&model=gpt-4o-mini', { method: 'PUT', body: JSON.stringify(body) });
    });

    test('stay, and what the file has is told', async () => {
      const before = await price();
      expect(before).toMatchObject({ input_usd_per_million: 0.15, output_usd_per_million: 0.6 });
      const told = pricesOf(await steps(priced(1e-6), ['--project', 'priced']));
      expect(told).toMatchObject([{ name: 'openai/gpt-4o-mini', outcome: 'unchanged' }]);
      expect(told[0]?.detail).toStartWith('input 0.15, output 0.6 here, input 1, output 0.5 in the file: --prices');
      expect(await price()).toEqual(before);
    });

    test('change with --prices, by name, old and new; what the file does not say stays', async () => {
      const [dry] = pricesOf(await steps(priced(1e-6), ['--project', 'priced', '--prices', '--dry-run']));
      expect((await price())?.input_usd_per_million).toBe(0.15 as never);
      const told = pricesOf(await steps(priced(1e-6), ['--project', 'priced', '--prices']));
      const detail = 'for every project: input 0.15 → 1, output 0.6 → 0.5';
      expect(told).toEqual([{ what: 'price', name: 'openai/gpt-4o-mini', outcome: 'updated', detail }]);
      expect(told).toEqual(dry === undefined ? [] : [dry]);
      expect(await price()).toMatchObject({ input_usd_per_million: 1, cache_read_usd_per_million: 0.075 });
      const again = pricesOf(await steps(priced(1e-6), ['--project', 'priced', '--prices']));
      expect(again).toMatchObject([{ outcome: 'unchanged', detail: '' }]);
    });
  });

  test('refusals are reported, and the rest continues', async () => {
    const text = LOCAL.replace('http://127.0.0.1:10', 'http://10.9.8.7:8000');
    const options = ['--project', 'partly', '--without-key'];
    const before = (await read('/providers')).data.length;
    const dry = await run(text, [...options, '--dry-run']);
    expect((await read('/providers')).data.length).toBe(before);
    const real = await run(text, options);
    for (const done of [dry, real]) {
      expect(done.code).toBe(1);
      expect(done.out).toMatch(/^provider +server-10-9-8-7-8000 +failed +400 .*EGRESS_ALLOW/m);
      expect(done.out).toMatch(/^alias +qwen +failed/m);
      expect(done.out).toMatch(/^alias +sonnet +created/m);
      expect(done.out).not.toContain('client key');
    }
  });

  test('with --all-projects its names are for everybody', async () => {
    const text = 'model_list: [{model_name: everybody, litellm_params: {model: gpt-4o, api_key: sk-of-all-000000}}]';
    await steps(text, ['--project', 'all', '--all-projects']);
    const [alias] = (await read('/aliases?alias=everybody')).data;
    expect(alias?.project_id).toBeNull();
    const again = await steps(text, ['--project', 'all', '--all-projects']);
    expect(again.map(({ outcome }) => outcome)).not.toContain('created');
  });

  test('a file that is not there, or is no YAML, and a gateway that is not there', async () => {
    expect(await run('a: [')).toMatchObject({ code: 1, err: expect.stringContaining('is not YAML') });
    expect(await run(LOCAL, [], { ...ENV, LLM0_URL: 'http://elsewhere.test' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be reached'),
    });
    const gone = await made.command(['import', 'litellm', join(made.folder, 'gone.yaml')]);
    expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read') });
  });
});
