import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { repairs } from "../../../src/protocols/connect/repairs.ts";
import type { ShowFault } from "./faults/bare-library.ts";
import { faultsOfConnect } from "./faults/connect.ts";
import { faultsOfConnectNode } from "./faults/connect-node.ts";
import { faultsOfProtobuf, faultsOfProtovalidate } from "./faults/protobuf.ts";

/** What goes wrong without the repairs of the same names. */
const faults: Readonly<Record<string, Readonly<Record<string, ShowFault>>>> = {
  "@connectrpc/connect": faultsOfConnect,
  "@connectrpc/connect-node": faultsOfConnectNode,
  "@bufbuild/protobuf": faultsOfProtobuf,
  "@bufbuild/protovalidate": faultsOfProtovalidate,
};

const root = new URL("../../../", import.meta.url);
const src = new URL("src/", root);
const sources = globSync("**/*.ts", { cwd: src }).map((path) => ({
  path: path.replaceAll("\\", "/"),
  text: readFileSync(new URL(path, src), "utf8"),
}));

describe.each(repairs)("$library $version", ({ library, version, repairs: listed }) => {
  const shown = faults[library] ?? {};
  const some = Object.entries(listed).map(([name, repair]) => ({ name, ...repair }));

  test("$library $version is the installed version: after an upgrade, check each workaround, then write the new version here", () => {
    expect(manifest.dependencies).toHaveProperty([library], version);
    const installed = new URL(`node_modules/${library}/package.json`, root);
    expect(JSON.parse(readFileSync(installed, "utf8"))).toMatchObject({ name: library, version });
  });

  test("every workaround for $library shows its fault, and every shown fault has its workaround", () => {
    expect(Object.keys(shown).toSorted()).toEqual(Object.keys(listed).toSorted());
  });

  test.each(some)("the workaround $name is still needed: $worksAround", async ({ name, places }) => {
    expect(shown).toHaveProperty(name);
    try {
      await shown[name]?.();
    } catch (cause) {
      const where = places.map((place) => `src/${place}`).join(" and ");
      throw new Error(`${library} seems to be mended: ${name} can go from ${where}`, { cause });
    }
  });

  test.each(some)("the workaround $name is in the listed file", ({ name, places }) => {
    const naming = sources.filter(({ text }) => new RegExp(`\\b${name}\\b`).test(text));
    const expected = ["protocols/connect/repairs.ts", ...places];
    expect(naming.map(({ path }) => path).toSorted()).toEqual([...new Set(expected)].toSorted());
  });
});

test("no file names a workaround that the list does not have", () => {
  const known = repairs.flatMap(({ repairs: listed }) => Object.keys(listed));
  const named = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\b[Rr]epair\s[\s*]*`(\w+)`/g)].map(([, name = ""]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ name }) => !known.includes(name))).toEqual([]);
});

test("only the list of workarounds names versions", () => {
  const version = /\b(connect(-node)?|protobuf(-es)?|protovalidate) \(?\d+\.\d+/i;
  expect(sources.filter(({ text }) => version.test(text)).map(({ path }) => path)).toEqual([]);
});
