import { isObject, type JsonObject, parseJson } from '@llm0/core/chat/json';

/** How the fake vendor answers; `reset` sets the defaults. */
export interface FakeSessionBehaviour {
  /** Output frames of an answer, and the pause before each of them. */
  deltas: number;
  gapMs: number;
  /** Base64 characters of each of them. */
  deltaLength: number;
  /** Of an answer; null: none is told. */
  usage: JsonObject | null;
  /** Answers once the caller commits speech, unasked. */
  answersAlone: boolean;
  /** Writes speech down, unasked. */
  hearsAlone: boolean;
  /** Words come, and their end never does. */
  hearsOn: boolean;
  /** Usage of speech that is written down. */
  heardUsage: JsonObject;
  /** Answers are refused. */
  refuses: boolean;
  /** Answers never end. */
  hangs: boolean;
  /** Of the handshake. */
  refuseWith: number | undefined;
}

/** A session as the vendor sees it. */
export interface FakeSession {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Types of the caller's frames. */
  readonly received: string[];
  receivedBytes: number;
  isClosed: boolean;
  isHearing: boolean;
  readonly cancelled: Set<string>;
  readonly socket: Bun.ServerWebSocket<FakeSession>;
}

export interface FakeRealtime {
  readonly url: string;
  readonly behaviour: FakeSessionBehaviour;
  readonly sessions: FakeSession[];
  /** Answers whose usage was told. */
  readonly told: { answers: number };
  reset(): void;
  /** Sends to every open session. */
  send(frame: string): void;
  drop(): void;
  stop(): Promise<void>;
}

/** As documented: text and audio apart, with what was cached. */
export const FAKE_TURN_USAGE: JsonObject = {
  ...{ total_tokens: 253, input_tokens: 132, output_tokens: 121 },
  input_token_details: {
    ...{ text_tokens: 119, audio_tokens: 13, image_tokens: 0, cached_tokens: 64 },
    cached_tokens_details: { text_tokens: 60, audio_tokens: 4, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};

const usual = (): FakeSessionBehaviour => ({
  ...{
    deltas: 3,
    gapMs: 0,
    deltaLength: 100,
    usage: FAKE_TURN_USAGE,
    answersAlone: false,
    hearsAlone: false,
    hearsOn: false,
    hangs: false,
    refuses: false,
  },
  ...{ heardUsage: { type: 'duration', seconds: 3 }, refuseWith: undefined },
});

let ids = 0;
const idOf = (kind: string) => {
  ids += 1;
  return `${kind}_${ids}`;
};

/** Sessions of several vendors' protocols, with their documented events. */
export function startFakeRealtime(): FakeRealtime {
  const behaviour = usual();
  const sessions: FakeSession[] = [];
  const told = { answers: 0 };
  const vendor = { behaviour, told };
  const server = Bun.serve<FakeSession>({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, self) {
      const { refuseWith } = behaviour;
      if (refuseWith !== undefined) return Response.json({ error: { message: 'refused' } }, { status: refuseWith });
      const { pathname, search } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const data = {
        url: `${pathname}${search}`,
        headers,
        received: [],
        receivedBytes: 0,
        isClosed: false,
        isHearing: false,
        cancelled: new Set(),
      };
      return self.upgrade(request, { data: data as unknown as FakeSession })
        ? undefined
        : new Response('no', { status: 426 });
    },
    websocket: {
      open(socket) {
        Object.assign(socket.data, { socket });
        sessions.push(socket.data);
        if (!socket.data.url.includes('Bidi')) send(socket, { type: 'session.created', session: { type: 'realtime' } });
      },
      message: (socket, message) => void receive(vendor, socket, message.toString()),
      close(socket) {
        socket.data.isClosed = true;
      },
      idleTimeout: 0,
      // A caller that reads slowly loses nothing.
      backpressureLimit: 1024 ** 3,
    },
  });
  const open = () => sessions.filter(({ isClosed }) => !isClosed);
  return {
    ...{ url: `http://127.0.0.1:${server.port}`, behaviour, sessions, told },
    reset() {
      Object.assign(behaviour, usual());
      sessions.length = 0;
      told.answers = 0;
    },
    send: (frame) => {
      for (const { socket } of open()) socket.send(frame);
    },
    drop: () => {
      for (const { socket } of open()) socket.terminate();
    },
    stop: () => server.stop(true),
  };
}

type Vendor = Pick<FakeRealtime, 'behaviour' | 'told'>;
type Socket = Bun.ServerWebSocket<FakeSession>;

const send = (socket: Socket, event: JsonObject) =>
  void socket.send(
    JSON.stringify(event.type === undefined ? event : { type: event.type, event_id: idOf('event'), ...event }),
  );

async function receive(vendor: Vendor, socket: Socket, message: string): Promise<void> {
  const event = parseJson(message);
  if (!isObject(event)) return;
  const type = typeof event.type === 'string' ? event.type : (Object.keys(event)[0] ?? '');
  socket.data.received.push(type);
  socket.data.receivedBytes += message.length;
  await EVENTS[type]?.(vendor, socket, event);
}

type OnEvent = (vendor: Vendor, socket: Socket, event: JsonObject) => void | Promise<void>;

const EVENTS: Readonly<Record<string, OnEvent>> = {
  'session.update': (_vendor, socket, { session = {} }) => {
    socket.data.isHearing = JSON.stringify(session).includes('"transcription"');
    send(socket, { type: 'session.updated', session });
  },
  'response.create': (vendor, socket, { event_id = null }) => {
    if (!vendor.behaviour.refuses) return answer(vendor, socket);
    const code = 'conversation_already_has_active_response';
    send(socket, {
      type: 'error',
      error: { type: 'invalid_request_error', code, message: 'One is active.', event_id },
    });
  },
  'input_audio_buffer.commit': async (vendor, socket) => {
    const item_id = idOf('item');
    send(socket, { type: 'input_audio_buffer.committed', item_id, previous_item_id: null });
    const { hearsAlone, hearsOn, heardUsage } = vendor.behaviour;
    if (socket.data.isHearing || hearsAlone) {
      const heard = 'conversation.item.input_audio_transcription';
      const place = { item_id, content_index: 0 };
      send(socket, { type: `${heard}.delta`, ...place, delta: 'hi' });
      if (!hearsOn) send(socket, { type: `${heard}.completed`, ...place, transcript: 'hi', usage: heardUsage });
    }
    if (vendor.behaviour.answersAlone) await answer(vendor, socket);
  },
  'response.cancel': (vendor, socket, { response_id: id = 'resp' }) => {
    vendor.told.answers += 1;
    socket.data.cancelled.add(String(id));
    const response = { id, status: 'cancelled', output: [], usage: vendor.behaviour.usage };
    send(socket, { type: 'response.done', response });
  },
  'session.close': (_vendor, socket) => {
    send(socket, { type: 'session.closed', usage: { seconds: 42.5 } });
    socket.close(1000);
  },
  setup: (_vendor, socket) => send(socket, { setupComplete: {} }),
  clientContent: async ({ behaviour, told }, socket) => {
    for (let i = 0; i < behaviour.deltas; i++) {
      if (behaviour.gapMs > 0) await Bun.sleep(behaviour.gapMs);
      const inlineData = { mimeType: 'audio/pcm;rate=24000', data: 'A'.repeat(behaviour.deltaLength) };
      // That vendor sends its JSON in binary frames.
      socket.send(Buffer.from(JSON.stringify({ serverContent: { modelTurn: { parts: [{ inlineData }] } } })));
    }
    told.answers += 1;
    const usageMetadata = {
      ...{ promptTokenCount: 100, responseTokenCount: 50, totalTokenCount: 150 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 80 },
        { modality: 'AUDIO', tokenCount: 20 },
      ],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
    };
    socket.send(Buffer.from(JSON.stringify({ serverContent: { turnComplete: true }, usageMetadata })));
  },
};

async function answer({ behaviour, told }: Vendor, socket: Socket): Promise<void> {
  const { deltas, gapMs, deltaLength, usage, hangs } = behaviour;
  const id = idOf('resp');
  const response = { object: 'realtime.response', id, status: 'in_progress', output: [], usage: null };
  send(socket, { type: 'response.created', response });
  const isOver = () => socket.data.isClosed || socket.data.cancelled.has(id);
  for (let i = 0; i < deltas && !isOver(); i++) {
    if (gapMs > 0) await Bun.sleep(gapMs);
    if (isOver()) return;
    const place = { response_id: id, item_id: 'item_0', output_index: 0, content_index: 0 };
    send(socket, { type: 'response.output_audio.delta', ...place, delta: 'A'.repeat(deltaLength) });
  }
  if (hangs || isOver()) return;
  told.answers += 1;
  send(socket, { type: 'response.done', response: { ...response, status: 'completed', usage } });
}
