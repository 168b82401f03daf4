/** A bar against its limit, in percent of the width. */
export interface Bullet {
  readonly spent: number;
  readonly cap: number;
  /** Null without a forecast. */
  readonly forecast: number | null;
  /** Amount that passes the limit, already or by forecast; null for neither. */
  readonly passes: 'spent' | 'forecast' | null;
}

interface Amounts {
  readonly spent: number;
  readonly cap: number;
  readonly forecast: number | null;
}

/** Every limit is at the same place, so that bars compare; there is room beyond it. */
export const CAP_AT = 80;

/** Amounts beyond the room end at its edge. */
export function prepareBullet({ spent, cap, forecast }: Amounts): Bullet {
  const at = (amount: number) => {
    if (cap <= 0) return amount > 0 ? 100 : CAP_AT;
    return Math.min(100, Math.max(0, (amount / cap) * CAP_AT));
  };
  const passes = spent >= cap ? 'spent' : forecast !== null && forecast >= cap ? 'forecast' : null;
  return { spent: at(spent), cap: CAP_AT, forecast: forecast === null ? null : at(forecast), passes };
}
