import type { JsonObject } from '@llm0/core/chat/json';
import { readInput } from '@llm0/providers/claude/native-blocks';
import { isObject } from '../read-fields';
import { type BlockSink, restOf } from './encode-blocks';

/** Puts blocks together from their pieces, for answers that are not streamed. */
export class GatheredBlocks implements BlockSink {
  readonly blocks: JsonObject[] = [];
  private json = '';

  start(_index: number, block: JsonObject): void {
    this.json = '';
    this.blocks.push({ ...block });
  }

  delta(_index: number, delta: JsonObject): void {
    const block = this.blocks.at(-1);
    if (block === undefined) return;
    if (typeof delta.text === 'string') block.text = String(block.text) + delta.text;
    if (typeof delta.thinking === 'string') block.thinking = String(block.thinking) + delta.thinking;
    if (typeof delta.signature === 'string') block.signature = delta.signature;
    if (typeof delta.partial_json === 'string') this.json += delta.partial_json;
  }

  stop(): void {
    const block = this.blocks.at(-1);
    if (block === undefined || this.json === '') return;
    const input = readInput(this.json);
    // An input must be an object; this keeps other values of the model.
    block.input = isObject(input) ? input : { input };
  }
}

/** A whole block as the pieces a stream would bring. */
export function replayBlock(block: JsonObject, index: number, sink: BlockSink): void {
  const { type } = block;
  const deltas = restOf(block, '');
  if (type === 'text') {
    const { citations: _citations, ...head } = block;
    sink.start(index, { ...head, text: '' });
  } else if (type === 'thinking') {
    sink.start(index, { ...block, thinking: '', signature: '' });
  } else if (isObject(block.input)) {
    sink.start(index, { ...block, input: {} });
    sink.delta(index, { type: 'input_json_delta', partial_json: JSON.stringify(block.input) });
  } else {
    sink.start(index, block);
  }
  for (const delta of deltas) sink.delta(index, delta);
  sink.stop(index);
}
