import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { EngineDescription } from "../../src/engine/backends/native/described.ts";
import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { digestOf } from "../../src/engine/file-integrity.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { type Log, silentLog } from "../../src/log/log.ts";
import { startFen } from "../chess/validated.ts";
import { commandOfFake, commandOfFakeLc0, type FakeEngineOptions } from "../support/fake-engine/index.ts";
import { patienceMs } from "../support/patience.ts";
import { jobOf } from "./job-of.ts";
import { enginesRunning } from "./processes.ts";
import { createFolder, writeScript } from "./write-script.ts";

const forever = new AbortController().signal;
const settings = { hashMb: 16, threads: 1 };
const quoted = ({ file, args }: ReturnType<typeof commandOfFake>) =>
  `exec "${file}" "${args.join('" "')}" "$@"`;
const lc0 = (slowMs = 0) => writeScript(quoted(commandOfFakeLc0(slowMs)), "lc0");
const fake = (options: FakeEngineOptions) =>
  writeScript(quoted(commandOfFake({ iterationMs: 1, ...options })));

function described(command: string, changes: Partial<EngineDescription> = {}): EngineDescription {
  return {
    ...{ id: "leela", command: { written: basename(command), path: command }, args: [], env: {}, files: [] },
    ...{
      options: {},
      instances: undefined,
      memoryMb: undefined,
      startMs: undefined,
      defaultLimit: undefined,
    },
    ...changes,
  };
}

function network(text = "weights"): { readonly written: string; readonly path: string } {
  const path = join(createFolder(), "net.pb");
  writeFileSync(path, text);
  return { written: "nets/net.pb", path };
}

async function discover(descriptions: readonly EngineDescription[], files: readonly string[] = []) {
  const warnings: string[] = [];
  const warn: Log["warn"] = (fields, message) => warnings.push(`${message}: ${JSON.stringify(fields)}`);
  const where = { files, searchPath: "/usr/bin:/bin", described: descriptions };
  const backend = createNativeBackend(settings, where, noSandbox, { ...silentLog, warn });
  return { builds: await backend.discover(forever), backend, warnings };
}

async function only(description: EngineDescription) {
  const { builds, ...rest } = await discover([description]);
  return { build: builds[0] ?? expect.fail("no build"), ...rest };
}

afterEach(async () => {
  await expect.poll(enginesRunning, { timeout: patienceMs }).toEqual([]);
});

describe("an engine that behaves like Lc0", () => {
  test("the described id, the family and the digest over the command and its files are listed", async () => {
    const command = lc0();
    const net = network();
    const { build, warnings } = await only(described(command, { files: [net] }));
    expect(build).toMatchObject({
      ...{ id: "leela", name: "Lc0 v0.99.0+git.fake", family: "lc0", version: "v0.99.0" },
      ...{
        reproducible: false,
        defaultLimit: { depth: undefined, nodes: 100 },
        unavailableReason: undefined,
      },
      ...{ sha256: await digestOf([command, net.path]), options: [{ name: "uci_chess960" }] },
    });
    expect(warnings).toEqual([]);
  });

  test("the start includes the slow first search, so the first request is quick", async () => {
    const slowMs = 700;
    const { build, backend } = await only(described(lc0(slowMs), { startMs: 60_000 }));
    const startedAt = performance.now();
    await using session = await backend.start(build, forever);
    expect(performance.now() - startedAt).toBeGreaterThan(slowMs);
    const { endedBy, snapshot } = await session.search(jobOf({ depth: undefined, nodes: 5 }), forever);
    expect({ endedBy, complete: snapshot.complete }).toEqual({ endedBy: "nodes", complete: true });
    expect(snapshot.counters.timeMs).toBeLessThan(slowMs);
  });

  test("a search has all lines with WDL, stops at once, and a search of one node has a result", async () => {
    const { build, backend } = await only(described(lc0()));
    await using session = await backend.start(build, forever);
    const many = await session.search(jobOf({ depth: undefined, nodes: 9, multipv: 3 }), forever);
    expect(many.snapshot.lines).toHaveLength(3);
    expect(many.snapshot.lines[0]?.score.wdl).toEqual({ win: 500, draw: 300, loss: 200 });
    const one = await session.search(jobOf({ depth: undefined, nodes: 1 }), forever);
    expect(one).toMatchObject({ endedBy: "nodes", snapshot: { complete: true, counters: { nodes: 1 } } });
    const caller = new AbortController();
    const endless = session.search(jobOf({ depth: undefined }), caller.signal, () =>
      caller.abort(new Error("left")),
    );
    await expect(endless).rejects.toThrow("left");
    expect(session.alive).toBe(true);
  });

  test("an engine that is too slow to start is left out", async () => {
    const { build } = await only(described(lc0(30_000), { startMs: 500 }));
    expect(build.unavailableReason).toMatch(/^not ready within \d+ ms\.$/);
  });
});

describe("how a described engine is started", () => {
  /** An engine that writes its arguments and its environment into its name. */
  const telling = (what: string) =>
    writeScript(
      `echo "id name Stockfish ${what}"; echo "option name File type string"; echo "option name Skill Level type spin default 20 min 0 max 20"; echo uciok; cat > /dev/null`,
    );
  const reasonOf = async (command: string, changes: Partial<EngineDescription>) =>
    (await only(described(command, { startMs: 2000, ...changes }))).build.unavailableReason;

  test("the engine gets its arguments, with the paths of its files in them replaced", async () => {
    const net = network();
    const folder = createFolder();
    const command = writeScript(
      `echo "$@" > ${folder}/args; env | sort > ${folder}/env; ${quoted(commandOfFakeLc0())}`,
    );
    const args = ["--weights=nets/net.pb", "nets/net.pb", "--nets/net.pb", "x nets/net.pb"];
    const { build } = await only(described(command, { args, files: [net], env: { A: "b c" } }));
    expect(build.launch?.args).toEqual([`--weights=${net.path}`, net.path, "--nets/net.pb", "x nets/net.pb"]);
    expect(build.launch?.env).toEqual({ PATH: "/usr/bin:/bin", A: "b c" });
  });

  test("an option gets the path of a file, and keeps its value between searches", async () => {
    const net = network();
    const { build, backend } = await only(
      described(lc0(), { files: [net], options: { WeightsFile: "nets/net.pb", MinibatchSize: 3 } }),
    );
    expect(build.launch?.options).toEqual(
      new Map([
        ["WeightsFile", net.path],
        ["MinibatchSize", "3"],
      ]),
    );
    await using session = await backend.start(build, forever);
    for (const _ of [1, 2]) {
      await session.search(jobOf({ fen: startFen, depth: undefined, nodes: 2 }), forever);
    }
    // The engine reads its network in each search, so it fails without the file.
    renameSync(net.path, `${net.path}.gone`);
    const failing = session.search(jobOf({ depth: undefined, nodes: 2 }), forever);
    await expect(failing).rejects.toMatchObject({ kind: "exited" });
  });

  test("the options Threads and Hash of a description are shown as the settings of the engine", async () => {
    const { build } = await only(
      described(fake({ name: "Stockfish 1.0", learned: true }), {
        options: { Threads: 2, Hash: 64, "Skill Level": 5 },
      }),
    );
    expect(build).toMatchObject({ settings: { threads: 2, hashMb: 64 }, reproducible: false });
    expect(build.options.find(({ name }) => name === "skill_level")?.default).toBe(5);
  });

  test("the options Threads and Hash of a description may also be texts", async () => {
    const options = { Threads: "2", Hash: "64" };
    const { build } = await only(described(fake({ name: "Stockfish 1.0", learned: true }), { options }));
    expect(build).toMatchObject({ settings: { threads: 2, hashMb: 64 }, reproducible: false });
  });

  test.each<[options: EngineDescription["options"]]>([
    [{ "Skill Level": 3 }],
    [{ UCI_LimitStrength: true, UCI_Elo: 1500 }],
  ])("an engine that plays below its full strength with %j is not reproducible", async (options) => {
    const { build, warnings } = await only(
      described(fake({ name: "Stockfish 1.0", learned: true }), { options }),
    );
    expect(build).toMatchObject({ reproducible: false, selfTestNodes: undefined });
    expect(warnings).toEqual([]);
  });

  test.each<[value: number]>([[-5], [1.5], [1e300], [99_999_999_999]])(
    "an engine that is left out because of the hash %d is still listed with valid numbers",
    async (value) => {
      const { build } = await only(described(fake({}), { options: { Hash: value } }));
      expect(build.unavailableReason).toContain('the option "Hash" must be an integer from 1 to');
      expect(build.settings).toEqual(settings);
    },
  );

  test.each<[options: EngineDescription["options"], reason: string]>([
    [{ Fil: "x" }, 'the engine has no option "Fil": did you mean `File`?'],
    [{ "Skill Level": 21 }, 'the option "Skill Level" must be an integer from 0 to 20, not "21".'],
    [{ "Skill Level": "high" }, 'the option "Skill Level" must be an integer from 0 to 20, not "high".'],
  ])("an engine that cannot take the options %j is left out with the reason", async (options, reason) => {
    expect(await reasonOf(telling("1"), { options })).toBe(reason);
  });
});

describe("an engine that is left out", () => {
  test.each<[what: string, create: () => EngineDescription, reason: string | RegExp]>([
    ["whose command is missing", () => described("/nowhere/secret/lc0"), "the command lc0 does not exist."],
    [
      "whose missing file has a name of many surrogate pairs",
      () => described(lc0(), { files: [{ written: "net.pb", path: `/nowhere/${"😀".repeat(200)}` }] }),
      /^the file (😀)+\ufffd\.$/u,
    ],
    ["whose command is a folder", () => described(createFolder()), /^the command .* is not a file\.$/],
    [
      "whose command cannot be executed",
      () => {
        const file = lc0();
        chmodSync(file, 0o644);
        return described(file);
      },
      "the command lc0 cannot be executed.",
    ],
    [
      "whose file is missing",
      () => described(lc0(), { files: [{ written: "net.pb", path: "/nowhere/net.pb" }] }),
      "the file net.pb does not exist.",
    ],
    ["that exits", () => described(writeScript("exit 1")), "the engine closed its pipe."],
    [
      "that answers twice",
      () => described(fake({ misbehaviour: "twice" })),
      "the engine was gone before the search began: a bestmove without a search.",
    ],
    ["that answers an illegal move", () => described(fake({ misbehaviour: "illegal" })), /a1h8 is not legal/],
    ["that answers no move", () => described(fake({ misbehaviour: "no-move" })), /bestmove \(none\)/],
    [
      "that does not see the mate of its family",
      () => described(fake({ name: "Stockfish 1.0" })),
      /mate in two/,
    ],
    [
      "that has no depth for its default limit",
      () => described(lc0(), { defaultLimit: { depth: 3, nodes: undefined } }),
      "it does not search by depth: give `nodes` in its `default_limit`.",
    ],
  ])("an engine %s is listed with the reason, and the others serve", async (_, create, reason) => {
    const description = create();
    const good = described(fake({}), { id: "good" });
    const { builds, warnings } = await discover([description, good]);
    const [left, other] = builds;
    expect(left).toMatchObject({ id: "leela", unavailableReason: expect.stringMatching(reason) });
    expect(left?.unavailableReason).not.toContain(dirname(description.command.path));
    expect(other).toMatchObject({ id: "good", unavailableReason: undefined });
    expect(warnings).toEqual([expect.stringContaining("described engine left out")]);
    expect(warnings[0]).toContain(description.command.path);
  });
});

describe("an engine that is also found", () => {
  test("a described binary is not listed a second time", async () => {
    const command = fake({});
    const { builds } = await discover([described(command)], [command]);
    expect(builds.map(({ id }) => id)).toEqual(["leela"]);
  });

  test("if another binary has the described id, the described engine keeps the id", async () => {
    const { builds } = await discover([described(fake({}), { id: "fake-1.0" })], [fake({ iterationMs: 2 })]);
    expect(builds.map(({ id }) => id)).toEqual([
      "fake-1.0",
      expect.stringMatching(/^fake-1\.0-[0-9a-f]{8}$/),
    ]);
  });
});

test("a change of arguments, environment or options is another engine for stored results", async () => {
  const command = fake({});
  const digests: (string | undefined)[] = [];
  for (const changes of [{}, { args: ["x"] }, { env: { A: "1" } }, { options: { "Skill Level": 20 } }]) {
    digests.push((await only(described(command, changes))).build.launch?.digest);
  }
  expect(new Set(digests).size).toBe(4);
});
