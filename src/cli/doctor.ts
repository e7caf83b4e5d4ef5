import { loadConfig } from "../wiring/config.ts";
import { type Command, exitCode } from "./command.ts";
import { checkEngines, checkSandbox } from "./doctor/engines.ts";
import type { Check, Finding } from "./doctor/finding.ts";
import { checkCallers, checkMachine, thisMachine } from "./doctor/machine.ts";
import { checkData, checkPlans, checkPorts } from "./doctor/places.ts";
import { checkRedis } from "./doctor/redis.ts";
import { columnsOf, plural, wrapped } from "./style.ts";

export const doctorCommand: Command = {
  usage: "doctor",
  about: "Check whether this machine is fit to serve: memory, ports, data, Redis, plans, sandbox, engines.",
  options: { json: { type: "boolean", about: "print each finding as one line of JSON" } },
  notes: [
    "Reads the same settings as serve, and changes neither settings nor data. Engines are started and tried, which takes some seconds.",
    "Exit code 1 if something would keep the service from starting or answering (✗); notes (!) do not change it.",
  ],
  async run({ values, signal, host }) {
    const config = loadConfig(host.env);
    const checks: readonly Check[] = [
      () => checkMachine(thisMachine(), config),
      () => checkPorts(config),
      () => checkData(config),
      () => checkRedis(config),
      () => checkPlans(config),
      () => checkCallers(config),
      () => checkSandbox(config),
      (signal) => checkEngines(config, signal),
    ];
    const counts = { good: 0, note: 0, bad: 0 };
    let part = "";
    for (const check of checks) {
      for await (const finding of check(signal)) {
        counts[finding.state]++;
        host.stdout.write(
          values.json
            ? `${JSON.stringify(finding)}\n`
            : textOf(finding, finding.part !== part, columnsOf(host)),
        );
        part = finding.part;
      }
    }
    if (!values.json) {
      host.stdout.write(`\n${verdict(counts)}\n`);
    }
    return counts.bad > 0 ? exitCode.failure : exitCode.ok;
  },
};

const marks = { good: "✓", note: "!", bad: "✗" } as const;
const partWidth = 13;

function textOf(
  { part, state, found, advice }: Finding,
  isNew: boolean,
  columns = Number.POSITIVE_INFINITY,
): string {
  const line = `${marks[state]} ${(isNew ? part : "").padEnd(partWidth)} ${found}`;
  const lines = advice === undefined ? [line] : [line, `  ${"".padEnd(partWidth)} → ${advice}`];
  const shown = lines.flatMap((each) => wrapped(each, columns, partWidth + 5));
  return shown.map((each) => `${each}\n`).join("");
}

function verdict({ note, bad }: Readonly<Record<Finding["state"], number>>): string {
  const notes = note === 0 ? "" : `, ${plural(note, "note")} (!)`;
  return bad === 0 ? `Fit to serve${notes}.` : `Not fit to serve: ${plural(bad, "problem")} (✗)${notes}.`;
}
