import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandLine, jsonLines, NOTE, NOTE_FILE } from './command-line';

interface Line {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string;
  readonly stats?: { readonly total_tokens?: number };
}

export const geminiCli: CommandLine = {
  name: 'Gemini CLI',
  requirement: '@google/gemini-cli@0.61.0',
  api: '/v1beta/models/{model}:streamGenerateContent',
  families: ['Gemini'],
  prepare: async (root, { access, model, prompt, stream, home }) => {
    const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
    await mkdir(join(home, '.gemini'), { recursive: true });
    await Bun.write(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    const script = join(root, 'node_modules/@google/gemini-cli/bundle/gemini.js');
    const flags = ['--skip-trust', '-o', stream ? 'stream-json' : 'json'];
    return {
      argv: [process.execPath, '--no-env-file', '--bun', script, ...flags, '-p', prompt],
      env: { HOME: home, GOOGLE_GEMINI_BASE_URL: access.url, GEMINI_API_KEY: access.apiKey, GEMINI_MODEL: model },
    };
  },
  read: (output) => {
    const lines = jsonLines(output) as readonly Line[];
    const pieces = lines.filter(({ type, role }) => type === 'message' && role === 'assistant');
    if (pieces.length > 0) {
      const tokens = lines.find(({ type }) => type === 'result')?.stats?.total_tokens;
      return { text: pieces.map(({ content }) => content ?? '').join(''), pieces: pieces.length, tokens };
    }
    const whole = JSON.parse(output.slice(output.indexOf('\n{') + 1)) as { response?: string };
    return { text: whole.response ?? '' };
  },
  calls: () => [{ name: 'read_file', args: { file_path: NOTE_FILE }, shows: NOTE }],
};
