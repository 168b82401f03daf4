import { join } from 'node:path';
import { installPythonAnthropic, PYTHON_ANTHROPIC } from '../../sdk/install-python-anthropic';
import { installPythonOpenai, PYTHON_OPENAI } from '../../sdk/install-python-openai';
import type { PythonSdk } from '../../sdk/install-python-sdk';
import {
  CITY_SCHEMA,
  type ClientDriver,
  type ConnectedClient,
  type GatewayAccess,
  MAX_OUTPUT_TOKENS,
  type Question,
  type Reply,
  WEATHER,
} from '../client-driver';
import { pythonLibrary } from '../libraries';

type Api = 'messages' | 'chat' | 'responses' | 'embeddings';
type Install = () => Promise<PythonSdk>;

/** The official SDKs for Python, each in a process of its own that is asked line by line. */
export const pythonClients: readonly ClientDriver[] = [
  driver('openai for Python (chat)', { api: '/v1/chat/completions', library: PYTHON_OPENAI }, () =>
    startPython('chat', installPythonOpenai),
  ),
  driver('openai for Python (responses)', { api: '/v1/responses', library: PYTHON_OPENAI }, () =>
    startPython('responses', installPythonOpenai),
  ),
  driver('anthropic for Python', { api: '/v1/messages', library: PYTHON_ANTHROPIC }, () =>
    startPython('messages', installPythonAnthropic),
  ),
];

/** Its name tells it from the same vendor's client for JavaScript. */
export const isPython = ({ name }: { readonly name: string }) => name.includes('for Python');

type Start = () => (gateway: GatewayAccess) => Promise<PythonProcess>;

function driver(
  name: string,
  { api, library }: { readonly api: string; readonly library: `${string}==${string}` },
  start: Start,
): ClientDriver {
  return {
    ...{ name, api, library: pythonLibrary(library), showsReasoning: true },
    connect: (gateway) => connect(start()(gateway)),
  };
}

function connect(started: Promise<PythonProcess>): ConnectedClient {
  started.catch(() => {});
  return {
    ask: async (question) => (await (await started).ask(encode(question), question)) as Reply,
    statusOf: (error) => (error instanceof PythonFailure ? error.status : undefined),
    close: async () => (await started).close(),
  };
}

/** The question without what cannot travel. */
function encode({ model, turns, stream, tools, structured, reasoning, signal }: Question): object {
  return {
    ...{ model, stream, tools: tools === true, structured: structured === true, reasoning: reasoning === true },
    leaves: signal !== undefined,
    turns: turns.map((turn) => {
      if (turn.role === 'assistant') return { role: turn.role, native: turn.reply.native };
      if (turn.role === 'user') return turn;
      return { role: turn.role, results: turn.results.map(({ call, text }) => ({ id: call.id, text })) };
    }),
  };
}

export function startPython(api: Api, install: Install): (gateway: GatewayAccess) => Promise<PythonProcess> {
  return async (gateway) => new PythonProcess(await install(), api, gateway);
}

/** What an SDK raised. */
export class PythonFailure extends Error {
  constructor(
    message: string,
    readonly status: number | undefined,
  ) {
    super(message);
  }
}

interface Line {
  readonly piece?: true;
  readonly reply?: unknown;
  readonly failure?: string;
  readonly status?: number | null;
}

/** One SDK in a process; asked one question at a time. */
export class PythonProcess {
  private readonly child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>;
  private readonly lines: AsyncGenerator<Line>;
  private readonly problem: Promise<string>;

  constructor(sdk: PythonSdk, api: Api, gateway: GatewayAccess) {
    const common = { weather: WEATHER, citySchema: CITY_SCHEMA, maxTokens: MAX_OUTPUT_TOKENS };
    this.child = Bun.spawn([sdk.python, join(import.meta.dir, 'python_client.py'), api], {
      env: { ...sdk.env, GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.apiKey, COMMON: JSON.stringify(common) },
      ...{ stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
    });
    this.problem = new Response(this.child.stderr).text();
    this.lines = readLines(this.child.stdout);
  }

  async ask(question: object, { onPiece }: Pick<Question, 'onPiece'> = {}): Promise<unknown> {
    this.child.stdin.write(`${JSON.stringify(question)}\n`);
    this.child.stdin.flush();
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done === true) throw new Error(`Python ended: ${await this.problem}`);
      if (value.piece === true) onPiece?.();
      else if (value.failure !== undefined) throw new PythonFailure(value.failure, value.status ?? undefined);
      else return value.reply;
    }
  }

  async close(): Promise<void> {
    this.child.stdin.end();
    await this.child.exited;
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}
