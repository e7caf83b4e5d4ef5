/** Writes responses of a service into the documents. A new example is a file without `status` and `answer`. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import {
  documents,
  documentWithAnswers,
  exampleIn,
  examples,
  exampleWithAnswer,
  plainSettings,
  textOf,
  twoAMinute,
} from "./shown-answers.ts";

const dataDir = mkdtempSync(join(tmpdir(), "kibitz-update-"));
const plansFile = join(dataDir, "plans.json");
writeFileSync(plansFile, JSON.stringify({ plans: twoAMinute }));
const settings = { ...quickestSettings, ...plainSettings, KIBITZ_DATA_DIR: dataDir };
const server = await startServer(settings);
const limited = await startServer({
  ...settings,
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_PLANS: plansFile,
  KIBITZ_DATA_DIR: join(dataDir, "limited"),
});
try {
  for (const path of examples) {
    write(path, await exampleWithAnswer(path, (exampleIn(path).status === 429 ? limited : server).url));
  }
  for (const path of documents) {
    write(path, await documentWithAnswers(path, server.url));
  }
} finally {
  await Promise.all([server.stop(), limited.stop()]);
  rmSync(dataDir, { recursive: true });
}

function write(path: string, text: string): void {
  if (text !== textOf(path)) {
    writeFileSync(new URL(`../${path}`, import.meta.url), text);
    console.log(`renewed: ${path}`);
  }
}
