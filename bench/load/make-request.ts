import { benchCustomer, benchKey } from './bench-keys';
import type { Callers, RequestShape } from './load-job';

const CHAT_PATH = '/v1/chat/completions';
const SAME = 'the same question';
/** Written with other spacing each time: another key of the exact cache, the same meaning. */
const REWORDED = 'How can I reset the password of my own online account when I have lost it?';
export const TAUGHT = 'How do I reset the password of my own online account when I have lost it?';
const FILLER = 'All work and no play makes a dull bench. ';

const inMessages = (question: string, stream: boolean) => ({ stream, messages: [{ role: 'user', content: question }] });

/** What a body asks with, where it is not chat's. */
const QUESTIONS: Readonly<Record<string, (question: string, stream: boolean) => object>> = {
  '/v1/messages': (question, stream) => ({ ...inMessages(question, stream), max_tokens: 256 }),
  '/v1/responses': (question, stream) => ({ stream, input: question, store: false }),
  '/v1/embeddings': (question) => ({ input: question }),
  '/v1/images/generations': (question) => ({ prompt: question, size: '1024x1024', quality: 'low' }),
  '/v1/audio/speech': (question) => ({ input: question, voice: 'alloy' }),
};

/** Makes bodies of one shape; cheap, so that large ones cost the client little: the fixed parts are rendered once. */
export function createBodyMaker(shape: RequestShape, runId: string): () => string {
  if (shape.method === 'GET') return () => '';
  if (shape.body !== undefined) {
    const text = JSON.stringify(shape.body);
    return () => text;
  }
  const { model, stream, chunks, bytes = 0 } = shape;
  const mark = '@@question@@';
  const fake = chunks === undefined ? {} : { x_fake: { chunks } };
  const ask = QUESTIONS[pathOf(shape)] ?? inMessages;
  const template = JSON.stringify({ model, ...ask(mark, stream), ...fake });
  const [head = '', tail = ''] = template.split(mark);
  const padding = bytes === 0 ? '' : ` ${FILLER.repeat(Math.ceil(bytes / FILLER.length)).slice(0, bytes)}`;
  const end = padding + tail;
  let count = 0;
  if (shape.question === 'same') {
    const body = head + SAME + end;
    return () => body;
  }
  if (shape.question === 'reworded') {
    const offset = Math.floor(Math.random() * SPACINGS);
    return () => head + respace(REWORDED, (offset + count++) % SPACINGS) + end;
  }
  return () => `${head}question ${runId}-${count++}${end}`;
}

const GAPS = REWORDED.split(' ').length - 1;
const SPACINGS = 3 ** GAPS;

/** The text with one to three spaces between its words, as the digits of `variant` to the base 3 say. */
export function respace(text: string, variant: number): string {
  let rest = variant;
  return text.replaceAll(' ', () => {
    const spaces = ' '.repeat(1 + (rest % 3));
    rest = Math.floor(rest / 3);
    return spaces;
  });
}

type Headers = Readonly<Record<string, string>>;

/** Headers of one caller after the other. */
export function createHeaderMaker(callers: Callers, more: Headers = {}): () => Headers {
  if (callers.type === 'one') {
    const headers = { ...headersOf(callers.apiKey), ...more };
    return () => headers;
  }
  const { count, customers } = callers;
  const all = Array.from({ length: count }, (_, index) => ({
    ...headersOf(benchKey(index)),
    ...more,
    ...(customers ? { 'x-customer-id': benchCustomer(index) } : {}),
  }));
  let next = 0;
  return () => all[next++ % count] ?? {};
}

const headersOf = (apiKey: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${apiKey}` });

export const pathOf = (shape: RequestShape): string => shape.path ?? CHAT_PATH;

/** Paths of one shape; those of GET ask the question. */
export function createPathMaker(shape: RequestShape, runId: string): () => string {
  const path = pathOf(shape);
  if (shape.method !== 'GET') return () => path;
  let count = 0;
  return shape.question === 'same' ? () => `${path}?q=same` : () => `${path}?q=${runId}-${count++}`;
}

/** One round of a job's requests, the shapes spread evenly over it. */
export function roundOf(shapes: readonly RequestShape[]): readonly RequestShape[] {
  const places = shapes.flatMap((shape) => {
    const share = shape.share ?? 1;
    return Array.from({ length: share }, (_, index) => ({ shape, at: (index + 0.5) / share }));
  });
  return places.sort((a, b) => a.at - b.at).map(({ shape }) => shape);
}
