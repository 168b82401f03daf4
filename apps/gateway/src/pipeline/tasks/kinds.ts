import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { refuseUnread } from '@llm0/core/guardrails/chat/guard-request';
import {
  boundSpeech,
  boundTranscription,
  type SpeechAnswer,
  type SpeechRequest,
  type TranscriptAnswer,
  type TranscriptionRequest,
} from '@llm0/core/tasks/audio';
import { rerankBuiltIn } from '@llm0/core/tasks/built-in-rerank';
import { boundDecision, type DecisionAnswer, type DecisionRequest, hasPicture } from '@llm0/core/tasks/decision';
import { boundDrawing, boundImages, drawingModel, type ImageAnswer, type ImageRequest } from '@llm0/core/tasks/image';
import {
  boundModeration,
  type ModerationAnswer,
  type ModerationPart,
  type ModerationRequest,
} from '@llm0/core/tasks/moderation';
import { boundRerank, type RerankAnswer, type RerankRequest } from '@llm0/core/tasks/rerank';
import { judgeTranscript } from './judge-transcript';
import type { Task } from './task';

/** Verdicts about texts and pictures. */
export const MODERATION: Task<ModerationRequest, ModerationAnswer> = {
  ...{ noun: 'moderation', pricedBy: ['input'], isCached: true },
  partOf: ({ tasks }) => tasks?.moderation,
  boundOf: (request, _priced, strict) => boundModeration(request, strict),
  async judge({ texts, enforcing }, request) {
    const inputs: ModerationPart[] = [];
    for (const part of request.inputs) {
      if (part.type === 'image') refuseUnread('input', 'pictures', enforcing);
      inputs.push(part.type === 'text' ? { ...part, text: await texts.text(part.text, 'user') } : part);
    }
    return { inputs };
  },
  textOf: ({ inputs }) => inputs,
};

/** Documents by their relevance to a query. */
export const RERANK: Task<RerankRequest, RerankAnswer> = {
  ...{ noun: 'reranking', pricedBy: ['search', 'input'], isCached: true },
  partOf: ({ tasks }) => tasks?.rerank,
  boundOf: (request, { prices }, strict) => boundRerank(request, prices, strict),
  async judge(by, request) {
    const documents: string[] = [];
    for (const document of request.documents) documents.push(await by.texts.text(document, 'user'));
    return { documents, query: await by.texts.text(request.query, 'user') };
  },
  textOf: ({ query, documents }) => [query, documents],
  async answerHere(embedder, request, limits) {
    const { results, inputTokens } = await rerankBuiltIn(embedder, request, limits);
    return { answer: { results }, usage: { ...ZERO_USAGE, inputTokens } };
  },
};

/** Images from a prompt, or from pictures. */
export const IMAGE: Task<ImageRequest, ImageAnswer> = {
  ...{ noun: 'images', pricedBy: ['output_image', 'image'], isCached: false },
  partOf: ({ tasks }) => tasks?.image,
  boundOf: boundImages,
  helperOf(request) {
    const model = drawingModel(request);
    if (model === undefined) return undefined;
    return { field: 'svg', model, boundOf: (priced, strict) => boundDrawing(request, priced, strict) };
  },
  async judge(by, request) {
    if (request.pictures !== undefined) refuseUnread('image', 'pictures', by.enforcing);
    return { prompt: await by.texts.text(request.prompt, 'user') };
  },
  textOf: ({ prompt }) => prompt,
  async judgeAnswer({ text: judge }, answer) {
    const images: JsonObject[] = [];
    for (const image of answer.images) {
      const { revised_prompt: text } = image;
      images.push(typeof text === 'string' ? { ...image, revised_prompt: await judge(text) } : image);
    }
    return { ...answer, images };
  },
};

/** Answers with probabilities. */
export const DECISION: Task<DecisionRequest, DecisionAnswer> = {
  ...{ noun: 'decisions', pricedBy: ['output'], isCached: true },
  partOf: ({ tasks }) => tasks?.decision,
  boundOf: boundDecision,
  async judge(by, request) {
    if (hasPicture(request)) refuseUnread('input', 'pictures', by.enforcing);
    const { input, questions } = request;
    const [judged, asked] = await by.texts.value([input, [...questions]], 'user');
    return { input: judged as JsonValue, questions: asked as JsonObject[] };
  },
  textOf: ({ input, questions }) => [input, questions],
};

/** Text of speech. */
export const TRANSCRIPTION: Task<TranscriptionRequest, TranscriptAnswer> = {
  ...{ noun: 'transcription', pricedBy: ['minute', 'second', 'input_audio'], isCached: true },
  partOf: ({ tasks }) => tasks?.transcription,
  boundOf: boundTranscription,
  async judge(by, request) {
    refuseUnread('file', 'audio', by.enforcing);
    const { prompt, format } = request;
    // A format is one of a few words, which are nobody's own.
    return prompt === undefined ? { format } : { format, prompt: await by.texts.text(prompt, 'user') };
  },
  textOf: ({ prompt }) => prompt,
  judgeAnswer: judgeTranscript,
};

/** Speech of a text. */
export const SPEECH: Task<SpeechRequest, SpeechAnswer> = {
  ...{ noun: 'speech', pricedBy: ['character', 'output_audio'], isCached: false },
  partOf: ({ tasks }) => tasks?.speech,
  boundOf: boundSpeech,
  billsBound: ({ prices }) => prices.character !== undefined && prices.output_audio === undefined,
  async judge(by, request) {
    const input = await by.texts.text(request.input, 'user');
    const { instructions } = request;
    return instructions === undefined ? { input } : { input, instructions: await by.texts.text(instructions, 'user') };
  },
  textOf: ({ input, instructions }) => [input, instructions],
  judgeSaid: async (judge, { input }) => ({ input: await judge(input) }),
};
