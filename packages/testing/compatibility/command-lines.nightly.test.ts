import { describe, test } from 'bun:test';
import { COMMAND_LINE_FEATURES, COMMAND_LINES } from './command-lines/prove-command-line';
import { familiesOf } from './matrix';
import { SETUP_MS, useMatrix } from './prove-clients';

const matrix = useMatrix();

describe.each([...COMMAND_LINES])('$name', (program) => {
  for (const family of familiesOf(program)) {
    test.each([...COMMAND_LINE_FEATURES])(
      `${family.name}: %s`,
      (feature) => matrix().proveCommandLine(program, family, feature),
      SETUP_MS,
    );
  }
});
