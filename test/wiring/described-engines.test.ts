import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { enginesFromJson, loadDescribedEngines } from "../../src/wiring/described-engines.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const engine = { id: "maia-1500", command: "lc0" };
const read = (...engines: readonly unknown[]) => enginesFromJson(JSON.stringify({ engines }), "/etc/kibitz");
const faultsOf = (...engines: readonly unknown[]) => {
  const reading = read(...engines);
  return reading.kind === "violations" ? reading.violations : expect.fail("accepted");
};
const pointersOf = (...engines: readonly unknown[]) => faultsOf(...engines).map(({ pointer }) => pointer);

describe("a file of engines", () => {
  test("a description has only an id and a command, and relative paths are relative to the file", () => {
    expect(read(engine)).toEqual({
      kind: "engines",
      engines: [
        {
          id: "maia-1500",
          command: { written: "lc0", path: "/etc/kibitz/lc0" },
          ...{ args: [], env: {}, files: [], options: {} },
          ...{ instances: undefined, memoryMb: undefined, startMs: undefined, defaultLimit: undefined },
        },
      ],
    });
  });

  test("a description can set everything", () => {
    const all = {
      ...{ id: "leela", command: "/opt/lc0", args: ["--threads=1"], env: { LD_LIBRARY_PATH: "/opt/cuda" } },
      ...{ files: ["nets/a.pb.gz"], options: { Backend: "eigen", MinibatchSize: 1, TwoFoldDraws: false } },
      ...{ instances: 2, memory_mb: 700, start_ms: 60_000, default_limit: { nodes: 1 } },
    };
    const reading = read(all);
    expect(reading.kind === "engines" && reading.engines[0]).toMatchObject({
      ...{ id: "leela", args: all.args, env: all.env, options: all.options, instances: 2, memoryMb: 700 },
      command: { path: "/opt/lc0" },
      files: [{ written: "nets/a.pb.gz", path: "/etc/kibitz/nets/a.pb.gz" }],
      ...{ startMs: 60_000, defaultLimit: { depth: undefined, nodes: 1 } },
    });
  });

  test.each<[what: string, change: object, pointer: string]>([
    ["an id with capitals", { id: "Maia" }, "/id"],
    ["an id that is too long", { id: "m".repeat(65) }, "/id"],
    ["an id that begins with a dot", { id: ".maia" }, "/id"],
    ["the id latest", { id: "latest" }, "/id"],
    ["the id of an npm build", { id: "stockfish-19" }, "/id"],
    ["no command", { command: undefined }, "/command"],
    ["an empty command", { command: "" }, "/command"],
    ["a command with a line break", { command: "lc0\nquit" }, "/command"],
    ["arguments that are no list", { args: "--weights=a" }, "/args"],
    ["65 arguments", { args: Array(65).fill("a") }, "/args"],
    ["an argument that is no text", { args: ["a", 1] }, "/args/1"],
    [
      "33 names in the environment",
      {
        env: Object.fromEntries(
          Array(33)
            .entries()
            .map(([at]) => [`A${at}`, ""]),
        ),
      },
      "/env",
    ],
    ["a name with = in the environment", { env: { "A=B": "" } }, "/env"],
    ["a number in the environment", { env: { A: 1 } }, "/env/A"],
    [
      "17 files",
      {
        files: Array(17)
          .entries()
          .map(([at]) => `f${at}`)
          .toArray(),
      },
      "/files",
    ],
    ["two files with one name", { files: ["a/net", "b/net"] }, "/files/1"],
    ["a file with the name of the command", { files: ["nets/lc0"] }, "/files/0"],
    ["an option that is a list", { options: { Backend: ["eigen"] } }, "/options/Backend"],
    ["an option with a line break", { options: { Backend: "eigen\nquit" } }, "/options/Backend"],
    [
      "65 options",
      { options: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`A${at}`, 1])) },
      "/options",
    ],
    ["an option that Kibitz sets", { options: { multipv: 3 } }, "/options"],
    ["an option whose name ends early", { options: { "Backend value x": 3 } }, "/options"],
    ["no instance", { instances: 0 }, "/instances"],
    ["65 instances", { instances: 65 }, "/instances"],
    ["too little memory", { memory_mb: 15 }, "/memory_mb"],
    ["too much memory", { memory_mb: 65_537 }, "/memory_mb"],
    ["too short a start", { start_ms: 99 }, "/start_ms"],
    ["too long a start", { start_ms: 600_001 }, "/start_ms"],
    ["an empty default limit", { default_limit: {} }, "/default_limit"],
    ["two default limits", { default_limit: { depth: 1, nodes: 1 } }, "/default_limit"],
    ["a default depth out of range", { default_limit: { depth: 31 } }, "/default_limit/depth"],
    ["an unknown field", { instance: 1 }, "/instance"],
  ])("a description with %s is refused", (_, change, pointer) => {
    expect(pointersOf({ ...engine, ...change })).toEqual([`/engines/0${pointer}`]);
  });

  const listOf = (length: number, prefix = "") => Array.from({ length }, (_, at) => `${prefix}${at}`);
  const namesOf = (length: number) => Object.fromEntries(listOf(length, "A").map((name) => [name, "1"]));

  test.each<[what: string, change: object]>([
    ["the longest id", { id: `a${".-".repeat(31)}1` }],
    ["64 arguments", { args: listOf(64) }],
    ["an empty argument", { args: [""] }],
    ["32 names in the environment", { env: namesOf(32) }],
    ["16 files", { files: listOf(16, "f") }],
    ["64 options", { options: namesOf(64) }],
    ["one instance", { instances: 1 }],
    ["64 instances", { instances: 64 }],
    ["the least memory", { memory_mb: 16 }],
    ["the most memory", { memory_mb: 65_536 }],
    ["the shortest start", { start_ms: 100 }],
    ["the longest start", { start_ms: 600_000 }],
    ["the greatest default depth", { default_limit: { depth: 30 } }],
    ["the most nodes by default", { default_limit: { nodes: 1_000_000_000 } }],
  ])("a description with %s is accepted", (_, change) => {
    expect(read({ ...engine, ...change }).kind).toBe("engines");
  });

  test("32 engines are accepted", () => {
    const reading = read(...listOf(32, "e").map((id) => ({ ...engine, id })));
    expect(reading).toMatchObject({ engines: { length: 32 } });
  });

  test("an option that is a number beyond all bounds is refused", () => {
    const text = JSON.stringify({ engines: [{ ...engine, options: { Hash: 1 } }] }).replace(":1}", ":1e400}");
    expect(enginesFromJson(text, "/")).toMatchObject({
      kind: "violations",
      violations: [{ pointer: "/engines/0/options/Hash" }],
    });
  });

  test("a misspelt field is refused with the most similar name", () => {
    expect(faultsOf({ ...engine, memory: 100 })[0]?.message).toContain("`memory_mb`");
  });

  test("all faults of a file are reported at once", () => {
    expect(pointersOf({ id: "A" }, engine, engine, 7)).toEqual([
      "/engines/0/id",
      "/engines/0/command",
      "/engines/3",
      "/engines/2/id",
    ]);
  });

  test.each([
    ["no engine", { engines: [] }],
    ["33 engines", { engines: Array(33).fill(engine) }],
    ["no list", {}],
  ])("a file with %s is refused", (_, json) => {
    const reading = enginesFromJson(JSON.stringify(json), "/");
    expect(reading.kind === "violations" && reading.violations[0]?.pointer).toBe("/engines");
  });

  test("a file of more than 64 KiB is refused", () => {
    const file = join(folder, "large.json");
    writeFileSync(file, JSON.stringify({ engines: [engine] }).padEnd(65_537));
    expect(() => loadDescribedEngines(file)).toThrow("KIBITZ_ENGINES: ");
    writeFileSync(file, JSON.stringify({ engines: [engine] }).padEnd(65_536));
    expect(loadDescribedEngines(file)).toHaveLength(1);
  });

  test("files with more than 4 GiB together are refused", () => {
    const [large, file] = [join(folder, "large.pb"), join(folder, "engines.json")];
    writeFileSync(large, "");
    truncateSync(large, 4 * 1024 ** 3);
    const described = (files: readonly string[]) =>
      writeFileSync(file, JSON.stringify({ engines: [{ ...engine, files }] }));
    described(["large.pb"]);
    expect(loadDescribedEngines(file)).toHaveLength(1);
    writeFileSync(join(folder, "small.pb"), "x");
    described(["large.pb", "small.pb"]);
    expect(() => loadDescribedEngines(file)).toThrow(/at \/engines\/0\/files: .* 4096 MiB is the maximum/);
  });
});
