import type { JsonObject } from '@llm0/core/chat/json';
import { createUsageReader, limitOf, type NativeShape, type PassthroughPart, timesCount } from '../passthrough';
import { readInputUsage } from '../translation/read-counts';
import { asObject, asObjects } from '../translation/read-json';
import { ContentDecoder } from './decode-chunk';
import { isImage } from './decode-delta';
import { decodeUsage } from './decode-usage';
import { findStored } from './encode-media';
import { keyHeaders } from './endpoint';

const MODEL = String.raw`\/v1(?:beta|alpha)?\/(?:models\/)?(?<model>[^/:%;]+)`;

/** Source: https://ai.google.dev/api/generate-content */
const GENERATE: NativeShape = {
  path: new RegExp(`^${MODEL}:(?:generateContent|streamGenerateContent)$`),
  outputLimit: (body) => {
    const [config, other] = [body.generationConfig, body.generation_config].map(asObject).filter((one) => one);
    // The vendor chooses between duplicates.
    if (other !== undefined) return undefined;
    const limit = limitOf(config, 'maxOutputTokens', 'max_output_tokens');
    return timesCount(limit, config?.candidateCount, config?.candidate_count);
  },
  tellsCost: () => true,
  boundedFields: new Set([
    ...['contents', 'systemInstruction', 'system_instruction', 'tools', 'toolConfig', 'tool_config', 'safetySettings'],
    ...['generationConfig', 'generation_config', 'labels'],
  ]),
  findStored,
  createReader: () => {
    let hasImages = false;
    const readUsage = ({ candidates, usageMetadata }: JsonObject) => {
      hasImages ||= asObjects(candidates).some(({ content }) => asObjects(asObject(content)?.parts).some(isImage));
      return decodeUsage(usageMetadata, hasImages);
    };
    return createUsageReader(readUsage, new ContentDecoder({ messages: [] }));
  },
};

const COUNT: NativeShape = { ...GENERATE, path: new RegExp(`^${MODEL}:countTokens$`), isFree: true };

const EMBED: NativeShape = {
  path: new RegExp(`^${MODEL}:(?:embedContent|batchEmbedContents)$`),
  isInputOnly: true,
  outputLimit: () => 0,
  tellsCost: () => true,
  boundedFields: new Set(['model', 'content', 'requests', 'taskType', 'title', 'outputDimensionality']),
  findStored,
  createReader: () => createUsageReader((value) => readInputUsage(value.usageMetadata)),
};

const NATIVE_ONLY = /^\/(?:upload\/)?v1(?:alpha|beta)\//;

/**
 * True for parameters that change the JSON format or hide usage. Source:
 * https://cloud.google.com/apis/docs/system-parameters
 */
const hidesUsage = (name: string, value: string): boolean =>
  name.startsWith('$') || HIDING.has(name) || (name === 'alt' && value !== 'json' && value !== 'sse');
const HIDING: ReadonlySet<string> = new Set(['fields', 'callback', 'key', 'access_token', 'oauth_token', 'quotauser']);

/** The vendor's native API, from the host's root. */
export const passthrough: PassthroughPart = {
  root: ({ baseUrl }) => baseUrl.replace(/\/+$/, ''),
  signsBody: () => false,
  authorize: (_request, connection) => ({ ...keyHeaders(connection), ...connection.headers }),
  shapes: [GENERATE, COUNT, EMBED],
  nativeOnly: NATIVE_ONLY,
  hidesUsage,
};
