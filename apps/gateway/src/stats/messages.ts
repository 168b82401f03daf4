import type { StatsAnswer, StatsQuestion } from '../admin/stats/answer-stats';

/** Start options of the thread. */
export interface StatsThreadSettings {
  readonly databaseUrl: string;
}

export interface StatsThreadQuestion {
  readonly id: number;
  readonly question: StatsQuestion;
}

export type StatsThreadReply =
  | { readonly id: number; readonly answer: StatsAnswer<Uint8Array<ArrayBuffer>> }
  /** `code` of the client or SQLSTATE. */
  | { readonly id: number; readonly message: string; readonly code: string | undefined };
