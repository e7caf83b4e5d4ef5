import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { installInto, type Packed, sizeOf, startInstalled } from "../../support/npm-package.ts";
import { packedPackage } from "../../support/packed-package.ts";
import { tablesFolder } from "../../support/tables.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const releasing = readFileSync(new URL("../../../RELEASING.md", import.meta.url), "utf8");

describe("the package, installed from npm's registry into an empty folder", () => {
  const folder = useTemporaryFolder();
  const installed = join(folder, "installed");
  let packed: Packed;
  beforeAll(async () => {
    packed = await packedPackage();
    installInto(installed, packed.path);
  });

  test("the installed npm package starts, answers a request, and serves the web page", async () => {
    const { answer, page } = await startInstalled(installed, process.execPath, join(folder, "data"));
    expect(answer).toMatchObject({
      best_move: { uci: "e1e8", san: "Re8#" },
      engine: { id: "stockfish-19" },
    });
    expect(page).toMatch(/src="\.\/assets\/[^"]+\.js"/);
    const program = join(installed, "node_modules/kibitz-chess/bin/kibitz.js");
    expect(execFileSync(process.execPath, [program, "--help"], { encoding: "utf8" })).toContain(
      "kibitz eval",
    );
  });

  test("the installed npm package verifies endgame tables, and uses them", () => {
    const program = join(installed, "node_modules/kibitz-chess/bin/kibitz.js");
    const printed = execFileSync(
      process.execPath,
      [program, "eval", "8/8/8/3k4/4R3/8/8/K7 w - - 0 1", "--depth", "1", "--json"],
      { encoding: "utf8", env: { ...process.env, KIBITZ_SYZYGY: tablesFolder } },
    );
    expect(JSON.parse(printed)).toMatchObject({ tablebase: { category: "win", winner: "white", men: 3 } });
  });

  test("the npm package contains the web page, its licences and the man page, but no source files", () => {
    expect(packed.files).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "README.md",
        "bin/kibitz.js",
        "buf.yaml",
        "deploy/monitoring/rules.yml",
        "deploy/systemd/kibitz.service",
        "dist/man/kibitz.1",
        "dist/src/main.js",
        "dist/web/assets/licences.txt",
        "dist/web/index.html",
        "dist/web/index.html.br",
        "examples/typescript/buf.gen.typescript.yaml",
        "third_party/LICENSE-AGPL-3.0",
        "third_party/buf/validate/validate.proto",
      ]),
    );
    expect(packed.files.filter((path) => /^(src|test|tools|bench|docs|web)\//.test(path))).toEqual([]);
    const manual = readFileSync(join(installed, "node_modules/kibitz-chess/dist/man/kibitz.1"), "utf8");
    expect(manual).toMatch(/^\.TH KIBITZ 1 /);
    const { man } = JSON.parse(
      readFileSync(join(installed, "node_modules/kibitz-chess/package.json"), "utf8"),
    );
    // npm links the page of a global installation only if this is a list.
    expect(man).toEqual(["./dist/man/kibitz.1"]);
  });

  test("the sizes of the npm package differ by less than 10 % from those in RELEASING.md", () => {
    const [, ...documented] =
      /([\d.]+) MB packed, ([\d.]+) MB unpacked, (\d+) MB installed/.exec(releasing) ?? [];
    const found = [packed.packedBytes, packed.unpackedBytes, sizeOf(installed)].map((bytes) => bytes / 1e6);
    for (const [at, megabytes] of found.entries()) {
      expect(Math.abs(megabytes / Number(documented[at]) - 1), `${megabytes} MB`).toBeLessThan(0.1);
    }
  });
});
