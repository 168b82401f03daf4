import { isObject } from '@llm0/core/chat/json';
import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { RealtimeEndpoint, RealtimePart, RealtimeTarget } from '../../realtime';
import { keyHeaders } from '../endpoint';
import { parseEvent } from './peek-type';
import { SessionReader } from './session-reader';

/** A WebSocket below the base URL. */
export function socketEndpoint({ connection }: RealtimeTarget, path: string): RealtimeEndpoint {
  const { baseUrl, headers } = connection;
  return { url: `${baseUrl.replace(/^http/, 'ws')}/${path}`, headers: { ...keyHeaders(connection), ...headers } };
}

/** An error in the words of the vendor's protocols. */
export function errorFrame({ kind, message, param }: GatewayError, eventId?: string): string {
  const error = { type: ERROR_TABLE[kind].type, code: kind, message, param: param ?? null, event_id: eventId ?? null };
  return JSON.stringify({ type: 'error', event_id: `event_${crypto.randomUUID()}`, error });
}

export const includesId = (frame: string, id: string): boolean => frame.includes(JSON.stringify(id));

/** Source: https://platform.openai.com/docs/api-reference/realtime */
export const realtime: RealtimePart = {
  endpoint: (target) => {
    const query = target.isTranscription ? 'intent=transcription' : `model=${encodeURIComponent(target.model)}`;
    return socketEndpoint(target, `realtime?${query}`);
  },
  createReader: () => new SessionReader(),
  withModel: (frame, model) => {
    const event = parseEvent(frame);
    return isObject(event.session) ? JSON.stringify({ ...event, session: { ...event.session, model } }) : frame;
  },
  cancelFrame: (turnId) => JSON.stringify({ type: 'response.cancel', response_id: turnId }),
  errorFrame,
  belongsTo: includesId,
};
