import type { SinkSetting, SinkSettings } from '../config/sinks';
import type { BatchedPart } from './part';
import { createWriteClickHouse } from './write-clickhouse';
import { createWriteObject } from './write-object';
import { createWriteSpans, type WriteSpansNeeds } from './write-spans';
import { createWriteTopic } from './write-topic';

/** Resolves once the sink has all rows. */
export type WritePart = (sink: SinkSetting, part: BatchedPart) => Promise<void>;

export interface WriteNeeds extends Omit<WriteSpansNeeds, 'serviceName'> {
  /** For what is on its way. */
  readonly folder: string;
}

export function createWritePart({ s3, serviceName }: SinkSettings, { folder, ...needs }: WriteNeeds): WritePart {
  const writeObject = createWriteObject(s3, folder);
  const writeTopic = createWriteTopic();
  const writeSpans = createWriteSpans({ ...needs, serviceName });
  const writeClickHouse = createWriteClickHouse();
  return (sink, part) => {
    if (sink.kind === 's3') return writeObject(sink, part);
    if (sink.kind === 'clickhouse') return writeClickHouse(sink, part);
    return sink.kind === 'kafka' ? writeTopic(sink, part) : writeSpans(sink, part);
  };
}
