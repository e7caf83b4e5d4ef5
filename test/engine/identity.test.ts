import { expect, test } from "vitest";
import { identityFromName } from "../../src/engine/profiles.ts";

const gpl = "GPL-3.0-or-later";

test.each([
  [
    "Stockfish 15.1",
    { id: "stockfish-15.1", family: "stockfish", version: "15.1", net: "full", license: gpl },
  ],
  ["Stockfish 19", { id: "stockfish-19", family: "stockfish", version: "19", net: "full", license: gpl }],
  // The WebAssembly build of the same version has the same id: both builds are paths of one engine.
  [
    "Stockfish 19 WASM",
    { id: "stockfish-19", family: "stockfish", version: "19", net: "full", license: gpl },
  ],
  [
    "Stockfish 19 Lite WASM",
    { id: "stockfish-19-lite", family: "stockfish", version: "19", net: "lite", license: gpl },
  ],
  [
    "Stockfish dev-20260110-3a1b2c4d",
    {
      id: "stockfish-dev-20260110-3a1b2c4d",
      family: "stockfish",
      version: "dev-20260110-3a1b2c4d",
      net: "full",
      license: gpl,
    },
  ],
  ["Stockfish", { id: "stockfish", family: "stockfish", version: "unknown", net: "full", license: gpl }],
  [
    "  STOCKFISH   17.1  64 BMI2 ",
    { id: "stockfish-17.1", family: "stockfish", version: "17.1", net: "full", license: gpl },
  ],
  ["Fake/1.0;rm -rf", { id: "fake-1.0", family: "unknown", version: "1.0", net: "full", license: undefined }],
  [
    "Lc0 v0.32.1+git.dirty",
    { id: "lc0-v0.32.1", family: "lc0", version: "v0.32.1", net: "full", license: gpl },
  ],
  [
    "Fairy-Stockfish 14.0.1 XQ",
    { id: "fairy-stockfish-14.0.1", family: "fairy-stockfish", version: "14.0.1", net: "full", license: gpl },
  ],
  ["Stockfishy 3", { id: "stockfishy-3", family: "unknown", version: "3", net: "full", license: undefined }],
])("the id, family and version of an engine follow from its name: %j", (name, identity) => {
  expect(identityFromName(name)).toEqual(identity);
});

test.each(["", "   ", "!!!", "-", "..", "../../etc passwd"])("the engine name %j is refused", (name) => {
  expect(identityFromName(name)).toBeUndefined();
});

test.each(["Stockfish 15.1", "Ünïcode Engine 2", "a\u0000b c", "x".repeat(300), `a ${"b".repeat(300)} lite`])(
  "the engine id that is made from the name %j is short and safe in a URL",
  (name) => {
    expect(identityFromName(name)?.id).toMatch(/^[a-z0-9][a-z0-9.-]{0,99}$/);
  },
);
