import type { Field, MessageWriter } from './fields';

type JsonMessage = Record<string, unknown>;

/** Writes OTLP messages as JSON. Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
export class JsonWriter implements MessageWriter {
  private root: JsonMessage = {};
  private open: JsonMessage[] = [];

  start(): void {
    this.root = {};
    this.open = [this.root];
  }

  begin(field: Field): number {
    const message: JsonMessage = {};
    this.put(field, message);
    return this.open.push(message);
  }

  end(): void {
    this.open.pop();
  }

  string(field: Field, text: string): void {
    this.put(field, text);
  }

  name(field: Field, text: string): void {
    this.put(field, text);
  }

  id(field: Field, digits: string): void {
    this.put(field, digits);
  }

  integer(field: Field, value: number): void {
    this.put(field, value);
  }

  boolean(field: Field, value: boolean): void {
    this.put(field, value);
  }

  double(field: Field, value: number): void {
    this.put(field, Number.isFinite(value) ? value : String(value));
  }

  doubles(field: Field, values: readonly number[]): void {
    this.put(field, values);
  }

  nanos(field: Field, value: bigint): void {
    this.put(field, String(value));
  }

  flags(field: Field, value: number): void {
    this.put(field, value);
  }

  count(field: Field, value: number): void {
    this.put(field, value);
  }

  counts(field: Field, values: readonly number[]): void {
    this.put(field, values);
  }

  finish(): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(JSON.stringify(this.root));
  }

  private put({ name, isList }: Field, value: unknown): void {
    const message = this.open[this.open.length - 1] as JsonMessage;
    if (isList === true) {
      message[name] ??= [];
      (message[name] as unknown[]).push(value);
    } else message[name] = value;
  }
}
