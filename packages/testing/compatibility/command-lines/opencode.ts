import { join } from 'node:path';
import { type CommandLine, jsonLines, NOTE, NOTE_FILE } from './command-line';

interface Line {
  readonly type?: string;
  readonly part?: { readonly text?: string; readonly tokens?: { readonly total?: number } };
}

export const opencode: CommandLine = {
  name: 'opencode',
  requirement: 'opencode-ai@1.18.33',
  api: '/v1/chat/completions',
  families: ['GPT', 'Claude', 'Gemini'],
  prepare: async (root, { access, model, prompt, folder, home }) => {
    const options = { baseURL: `${access.url}/v1`, apiKey: '{env:LLM0_API_KEY}' };
    const provider = { npm: '@ai-sdk/openai-compatible', name: 'LLM0', options, models: { [model]: {} } };
    await Bun.write(join(folder, 'opencode.json'), JSON.stringify({ provider: { llm0: provider } }));
    const binary = join(root, `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`);
    // With a title of its own it asks the model for none.
    const flags = ['--title', 'test', '--format', 'json', '-m', `llm0/${model}`];
    return { argv: [binary, 'run', ...flags, prompt], env: { HOME: home, LLM0_API_KEY: access.apiKey } };
  },
  read: (output) => {
    const lines = jsonLines(output) as readonly Line[];
    const said = lines.filter(({ type }) => type === 'text').map(({ part }) => part?.text ?? '');
    return { text: said.join(''), tokens: lines.findLast(({ type }) => type === 'step_finish')?.part?.tokens?.total };
  },
  calls: ({ folder }) => [{ name: 'read', args: { filePath: join(folder, NOTE_FILE) }, shows: NOTE }],
};
