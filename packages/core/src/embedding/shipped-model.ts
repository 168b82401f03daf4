import { join } from 'node:path';

/** The model in this repository: all-MiniLM-L6-v2, 8 bits, 384 dimensions, English. */
export const SHIPPED_MODEL = {
  model: 'Xenova/all-MiniLM-L6-v2:q8',
  modelPath: join(import.meta.dir, '../../models/Xenova/all-MiniLM-L6-v2'),
  englishOnly: true,
} as const;
