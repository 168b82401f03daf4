import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import { FAKE_TASKS, fakeSpeech, heardEvents, imageEvents, spokenEvents } from './render-tasks';

export type FakeTask = keyof typeof FAKE_TASKS;

/** Those with a path of their own. */
const PATHS = Object.keys(FAKE_TASKS).filter((path) => path.startsWith('/')) as FakeTask[];

export const taskRoutes = (answer: (request: Request, path: FakeTask) => Promise<Response>) =>
  Object.fromEntries(PATHS.map((path) => [path, { POST: (request: Request) => answer(request, path) }]));

/** By a part of `model:method`. */
const GEMINI_TASKS = [
  [':predict', 'predict'],
  ['-image', 'generateContent'],
  ['-tts:', 'speakContent'],
] as const;

export const geminiTask = (call: string): FakeTask | undefined =>
  GEMINI_TASKS.find(([mark]) => call.includes(mark))?.[1];

/** The ordinary answer, or its events. */
export function serveTask(
  path: FakeTask,
  body: JsonObject,
  { behaviour, stream }: { readonly behaviour: FakeBehaviour; readonly stream: boolean },
): Response {
  if (path.endsWith('/speech')) return serveSpeech(body, behaviour);
  if (path.includes('/audio/') && stream) return streamEvents(heardEvents(behaviour).map(asEvent), behaviour);
  if (!stream) return Response.json(FAKE_TASKS[path](body, behaviour));
  const name = path.endsWith('/edits') ? 'image_edit' : 'image_generation';
  return streamEvents(imageEvents(name, body, behaviour), behaviour);
}

const asEvent = (event: JsonObject) => `data: ${JSON.stringify(event)}\n\n`;

function serveSpeech(body: JsonObject, behaviour: FakeBehaviour): Response {
  if (body.stream_format === 'sse') return streamEvents(spokenEvents(body, behaviour).map(asEvent), behaviour);
  return new Response(fakeSpeech(body), { headers: { 'content-type': 'audio/mpeg' } });
}

/** Fields of JSON or of a form; files count by their size. */
export async function readFields(request: Request): Promise<JsonObject> {
  if (request.headers.get('content-type')?.startsWith('multipart/form-data') !== true) {
    return (await request.json()) as JsonObject;
  }
  const fields: JsonObject = {};
  for (const [name, value] of await request.formData()) {
    const shown = typeof value === 'string' ? value : `${value.type} ${value.size}`;
    const before = fields[name];
    fields[name] = before === undefined ? shown : [before, shown].flat();
  }
  return fields;
}

/** Breaks off after `truncateAfter` events, and is silent after `hangAfter`. */
function streamEvents(events: readonly string[], { truncateAfter, hangAfter, gapMs = 0 }: FakeBehaviour): Response {
  async function* pieces() {
    for (const [index, event] of events.entries()) {
      if (index === truncateAfter) return;
      if (index === hangAfter) await Bun.sleep(60_000);
      if (gapMs > 0) await Bun.sleep(gapMs);
      yield event;
    }
  }
  return new Response(pieces() as never, { headers: { 'content-type': 'text/event-stream' } });
}
