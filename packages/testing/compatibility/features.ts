import type { FakeBehaviour } from '../fake-upstream/behaviour';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream';
import type { AgentRun, Call, ClientDriver, ConnectedClient, Question, Reply } from './client-driver';

/** What one cell of the matrix is tried with. */
export interface Trial {
  readonly driver: ClientDriver;
  readonly client: ConnectedClient;
  readonly model: string;
  readonly upstream: FakeUpstream;
  /** Tokens that this client is known to count beyond the vendor's. */
  readonly surplusTokens: number;
}

/** Columns of the matrix. */
export const FEATURES = [
  'plain',
  'stream',
  'tools',
  'parallel tools',
  'structured output',
  'image',
  'reasoning',
  'abort',
  'error',
  'agent loop',
  'object loop',
] as const;
export type Feature = (typeof FEATURES)[number];

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CANCEL_WITHIN_MS = 1000;

/** Each feature's proof; throws where it does not hold. */
export const PROOFS = {
  plain: (trial) => proveWords(trial, false),
  stream: (trial) => proveWords(trial, true),
  tools: (trial) => proveTools(trial, ['Zürich'], true),
  'parallel tools': async (trial) => {
    await proveTools(trial, ['Zürich', 'Bern'], false);
    await proveTools(trial, ['Genève', 'Chur'], true);
  },
  'structured output': async (trial) => {
    trial.upstream.control.enqueue({ text: '{"city":"Bern"}' });
    const reply = await trial.client.ask({ ...say(trial, 'Which city?'), structured: true });
    same(JSON.parse(reply.text), { city: 'Bern' }, 'the structured answer');
    mentions(trial, 'city');
  },
  image: async (trial) => {
    trial.upstream.control.enqueue({ text: 'A pixel.' });
    const turns = [{ role: 'user', text: 'What is this?', imageBase64: PIXEL } as const];
    const reply = await trial.client.ask({ model: trial.model, stream: false, turns });
    same(reply.text, 'A pixel.', 'the text');
    mentions(trial, PIXEL);
  },
  reasoning: async (trial) => {
    for (const stream of [false, true]) {
      trial.upstream.control.enqueue({ reasoning: 'Six sevens…', text: '42' });
      const reply = await trial.client.ask({ ...say(trial, '6 × 7?'), stream, reasoning: true });
      same(reply.text, '42', 'the text');
      if (trial.driver.showsReasoning) same(reply.reasoning, 'Six sevens…', 'the reasoning');
    }
  },
  abort: proveAbort,
  error: async (trial) => {
    for (const stream of [false, true]) {
      trial.upstream.control.enqueue({ status: 400 });
      same(await statusOf(trial, { ...say(trial, 'refused'), stream }), 400, 'the status of a refusal');
    }
    const { upstream } = trial;
    upstream.control.setDefault({ chunks: 20, gapMs: 1, errorAfter: 3 });
    const broken = await trial.client.ask({ ...say(trial, 'breaks'), stream: true }).then(
      () => 'an answer',
      () => 'a failure',
    );
    same(broken, 'a failure', 'a stream that breaks');
  },
  'agent loop': async (trial) => {
    for (const stream of [false, true]) {
      const run = await loop(trial, { ...say(trial, 'Weather?'), stream }, { text: 'Sunny everywhere.' });
      same([run.text, run.steps], ['Sunny everywhere.', 3], 'the answer and the steps');
    }
  },
  'object loop': proveObjectLoop,
} as const satisfies Record<Feature, (trial: Trial) => Promise<void>>;

/** What each feature asks for beyond words, for cells in which it is to be refused. */
const REFUSABLE: Partial<Record<Feature, (trial: Trial) => Promise<unknown>>> = {
  reasoning: (trial) => trial.client.ask({ ...say(trial, 'Think'), reasoning: true }),
  'object loop': (trial) => runAgent(trial, { ...say(trial, 'Sunniest city?'), structured: true }),
};

async function proveObjectLoop(trial: Trial): Promise<void> {
  const asked = { ...say(trial, 'Sunniest city?'), structured: true };
  const run = await loop(trial, asked, { text: '{"sunniest":"Chur"}' });
  same(run.object, { sunniest: 'Chur' }, 'the object');
}

/** Throws unless the gateway refuses the feature by itself, and asks nobody. */
export async function proveRefusal(trial: Trial, feature: Feature): Promise<void> {
  const ask = REFUSABLE[feature];
  if (ask === undefined) throw new Error(`nothing says how "${feature}" is refused`);
  const failure = await ask(trial).then(
    () => undefined,
    (error: unknown) => error,
  );
  same(trial.client.statusOf(failure), 400, 'the status of the refusal');
  same(trial.upstream.control.counters.received, 0, 'the requests a provider got');
}

/** A client without a loop of its own has none to prove. */
function runAgent({ client }: Trial, question: Question): Promise<AgentRun> {
  if (client.runAgent === undefined) throw new Error('this client runs no tools by itself');
  return client.runAgent(question);
}

/** One call, then two at once, then `last`; all of them must have been run with what the model said. */
async function loop(trial: Trial, question: Question, last: FakeBehaviour): Promise<AgentRun> {
  const call = (city: string) => ({ name: 'weather', arguments: JSON.stringify({ city }) });
  trial.upstream.control.enqueue(
    { toolCalls: [call('Zürich')] },
    { toolCalls: [call('Bern'), call('Chur')] },
    // The answer's own tool, where the client or the gateway made one for it, is chosen by its arguments.
    last,
  );
  const run = await runAgent(trial, question);
  same(run.toolInputs, [{ city: 'Zürich' }, { city: 'Bern' }, { city: 'Chur' }], 'the calls that were run');
  mentions(trial, 'Sunny in Zürich', 'Sunny in Bern', 'Sunny in Chur');
  return run;
}

const say = ({ model }: Trial, text: string): Question => ({ model, stream: false, turns: [{ role: 'user', text }] });

async function proveWords(trial: Trial, stream: boolean): Promise<void> {
  let pieces = 0;
  trial.upstream.control.enqueue({ text: 'Grüße 🌍 to you all', chunks: 6, usage: { prompt: 12, completion: 7 } });
  const onPiece = () => {
    pieces += 1;
  };
  const reply = await trial.client.ask({ ...say(trial, 'Say hello'), stream, onPiece });
  same(reply.text, 'Grüße 🌍 to you all', 'the text');
  same(reply.calls, [], 'the calls');
  same(reply.totalTokens, 19 + (stream ? trial.surplusTokens : 0), 'the tokens');
  if (stream && pieces < 3) throw new Error(`the stream came in ${pieces} pieces`);
  mentions(trial, 'Say hello');
}

async function proveTools(trial: Trial, cities: readonly string[], stream: boolean): Promise<void> {
  const { control } = trial.upstream;
  control.enqueue({ toolCalls: cities.map((city) => ({ name: 'weather', arguments: JSON.stringify({ city }) })) });
  const asked = { ...say(trial, 'Weather?'), stream, tools: true };
  const called = await trial.client.ask(asked);
  same(
    called.calls.map(nameAndCity),
    cities.map((city) => ['weather', { city }]),
    'the calls',
  );
  if (new Set(called.calls.map(({ id }) => id)).size !== cities.length) throw new Error('calls share an id');
  control.enqueue({ text: 'Sunny.' });
  const answer = await trial.client.ask({ ...asked, turns: [...asked.turns, ...resultsFor(called)] });
  same([answer.text, answer.calls], ['Sunny.', []], 'the answer to the results');
  for (const [index, city] of cities.entries()) mentions(trial, city, `result ${index}`);
}

const nameAndCity = ({ name, args }: Call) => [name, args];

function resultsFor(reply: Reply): Question['turns'] {
  const results = reply.calls.map((call, index) => ({ call, text: `result ${index}` }));
  return [
    { role: 'assistant', reply },
    { role: 'tool', results },
  ];
}

async function proveAbort(trial: Trial): Promise<void> {
  const { control } = trial.upstream;
  control.enqueue({ chunks: 1000, gapMs: 5 });
  const leaving = new AbortController();
  const asked = trial.client.ask({
    ...say(trial, 'A long story'),
    stream: true,
    signal: leaving.signal,
    onPiece: () => leaving.abort(),
  });
  await asked.catch(() => undefined);
  const endMs = performance.now() + CANCEL_WITHIN_MS;
  while (control.counters.cancelled === 0) {
    if (performance.now() > endMs) throw new Error('the provider was not cancelled');
    await Bun.sleep(5);
  }
}

async function statusOf(trial: Trial, question: Question): Promise<number | undefined> {
  try {
    await trial.client.ask(question);
  } catch (error) {
    return trial.client.statusOf(error);
  }
  return undefined;
}

function mentions({ upstream }: Trial, ...texts: readonly string[]): void {
  const sent = JSON.stringify(upstream.requests.at(-1)?.body ?? null);
  for (const text of texts)
    if (!sent.includes(text)) throw new Error(`the provider was not sent "${text.slice(0, 40)}"`);
}

function same(got: unknown, wanted: unknown, what: string): void {
  if (!Bun.deepEquals(got, wanted))
    throw new Error(`${what}: got ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}
