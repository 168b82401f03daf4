import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandLine, jsonLines, NOTE, NOTE_FILE } from './command-line';

interface Line {
  readonly type?: string;
  readonly item?: { readonly type?: string; readonly text?: string };
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

/** `settings`: of its provider. */
const createCodex = (settings: Readonly<Record<string, boolean>>): CommandLine => ({
  name: 'Codex',
  requirement: '@openai/codex@0.169.0',
  api: '/v1/responses',
  families: ['GPT', 'Claude', 'Gemini'],
  prepare: async (root, { access, model, prompt, home }) => {
    const codexHome = join(home, 'codex');
    await mkdir(codexHome, { recursive: true });
    const provider = { name: 'LLM0', base_url: `${access.url}/v1`, env_key: 'LLM0_API_KEY', wire_api: 'responses' };
    const table = Object.entries({ ...provider, ...settings }).map(
      ([name, value]) => `${name} = ${JSON.stringify(value)}`,
    );
    const config = [`model = ${JSON.stringify(model)}`, 'model_provider = "llm0"', '[model_providers.llm0]', ...table];
    await Bun.write(join(codexHome, 'config.toml'), `${config.join('\n')}\n`);
    const flags = ['--skip-git-repo-check', '--json', '--sandbox', 'danger-full-access'];
    return {
      argv: [
        process.execPath,
        '--no-env-file',
        join(root, 'node_modules/@openai/codex/bin/codex.js'),
        'exec',
        ...flags,
        prompt,
      ],
      env: { HOME: home, CODEX_HOME: codexHome, LLM0_API_KEY: access.apiKey },
    };
  },
  read: (output) => {
    const lines = jsonLines(output) as readonly Line[];
    const said = lines.filter(({ item }) => item?.type === 'agent_message').map(({ item }) => item?.text ?? '');
    const usage = lines.findLast(({ type }) => type === 'turn.completed')?.usage;
    return { text: said.at(-1) ?? '', tokens: (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0) };
  },
  calls: (_run, family) => [
    { name: 'exec_command', args: { cmd: `cat ${NOTE_FILE}` }, shows: NOTE },
    // Codex puts these tools into a namespace; by OpenAI's own API the fake vendor does not call into one.
    ...(family === 'GPT'
      ? []
      : [{ name: 'multi_agent_v1__close_agent', args: { target: 'x' }, shows: 'invalid agent id' }]),
  ],
});

export const codex = createCodex({});

export const codexSocket: CommandLine = {
  ...createCodex({ supports_websockets: true }),
  name: 'Codex by WebSocket',
  // Other providers are not sent the mark.
  families: ['GPT'],
  mark: 'x-codex-ws-stream-request-start-ms',
};
