import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resultFromEvent } from "../../src/analysis/analysis.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { hasStore, openStore } from "../../src/wiring/store.ts";
import { doneOf, validated } from "../analysis/made-up.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const root = useTemporaryFolder();
const result = resultFromEvent(doneOf(), validated());

function openIn(folder: string, env: Readonly<Record<string, string>> = {}) {
  const said: object[] = [];
  const say = (fields: object, message: string) => void said.push({ ...fields, message });
  const config = loadConfig({ KIBITZ_DATA_DIR: folder, ...env });
  return { config, store: openStore(config, { info: say, warn: say }), said };
}

test("answers are stored in the data folder, but not if KIBITZ_STORE_MB is 0", () => {
  const folder = join(root, "some");
  const none = openIn(folder, { KIBITZ_STORE_MB: "0" });
  expect([none.store, hasStore(none.config), existsSync(folder)]).toEqual([undefined, false, false]);
  const first = openIn(folder);
  first.store?.set("a", result);
  first.store?.[Symbol.dispose]();
  expect(hasStore(first.config)).toBe(true);
  using later = openIn(folder).store;
  expect(later?.get("a")).toEqual(result);
});

test("a damaged file of stored answers is replaced by a new one, and this is logged", () => {
  const folder = join(root, "damaged");
  mkdirSync(folder);
  writeFileSync(join(folder, "answers.db"), "damaged".repeat(1000));
  const { store, said } = openIn(folder);
  store?.set("a", result);
  store?.[Symbol.dispose]();
  expect(said).toEqual([
    {
      error: "file is not a database",
      message: "stored answers cannot be written: their file is deleted and begun anew",
    },
    { message: "stored answers can be written again" },
  ]);
});

test("if the folder for stored answers cannot be created, this is logged once, and answers are not stored", () => {
  const file = join(root, "file");
  writeFileSync(file, "");
  const { store, said } = openIn(join(file, "data"));
  store?.set("a", result);
  expect(store?.get("b")).toBeUndefined();
  store?.[Symbol.dispose]();
  expect(said).toEqual([
    {
      error: expect.stringMatching(/ENOTDIR|ENOENT/),
      message: "stored answers cannot be written: their file is deleted and begun anew",
    },
  ]);
});
