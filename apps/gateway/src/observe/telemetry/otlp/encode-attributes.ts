import type { Attributes, AttributeValue } from '@llm0/core/tracing/span';
import { isFraction } from '../names';
import { ANY, ARRAY, type Field, KEY_VALUE, type MessageWriter, RESOURCE, SCOPE } from './fields';

const NANO_PER_MS = 1e6;
const NANO_PER_SECOND = 1_000_000_000n;

/** Resource (`service.name` and the like) and instrumentation version. */
export interface Sender {
  readonly resource: Attributes;
  readonly version: string;
}

const SCOPE_NAME = 'llm0-gateway';

export function writeResource(writer: MessageWriter, field: Field, { resource }: Sender): void {
  const start = writer.begin(field);
  writeAttributes(writer, RESOURCE.attributes, resource);
  writer.end(start);
}

export function writeScope(writer: MessageWriter, field: Field, { version }: Sender): void {
  const start = writer.begin(field);
  writer.string(SCOPE.name, SCOPE_NAME);
  writer.string(SCOPE.version, version);
  writer.end(start);
}

export function writeAttributes(writer: MessageWriter, field: Field, attributes: Attributes): void {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === undefined) continue;
    const start = writer.begin(field);
    writer.name(KEY_VALUE.key, name);
    const inner = writer.begin(KEY_VALUE.value);
    writeValue(writer, name, value);
    writer.end(inner);
    writer.end(start);
  }
}

function writeValue(writer: MessageWriter, name: string, value: AttributeValue): void {
  if (typeof value === 'string') writer.string(ANY.string, value);
  else if (typeof value === 'boolean') writer.boolean(ANY.boolean, value);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && !isFraction(name)) writer.integer(ANY.integer, value);
    else writer.double(ANY.double, value);
  } else {
    const array = writer.begin(ANY.array);
    for (const text of value) {
      const start = writer.begin(ARRAY.values);
      writer.string(ANY.string, text);
      writer.end(start);
    }
    writer.end(array);
  }
}

/** Nanoseconds of epoch milliseconds, which may be fractional. */
export function nanosOf(ms: number): bigint {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.min(999_999_999, Math.round((ms - seconds * 1000) * NANO_PER_MS));
  return BigInt(seconds) * NANO_PER_SECOND + BigInt(nanos);
}
