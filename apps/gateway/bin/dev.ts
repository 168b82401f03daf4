// `bun run dev`: the gateway, started again whenever a source file changes.
import { runGateway } from './run-gateway';

process.exit(await runGateway(['--watch', '--no-clear-screen']));
