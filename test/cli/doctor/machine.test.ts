import { expect, test } from "vitest";
import { checkCallers, checkMachine, type Machine } from "../../../src/cli/doctor/machine.ts";
import { loadConfig } from "../../../src/wiring/config.ts";

const fit: Machine = { platform: "linux", cores: 4, memoryBytes: 16e9 };

test.each([
  ["that is fit", {}, {}, []],
  ["without a sandbox", { platform: "darwin" }, {}, ["machine: note"]],
  ["with too little memory", { memoryBytes: 1e9 }, {}, ["memory: bad"]],
  ["whose hash tables do not fit", {}, { KIBITZ_HASH_MB: "4096" }, ["memory: bad"]],
  ["with fewer cores than slots", { cores: 2 }, {}, ["slots: note"]],
  ["with fewer cores than threads", {}, { KIBITZ_THREADS: "2" }, ["slots: note"]],
])("kibitz doctor reports what is wrong with a machine %s, and the way out", (_, machine, env, expected) => {
  const findings = [...checkMachine({ ...fit, ...machine }, loadConfig({ KIBITZ_SLOTS: "4", ...env }))];
  const troubles = findings.filter(({ state }) => state !== "good");
  expect(troubles.map(({ part, state }) => `${part}: ${state}`)).toEqual(expected);
  expect(troubles.every(({ advice }) => advice !== undefined)).toBe(true);
});

test.each([
  ["this machine alone", {}, []],
  ["anybody", { KIBITZ_HOST: "0.0.0.0" }, ["proxies"]],
  ["a proxy that is named", { KIBITZ_HOST: "0.0.0.0", KIBITZ_TRUST_PROXY: "10.0.0.0/8" }, []],
  ["anybody, without limits", { KIBITZ_HOST: "::", KIBITZ_ACCESS: "open" }, ["proxies", "access"]],
])("kibitz doctor reports who can reach the service: %s", (_, env, parts) => {
  const troubles = [...checkCallers(loadConfig(env))].filter(({ state }) => state !== "good");
  expect(troubles.map(({ part }) => part)).toEqual(parts);
});
