import { answers, type Operation, type Paths, schemaRef } from './document-parts';
import { CHAT_HEADERS } from './request-headers';

const task = (operation: Omit<Operation, 'tag' | 'takes'>): Operation => ({
  ...{ tag: 'tasks', takes: CHAT_HEADERS },
  ...operation,
});

const EVENTS = 'Unfinished images, then the image with its usage';

const rerank = (id: string, summary: string): Operation =>
  task({
    ...{ id, summary, body: schemaRef('RerankRequest') },
    answer: answers('Ranking', 'The documents, best first'),
  });

/** Endpoints for what models do besides text and vectors. */
export const TASK_PATHS: Paths = {
  '/v1/images/generations': {
    post: task({
      ...{ id: 'createImage', summary: 'Make images from a prompt', body: schemaRef('ImageRequest') },
      answer: answers('Images', 'The images', EVENTS),
    }),
  },
  '/v1/images/edits': {
    post: task({
      ...{ id: 'editImage', summary: 'Make images from pictures and a prompt', body: schemaRef('ImageEditRequest') },
      ...{ isForm: true, jsonBody: schemaRef('ImageEditJsonRequest'), answer: answers('Images', 'The images', EVENTS) },
    }),
  },
  '/v1/audio/transcriptions': {
    post: task({
      ...{ id: 'createTranscription', summary: 'Write speech down', body: schemaRef('TranscriptionRequest') },
      ...{ isForm: true, answer: answers('Transcription', 'The text', 'Its pieces, then all of it with its usage') },
    }),
  },
  '/v1/audio/translations': {
    post: task({
      ...{ id: 'createTranslation', summary: 'Write speech down in English', body: schemaRef('TranslationRequest') },
      ...{ isForm: true, answer: answers('Transcription', 'The text') },
    }),
  },
  '/v1/audio/speech': {
    post: task({
      ...{ id: 'createSpeech', summary: 'Read a text out', body: schemaRef('SpeechRequest') },
      answer: { ...answers('Speech', 'Audio', 'Its pieces, then its usage'), type: 'audio/mpeg' },
    }),
  },
  '/v1/decisions': {
    post: task({
      ...{ id: 'createDecision', summary: 'Answer questions with probabilities', body: schemaRef('DecisionRequest') },
      answer: answers('Decision', 'An answer for each question'),
    }),
  },
  '/v1/realtime/client_secrets': {
    post: task({
      ...{ id: 'createClientSecret', summary: 'Make a secret that opens realtime sessions of this key' },
      description: 'A WebSocket at `/v1/realtime` takes it, several times if wanted. It is no secret of a provider.',
      ...{ body: schemaRef('ClientSecretRequest'), answer: answers('ClientSecret', 'The secret, shown once') },
    }),
  },
  '/v1/realtime/translations/client_secrets': {
    post: task({
      ...{ id: 'createTranslationSecret', summary: 'Make a secret that opens translations of this key' },
      description: 'A WebSocket at `/v1/realtime/translations` takes it. It is no secret of a provider.',
      ...{ body: schemaRef('ClientSecretRequest'), answer: answers('ClientSecret', 'The secret, shown once') },
    }),
  },
  '/v1/moderations': {
    post: task({
      ...{ id: 'createModeration', summary: 'Judge texts and pictures', body: schemaRef('ModerationRequest') },
      answer: answers('Moderation', 'A verdict for each input'),
    }),
  },
  '/v1/rerank': { post: rerank('rerank', "Rank documents by a query, in Cohere's format") },
  '/v2/rerank': { post: rerank('rerankV2', "The same at the path of Cohere's clients") },
};
