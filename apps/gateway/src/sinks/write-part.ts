import type { SinkSetting, SinkSettings } from '../config/sinks';
import type { Part } from './part';
import { createWriteObject } from './write-object';
import { createWriteTopic } from './write-topic';

/** Resolves once the sink has all rows. */
export type WritePart = (sink: SinkSetting, part: Part) => Promise<void>;

/** `folder`: for what is on its way. */
export function createWritePart({ s3 }: SinkSettings, folder: string): WritePart {
  const writeObject = createWriteObject(s3, folder);
  const writeTopic = createWriteTopic();
  return (sink, part) => (sink.kind === 's3' ? writeObject(sink, part) : writeTopic(sink, part));
}
