import { describe, expect, test } from "vitest";
import { createCatalog } from "../../src/engine/catalog.ts";
import type { EngineBuild, EnginePath } from "../../src/engine/engine.ts";
import { buildOf, launchOf, options } from "./build-of.ts";

/** Parses a short description of a build, such as `wasm 19`, `native 15.1`, `wasm 19 lite` or `native arasan-25`. */
function build(text: string): EngineBuild {
  const [path, name = "", net = "full"] = text.split(" ") as [EnginePath, string?, EngineBuild["net"]?];
  const [, family = "stockfish", version = ""] = /^(?:(arasan|berserk|clover)-)?(.*)$/.exec(name) ?? [];
  return buildOf({
    id: `${family}-${version}${net === "lite" ? "-lite" : ""}`,
    path,
    family,
    version,
    net,
  });
}

const catalog = (builds: readonly string[], defaultEngine?: string) =>
  createCatalog(builds.map(build), defaultEngine);

const debian = ["native 15.1", "wasm 19", "wasm 19 lite"];

describe("versions", () => {
  test("the list of engine versions starts with the newest version, compared by number", () => {
    const { versions } = catalog(["wasm 17.1", "native 15.1", "wasm 19", "wasm 9", "wasm 18", "native 15"]);
    expect(versions.map(({ id }) => id)).toEqual([
      "stockfish-19",
      "stockfish-18",
      "stockfish-17.1",
      "stockfish-15.1",
      "stockfish-15",
      "stockfish-9",
    ]);
  });

  test("in the list of engine versions, a lite network is after the full network, and prereleases are last", () => {
    const { versions } = catalog(["native dev-20260110-3a1b2c4d", "wasm 19 lite", "wasm 19", "wasm 18"]);
    expect(versions.map(({ id }) => id)).toEqual([
      "stockfish-19",
      "stockfish-19-lite",
      "stockfish-18",
      "stockfish-dev-20260110-3a1b2c4d",
    ]);
  });

  test("engine versions are ordered by number, then by network", () => {
    const { versions } = catalog(["wasm 17", "wasm 17.1 lite"]);
    expect(versions.map(({ id }) => id)).toEqual(["stockfish-17.1-lite", "stockfish-17"]);
  });

  test("engine versions of other families come after Stockfish, because their numbers cannot be compared", () => {
    const { versions } = catalog(["native arasan-25", "native 15.1", "native berserk-13", "wasm 19"]);
    expect(versions.map(({ id }) => id)).toEqual([
      "stockfish-19",
      "stockfish-15.1",
      "arasan-25",
      "berserk-13",
    ]);
  });

  test("the order of engine versions does not depend on the order of discovery", () => {
    const ids = (builds: readonly string[]) => catalog(builds).versions.map(({ id }) => id);
    const some = ["native dev-b", "wasm 19", "native dev-a", "wasm 19 lite"];
    expect(ids(some)).toEqual(ids(some.toReversed()));
  });

  test("the native build of an engine version is the default build", () => {
    const { versions } = catalog(["wasm 19", "native 19"]);
    expect(versions).toHaveLength(1);
    expect(versions[0]?.builds.map(({ path }) => path)).toEqual(["wasm", "native"]);
    expect(versions[0]?.defaultBuild.path).toBe("native");
  });
});

describe("latest", () => {
  test.each([
    ["the newest release", debian, "stockfish-19"],
    ["the newest release, whether native or WebAssembly", ["native 20", "wasm 19"], "stockfish-20"],
    ["an older full network and not a newer lite network", ["wasm 19 lite", "native 15.1"], "stockfish-15.1"],
    ["a lite network if there is no full network", ["wasm 19 lite"], "stockfish-19-lite"],
    ["a release rather than a development build", ["native dev-20260110", "wasm 18"], "stockfish-18"],
    ["a development build if there is no release", ["native dev-20260110"], "stockfish-dev-20260110"],
  ])("latest is %s", (_, builds, id) => {
    expect(catalog(builds).latest.id).toBe(id);
  });

  test.each([
    [
      "Stockfish rather than another family with a higher number",
      ["native arasan-25", "wasm 19"],
      "stockfish-19",
    ],
    [
      "Stockfish even if it has only a lite network",
      ["native arasan-25", "wasm 19 lite"],
      "stockfish-19-lite",
    ],
    ["15.10 rather than 15.2", ["native 15.2", "native 15.10"], "stockfish-15.10"],
    ["a release rather than a release candidate", ["native 20-rc1", "wasm 19"], "stockfish-19"],
    [
      "the newest release of the first family if there is no Stockfish",
      ["native berserk-13", "native clover-9.1", "native berserk-12", "native arasan-dev"],
      "berserk-13",
    ],
  ])("latest is %s", (_, builds, id) => {
    expect(catalog(builds).latest.id).toBe(id);
    expect(catalog(builds.toReversed()).latest.id).toBe(id);
  });

  test("latest is a deprecated version only if no other version exists", () => {
    const going = buildOf({ id: "stockfish-20", version: "20", deprecatedSince: "2026-11-22" });
    const { latest, versions } = createCatalog([going, build("wasm 19")], undefined);
    expect(latest.id).toBe("stockfish-19");
    expect(versions.map(({ id, deprecated }) => [id, deprecated])).toEqual([
      ["stockfish-20", true],
      ["stockfish-19", false],
    ]);
    expect(createCatalog([going], undefined).latest.id).toBe("stockfish-20");
  });

  test.each(["stockfish-15.1", "stockfish-19-lite"])("latest is the operator's default engine: %s", (id) => {
    const { latest, resolve } = catalog(debian, id);
    expect(latest.id).toBe(id);
    expect(resolve("latest", "auto")).toMatchObject({ kind: "build", build: { id } });
  });
});

describe("described engines", () => {
  const found = build("wasm 19");
  const same = { ...build("native 19"), id: "weights", launch: launchOf() };
  const weak = {
    ...build("native 20"),
    id: "weak",
    launch: launchOf(),
    options: options.map((option) =>
      option.name === "skill_level" && option.kind === "integer" ? { ...option, default: 1 } : option,
    ),
  };

  test("latest is no described engine of the same version, whatever the id of the described engine", () => {
    expect(createCatalog([same, found], undefined).latest.id).toBe("stockfish-19");
  });

  test("latest is no engine below its full strength if there is another engine", () => {
    expect(createCatalog([weak, found], undefined).latest.id).toBe("stockfish-19");
    expect(createCatalog([weak], undefined).latest.id).toBe("weak");
  });

  test("a request for latest and the path native gets an engine of full strength", () => {
    const { resolve } = createCatalog([weak, found, same], undefined);
    expect(resolve("latest", "native")).toEqual({ kind: "build", build: same });
  });
});

describe("a request for", () => {
  const { resolve } = catalog([...debian, "wasm 18", "native 18"]);
  const build = (id: string, path: EnginePath) => ({ kind: "build", build: { id, path } });

  test.each([
    ["latest", "auto", build("stockfish-19", "wasm")],
    ["latest", "wasm", build("stockfish-19", "wasm")],
    // The expected build has the newest version that is available on the path.
    ["latest", "native", build("stockfish-18", "native")],
    ["stockfish-18", "auto", build("stockfish-18", "native")],
    ["stockfish-18", "wasm", build("stockfish-18", "wasm")],
    ["stockfish-18", "native", build("stockfish-18", "native")],
    ["stockfish-15.1", "auto", build("stockfish-15.1", "native")],
    ["stockfish-19-lite", "auto", build("stockfish-19-lite", "wasm")],
  ] as const)("a request for %s on %s gets the expected build", (engine, path, resolution) => {
    expect(resolve(engine, path)).toMatchObject(resolution);
  });

  test("a request for an engine path that the engine version does not have is refused with a list of the available engine paths", () => {
    expect(resolve("stockfish-19", "native")).toEqual({ kind: "path_unavailable", runnable: ["wasm"] });
    expect(resolve("stockfish-15.1", "wasm")).toEqual({ kind: "path_unavailable", runnable: ["native"] });
  });

  test("a request for latest is refused if no engine has the requested engine path", () => {
    expect(catalog(["wasm 19"]).resolve("latest", "native")).toEqual({
      kind: "path_unavailable",
      runnable: [],
    });
  });

  test("if the requested engine path has only prereleases or lite networks, a request for latest gets a prerelease or a lite network", () => {
    expect(catalog(["wasm 19", "native dev-20260110"]).resolve("latest", "native")).toMatchObject(
      build("stockfish-dev-20260110", "native"),
    );
  });

  test("if the newest version with the requested engine path is lite, a request for latest gets an older full version", () => {
    const some = catalog(["wasm 19", "native 20 lite", "native 18"]);
    expect(some.resolve("latest", "native")).toMatchObject(build("stockfish-18", "native"));
  });

  test("if the operator's default engine does not have the requested engine path, a request for latest gets the newest release with this engine path", () => {
    const chosen = catalog([...debian, "wasm 18"], "stockfish-15.1");
    expect(chosen.resolve("latest", "wasm")).toMatchObject(build("stockfish-19", "wasm"));
  });

  test("a request for latest gets an engine of the default family if this family has the requested engine path", () => {
    const some = ["wasm 19", "native arasan-25", "native 15.1", "native berserk-13"];
    expect(catalog(some).resolve("latest", "native")).toMatchObject(build("stockfish-15.1", "native"));
    const chosen = catalog(some, "berserk-13");
    expect(chosen.resolve("latest", "native")).toMatchObject(build("berserk-13", "native"));
    expect(chosen.resolve("latest", "wasm")).toMatchObject(build("stockfish-19", "wasm"));
    const foreign = catalog(["wasm 19", "native arasan-25"]);
    expect(foreign.resolve("latest", "native")).toMatchObject(build("arasan-25", "native"));
  });

  test.each(["stockfish", "stockfish-1", "Stockfish-19", "stockfish-19 ", "", "constructor", "__proto__"])(
    "a request for %j is refused",
    (engine) => {
      expect(resolve(engine, "auto")).toEqual({ kind: "unknown_engine" });
    },
  );
});

describe("an invalid catalog", () => {
  test("a catalog without engines is refused, and the error says what to install", () => {
    expect(() => catalog([])).toThrow(
      "no engine was found: install the npm package `stockfish`, or set KIBITZ_NATIVE_ENGINES to a UCI binary",
    );
  });

  test("a catalog without the operator's default engine is refused, and the error lists the available engines", () => {
    expect(() => catalog(debian, "stockfish-16")).toThrow(
      "KIBITZ_DEFAULT_ENGINE is stockfish-16, but the available engines are: stockfish-19, stockfish-19-lite, stockfish-15.1",
    );
  });
});

test.each<[what: string, nodes: number | undefined, auto: EnginePath]>([
  ["native if both builds of a version visit the same nodes", 6130, "native"],
  ["WebAssembly if the native build visits other nodes", 6131, "wasm"],
  ["WebAssembly if the native build is not reproducible", undefined, "wasm"],
])("the engine path auto selects %s, and each build can be selected by its engine path", (_, nodes, auto) => {
  const { resolve } = createCatalog(
    [buildOf({ path: "native", selfTestNodes: nodes }), buildOf({ path: "wasm", selfTestNodes: 6130 })],
    undefined,
  );
  for (const [path, expected] of [
    ["auto", auto],
    ["native", "native"],
    ["wasm", "wasm"],
  ] as const) {
    expect(resolve("latest", path)).toMatchObject({ build: { path: expected } });
  }
});

test.each([
  ["15.2", "15.10"],
  ["9", "10"],
  ["15", "15.1"],
  ["15.1", "15.1.1"],
  ["v0.30.0", "v0.31.2"],
  ["1.04", "1.5"],
  ["20231231", "20240112"],
  ["19-rc1", "19"],
  ["18beta2", "1"],
  ["dev-20260110-3a1b2c4d", "1"],
  ["dev-20250101-ffffffff", "dev-20260110-3a1b2c4d"],
  ["unknown", "1"],
  ["1.", "1"],
  ["1".repeat(400), "1"],
])("the version %s is older than %s", (older, newer) => {
  const builds = [`native ${older}`, `native ${newer}`];
  for (const order of [builds, builds.toReversed()]) {
    expect(catalog(order).versions.map((found) => found.defaultBuild.version)).toEqual([newer, older]);
  }
});

describe("an engine that was left out", () => {
  const leftOut = buildOf({
    ...{ id: "maia", family: "unknown", path: "native", version: "unknown" },
    unavailableReason: "the command lc0 does not exist.",
  });
  const good = build("wasm 19");

  test("an engine that was left out is listed, but no request gets it", () => {
    const { versions, usable, latest, resolve } = createCatalog([leftOut, good], undefined);
    expect(versions.map(({ id }) => id)).toEqual(["stockfish-19", "maia"]);
    expect([...usable, latest].map(({ id }) => id)).toEqual(["stockfish-19", "stockfish-19"]);
    expect(resolve("maia", "auto")).toEqual({
      kind: "unavailable",
      reason: "the command lc0 does not exist.",
    });
    expect(resolve("latest", "native")).toEqual({ kind: "path_unavailable", runnable: [] });
  });

  test("a build that was left out does not hide another build of its version", () => {
    const { resolve } = createCatalog([good, { ...leftOut, id: "stockfish-19" }], undefined);
    expect(resolve("stockfish-19", "auto")).toEqual({ kind: "build", build: good });
    expect(resolve("stockfish-19", "native")).toEqual({ kind: "path_unavailable", runnable: ["wasm"] });
  });

  test("a start with a default engine that was left out fails with the reason", () => {
    expect(() => createCatalog([leftOut, good], "maia")).toThrow(
      "KIBITZ_DEFAULT_ENGINE is maia, which was left out: the command lc0 does not exist.",
    );
  });

  test("a start without a usable engine fails", () => {
    expect(() => createCatalog([leftOut], undefined)).toThrow("no engine was found");
  });
});
