import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import {
  installInto,
  installNode,
  type Packed,
  packInto,
  startInstalled,
} from "../../support/npm-package.ts";
import { packableCheckout } from "../../support/packable-checkout.ts";
import { packedPackage } from "../../support/packed-package.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const installed = join(folder, "installed");
let packed: Packed;
beforeAll(async () => {
  packed = await packedPackage();
  installInto(installed, packed.path);
});

test.each(["24", "26"])(
  "the installed npm package starts and answers a request on the newest version of Node %s",
  async (version) => {
    const node = installNode(join(folder, `node-${version}`), version);
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(new RegExp(`^v${version}\\.`));
    const started = await startInstalled(installed, node, join(folder, `data-${version}`));
    expect(started.answer).toMatchObject({ best_move: { san: "Re8#" }, engine: { id: "stockfish-19" } });
  },
);

test("without optional dependencies, the installed package answers with the WebAssembly build of npm", async () => {
  const plain = join(folder, "without-optional");
  installInto(plain, "--omit=optional", packed.path);
  expect(existsSync(join(plain, "node_modules/@lichess-org"))).toBe(false);
  expect(existsSync(join(installed, "node_modules/@lichess-org"))).toBe(true);
  const { answer } = await startInstalled(plain, process.execPath, join(folder, "data-without-optional"));
  expect(answer).toMatchObject({ best_move: { san: "Re8#" }, engine: { id: "stockfish-19", path: "wasm" } });
});

test("packing the same sources twice gives identical bytes, even if an earlier build left files in dist", () => {
  const checkout = packableCheckout(join(folder, "checkout"));
  mkdirSync(join(checkout, "dist/web-left"), { recursive: true });
  writeFileSync(join(checkout, "dist/web-left/page.txt"), "left by a build that was ended\n");
  const again = join(folder, "again");
  mkdirSync(again);
  expect(readFileSync(packInto(again, checkout).path).equals(readFileSync(packed.path))).toBe(true);
});
