import { countField, countOutput, countUnread } from '../pricing/count-output';
import type { AnswerTally, ChatEvent, EventBatch } from './event';

export const emptyTally = (): AnswerTally => ({ pieces: 0, outputBytes: 0, reasoningBytes: 0, ended: 0 });

export function addToTally(tally: AnswerTally, { events, gone }: EventBatch): void {
  if (gone !== undefined) {
    tally.toldAtPieces = gone.toldAtPieces === undefined ? tally.toldAtPieces : tally.pieces + gone.toldAtPieces;
    tally.ended += gone.ended;
    tally.pieces += gone.pieces;
    tally.outputBytes += gone.outputBytes;
    tally.reasoningBytes += gone.reasoningBytes;
    tally.usage = gone.usage ?? tally.usage;
  }
  for (const event of events) {
    if (event.type === 'usage') {
      tally.usage = event.usage;
      tally.toldAtPieces = tally.pieces;
    } else if (event.type === 'finish') tally.ended += 1;
    const text = outputText(event);
    if (text === '') {
      tally.outputBytes += otherBytes(event);
      continue;
    }
    // Refusal text after the vendor's counts is included in them.
    if (event.type === 'refusal' && tally.toldAtPieces === tally.pieces) tally.toldAtPieces += 1;
    tally.pieces += 1;
    if (event.type === 'reasoning') tally.reasoningBytes += Buffer.byteLength(text);
    else tally.outputBytes += Buffer.byteLength(text);
  }
}

/** UTF-8 bytes of output that isn't text of an answer. The vendor's counts include media that follow them. */
function otherBytes(event: ChatEvent): number {
  if (event.type === 'extra') return event.scope === 'message' ? countField(event.name, event.value) : 0;
  if (event.type === 'raw-message') return countUnread(event.value.output);
  if (event.type !== 'reasoning-detail' || event.detail.type !== 'reasoning.encrypted') return 0;
  return countOutput(event.detail.data);
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
    default:
      return '';
  }
}
