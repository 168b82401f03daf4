import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { SpeechAnswer, SpeechRequest } from '@llm0/core/tasks/audio';
import { wavOf } from '@llm0/core/tasks/wav';
import type { EncodeContext, UpstreamRequest } from '../../provider-request';
import type { TaskPart } from '../../tasks';
import { jsonBody } from '../../translation/json-body';
import { asObject, asObjects, asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { upstreamFailure } from '../../transport/upstream-failure';
import { readAny } from '../decode-usage';
import { contentEndpoint } from '../endpoint';
import { PROVIDER } from '../wire';

/** Models that only speak. Source: https://ai.google.dev/gemini-api/docs/speech-generation */
export const speech: TaskPart<SpeechRequest, SpeechAnswer> = {
  serves: (model) => /-tts/.test(model),
  encodeRequest,
  decodeResponse: (body, { format }) => {
    const parts = asObjects(asObject(asObjects(body.candidates)[0]?.content)?.parts);
    const pieces: JsonObject[] = parts.map((part) => asObject(part.inlineData) ?? {});
    const samples = Buffer.concat(pieces.map(({ data }) => Buffer.from(asString(data) ?? '', 'base64')));
    if (samples.length === 0) throw upstreamFailure('malformed', PROVIDER, 'answered without audio.');
    const rate = /rate=(\d{4,6})/.exec(asString(pieces[0]?.mimeType) ?? '')?.[1];
    const answer =
      format === 'pcm'
        ? { audio: samples.toString('base64'), type: 'audio/pcm' }
        : { audio: wavOf(samples, Number(rate ?? USUAL_RATE)).toString('base64'), type: 'audio/wav' };
    return { answer, usage: spokenUsage(body.usageMetadata) };
  },
};

/** Samples a second. */
const USUAL_RATE = 24_000;

function encodeRequest(request: SpeechRequest, context: EncodeContext): UpstreamRequest {
  const { extra, input, instructions, voice, format, wantsEvents, user } = request;
  const dropped = new DroppedParameters(context);
  if (format !== undefined && format !== 'wav' && format !== 'pcm') {
    dropped.refuse('response_format', 'must be wav or pcm for');
  }
  if (wantsEvents) dropped.refuse('stream_format', 'must be audio for');
  if (typeof voice !== 'string') dropped.refuse('voice', 'must be a name for');
  for (const name of Object.keys(extra)) dropped.refuse(name, 'is not understood by');
  if (user !== undefined) dropped.note('user');
  const text = instructions === undefined ? input : `${instructions}: ${input}`;
  const voiceConfig = { prebuiltVoiceConfig: { voiceName: typeof voice === 'string' ? voice : '' } };
  const body: JsonObject = {
    contents: [{ role: 'user', parts: [{ text }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      ...(typeof voice === 'string' ? { speechConfig: { voiceConfig } } : {}),
    },
  };
  return { ...contentEndpoint({ ...context, stream: false }), body: jsonBody(body, false), dropped: dropped.names() };
}

/** Output that isn't split is sound. */
function spokenUsage(value: JsonValue | undefined): Usage {
  const { outputTokens = 0, ...usage } = readAny(value) ?? ZERO_USAGE;
  const isSplit = (usage.outputAudioTokens ?? 0) > 0;
  return isSplit ? { ...usage, outputTokens } : { ...usage, outputTokens: 0, outputAudioTokens: outputTokens };
}
