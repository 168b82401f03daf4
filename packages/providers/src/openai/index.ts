import type { Provider } from '../provider';
import type { RealtimeParts } from '../realtime';
import type { TaskParts } from '../tasks';
import { remoteUrls } from '../translation/media-source';
import { PayloadStreamDecoder } from '../transport/payload-stream-decoder';
import { batches } from './batches';
import { createCompletions } from './completions/create-completions';
import { type CompletionQuirks, OPENAI_COMPLETIONS } from './completions/quirks';
import { decodeError } from './decode-error';
import { decodeModelNames } from './decode-models';
import { decodeResponse } from './decode-response';
import { createStreamDecoder } from './decode-stream';
import { createEmbeddings, type EmbeddingQuirks, OPENAI_EMBEDDINGS } from './embeddings';
import { encodeRequest } from './encode-request';
import { type ChatQuirks, modelsEndpoint, OPENAI_QUIRKS } from './endpoint';
import { decodeVerdict, encodeModeration } from './moderations/speak-moderations';
import { passthrough, untoldPassthrough } from './passthrough';
import { live } from './realtime/live';
import { realtime } from './realtime/realtime';
import { translation } from './realtime/translation';
import { decodeResponse as decodeResponses } from './responses/decode-response';
import { ResponsesDecoder } from './responses/decode-stream';
import { encodeRequest as encodeResponses } from './responses/encode-request';
import { WIRE_FORMAT as RESPONSES } from './responses/wire';
import { createDecisions } from './tasks/decision';
import { createImages, OPENAI_IMAGES } from './tasks/image';
import { createModeration } from './tasks/moderation';
import { createSpeech } from './tasks/speech';
import { createTranscription, OPENAI_TRANSCRIPTION } from './tasks/transcription';

/** Differences between Chat Completions servers. */
export interface ChatProfile {
  readonly name: string;
  readonly defaultBaseUrl: string;
  readonly isFree?: boolean;
  readonly modelPatterns: readonly RegExp[];
  readonly quirks: ChatQuirks;
  /** null where the server makes none. */
  readonly embeddings: EmbeddingQuirks | null;
  /** null where the server only knows conversations. */
  readonly completions: CompletionQuirks | null;
  /** Names of its moderation models, if any. */
  readonly moderationModels?: RegExp;
  /** It takes Responses requests unchanged. */
  readonly takesResponses?: true;
  /** Further endpoints. */
  readonly tasks?: TaskParts;
  readonly realtime?: RealtimeParts;
  /** Set for servers with changing models: the gateway reloads their list. */
  readonly modelsEndpoint?: NonNullable<Provider['modelsUrl']>;
  /** For servers without a list of models. */
  readonly probeUrl?: NonNullable<Provider['probeUrl']>;
}

const NO_FILES: readonly string[] = [];

/** A provider that speaks Chat Completions. */
export function createChatProvider(profile: ChatProfile): Provider {
  const { name, quirks, moderationModels } = profile;
  const responses = profile.takesResponses === true ? RESPONSES : undefined;
  return {
    name,
    wireFormat: 'openai-chat',
    defaultBaseUrl: profile.defaultBaseUrl,
    isFree: profile.isFree ?? false,
    modelPatterns:
      moderationModels === undefined ? profile.modelPatterns : [...profile.modelPatterns, moderationModels],
    encodeRequest: (request, context) => {
      const { wire } = request;
      if (wire !== undefined && wire.format === responses) return encodeResponses(wire, request, context);
      if (moderationModels?.test(context.model) === true) return encodeModeration(request, context);
      return encodeRequest(request, context, quirks);
    },
    decodeResponse: (body, request) => {
      if (responses !== undefined && request.wire?.format === responses) return decodeResponses(name, body);
      const isModeration = moderationModels?.test(request.model.slice(request.model.indexOf('/') + 1));
      return isModeration === true ? decodeVerdict(name, body) : decodeResponse(name, body);
    },
    createStreamDecoder: ({ wire }) =>
      responses !== undefined && wire?.format === responses
        ? new PayloadStreamDecoder(name, new ResponsesDecoder(name))
        : createStreamDecoder(name),
    remoteMedia: (request) => {
      const format = request.wire?.format;
      // The vendor doesn't fetch files by itself: their content travels with requests of other formats.
      const isOwn = format === 'openai-chat' || (format !== undefined && format === responses);
      return isOwn ? NO_FILES : remoteUrls(request, ['file']);
    },
    decodeError: (status, headers, body) => decodeError(name, { status, headers, body }),
    probeUrl: profile.probeUrl ?? profile.modelsEndpoint ?? modelsEndpoint,
    passthrough: quirks.streamOptions ? passthrough : untoldPassthrough,
    ...(profile.embeddings === null ? {} : { embeddings: createEmbeddings(name, profile.embeddings) }),
    ...tasksOf(profile),
    ...(profile.realtime === undefined ? {} : { realtime: profile.realtime }),
    ...(profile.completions === null ? {} : { completions: createCompletions(name, profile.completions, quirks) }),
    ...(profile.modelsEndpoint === undefined
      ? {}
      : { modelsUrl: profile.modelsEndpoint, decodeModels: decodeModelNames }),
    ...(moderationModels === undefined ? {} : { moderates: (model: string) => moderationModels.test(model) }),
  };
}

function tasksOf({ name, tasks, moderationModels: models }: ChatProfile): Pick<Provider, 'tasks'> {
  const moderation = models && { moderation: createModeration(name, models) };
  return tasks === undefined && moderation === undefined ? {} : { tasks: { ...tasks, ...moderation } };
}

const speaking: Provider = createChatProvider({
  name: 'openai',
  defaultBaseUrl: 'https://api.openai.com/v1',
  modelPatterns: [
    /^gpt-/,
    /^chatgpt-/,
    /^o[1-9](?:$|-)/,
    /^ft:/,
    /^codex-/,
    /^(?:whisper|tts)-/,
    /^computer-use-/,
    /^(?:davinci|babbage)-\d/,
  ],
  quirks: OPENAI_QUIRKS,
  embeddings: OPENAI_EMBEDDINGS,
  completions: OPENAI_COMPLETIONS,
  moderationModels: /^(?:omni|text)-moderation-/,
  tasks: {
    image: createImages('openai', OPENAI_IMAGES),
    decision: createDecisions('openai'),
    transcription: createTranscription('openai', OPENAI_TRANSCRIPTION),
    speech: createSpeech('openai', { hasEvents: true }),
  },
  realtime: { realtime, live, translation },
  takesResponses: true,
});

/** OpenAI itself. */
export const openai: Provider = { ...speaking, batches };
