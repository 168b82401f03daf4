import { type Logger, pino } from 'pino';
import type { Config } from '../config/config';

/** JSON lines; readable ones on a terminal. Never pass bodies or secrets. */
export function createLogger(config: Pick<Config, 'logLevel'>, isTerminal: boolean): Logger {
  const options = {
    level: config.logLevel,
    base: { service: 'llm0-gateway' },
    redact: ['*.authorization', '*.apiKey'],
  };
  if (!isTerminal) return pino(options);
  const pretty = require('pino-pretty') as typeof import('pino-pretty');
  return pino(options, pretty({ colorize: true, ignore: 'pid,hostname,service', translateTime: 'HH:MM:ss.l' }));
}
