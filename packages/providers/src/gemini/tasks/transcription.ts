import type { JsonObject } from '@llm0/core/chat/json';
import type { TranscriptAnswer, TranscriptionRequest } from '@llm0/core/tasks/audio';
import type { AudioFormat } from '@llm0/core/tasks/audio-duration';
import type { SentFile } from '@llm0/core/tasks/task-request';
import type { EncodeContext, EndpointRequest } from '../../provider-request';
import type { TaskPart } from '../../tasks';
import { pulled } from '../../translation/form-body';
import { asObject, asObjects, asString } from '../../translation/read-json';
import { DroppedParameters } from '../../translation/refuse-parameter';
import { upstreamFailure } from '../../transport/upstream-failure';
import { readAny } from '../decode-usage';
import { contentEndpoint } from '../endpoint';
import { PROVIDER } from '../wire';

/** Chat models that are asked for what they hear. Source: https://ai.google.dev/gemini-api/docs/audio */
export const transcription: TaskPart<TranscriptionRequest, TranscriptAnswer> = {
  serves: (model) => !/embedding|imagen|-image|-tts/.test(model),
  encodeRequest,
  decodeResponse: (body, { format }) => {
    const parts = asObjects(asObject(asObjects(body.candidates)[0]?.content)?.parts);
    const spoken = parts.filter(({ thought }) => thought !== true).flatMap((part) => asString(part.text) ?? []);
    if (spoken.length === 0) throw upstreamFailure('malformed', PROVIDER, 'answered without a text.');
    return { answer: { text: spoken.join('').trim(), format }, usage: readAny(body.usageMetadata) };
  },
};

const TYPES: Readonly<Record<AudioFormat, string>> = {
  ...{ wav: 'audio/wav', mp3: 'audio/mp3', mp4: 'audio/mp4', ogg: 'audio/ogg', flac: 'audio/flac', webm: 'audio/webm' },
};

function encodeRequest(request: TranscriptionRequest, context: EncodeContext): EndpointRequest {
  const { extra, prompt, translates, format, user, file, facts } = request;
  const dropped = new DroppedParameters(context);
  if (format !== 'json' && format !== 'text') dropped.refuse('response_format', 'must be json or text for');
  const { language, temperature, ...others } = extra;
  for (const name of Object.keys(others)) dropped.refuse(name, 'is not understood by');
  if (user !== undefined) dropped.note('user');
  const wanted = translates ? 'Translate the speech in this recording into English.' : 'Transcribe this recording.';
  const hints = [
    typeof language === 'string' ? `Its language is ${language}.` : '',
    prompt === undefined ? '' : `These words may help: ${prompt}`,
  ];
  const text = [wanted, 'Answer with the words alone.', ...hints].filter((one) => one !== '').join(' ');
  const settings: JsonObject =
    temperature === undefined ? {} : { generationConfig: { temperature: Number(temperature) } };
  const body = contentBody(text, { file, type: TYPES[facts.format], settings });
  return { ...contentEndpoint({ ...context, stream: false }), body, dropped: dropped.names() };
}

interface Recording {
  readonly file: SentFile;
  readonly type: string;
  readonly settings: JsonObject;
}

/** The recording as base64, piece by piece as it comes. */
function contentBody(text: string, { file, type, settings }: Recording): ReadableStream<Uint8Array> {
  const mark = '@';
  const parts = [{ text }, { inlineData: { mimeType: type, data: mark } }];
  const json = JSON.stringify({ ...settings, contents: [{ role: 'user', parts }] });
  const at = json.lastIndexOf(`"${mark}"`) + 1;
  async function* pieces() {
    yield Buffer.from(json.slice(0, at));
    let left = Buffer.alloc(0);
    for await (const bytes of allOf(file)) {
      const known = Buffer.concat([left, bytes]);
      const whole = known.length - (known.length % 3);
      left = known.subarray(whole);
      if (whole > 0) yield Buffer.from(known.toString('base64', 0, whole));
    }
    yield Buffer.from(left.toString('base64') + json.slice(at + mark.length));
  }
  return pulled(pieces());
}

async function* allOf({ pieces, rest }: SentFile): AsyncGenerator<Uint8Array> {
  yield* pieces;
  if (rest !== undefined) yield* rest.open();
}
