import type { JsonObject } from '@llm0/core/chat/json';
import { addUsage, type Usage } from '@llm0/core/chat/usage';
import type { TaskStreamReader } from '../../tasks';
import { parseEventData } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { decodeErrorObject } from '../decode-error';
import { readImageUsage } from './image-usage';

/** What an event says stands ahead of its picture and behind it. */
const HEAD_BYTES = 4 * 1024;
const TAIL_BYTES = 8 * 1024;
const LF = 10;
const CR = 13;
const TYPE = /"type"\s*:\s*"([a-z_.]{1,60})"/;
const PICTURE = /"b64_json"\s*:\s*"/;
const USAGE = '"usage":';
const SVG_USAGE = '"svg_usage":';

/** Reads types and usage of events without holding their pictures. */
export function createImageStreamReader(provider: string, count: number): TaskStreamReader {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let size = 0;
  let isLineEmpty = true;
  let isBegun = false;
  let completed = 0;
  let usage: Usage | undefined;
  const take = (bytes: Buffer) => {
    size += bytes.length;
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, bytes.subarray(0, HEAD_BYTES - head.length)]);
    tail = Buffer.concat([tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  };
  const finish = () => {
    const text = textOf({ head, tail, size });
    [head, tail, size] = [Buffer.alloc(0), Buffer.alloc(0), 0];
    const type = TYPE.exec(text)?.[1];
    if (type === 'error' || text.includes('"error":{')) throw errorIn(provider, text);
    if (type === undefined) return;
    isBegun = true;
    if (!type.endsWith('.completed')) return;
    completed += 1;
    const told = readImageUsage(objectIn(text, USAGE), objectIn(text, SVG_USAGE));
    if (told !== undefined) usage = usage === undefined ? told : addUsage(usage, told);
  };
  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
        const isEnd = isBlank(bytes, from, at) && isLineEmpty;
        take(bytes.subarray(from, at + 1));
        from = at + 1;
        if (isEnd && size > 2) finish();
        isLineEmpty = true;
      }
      if (from === bytes.length) return;
      if (!isBlank(bytes, from, bytes.length)) isLineEmpty = false;
      take(bytes.subarray(from));
      // A partial picture may be large: its first bytes are an output.
      isBegun ||= PICTURE.test(head.toString('latin1'));
    },
    get isBegun() {
      return isBegun;
    },
    get isComplete() {
      return completed > 0;
    },
    get isAll() {
      return completed >= count;
    },
    get usage() {
      return usage && { ...usage, units: { images: completed } };
    },
  };
}

const isBlank = (bytes: Buffer, from: number, to: number) => from === to || (to - from === 1 && bytes[from] === CR);

/** All of a short event; the rest of a long one is its picture. */
function textOf({ head, tail, size }: { head: Buffer; tail: Buffer; size: number }): string {
  if (size <= TAIL_BYTES) return tail.toString('utf8');
  return `${head.toString('utf8')}${tail.toString('utf8')}`;
}

/** The object behind the last such name; undefined where it isn't whole. */
function objectIn(text: string, name: string): JsonObject | undefined {
  const at = text.lastIndexOf(name);
  if (at === -1) return undefined;
  const start = text.indexOf('{', at);
  let depth = 0;
  for (let index = start; index !== -1 && index < text.length; index++) {
    if (text[index] === '{') depth += 1;
    if (text[index] === '}') depth -= 1;
    if (depth === 0) return JSON.parse(text.slice(start, index + 1)) as JsonObject;
  }
  return undefined;
}

function errorIn(provider: string, text: string): Error {
  const data = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  const error = decodeErrorObject(provider, parseEventData(provider, data));
  return error ?? upstreamFailure('server_error', provider, 'sent an error instead of an image.');
}
