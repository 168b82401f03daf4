// `bun run attack`: plays what a stranger with one key and a hostile vendor can do, and says whether the laws held.
import { type AttackCommand, readAttackCommand, USAGE } from '../attack/attack-options';

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const command = readCommandOrExit();
const say = (line: string) => console.log(line);
process.exit((await run(command)) ? 0 : 1);

async function run({ kind, options }: AttackCommand): Promise<boolean> {
  if (kind === 'fuzz') {
    const { runFuzz, showFuzz } = await import('../attack/fuzz/run-fuzz');
    const result = await runFuzz({ ...options, say });
    say(showFuzz(result));
    return result.isClean;
  }
  const [{ ATTACKS }, { runAttacks }, { showSum }, { closeAttackWorlds }] = await Promise.all([
    import('../attack/attacks/index'),
    import('../attack/run-attacks'),
    import('../attack/show-attack'),
    import('../attack/attack-world'),
  ]);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void closeAttackWorlds().finally(() => process.exit(1)));
  }
  say(`attack: seed ${options.seed}, ${options.stores} stores`);
  const { outcomes, breaches } = await runAttacks(ATTACKS, { ...options, say });
  say(showSum(outcomes));
  return breaches.size === 0;
}

function readCommandOrExit(): AttackCommand {
  try {
    return readAttackCommand(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}
