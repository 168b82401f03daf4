import type { ClickHouseClient } from '@clickhouse/client';
import type { Db } from '../client';
import { createLogEngine } from '../queries/clickhouse/create-log-engine';
import { attachLogEngine } from '../queries/clickhouse/log-engine';
import { type ClickHouseOptions, openClickHouse } from './open-clickhouse';

export interface LogDatabaseOptions extends ClickHouseOptions {
  /** Address without options and secrets; its rows come by the sink of this name. */
  readonly name: string;
}

/** Connects at the first call, and again after one that failed. */
export type OpenClickHouse = () => Promise<ClickHouseClient>;

/** Lets readers of this database ask ClickHouse, whose library is loaded with the first question. */
export function attachLogDatabase(db: Db, options: LogDatabaseOptions): OpenClickHouse {
  const open = clickHouseClient(options);
  attachLogEngine(db, createLogEngine({ db, store: options.name, open, hotLabels: options.hotLabels }));
  return open;
}

function clickHouseClient({ url, username, password, database, hotLabels }: ClickHouseOptions): OpenClickHouse {
  let opened: Promise<ClickHouseClient> | undefined;
  return async () => {
    opened ??= openClickHouse({ url, username, password, database, hotLabels });
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
}
