import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  installInto,
  installNode,
  type Packed,
  packInto,
  sizeOf,
  startInstalled,
} from "../../../tools/measure-package.ts";
import { packableCheckout } from "../../support/packable-checkout.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const releasing = readFileSync(new URL("../../../RELEASING.md", import.meta.url), "utf8");

describe("the package, installed from npm's registry into an empty folder", () => {
  const folder = useTemporaryFolder();
  const installed = join(folder, "installed");
  let packed: Packed;
  beforeAll(() => {
    packed = packInto(folder, packableCheckout(join(folder, "checkout")));
    installInto(installed, packed.path);
  }, 180_000);

  test.each(["24", "26"])(
    "starts with Node %s and answers",
    async (version) => {
      const node = installNode(join(folder, `node-${version}`), version);
      const { node: is, answer } = await startInstalled(installed, node, join(folder, `data-${version}`));
      expect(is).toMatch(new RegExp(`^v${version}\\.`));
      expect(answer).toMatchObject({
        best_move: { uci: "e1e8", san: "Re8#" },
        engine: { id: "stockfish-19" },
      });
      const program = join(installed, "node_modules/kibitz-chess/bin/kibitz.js");
      expect(execFileSync(node, [program, "completion", "bash"], { encoding: "utf8" })).toContain("_kibitz");
    },
    180_000,
  );

  test("has the manual where npm puts it for the program man, and nothing of the sources", () => {
    expect(packed.files).toEqual(
      expect.arrayContaining([
        "LICENSE",
        "README.md",
        "bin/kibitz.js",
        "deploy/monitoring/rules.yml",
        "deploy/systemd/kibitz.service",
        "dist/man/kibitz.1",
        "dist/src/main.js",
      ]),
    );
    expect(packed.files.filter((path) => /^(src|test|tools|bench|docs|web)\//.test(path))).toEqual([]);
    const manual = readFileSync(join(installed, "node_modules/kibitz-chess/dist/man/kibitz.1"), "utf8");
    expect(manual).toMatch(/^\.TH KIBITZ 1 /);
    const { man } = JSON.parse(
      readFileSync(join(installed, "node_modules/kibitz-chess/package.json"), "utf8"),
    );
    expect(man).toBe("./dist/man/kibitz.1");
  });

  test("is as large as the documents say, to a tenth", () => {
    const [, ...told] = /([\d.]+) MB packed, ([\d.]+) MB unpacked, (\d+) MB installed/.exec(releasing) ?? [];
    const found = [packed.packedBytes, packed.unpackedBytes, sizeOf(installed)].map((bytes) => bytes / 1e6);
    for (const [at, megabytes] of found.entries()) {
      expect(Math.abs(megabytes / Number(told[at]) - 1), `${megabytes} MB`).toBeLessThan(0.1);
    }
  });
});
