import type { ChatEvent } from './event';

type TextEvent = Extract<ChatEvent, { readonly text: string }>;

/** Merges adjacent pieces of one text. */
export function joinTexts(events: readonly ChatEvent[]): readonly ChatEvent[] {
  const joined: ChatEvent[] = [];
  let at = 0;
  while (at < events.length) {
    const event = events[at] as ChatEvent;
    let end = at + 1;
    if ('text' in event) {
      let { text } = event;
      for (let next = events[end]; next !== undefined && goesOn(event, next); next = events[++end]) text += next.text;
      joined.push(end === at + 1 ? event : { ...event, text });
    } else joined.push(event);
    at = end;
  }
  return joined.length === events.length ? events : joined;
}

const goesOn = (event: TextEvent, next: ChatEvent): next is TextEvent =>
  'text' in next &&
  next.type === event.type &&
  next.choice === event.choice &&
  (next.type !== 'tool-arguments' || event.type !== 'tool-arguments' || next.toolIndex === event.toolIndex);
