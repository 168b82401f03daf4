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
  let isTold = false;
  for (const event of events) {
    if (event.type === 'usage') {
      tally.usage = event.usage;
      isTold = true;
    } else if (event.type === 'finish') tally.ended += 1;
    const text = outputText(event);
    if (text === '') continue;
    tally.pieces += 1;
    if (event.type === 'reasoning') tally.reasoningBytes += Buffer.byteLength(text);
    else tally.outputBytes += Buffer.byteLength(text);
  }
  if (isTold) tally.toldAtPieces = tally.pieces;
}

function outputText(event: ChatEvent): string {
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
