import { readConfig } from '../config/config';
import { resetAdminToken } from '../process/reset-admin-token';
import type { LocalCommand } from './command';

/** What works on the stores themselves: DATABASE_URL's, or those embedded in DATA_DIR of a gateway that is stopped. */
export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  {
    name: 'reset-admin-token',
    summary: 'Make an admin token for who lost theirs; on the stores themselves, without one',
    runHere: async ({ env, say, note }) => {
      const config = readConfig(env);
      const token = await resetAdminToken(config, note);
      say(`admin token: ${token}`);
      note('It is shown this once: keep it now. The one that the first start showed opens nothing any more.');
      if (config.adminToken !== undefined) note('ADMIN_TOKEN is set here: where it is set, it opens as well.');
      return { token };
    },
  },
];
