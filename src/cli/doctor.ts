import { availableParallelism } from "node:os";
import { withoutControlsInLines } from "../text/controls.ts";
import { loadConfig } from "../wiring/config.ts";
import { loadPlans } from "../wiring/plans.ts";
import { openCache } from "../wiring/service.ts";
import type { Config } from "../wiring/settings.ts";
import { type Command, exitCode } from "./command.ts";
import { checkEngines, checkSandbox } from "./doctor/engines.ts";
import { checkFiles } from "./doctor/files.ts";
import { bad, type Check, type Finding, good, messageOf } from "./doctor/finding.ts";
import { checkKeys } from "./doctor/keys.ts";
import { checkData, checkPorts } from "./doctor/places.ts";
import { checkRedis } from "./doctor/redis.ts";
import { checkTables } from "./doctor/tables.ts";
import { columnsOf, plural, wrapped } from "./style.ts";

const checks: readonly Check[] = [
  checkMachine,
  checkFiles,
  checkPlans,
  checkPorts,
  checkData,
  checkRedis,
  checkKeys,
  checkCache,
  checkSandbox,
  checkEngines,
  checkTables,
];

export const doctorCommand: Command = {
  usage: "doctor",
  about:
    "Check whether this machine is ready to serve: open files, plans, ports, data folder, Redis, keys, cache, sandbox, engines, endgame tables.",
  options: { json: { type: "boolean", about: "print each finding as one line of JSON" } },
  notes: [
    "Reads the same settings as serve, and changes neither settings nor data. Engines are started and tried, which takes some seconds.",
    "Exit code 1 if something would keep the service from starting or answering (✗); notes (!) do not change it.",
  ],
  async run({ values, signal, host }) {
    const config = loadConfig(host.env);
    const columns = columnsOf(host) ?? Number.POSITIVE_INFINITY;
    const counts = { good: 0, note: 0, bad: 0 };
    for (const check of checks) {
      for await (const finding of check(config, signal)) {
        counts[finding.state]++;
        const text = values.json ? `${JSON.stringify(finding)}\n` : textOf(finding, columns);
        // A finding can contain text of a setting or of an engine.
        host.stdout.write(withoutControlsInLines(text));
      }
    }
    if (!values.json) {
      host.stdout.write(`\n${verdict(counts)}\n`);
    }
    return counts.bad > 0 ? exitCode.failure : exitCode.ok;
  },
};

/** Does not check the version of Node: `bin/kibitz.js` has already rejected an old version. */
function* checkMachine(): Iterable<Finding> {
  const { platform, arch, versions } = process;
  const cores = plural(availableParallelism(), "core");
  yield good("machine", `Node.js ${versions.node}, ${platform} on ${arch}, ${cores}`);
}

function* checkCache(config: Config): Iterable<Finding> {
  try {
    openCache(config);
  } catch (error) {
    yield bad("cache", messageOf(error), "Correct KIBITZ_CACHE_MB, or give Node a larger heap.");
  }
}

function* checkPlans(config: Config): Iterable<Finding> {
  try {
    yield good("plans", plural(loadPlans(config).length, "plan"));
  } catch (error) {
    yield bad("plans", messageOf(error), "Correct the file that KIBITZ_PLANS names.");
  }
}

const marks = { good: "✓", note: "!", bad: "✗" } as const;
const partWidth = 13;

function textOf({ part, state, found, advice }: Finding, columns: number): string {
  const lines = [
    `${marks[state]} ${part.padEnd(partWidth)} ${found}`,
    ...(advice === undefined ? [] : [`  ${"".padEnd(partWidth)} → ${advice}`]),
  ];
  return lines
    .flatMap((line) => wrapped(line, columns, partWidth + 5))
    .map((line) => `${line}\n`)
    .join("");
}

function verdict({ note, bad }: Readonly<Record<Finding["state"], number>>): string {
  const notes = note === 0 ? "" : `, ${plural(note, "note")} (!)`;
  return bad === 0 ? `Ready to serve${notes}.` : `Not ready to serve: ${plural(bad, "problem")} (✗)${notes}.`;
}
