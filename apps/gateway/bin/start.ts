// `bun start`
import { runGateway } from './run-gateway';

process.exit(await runGateway([]));
