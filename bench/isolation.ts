/**
 * Callers that abuse every option between the calls of an honest one, over JSON, events and gRPC, on the same engines.
 * Each answer to the honest one is compared, byte by byte but for its id and the clock, with what a server answered
 * that was started for that call alone. The cache is off: every answer is a search. Told: answers that differ.
 *
 *     node bench/isolation.ts [abusing calls on each path, default 10000] [seed, default 1]
 */
import { createRandom } from "../test/support/random.ts";
import { type Server, startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { type EngineChoice, engineChoicesOf } from "./engine-choices.ts";
import { abusesOf, type Outcome } from "./isolation/abuses.ts";
import { createAskProbe, type Probe, probes } from "./isolation/probes.ts";

const callsMax = Number(process.argv[2] ?? 10_000);
const random = createRandom(Number(process.argv[3] ?? 1));
/** More than slots: an engine hardly ever comes from the honest caller to the honest caller. */
const abusers = 4;
const slots = 2;
const honest = "10.0.0.1";

function start({ engine }: Partial<EngineChoice>): Promise<Server> {
  return startServer({
    PATH: process.env.PATH,
    KIBITZ_DATA_DIR: makeDataFolder(),
    KIBITZ_ACCESS: "open",
    KIBITZ_SLOTS: String(slots),
    KIBITZ_CACHE_MB: "0",
    KIBITZ_STORE_MB: "0",
    // Callers of one address would stand in one queue.
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
    ...(engine && { KIBITZ_DEFAULT_ENGINE: engine }),
  });
}

async function expectedOf(choice: EngineChoice): Promise<ReadonlyMap<Probe, string>> {
  const expected = new Map<Probe, string>();
  for (const probe of probes) {
    const server = await start(choice);
    const answer = await createAskProbe(server.url, choice, honest)(probe);
    if (!answer.includes('"deterministic":true')) {
      throw new Error(`no answer to compare with: ${answer}`);
    }
    expected.set(probe, answer);
    await server.stop();
  }
  return expected;
}

/** The place where two texts part, with what stands around it. */
function differenceOf(expected: string, answer: string): string {
  const at = [...expected].findIndex((char, index) => char !== answer[index]);
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  return `${around(expected)} … became … ${around(answer)}`;
}

async function tryOn(choice: EngineChoice): Promise<boolean> {
  const expected = await expectedOf(choice);
  const server = await start(choice);
  const outcomes: Record<Outcome, number> = { answered: 0, refused: 0, left: 0 };
  const byKind = new Map<string, number>();
  const strange: string[] = [];
  let begun = 0;

  async function abuse(address: string): Promise<void> {
    const abuses = abusesOf(server.url, choice, random, address, () => random.pick(honestCalls));
    while (begun < callsMax) {
      const number = ++begun;
      const { name, run } = random.pick(abuses);
      byKind.set(name, (byKind.get(name) ?? 0) + 1);
      try {
        outcomes[await run()]++;
      } catch (error) {
        strange.push(`${name}: ${error}`);
      }
      if (number % 1000 === 0) {
        console.log(`  ${number} calls, ${compared} answers compared, ${differing.length} differ`);
      }
    }
  }

  const differing: string[] = [];
  const byDoor = new Map<string, number>();
  let compared = 0;
  /** Under way, and next: whether they or an abuser is first to ask for the same is left to chance. */
  let honestCalls = [random.pick(probes), random.pick(probes)] as const;
  const ask = createAskProbe(server.url, choice, honest);

  async function probe(): Promise<void> {
    const [, one] = honestCalls;
    honestCalls = [one, random.pick(probes)];
    const answer = await ask(one).catch((error) => `no answer: ${error}`);
    const wanted = expected.get(one) ?? "";
    compared++;
    byDoor.set(one.door, (byDoor.get(one.door) ?? 0) + 1);
    if (answer !== wanted) {
      differing.push(`${one.door} ${one.fen} depth ${one.depth}: ${differenceOf(wanted, answer)}`);
    }
  }

  let over = false;
  const probing = (async () => {
    while (!over) {
      await probe();
    }
  })();
  await Promise.all(Array.from({ length: abusers }, (_, at) => abuse(`10.0.1.${at}`)));
  over = true;
  await probing;
  const exitCode = await server.stop();

  const counts = (map: ReadonlyMap<string, number>) =>
    [...map].map(([name, count]) => `${count} × ${name}`).join(", ");
  const { answered, refused, left } = outcomes;
  console.log(
    `${choice.engine}, ${choice.path}: ${begun} abusing calls: ${answered} answered, ${refused} refused, ${left} left; ${strange.length} otherwise (goal: 0)`,
  );
  console.log(`  ${counts(byKind)}`);
  for (const one of strange.slice(0, 10)) {
    console.log(`  ${one}`);
  }
  console.log(`  ${compared} answers between them compared: ${counts(byDoor)}`);
  console.log(`  differing answers: ${differing.length} (goal: 0); exit code ${exitCode}`);
  for (const one of differing.slice(0, 10)) {
    console.log(`  ${one}`);
  }
  return differing.length === 0 && strange.length === 0 && exitCode === 0;
}

const asked = await start({});
const choices = (await engineChoicesOf(asked.url)).filter(({ engine }) => engine !== "stockfish-19");
await asked.stop();
if (!choices.some(({ path }) => path === "native")) {
  console.log("native: no engine here");
}
const passed: boolean[] = [];
for (const choice of choices) {
  passed.push(await tryOn(choice));
}
process.exitCode = passed.every(Boolean) ? 0 : 1;
