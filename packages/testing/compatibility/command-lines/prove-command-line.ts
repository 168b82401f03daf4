import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FakeUpstream } from '../../fake-upstream/start-fake-upstream';
import type { GatewayAccess } from '../client-driver';
import { claudeCode } from './claude-code';
import { codex, codexSocket } from './codex';
import { type CommandLine, NOTE, NOTE_FILE, type Printed, type Run } from './command-line';
import { geminiCli } from './gemini-cli';
import { installCommandLine } from './install-command-line';
import { opencode } from './opencode';

export const COMMAND_LINES: readonly CommandLine[] = [claudeCode, codex, codexSocket, geminiCli, opencode];

export const COMMAND_LINE_FEATURES = ['plain', 'stream', 'tools'] as const;
export type CommandLineFeature = (typeof COMMAND_LINE_FEATURES)[number];

const TEXT = 'Grüße 🌍 to you all';
const PROMPT = 'Say hello to everybody';
const RUN_MS = 120_000;

export interface CommandLineTrial {
  readonly program: CommandLine;
  readonly family: { readonly name: string; readonly model: string };
  readonly access: GatewayAccess;
  readonly upstream: FakeUpstream;
}

/** Throws where the feature does not hold. */
export async function proveCommandLine(trial: CommandLineTrial, feature: CommandLineFeature): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'llm0-cli-'));
  try {
    await PROOFS[feature](trial, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const PROOFS: Readonly<Record<CommandLineFeature, (trial: CommandLineTrial, folder: string) => Promise<void>>> = {
  plain: (trial, folder) => proveWords(trial, folder, false),
  stream: (trial, folder) => proveWords(trial, folder, true),
  tools: proveTools,
};

async function proveWords(trial: CommandLineTrial, folder: string, stream: boolean): Promise<void> {
  const { upstream } = trial;
  upstream.control.enqueue({ text: TEXT, chunks: 6, usage: { prompt: 12, completion: 7 } });
  const { text, pieces, tokens } = await run(trial, folder, stream);
  if (text !== TEXT) throw new Error(`it said ${JSON.stringify(text)}`);
  if (stream && pieces !== undefined && pieces < 3) throw new Error(`the answer came in ${pieces} pieces`);
  if (tokens !== undefined && tokens !== 0 && tokens !== 19) throw new Error(`it counted ${tokens} tokens, not 19`);
  if (!lastBody(trial).includes(PROMPT)) throw new Error('the provider was not sent the prompt');
  if (!lastBody(trial).includes(trial.program.mark ?? '')) throw new Error('the request came by another API');
}

async function proveTools(trial: CommandLineTrial, folder: string): Promise<void> {
  const { upstream, program, family } = trial;
  const work = join(folder, 'work');
  for (const call of program.calls({ folder: work }, family.name)) {
    upstream.control.reset();
    upstream.control.enqueue(
      { toolCalls: [{ name: call.name, arguments: JSON.stringify(call.args) }] },
      { text: TEXT },
    );
    const { text } = await run(trial, folder, false);
    if (text !== TEXT) throw new Error(`after ${call.name} it said ${JSON.stringify(text)}`);
    if (!lastBody(trial).includes(call.shows)) throw new Error(`the model was not told what ${call.name} gave`);
  }
}

const lastBody = ({ upstream }: CommandLineTrial): string => JSON.stringify(upstream.requests.at(-1)?.body ?? null);

async function run(trial: CommandLineTrial, folder: string, stream: boolean): Promise<Printed> {
  const { program, access, family } = trial;
  const [work, home] = [join(folder, 'work'), join(folder, 'home')];
  await mkdir(home, { recursive: true });
  await Bun.write(join(work, NOTE_FILE), NOTE);
  const job: Run = { access, model: family.model, prompt: PROMPT, stream, folder: work, home };
  const { argv, env } = await program.prepare(await installCommandLine(program.requirement), job);
  const child = Bun.spawn([...argv], {
    ...{ cwd: work, env: { PATH: process.env.PATH ?? '', ...env }, timeout: RUN_MS },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  });
  const [output, problem] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  if (code !== 0) throw new Error(`${program.name} ended with ${code}: ${(problem + output).slice(-800)}`);
  return program.read(output);
}
