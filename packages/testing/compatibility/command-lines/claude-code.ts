import { join } from 'node:path';
import { type CommandLine, jsonLines, NOTE, NOTE_FILE } from './command-line';

interface StreamEvent {
  readonly event?: { readonly delta?: { readonly type?: string } };
}

interface Result {
  readonly type?: string;
  readonly result?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

export const claudeCode: CommandLine = {
  name: 'Claude Code',
  requirement: '@anthropic-ai/claude-code@2.1.330',
  api: '/v1/messages',
  families: ['GPT', 'Claude', 'Gemini'],
  prepare: async (root, { access, model, prompt, stream, home }) => {
    const binary = join(root, `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`);
    const format = stream ? ['stream-json', '--verbose', '--include-partial-messages'] : ['json'];
    return {
      argv: [binary, '-p', prompt, '--output-format', ...format],
      env: {
        HOME: home,
        ANTHROPIC_BASE_URL: access.url,
        ANTHROPIC_AUTH_TOKEN: access.apiKey,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    };
  },
  read: (output) => {
    const lines = jsonLines(output);
    const deltas = lines.filter((line) => (line as StreamEvent).event?.delta?.type === 'text_delta');
    const result = lines.find(({ type }) => type === 'result') as Result | undefined;
    const { input_tokens: input = 0, output_tokens: written = 0 } = result?.usage ?? {};
    return { text: result?.result ?? '', pieces: deltas.length, tokens: input + written };
  },
  calls: ({ folder }) => [{ name: 'Read', args: { file_path: join(folder, NOTE_FILE) }, shows: NOTE }],
};
