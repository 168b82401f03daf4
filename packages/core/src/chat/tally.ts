import type { AnswerTally, ChatEvent, EventBatch } from './event';

export const emptyTally = (): AnswerTally => ({ pieces: 0, outputBytes: 0, reasoningBytes: 0 });

export function addToTally(tally: AnswerTally, { events, gone }: EventBatch): void {
  if (gone !== undefined) {
    tally.pieces += gone.pieces;
    tally.outputBytes += gone.outputBytes;
    tally.reasoningBytes += gone.reasoningBytes;
    tally.usage = gone.usage ?? tally.usage;
  }
  for (const event of events) {
    if (event.type === 'usage') tally.usage = event.usage;
    const text = outputText(event);
    if (text === '') continue;
    tally.pieces += 1;
    if (event.type === 'reasoning') tally.reasoningBytes += Buffer.byteLength(text);
    else tally.outputBytes += Buffer.byteLength(text);
  }
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
