/** Writes the events of one streamed answer, numbered without a gap. */
export class EventWriter {
  private text = '';
  private sequence = 0;

  /** `inner`: the event's other fields as JSON text, without its braces. */
  write(type: string, inner: string): void {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.sequence}`;
    this.text += `${head},${inner}}\n\n`;
    this.sequence += 1;
  }

  writeFields(type: string, fields: object): void {
    this.write(type, JSON.stringify(fields).slice(1, -1));
  }

  /** So many events went out past this writer. */
  skip(events: number): void {
    this.sequence += events;
  }

  /** What was written since the last time; empty for nothing. */
  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}
