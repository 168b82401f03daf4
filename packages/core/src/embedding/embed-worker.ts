// The model in a thread of its own: tokenizing, inference and language detection never touch the gateway's event loop.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { lowerPriority } from '../threads/lower-priority';
import { type EmbedJob, type EmbedReply, type EmbedWorkerSettings, END } from './embed-messages';
import { isEnglish } from './is-english';

lowerPriority(15);

/** With the special tokens. */
const MAX_TOKENS = 512;

type Embed = (text: string) => Promise<{ readonly vector: Float32Array; readonly tokens: number } | undefined>;

const reply = (message: EmbedReply, transfer: readonly ArrayBuffer[] = []) =>
  parentPort?.postMessage(message, [...transfer]);

/** One text at a time: 8-bit models scale by the whole batch, so that a text's vector would depend on its neighbours. */
async function loadModel(modelPath: string): Promise<Embed> {
  const { env, AutoTokenizer, AutoModel } = await import('@xenova/transformers');
  env.allowRemoteModels = false;
  env.useFSCache = false;
  env.localModelPath = `${dirname(modelPath)}/`;
  const name = basename(modelPath);
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const model = await AutoModel.from_pretrained(name, {
    dtype: existsSync(join(modelPath, 'onnx/model_quantized.onnx')) ? 'q8' : 'fp32',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  return async (text) => {
    const inputs = await tokenizer([text], { padding: false, truncation: false });
    const tokens = inputs.input_ids.dims[1] ?? 0;
    if (tokens > MAX_TOKENS) return undefined;
    const output = await model(inputs);
    return { vector: meanOf(output.last_hidden_state.data as Float32Array, tokens), tokens };
  };
}

/** Mean of the tokens' vectors, which follow one another, scaled to length 1. A text by itself has no padding. */
function meanOf(states: Float32Array, tokens: number): Float32Array {
  const dimensions = states.length / tokens;
  const sums = new Float64Array(dimensions);
  for (let i = 0, d = 0; i < states.length; i++) {
    sums[d] = (sums[d] ?? 0) + (states[i] ?? 0);
    d = d + 1 === dimensions ? 0 : d + 1;
  }
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(sums, (value) => value / length);
}

let settings: EmbedWorkerSettings | undefined;
let loading: Promise<Embed> | undefined;
let tail: Promise<void> = Promise.resolve();
let isEnding = false;

async function answer(job: EmbedJob): Promise<void> {
  const embed = await loading;
  if (embed === undefined) return;
  for (const { id, text, anyLanguage } of job.texts) {
    if (isEnding) return;
    try {
      if (settings?.englishOnly === true && !anyLanguage && !isEnglish(text)) {
        reply({ type: 'none', id, reason: 'language' });
        continue;
      }
      const embedded = await embed(text);
      if (embedded === undefined) reply({ type: 'none', id, reason: 'too_long' });
      else reply({ type: 'vector', id, ...embedded }, [embedded.vector.buffer as ArrayBuffer]);
    } catch {
      reply({ type: 'none', id, reason: 'failed' });
    }
  }
}

/** Not before a model that is being loaded is there. */
async function end(): Promise<void> {
  isEnding = true;
  await Promise.allSettled([tail, loading]);
  process.exit();
}

parentPort?.on('message', (data: EmbedWorkerSettings | EmbedJob | typeof END) => {
  if (data === END) {
    void end();
    return;
  }
  if ('modelPath' in data) {
    settings = data;
    loading = loadModel(data.modelPath);
    loading.then(
      () => reply({ type: 'ready' }),
      (error: unknown) => reply({ type: 'broken', message: error instanceof Error ? error.message : String(error) }),
    );
    return;
  }
  tail = tail.then(() => answer(data)).catch(() => {});
});
