import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectNightly } from '../lane';
import {
  endProcess,
  freePort,
  removeFolder,
  runCommand,
  temporaryFolder,
  waitUntilReady,
} from '../stores/server-process';
import { cacheFolder } from '../stores/start-postgres';

const VERSION = '3.9.1';

/** One broker with two listeners: open, and with SASL PLAIN for `me` with the password `p@ss`. */
export interface KafkaServer {
  readonly open: string;
  readonly sasl: string;
  stop(): Promise<void>;
}

/** Installs Kafka with Maven into a folder kept between runs; throws, saying what is missing, when it can't be had. */
export async function startKafka(): Promise<KafkaServer> {
  const libraries = await installKafka();
  const [open, sasl, controller] = [await freePort(), await freePort(), await freePort()];
  const folder = temporaryFolder('kafka');
  const settings = join(folder, 'server.properties');
  await Bun.write(settings, settingsOf({ open, sasl, controller, folder }));
  const java = ['java', '-Xmx384m', '-cp', join(libraries, '*')];
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
  const formatted = await runCommand([...java, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', settings]);
  if (formatted.code !== 0) throw new Error(`Kafka's folder could not be made: ${formatted.stderr}`);
  const child = Bun.spawn([...java, 'kafka.Kafka', settings], { stdout: 'ignore', stderr: 'ignore' });
  const stop = async () => {
    await endProcess(child, 'SIGTERM');
    removeFolder(folder);
  };
  try {
    await waitUntilReady('Kafka', child, () => accepts(open));
  } catch (error) {
    await stop();
    throw error;
  }
  return { open: `127.0.0.1:${open}`, sasl: `127.0.0.1:${sasl}`, stop };
}

async function installKafka(): Promise<string> {
  expectNightly(`Kafka ${VERSION}`);
  if (Bun.which('mvn') === null || Bun.which('java') === null) {
    throw new Error('Java and Maven are needed to test Kafka: install a JDK and maven');
  }
  const folder = join(cacheFolder(), `kafka-${VERSION}`);
  if (existsSync(folder)) return folder;
  // Moved into place as a whole, so that an interrupted installation is never taken for one.
  const half = `${folder}.${process.pid}`;
  await Bun.write(join(half, 'pom.xml'), POM);
  const goal = ['dependency:copy-dependencies', '-DoutputDirectory=.'];
  const maven = Bun.spawn(['mvn', '-q', '-B', ...goal], { cwd: half, stdout: 'pipe', stderr: 'ignore' });
  const problem = await new Response(maven.stdout).text();
  if ((await maven.exited) !== 0) {
    rmSync(half, { recursive: true, force: true });
    throw new Error(`Maven could not install Kafka ${VERSION}: ${problem.trim().split('\n').at(-1)}`);
  }
  renameSync(half, folder);
  return folder;
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>llm0</groupId><artifactId>kafka</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${VERSION}</version>
</dependency></dependencies></project>`;

interface Places {
  readonly open: number;
  readonly sasl: number;
  readonly controller: number;
  readonly folder: string;
}

const settingsOf = ({ open, sasl, controller, folder }: Places): string => `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=OPEN://127.0.0.1:${open},SASL://127.0.0.1:${sasl},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=OPEN://127.0.0.1:${open},SASL://127.0.0.1:${sasl}
listener.security.protocol.map=OPEN:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=OPEN
controller.listener.names=CONTROLLER
sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_me="p@ss";
log.dirs=${folder}/data
offsets.topic.replication.factor=1
auto.create.topics.enable=false
`;

const accepts = async (port: number): Promise<boolean> =>
  Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
    (socket) => {
      socket.end();
      return true;
    },
    () => false,
  );
