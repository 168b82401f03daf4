import { countBlocks, countField, countThought } from '../pricing/count-output';
import type { AnswerTally, ChatEvent, EventBatch } from './event';
import { isObject } from './json';

/** Field of a message with one call. */
const LEGACY_CALL = 'function_call';
/** Field of a message with its thoughts again. */
const THOUGHT_BLOCKS = 'thinking_blocks';

export const emptyTally = (): AnswerTally => ({ pieces: 0, outputBytes: 0, reasoningBytes: 0, ended: 0 });

export function addToTally(tally: AnswerTally, { events, gone }: EventBatch): void {
  if (gone !== undefined) {
    tally.toldAtPieces = gone.toldAtPieces === undefined ? tally.toldAtPieces : tally.pieces + gone.toldAtPieces;
    tally.ended += gone.ended;
    tally.pieces += gone.pieces;
    tally.outputBytes += gone.outputBytes;
    tally.reasoningBytes += gone.reasoningBytes;
    if (gone.detailBytes !== undefined) tally.detailBytes = (tally.detailBytes ?? 0) + gone.detailBytes;
    if (gone.wholeBytes !== undefined) tally.wholeBytes = Math.max(tally.wholeBytes ?? 0, gone.wholeBytes);
    tally.usage = gone.usage ?? tally.usage;
  }
  for (const event of events) {
    if (event.type === 'usage') {
      tally.usage = event.usage;
      tally.toldAtPieces = tally.pieces;
    } else if (event.type === 'finish') tally.ended += 1;
    const text = outputText(event);
    if (text === '') {
      addOther(tally, event);
      continue;
    }
    // Refusal text after the vendor's counts is included in them.
    if (event.type === 'refusal' && tally.toldAtPieces === tally.pieces) tally.toldAtPieces += 1;
    tally.pieces += 1;
    if (event.type === 'reasoning') tally.reasoningBytes += Buffer.byteLength(text);
    else tally.outputBytes += Buffer.byteLength(text);
  }
}

/** Adds output that isn't text of an answer. The vendor's counts include media that follow them. */
function addOther(tally: AnswerTally, event: ChatEvent): void {
  if (event.type === 'unread') {
    if (event.isWhole === true) tally.wholeBytes = Math.max(tally.wholeBytes ?? 0, event.bytes);
    else tally.outputBytes += event.bytes;
  } else if (event.type === 'reasoning-detail') addDetail(tally, countThought(event.detail));
  else if (event.type === 'extra' && event.scope === 'message') {
    if (event.name === THOUGHT_BLOCKS) addDetail(tally, countBlocks(event.value));
    else tally.outputBytes += countField(event.name, event.value);
  }
}

function addDetail(tally: AnswerTally, bytes: number): void {
  tally.detailBytes = (tally.detailBytes ?? 0) + bytes;
}

/** Bytes of all output and of its thoughts, each counted once. */
export function sumTally({ outputBytes, reasoningBytes, detailBytes = 0, wholeBytes = 0 }: AnswerTally) {
  const thoughts = Math.max(reasoningBytes, detailBytes);
  return { outputBytes: Math.max(outputBytes, wholeBytes - thoughts), reasoningBytes: thoughts };
}

/** Events it adds to the answer. */
export function outputText(event: ChatEvent): string {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
    case 'tool-arguments':
      return event.text;
    case 'tool-call':
      return event.name;
    case 'extra': {
      const text = event.name === LEGACY_CALL && isObject(event.value) ? event.value.arguments : undefined;
      return typeof text === 'string' ? text : '';
    }
    default:
      return '';
  }
}
