import type { ClickHouseClient } from '@clickhouse/client';
import { CALLS } from '../logs/partitions';

/** What such a column may be called. */
const NAME = /^[\w.-]{1,64}$/;

const columnOf = (label: string): string => `\`label.${label}\``;
const mapValueOf = (label: string): string => `labels['${label}']`;

/** Gives labels columns of their own, of which a question reads a twentieth. Older parts get them when they are merged. */
export async function addLabelColumns(client: ClickHouseClient, labels: readonly string[]): Promise<void> {
  for (const label of labels) {
    if (!NAME.test(label)) throw new RangeError(`no column can be called ${label}`);
    const column = `${columnOf(label)} LowCardinality(String) materialized ${mapValueOf(label)}`;
    await client.command({ query: `alter table gateway_logs add column if not exists ${column}` });
  }
}

/**
 * The statement with these columns in place of the map, which only requests have. Quotes within texts are escaped, so that
 * none is meant.
 */
export const withLabelColumns = (statement: string, labels: readonly string[]): string =>
  statement.includes(`from ${CALLS.name}`)
    ? statement
    : labels.reduce((text, label) => text.replaceAll(mapValueOf(label), columnOf(label)), statement);
