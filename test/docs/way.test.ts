import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** Files that a call passes at most: what a newcomer can follow. */
const mostFiles = { JSON: 62, gRPC: 65 };

const architecture = readFileSync(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");
const [, section = ""] = /\n## The way of a request\n([\s\S]+?)\n## /.exec(architecture) ?? [];
const rows = [...section.matchAll(/^\| (both|JSON|gRPC) \| .+? \| (`.+`) \|$/gm)].map(
  ([, call = "", where = ""]) => ({
    call,
    files: [...where.matchAll(/`(.+?)`/g)].map(([, file = ""]) => file),
  }),
);

const folder = useTemporaryFolder();
const measure = fileURLToPath(new URL("../support/files-passed.ts", import.meta.url));
let passed: Record<"JSON" | "gRPC", { readonly always: string[]; readonly ever: string[] }>;

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [measure, folder]);
  passed = JSON.parse(stdout);
});

describe.each(["JSON", "gRPC"] as const)("the way of a %s call in ARCHITECTURE.md", (kind) => {
  const named = rows.filter(({ call }) => call === kind || call === "both").flatMap(({ files }) => files);
  test("names every file that such a call passes, once", () => {
    const { always } = passed[kind];
    expect(always.filter((file) => !named.includes(file))).toEqual([]);
    expect(named.filter((file, index) => named.indexOf(file) !== index)).toEqual([]);
  });

  test("names no file that such a call does not pass", () => {
    const { ever } = passed[kind];
    expect(named.filter((file) => !ever.includes(file))).toEqual([]);
  });

  test("does not get longer", () => {
    const { always } = passed[kind];
    expect(always.length).toBeGreaterThan(40);
    expect(always.length).toBeLessThanOrEqual(mostFiles[kind]);
  });
});
