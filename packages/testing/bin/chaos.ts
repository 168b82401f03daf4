// `bun run chaos`: breaks a gateway and its stores in every way for a while, then proves that the books are even.
import { readChaosCommand, USAGE } from '../chaos/chaos-options';
import { closeWorlds } from '../chaos/chaos-world';
import { type ChaosResult, runChaos } from '../chaos/run-chaos';
import { showChaosResult, showChaosTable } from '../chaos/show-chaos';

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const { options, runs } = readCommandOrExit();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void closeWorlds().finally(() => process.exit(1)));
}
const results: ChaosResult[] = [];
for (let run = 0; run < runs; run++) {
  const seed = options.seed + run;
  console.log(
    `chaos: seed ${seed}, ${options.stores} stores, ${options.replicas} gateways, ${options.durationMs / 1000} s`,
  );
  const result = await runChaos({ ...options, seed, say: (line) => console.log(line) });
  console.log(showChaosResult(result));
  results.push(result);
}
if (runs > 1) console.log(showChaosTable(results));
process.exit(results.every(({ isEven }) => isEven) ? 0 : 1);

function readCommandOrExit(): ReturnType<typeof readChaosCommand> {
  try {
    return readChaosCommand(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}
