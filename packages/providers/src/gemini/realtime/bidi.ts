import { isObject, type JsonObject, parseJson, present } from '@llm0/core/chat/json';
import { refuseStored } from '@llm0/core/chat/own-files';
import { largerUsage, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import type { CallerFact, VendorFact } from '@llm0/core/realtime/session-facts';
import type { RealtimePart, RealtimeReader } from '../../realtime';
import { asNumber, asObject, asObjects, asString } from '../../translation/read-json';
import { decodeUsage } from '../decode-usage';
import { findStored } from '../encode-media';
import { keyHeaders, modelPath, rootOf } from '../endpoint';

/** Source: https://ai.google.dev/api/live */
const SERVICE = 'ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';

/** Base64 characters of a second of 16-bit samples, by their usual rates; tokens of it. */
const RATES = { input: 42_668, output: 64_000 };
const TOKENS_A_SECOND = 32;
const BYTES_A_TOKEN = 3;
const PICTURE_TOKENS = 40_000;

/** How clients write frames of it; all others are parsed. */
const SPEECH = ['{"realtimeInput"', '{"realtime_input"'];

/** Frames without these words continue an answer that has begun. */
const TELLING = ['"turnComplete"', '"usageMetadata"', '"setupComplete"', '"goAway"'];

/** The protocol names no answers: one begins with its first content, and ends with `turnComplete`. */
class BidiReader implements RealtimeReader {
  private sent = { audio: 0, text: 0, pictures: 0 };
  private written = 0;
  private turns = 0;
  private isOpen = false;
  private usage: Usage | undefined;

  readCaller(frame: string): CallerFact | undefined {
    // Speech is most of a session, and names nothing.
    const message = SPEECH.some((begin) => frame.startsWith(begin)) ? {} : parse(frame);
    const setup = asObject(message.setup);
    const stored = findStored(setup ?? message);
    if (stored !== undefined) throw refuseStored(stored, 'Send the content itself.');
    if (frame.includes('"realtimeInput"') || frame.includes('"realtime_input"')) {
      if (/"(?:mimeType|mime_type)":\s?"image\//.test(frame)) this.sent.pictures += 1;
      else if (/"text":/.test(frame)) this.sent.text += frame.length;
      else this.sent.audio += frame.length;
      return undefined;
    }
    this.sent.text += frame.length;
    return setup === undefined ? undefined : { type: 'settings', settings: settingsOf(setup) };
  }

  readVendor(frame: string): VendorFact | undefined {
    const isPlain = this.isOpen && !TELLING.some((word) => frame.includes(word));
    this.written += frame.length;
    if (isPlain) return undefined;
    const message = parse(frame);
    const told = readUsage(asObject(message.usageMetadata));
    if (told !== undefined) this.usage = this.usage === undefined ? told : largerUsage(this.usage, told);
    const content = asObject(message.serverContent);
    const isEnd = content?.turnComplete === true;
    const begins = !this.isOpen && (isAnswer(content) || message.toolCall !== undefined || told !== undefined);
    if (isEnd) return this.end();
    if (!begins) return undefined;
    this.isOpen = true;
    this.turns += 1;
    return { type: 'began', turnId: this.turnId };
  }

  takeInput(): Usage {
    const { audio, text, pictures } = this.sent;
    this.sent = { audio: 0, text: 0, pictures: 0 };
    return {
      ...ZERO_USAGE,
      inputTokens: Math.ceil(text / BYTES_A_TOKEN),
      inputAudioTokens: Math.ceil((audio / RATES.input) * TOKENS_A_SECOND),
      ...(pictures === 0 ? {} : { inputImageTokens: pictures * PICTURE_TOKENS }),
    };
  }

  takeOutput(): Usage {
    const outputAudioTokens = Math.ceil((this.written / RATES.output) * TOKENS_A_SECOND);
    this.written = 0;
    return { ...ZERO_USAGE, outputAudioTokens };
  }

  takeSeconds(): number {
    return 0;
  }

  private get turnId(): string {
    return `turn_${this.turns}`;
  }

  /** An end without a beginning is an answer of its own. */
  private end(): VendorFact {
    if (!this.isOpen) this.turns += 1;
    const { usage } = this;
    this.isOpen = false;
    this.usage = undefined;
    return { type: 'ended', turnId: this.turnId, usage };
  }
}

/** Answers are called responses here, and candidates elsewhere. */
function readUsage(told: JsonObject | undefined): Usage | undefined {
  if (told === undefined) return undefined;
  const { responseTokenCount, responseTokensDetails, ...rest } = told;
  const candidates = { candidatesTokenCount: responseTokenCount, candidatesTokensDetails: responseTokensDetails };
  return decodeUsage({ ...present(candidates), ...rest });
}

const isAnswer = (content: JsonObject | undefined): boolean =>
  content !== undefined && (content.modelTurn !== undefined || content.outputTranscription !== undefined);

function settingsOf(setup: JsonObject) {
  const config = asObject(setup.generationConfig ?? setup.generation_config) ?? {};
  const limit = asNumber(config.maxOutputTokens ?? config.max_output_tokens);
  const isOwn = ({ functionDeclarations, function_declarations: older }: JsonObject) =>
    functionDeclarations !== undefined || older !== undefined;
  return {
    model: asString(setup.model)?.replace(/^models\//, ''),
    outputTokens: limit,
    answersAlone: true,
    unbounded: asObjects(setup.tools).every(isOwn) ? [] : ['tools'],
  };
}

function parse(frame: string): JsonObject {
  const message = parseJson(frame);
  return isObject(message) ? message : {};
}

/** Sessions of the vendor's own protocol. */
export const bidi: RealtimePart = {
  endpoint: ({ connection }) => ({
    url: `${rootOf(connection).replace(/^http/, 'ws')}/${SERVICE}`,
    headers: { ...keyHeaders(connection), ...connection.headers },
  }),
  createReader: () => new BidiReader(),
  withModel: (frame, model) => {
    const message = parse(frame);
    const setup = asObject(message.setup);
    return setup === undefined ? frame : JSON.stringify({ ...message, setup: { ...setup, model: modelPath(model) } });
  },
  // The vendor has no such frames: the session ends instead.
  cancelFrame: () => undefined,
  errorFrame: () => undefined,
  belongsTo: () => true,
};
