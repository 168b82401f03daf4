import type { Provider } from '../provider';
import type { RealtimeParts } from '../realtime';
import type { TaskParts } from '../tasks';
import { batches } from './batches';
import { createCompletions } from './completions/create-completions';
import { type CompletionQuirks, OPENAI_COMPLETIONS } from './completions/quirks';
import { decodeError } from './decode-error';
import { decodeModelNames } from './decode-models';
import { decodeResponse } from './decode-response';
import { createStreamDecoder } from './decode-stream';
import { createEmbeddings, type EmbeddingQuirks, OPENAI_EMBEDDINGS } from './embeddings';
import { encodeRequest, listRemoteFiles } from './encode-request';
import { modelsEndpoint } from './endpoint';
import { speakModerations } from './moderations/speak-moderations';
import { passthrough, untoldPassthrough } from './passthrough';
import { type ChatQuirks, OPENAI_QUIRKS } from './quirks';
import { live } from './realtime/live';
import { realtime } from './realtime/realtime';
import { translation } from './realtime/translation';
import { speakResponses } from './responses/speak-responses';
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
  /** Further endpoints. */
  readonly tasks?: TaskParts;
  readonly realtime?: RealtimeParts;
  /** Set for servers with changing models: the gateway reloads their list. */
  readonly modelsEndpoint?: NonNullable<Provider['modelsUrl']>;
  /** For servers without a list of models. */
  readonly probeUrl?: NonNullable<Provider['probeUrl']>;
}

/** A provider that speaks Chat Completions. */
export function createChatProvider(profile: ChatProfile): Provider {
  const { name, modelPatterns, quirks, moderationModels } = profile;
  const provider: Provider = {
    name,
    wireFormat: 'openai-chat',
    defaultBaseUrl: profile.defaultBaseUrl,
    isFree: profile.isFree ?? false,
    modelPatterns,
    encodeRequest: (request, context) => encodeRequest(request, context, quirks),
    decodeResponse: (body) => decodeResponse(name, body),
    createStreamDecoder: () => createStreamDecoder(name),
    remoteMedia: listRemoteFiles,
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
  };
  return moderationModels === undefined ? provider : speakModerations(provider, moderationModels);
}

function tasksOf({ name, tasks, moderationModels: models }: ChatProfile): Pick<Provider, 'tasks'> {
  const moderation = models && { moderation: createModeration(name, models) };
  return tasks === undefined && moderation === undefined ? {} : { tasks: { ...tasks, ...moderation } };
}

const speaking: Provider = speakResponses(
  createChatProvider({
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
  }),
);

/** OpenAI itself. */
export const openai: Provider = { ...speaking, batches };
