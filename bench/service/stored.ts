import { readFileSync } from "node:fs";
import { isWorthStoring } from "../../src/analysis/analysis.ts";
import { askedTwice } from "./cached.ts";
import type { BenchOptions } from "./options.ts";
import type { PeerSettings } from "./peer.ts";
import { type StartedKibitz, startKibitz } from "./peers/kibitz.ts";
import type { QuestionBook } from "./questions.ts";
import type { Row } from "./rows.ts";
import { takeTurns } from "./turns.ts";

const questionCount = 100;
const callers = 8;

/** The settings of each node. The first node has no cache and no store. */
const sources = {
  "Kibitz, searched": { KIBITZ_CACHE_MB: "0", KIBITZ_STORE_MB: "0" },
  "Kibitz, stored": { KIBITZ_CACHE_MB: "0" },
  "Kibitz, cached": { KIBITZ_STORE_MB: "0" },
} as const;

/** Compares answers of a search, answers from disk and answers from the cache. */
export async function measureStored(
  { depths, rounds, warmSeconds, seconds }: BenchOptions,
  settings: PeerSettings,
  book: QuestionBook,
  onRow: (row: Row) => void,
): Promise<void> {
  const started = new Map<string, StartedKibitz>();
  try {
    for (const [name, env] of Object.entries(sources)) {
      started.set(name, await startKibitz(settings, { settings: env }));
    }
    for (const depth of depths.filter((depth) => isWorthStoring({ depth, nodes: undefined }))) {
      const file = book.write(questionCount, (nextFen) => ({ fen: nextFen(), depth }));
      const questions: object[] = readFileSync(file, "utf8")
        .split("\n")
        .map((line) => JSON.parse(line));
      for (const [name, { server, headers }] of started) {
        for (const question of name === "Kibitz, searched" ? [] : questions) {
          await askedTwice(server.url, question, headers);
        }
      }
      for (const { load } of started.values()) {
        await load({ file, callers, seconds: warmSeconds, repeats: true });
      }
      const runners = [...started].map(([name, { pid, load }]) => ({
        name,
        pid,
        load: () => load({ file, callers, seconds, repeats: true }),
      }));
      const measured = await takeTurns(runners, rounds);
      onRow({ kind: "stored", path: settings.engine.path, depth, callers, measured });
    }
  } finally {
    await Promise.all([...started.values()].map(({ stop }) => stop()));
  }
}
