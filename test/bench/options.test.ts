import { describe, expect, test } from "vitest";
import { readOptions } from "../../bench/service/options.ts";

describe("what npm run bench is asked for", () => {
  test("is everything of the service in some minutes, where nothing is said", () => {
    expect(readOptions([])).toMatchObject({
      kinds: ["new", "repeated", "cached", "stored"],
      flatMinutes: undefined,
      growth: false,
      depths: [1, 8],
      paths: ["native"],
      slots: 2,
    });
  });

  test("is more with --full, and how cost grows", () => {
    expect(readOptions(["--full"])).toMatchObject({
      growth: true,
      depths: [1, 8, 14],
      callers: [1, 8, 64],
      paths: ["native", "wasm"],
    });
  });

  test("may be one cell", () => {
    const args = ["--rows", "new", "--depths", "8", "--callers", "64", "--peers", "least,kibitz"];
    expect(readOptions(args)).toMatchObject({
      kinds: ["new"],
      depths: [8],
      callers: [64],
      peers: ["least", "kibitz"],
      warmSeconds: 30,
    });
  });

  test("is nothing else with --flat or --growth", () => {
    expect(readOptions(["--flat", "0.5"])).toMatchObject({ kinds: [], flatMinutes: 0.5, growth: false });
    expect(readOptions(["--flat"])).toMatchObject({ flatMinutes: 10 });
    expect(readOptions(["--growth"])).toMatchObject({ kinds: [], flatMinutes: undefined, growth: true });
  });

  test.each([
    [["--depth", "8"]],
    [["--peers", "nobody"]],
    [["--rows", "old"]],
    [["--sweeps", "nothing"]],
    [["--callers", "many"]],
    [["--seconds", "1.5"]],
    [["--rounds", "0"]],
    [["--warm", "0"]],
  ])("is refused with the way to use it: %j", (args) => {
    expect(() => readOptions(args)).toThrow("npm run bench -- --full");
  });
});
