import { savedViews } from '../schema/admin-access';
import { Rows, type Stored } from './rows';

/** Lists of requests that admins share. */
export const savedViewRows = new Rows(savedViews);
export type StoredView = Stored<typeof savedViewRows>;
