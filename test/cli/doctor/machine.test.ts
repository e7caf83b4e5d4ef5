import { expect, test } from "vitest";
import { lookAtMachine, lookAtProxies, type Machine } from "../../../src/cli/doctor/machine.ts";
import { loadConfig } from "../../../src/wiring/config.ts";

const fit: Machine = {
  nodeVersion: "26.1.0",
  platform: "linux",
  arch: "x64",
  cores: 4,
  cpu: "AMD EPYC",
  totalBytes: 16e9,
  freeBytes: 8e9,
  limitBytes: undefined,
  now: Date.parse("2027-01-01"),
};
const settings = { KIBITZ_SLOTS: "4", KIBITZ_ENGINE_MEMORY_MB: "8000" };

/** What is not good, by its part. */
function troublesOf(machine: Partial<Machine>, env: Readonly<Record<string, string>> = {}) {
  const findings = [...lookAtMachine({ ...fit, ...machine }, loadConfig({ ...settings, ...env }))];
  for (const { state, advice } of findings) {
    expect(advice === undefined).toBe(state === "good");
  }
  return findings.filter(({ state }) => state !== "good").map(({ part, state }) => `${part}: ${state}`);
}

test("kibitz doctor finds no trouble on a machine that is fit", () => {
  expect(troublesOf({})).toEqual([]);
});

test.each([
  ["an old Node", { nodeVersion: "22.9.0" }, {}, ["node: bad"]],
  ["no sandbox", { platform: "darwin" }, {}, ["platform: note"]],
  ["a clock at its beginning", { now: 0 }, {}, ["clock: bad"]],
  ["too little memory", { totalBytes: 1e9 }, {}, ["memory: bad"]],
  ["a container with too little memory", { limitBytes: 1e9 }, {}, ["memory: bad"]],
  ["hash tables that do not fit", {}, { KIBITZ_HASH_MB: "4096" }, ["memory: bad"]],
  ["engines that may not have it", {}, { KIBITZ_ENGINE_MEMORY_MB: "500" }, ["memory: note"]],
  ["fewer cores than slots", { cores: 2 }, {}, ["slots: note"]],
  ["fewer cores than threads", {}, { KIBITZ_THREADS: "2" }, ["slots: note"]],
])("kibitz doctor reports a machine with %s, and the way out", (_, machine, env, expected) => {
  expect(troublesOf(machine, env)).toEqual(expected);
});

test.each([
  ["this machine alone", {}, []],
  ["anybody", { KIBITZ_HOST: "0.0.0.0" }, ["proxies"]],
  ["a proxy that is named", { KIBITZ_HOST: "0.0.0.0", KIBITZ_TRUST_PROXY: "10.0.0.0/8" }, []],
  ["anybody, without limits", { KIBITZ_HOST: "::", KIBITZ_ACCESS: "open" }, ["proxies", "access"]],
])("kibitz doctor says who can reach the service: %s", (_, env, parts) => {
  const troubles = [...lookAtProxies(loadConfig(env))].filter(({ state }) => state !== "good");
  expect(troubles.map(({ part }) => part)).toEqual(parts);
});
