import { dropUndefined, textLike } from '../../range/page-search';

const MOST_DAYS = 30;

/** What `llm0 login` asks for: its local port, a mark of its own, and the days of the key. */
export interface ConnectSearch {
  readonly port?: string;
  readonly state?: string;
  readonly days?: string;
}

const whole = (most: number) => textLike((given) => /^\d{1,5}$/.test(given) && +given >= 1 && +given <= most);

export const readConnectSearch = (search: Record<string, unknown>): ConnectSearch =>
  dropUndefined({
    port: whole(65_535)(search.port),
    state: textLike((given) => /^[\w-]{20,100}$/.test(given))(search.state),
    days: whole(MOST_DAYS)(search.days),
  });
