import { verifiedMenMax } from "../../tablebase/files.ts";
import { openTablebase } from "../../tablebase/tablebase.ts";
import type { Config } from "../../wiring/settings.ts";
import { plural } from "../style.ts";
import { type Finding, good, note } from "./finding.ts";

const part = "tablebases";

/** Reads only the lists of the folders, and the end of each file. The service verifies a table when it is first used. */
export async function* checkTables({ syzygy }: Config): AsyncIterable<Finding> {
  if (syzygy === undefined) {
    yield good(part, "none, because KIBITZ_SYZYGY names no folder");
    return;
  }
  const problems: string[] = [];
  await using tablebase = await openTablebase(syzygy, {
    onProblem: (path, problem) => void problems.push(`${path} ${problem}`),
  });
  const summary = tablebase.summary();
  if (summary === undefined) {
    yield note(part, "no tables", "Put .rtbw and .rtbz files into a folder that KIBITZ_SYZYGY names.");
  } else {
    yield good(part, `${plural(summary.tables, "table")} of up to ${summary.men} men`);
  }
  for (const problem of problems) {
    yield note(part, problem, "Correct the folder in KIBITZ_SYZYGY, or the permissions of the file.");
  }
  if (summary && summary.men > verifiedMenMax) {
    yield note(
      part,
      "tables of 6 and 7 men are used after a check of their structure alone",
      "Compare these files with the published checksums, because Kibitz does not verify them.",
    );
  }
}
