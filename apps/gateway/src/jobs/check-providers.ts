import type { Job } from './job';

/** Begins due health checks of providers. `run` doesn't wait for them. */
export const checkProviders = (run: () => void): Job => ({
  name: 'check_providers',
  intervalMs: 1000,
  run: async () => {
    run();
    return null;
  },
});
