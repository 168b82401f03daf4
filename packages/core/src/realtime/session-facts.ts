import type { Usage } from '../chat/usage';

/** What a caller's frame means for the bill; everything else just passes. */
export type CallerFact =
  /** Wants an answer. `outputTokens`: its own limit. */
  | { readonly type: 'ask'; readonly eventId: string | undefined; readonly outputTokens: number | undefined }
  | { readonly type: 'settings'; readonly settings: SessionSettings };

/** What a vendor's frame means for the bill. */
export type VendorFact =
  /** An answer begins, whoever wanted it. */
  | { readonly type: 'began'; readonly turnId: string }
  /** `usage`: undefined where the vendor tells none. */
  | { readonly type: 'ended'; readonly turnId: string; readonly usage: Usage | undefined; readonly failure?: string }
  /** Speech of the caller is being written down. */
  | { readonly type: 'hearing'; readonly itemId: string }
  /** First or further words of it, before its end. */
  | { readonly type: 'words'; readonly itemId: string }
  | { readonly type: 'heard'; readonly itemId: string; readonly usage: Usage | undefined; readonly failure?: string }
  | { readonly type: 'settings'; readonly settings: SessionSettings }
  /** A caller's frame was refused: nothing begins. */
  | { readonly type: 'rejected'; readonly eventId: string | undefined; readonly message: string }
  /** Cumulative seconds of the session. */
  | { readonly type: 'seconds'; readonly seconds: number; readonly isFinal: boolean };

export const UNNAMED_MODEL = '';

/** Settings that decide prices and bounds; undefined = not named. */
export interface SessionSettings {
  readonly model?: string | undefined;
  /** Writes down the caller's speech; null = nobody does, `UNNAMED_MODEL` = one that the settings don't name. */
  readonly transcriptionModel?: string | null | undefined;
  /** What tells that model about the speech, in bytes. */
  readonly promptBytes?: number | undefined;
  /** null = without a limit. */
  readonly outputTokens?: number | null | undefined;
  /** The vendor answers by itself once the caller stops speaking. */
  readonly answersAlone?: boolean | undefined;
  /** Settings whose cost has no bound, such as tools that the vendor runs. */
  readonly unbounded?: readonly string[] | undefined;
}

/** Later settings over earlier ones. */
export function mergeSettings(before: SessionSettings, now: SessionSettings): SessionSettings {
  const told = Object.entries(now).filter(([, value]) => value !== undefined);
  return { ...before, ...(Object.fromEntries(told) as SessionSettings) };
}
