import type { Job } from './job';

/** Books and logs holds of dead processes; leases last 60 s. */
export const reapHolds: Job = {
  name: 'reap_holds',
  intervalMs: 5_000,
  async run({ hotStore }) {
    const reaped = await hotStore.reap();
    return reaped === 0 ? null : { message: `${reaped} holds of lost requests booked`, metadata: { reaped } };
  },
};
