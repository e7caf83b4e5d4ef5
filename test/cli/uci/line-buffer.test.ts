import { expect, test, vi } from "vitest";
import { createLineBuffer } from "../../../src/cli/uci/line-buffer.ts";

const greeting = ["id name Kibitz", "uciok"];

function buffered(...lines: readonly string[]) {
  const say = vi.fn<(line: string) => void>();
  const onLeft = vi.fn();
  const passed: string[] = [];
  const buffer = createLineBuffer({ greeting, say, onLeft });
  lines.forEach(buffer.receive);
  return {
    buffer,
    say,
    onLeft,
    passed,
    session: { receive: (line: string) => void passed.push(line), close: () => void passed.push("(end)") },
  };
}

test("with a stored greeting, uci is answered immediately, and later lines are processed in order as soon as the session is ready", () => {
  const { buffer, say, passed, session } = buffered("uci", "setoption name MultiPV value 2", "isready");
  expect(say.mock.calls.map(([line]) => line)).toEqual(greeting);
  expect(passed).toEqual([]);
  buffer.passTo(session);
  expect(passed).toEqual(["setoption name MultiPV value 2", "isready"]);
  buffer.receive("uci");
  buffer.close();
  expect(passed.slice(2)).toEqual(["uci", "(end)"]);
  expect(say).toHaveBeenCalledTimes(greeting.length);
});

test("without a stored greeting, uci waits for the session, even if standard input has ended", () => {
  const onLeft = vi.fn();
  const passed: string[] = [];
  const buffer = createLineBuffer({ greeting: undefined, say: expect.fail, onLeft });
  buffer.receive("uci");
  buffer.close();
  buffer.passTo({ receive: (line) => void passed.push(line), close: () => void passed.push("(end)") });
  expect(passed).toEqual(["uci", "(end)"]);
  expect(onLeft).not.toHaveBeenCalled();
});

test.each([
  [["uci", "quit"], true],
  [["uci", "position startpos", "ucinewgame", "quit"], true],
  [["uci", "isready", "quit"], false],
  [["go depth 1", "quit"], false],
])(
  "the lines %j before the start of a session mean that the chess program has disconnected: %s",
  (lines, hasLeft) => {
    expect(buffered(...lines).onLeft).toHaveBeenCalledTimes(Number(hasLeft));
  },
);

test.each([
  [[], true],
  [["uci"], true],
  [["isready"], false],
])(
  "the end of standard input after %j means that the chess program has disconnected: %s",
  async (lines, hasLeft) => {
    const { buffer, onLeft } = buffered(...lines);
    buffer.close();
    await buffer.begun;
    expect(onLeft).toHaveBeenCalledTimes(Number(hasLeft));
  },
);
