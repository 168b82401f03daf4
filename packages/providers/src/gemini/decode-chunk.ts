import { createHash } from 'node:crypto';
import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { asIndex, asObject, asObjects, asString } from '../translation/read-json';
import { ToolNames } from '../translation/vendor-names';
import type { PayloadDecoder } from '../transport/payload-stream-decoder';
import { upstreamFailure } from '../transport/upstream-failure';
import { type CandidateState, createCandidateState, decodePart } from './decode-delta';
import { decodeErrorObject } from './decode-error';
import { decodeLogprobs } from './decode-logprobs';
import { decodeUsage } from './decode-usage';
import { decodeFinishReason, isFailedCall } from './finish-reasons';
import { CANDIDATE_FIELDS, PROVIDER, TOOL_NAME_RULE } from './wire';

/** The chunks of one answer; a whole answer is one chunk. */
export class ContentDecoder implements PayloadDecoder {
  private readonly names: ToolNames;
  private readonly candidates = new Map<number, CandidateState>();
  private idBase: string | undefined;
  private blockReason: string | undefined;
  /** The vendor sends no end mark: the connection just closes. */
  readonly done = false;

  constructor(request: Pick<ChatRequest, 'tools' | 'messages'>) {
    this.names = new ToolNames(request, TOOL_NAME_RULE);
  }

  decode(payload: JsonObject, events: ChatEvent[]): void {
    const error = payload.error === undefined && payload.object !== 'error' ? undefined : decodeErrorObject(payload);
    if (error !== undefined) throw error;
    if (this.idBase === undefined) this.start(payload, events);
    if (payload.promptFeedback !== undefined) {
      this.blockReason ??= asString(asObject(payload.promptFeedback)?.blockReason);
    }
    for (const [position, candidate] of asObjects(payload.candidates).entries()) {
      this.decodeCandidate(candidate, asIndex(candidate.index) ?? position, events);
    }
    const usage = payload.usageMetadata && decodeUsage(payload.usageMetadata, this.hasImages());
    if (usage) events.push({ type: 'usage', usage });
  }

  /** Finishes are given only now: chunks after a finish reason may still hold calls and usage. */
  finish(events: ChatEvent[]): boolean {
    if (this.candidates.size === 0) {
      if (this.blockReason === undefined) return false;
      events.push({ type: 'finish', choice: 0, reason: 'content_filter', nativeReason: this.blockReason });
      return true;
    }
    for (const state of this.candidates.values()) if (state.finishReason === undefined) return false;
    for (const state of this.candidates.values()) finishCandidate(state, events);
    return true;
  }

  /** True when there is an answer, complete or not, or a reason why there is none. */
  get hasAnswer(): boolean {
    return this.candidates.size > 0 || this.blockReason !== undefined;
  }

  private hasImages(): boolean {
    for (const { hasImage } of this.candidates.values()) if (hasImage) return true;
    return false;
  }

  private start(payload: JsonObject, events: ChatEvent[]): void {
    const id = asString(payload.responseId) || undefined;
    // Without an id of the answer's own, calls must still differ from those of earlier answers.
    this.idBase = (id ?? createHash('sha256').update(JSON.stringify(payload)).digest('hex'))
      .replace(/\W/g, '')
      .slice(-24);
    events.push({ type: 'start', id, model: asString(payload.modelVersion) || undefined });
  }

  private decodeCandidate(candidate: JsonObject, choice: number, events: ChatEvent[]): void {
    let state = this.candidates.get(choice);
    if (state === undefined) {
      state = createCandidateState(choice);
      this.candidates.set(choice, state);
    }
    const context = { names: this.names, idBase: this.idBase ?? '' };
    for (const part of asObjects(asObject(candidate.content)?.parts)) decodePart(part, state, context, events);
    for (const name of CANDIDATE_FIELDS) {
      const value = candidate[name] === undefined ? undefined : asObject(candidate[name]);
      if (value !== undefined) state.extras.set(name, value);
    }
    const logprobs = candidate.logprobsResult === undefined ? undefined : decodeLogprobs(candidate.logprobsResult);
    if (logprobs !== undefined)
      events.push({ type: 'extra', scope: 'choice', choice, name: 'logprobs', value: logprobs });
    const finishReason = asString(candidate.finishReason) || undefined;
    if (finishReason === undefined) return;
    if (isFailedCall(finishReason) && !state.hasOutput) {
      throw upstreamFailure('malformed', PROVIDER, `ended its answer with a failed tool call (${finishReason}).`);
    }
    state.finishReason = finishReason;
  }
}

function finishCandidate(state: CandidateState, events: ChatEvent[]): void {
  const { choice, finishReason = 'STOP' } = state;
  const lists = { images: state.images, native_content: state.foreignParts };
  for (const [name, value] of Object.entries(lists)) {
    if (value.length > 0) events.push({ type: 'extra', scope: 'message', choice, name, value });
  }
  for (const [name, value] of state.extras) events.push({ type: 'extra', scope: 'message', choice, name, value });
  const reason = decodeFinishReason(finishReason, state.toolCalls > 0);
  events.push({ type: 'finish', choice, reason, nativeReason: finishReason });
}
