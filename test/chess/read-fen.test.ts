import { describe, expect, test } from "vitest";
import { maxFenCharacters } from "../../src/chess/read-fen.ts";
import { createRandom } from "../support/random.ts";
import { noticesOf, positionOf, startFen, validate, violationsOf } from "./validated.ts";

const board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

function refusalOf(fen: string): string {
  const violations = violationsOf(fen);
  expect(violations.map((violation) => [violation.code, violation.field])).toEqual(
    violations.map(() => ["invalid_fen", "fen"]),
  );
  return violations.map((violation) => violation.message).join("\n");
}

function suggestionOf(fen: string, moves: readonly string[] = []): string | undefined {
  const validation = validate(fen, { moves });
  if (validation.kind === "position") {
    expect.fail(`accepted as ${validation.position.fen}`);
  }
  return validation.suggested?.fen;
}

describe("the text of a FEN", () => {
  test.each([
    ["ASCII blanks at both ends", ` \t\r\n\v\f${startFen}\f\v\n\r\t `],
    ["several spaces between the fields", startFen.replaceAll(" ", "   ")],
    ["leading zeros in the clocks", `${board} w KQkq - 000 0001`],
    ["castling letters in any order", `${board} w qkQK - 0 1`],
  ])("a FEN with %s is accepted", (_, fen) => {
    expect(positionOf(fen).fen).toBe(startFen);
    expect(positionOf(fen).warnings).toEqual([]);
  });

  test.each([
    ["a newline between the fields", `${board}\nw KQkq - 0 1`, "U+000A"],
    ["a tab between the fields", startFen.replace(" ", "\t"), "U+0009"],
    ["a carriage return before a command", `${startFen}\rquit`, "U+000D"],
    ["a command on a second line", `${startFen}\nsetoption name Debug Log File value /tmp/x`, "U+000A"],
    ["a NUL after the last field", `${startFen}\0`, "U+0000"],
    ["a no-break space", startFen.replace(" ", "\u00a0"), "U+00A0"],
    ["a no-break space at the end", `${startFen}\u00a0`, "U+00A0"],
    ["a line separator", `${startFen}\u2028quit`, "U+2028"],
    ["a byte order mark", `\ufeff${startFen}`, "U+FEFF"],
    ["a piece from Unicode", startFen.replace("K", "♔"), "U+2654"],
    ["a full-width digit", `${board} w KQkq - ０ 1`, "U+FF10"],
    ["an emoji", `${startFen} 🙂`, "U+1F642"],
  ])("a FEN with %s is refused, and the message names the problem", (_, fen, name) => {
    expect(refusalOf(fen)).toContain(name);
  });

  test.each(["startpos", " startpos\n"])("the text %j means the start position", (fen) => {
    expect(positionOf(fen)).toMatchObject({ fen: startFen, root: startFen, warnings: [] });
    expect(positionOf(fen, { chess960: true }).fen).toBe(startFen.replace("KQkq", "HAha"));
    expect(positionOf(fen, { moves: ["Nf3"] })).toMatchObject({ root: startFen, moves: ["g1f3"] });
  });

  test.each(["Startpos", "startpos w", "startpos moves e2e4", "startpos startpos"])(
    "the text %j does not mean the start position",
    (fen) => {
      expect(refusalOf(fen)).not.toBe("");
    },
  );

  test("a suggested FEN of more than 64 characters is whole in the message", () => {
    const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
    const message = `Send the FEN alone, its fields separated by spaces: '${fen}'.`;
    expect(refusalOf(`FEN: ${fen}`)).toBe(message);
    expect(refusalOf(fen.replaceAll(" ", "_"))).toBe(message);
  });

  test.each(["Startpos", "STARTPOS", " StartPos\n"])(
    "the lower-case word startpos is suggested for %j",
    (fen) => {
      expect(refusalOf(fen)).toBe("Send the FEN alone, its fields separated by spaces: 'startpos'.");
      expect(suggestionOf(fen)).toBe("startpos");
    },
  );

  test.each([
    ["by encodeURIComponent", encodeURIComponent(startFen)],
    ["except its slashes", startFen.replaceAll(" ", "%20")],
    ["in small letters", encodeURIComponent(startFen).replaceAll("%2F", "%2f")],
    ["with text before it", `fen=${encodeURIComponent(startFen)}`],
  ])("a FEN that is percent-encoded %s is refused, and the decoded FEN is suggested", (_, written) => {
    expect(suggestionOf(written)).toBe(startFen);
  });

  test("a FEN with underscores is refused, and the FEN with spaces is suggested", () => {
    expect(refusalOf(startFen.replaceAll(" ", "_"))).toContain("its fields separated by spaces");
    expect(suggestionOf(startFen.replaceAll(" ", "_"))).toBe(startFen);
    expect(suggestionOf("4k3/8/8/8/8/8/8/8_w_-_-_0_1")).toBeUndefined();
  });

  test("a FEN followed by moves is refused, and the message names the field for moves", () => {
    expect(refusalOf(`${startFen} moves e2e4`)).toContain("`moves`");
    expect(refusalOf(`${board} w KQkq - moves e2e4`)).toContain("`moves`");
  });

  test("a FEN followed by EPD operations is refused, and the message says what to remove", () => {
    expect(refusalOf(`${board} w KQkq - bm e4; id "x";`)).toContain("EPD");
    expect(suggestionOf(`${board} w KQkq - bm e4; id "x";`)).toBe(`${board} w KQkq -`);
  });

  test.each([
    [`  ${board} w KQkq - 60 40 bm e4; id "x";`, `${board} w KQkq - 60 40`, 'bm e4; id "x";'],
    [`${board} w KQkq - 60 40; bm e4;`, `${board} w KQkq - 60 40`, "; bm e4;"],
    [`${board} w KQkq - 60 40;`, `${board} w KQkq - 60 40`, ";"],
    [`${board} w KQkq - 60 bm e4;`, undefined, "60 bm e4;"],
    [`${board} w KQkq - hmvc 60; fmvn 40;`, undefined, "hmvc 60; fmvn 40;"],
  ])("the FEN that is suggested for %j keeps the clocks", (fen, suggested, token) => {
    expect(suggestionOf(fen)).toBe(suggested);
    expect(violationsOf(fen)).toMatchObject([{ token, offset: fen.indexOf(token) }]);
  });

  test("a FEN with an impossible en passant square is refused, and the FEN without the square is suggested", () => {
    expect(suggestionOf(`${board} w KQkq e4 0 1`)).toBe(`${board} w KQkq - 0 1`);
    expect(suggestionOf(`${board} w KQkq e3 0 1`)).toBe(`${board} w KQkq - 0 1`);
    expect(suggestionOf(`${board} x KQkq e4 0 1`)).toBeUndefined();
  });

  test("a FEN with seven fields is refused", () => {
    expect(refusalOf(`${startFen} extra`)).toContain("7 fields");
  });

  test("a FEN of 128 characters is accepted, and a longer FEN is refused", () => {
    expect(positionOf(startFen.padEnd(maxFenCharacters)).fen).toBe(startFen);
    expect(refusalOf(startFen.padEnd(maxFenCharacters + 1))).toContain("129 characters");
    expect(suggestionOf(startFen.padEnd(maxFenCharacters + 1))).toBe(startFen);
  });

  test("the error message about a FEN of a megabyte does not repeat the FEN", () => {
    expect(refusalOf("8/".repeat(500_000)).length).toBeLessThan(100);
  });

  test("a damaged FEN causes no exception, and an accepted FEN contains only FEN characters", () => {
    const random = createRandom(1);
    const wholes = [startFen, "r3k2r/8/8/3pP3/8/8/8/1R2K2R w Hkq d6 0 2", "2k5/P7/8/8/8/8/8/2K5 b - - 12 60"];
    const shards = [..."/ 0123456789-KQRBNPkqrbnpwabcdefgh\n\t\0;é", "moves", "  ", "44"];
    let accepted = 0;
    for (let round = 0; round < 20_000; round++) {
      let fen = random.pick(wholes);
      for (let wounds = random.below(3); wounds >= 0; wounds--) {
        const at = random.below(fen.length + 1);
        fen = fen.slice(0, at) + random.pick(["", ...shards]) + fen.slice(at + random.below(3));
      }
      const validation = validate(fen, { chess960: random.below(2) === 0 });
      if (validation.kind === "violations") {
        continue;
      }
      accepted++;
      expect(fen.trim()).toMatch(/^[1-8KQRBNPkqrbnp/wA-Ha-h0-9 -]+$/);
      expect(validation.position.fen).toMatch(
        /^([1-8KQRBNPkqrbnp]+\/){7}[1-8KQRBNPkqrbnp]+ [wb] (-|[A-HKQa-hkq]{1,4}) (-|[a-h][36]) \d{1,4} [1-9]\d{0,3}$/,
      );
    }
    expect(accepted).toBeGreaterThan(500);
    expect(accepted).toBeLessThan(5_000);
  });

  test("the error message about a FEN repeats at most 64 characters", () => {
    expect(refusalOf(`${"p".repeat(100)} w - -`)).not.toContain("p".repeat(65));
  });

  test("a FEN has a violation for each of its invalid fields, in their order", () => {
    const messages = violationsOf("44/ppppxppp/7/8/8/8/PPPPPPPP/RNBQKBNR W KX e9 -1 1.5").map(
      (violation) => violation.message,
    );
    expect(messages).toEqual([
      expect.stringContaining("Rank 8"),
      expect.stringContaining("Rank 7"),
      expect.stringContaining("Rank 6"),
      expect.stringContaining("'W'"),
      expect.stringContaining("'KX'"),
      expect.stringContaining("'e9'"),
      expect.stringContaining("'-1'"),
      expect.stringContaining("'1.5'"),
    ]);
  });
});

test.each([
  ["rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 13, "x"],
  ["rnbqkbnr/pppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 9, "pppp"],
  ["4k3/8/44/8/8/8/8/4K3 w - - 0 1", 6, "44"],
  [" \t4k3/8/8/8/8/8/4K3 w - - 0 1", 2, "4k3/8/8/8/8/8/4K3"],
  ["4k3/8/8/8/8/8/8/4K3 x - - 0 1", 20, "x"],
  ["4k3/8/8/8/8/8/8/4K3   w KX - 0 1", 24, "KX"],
  ["4k3/8/8/8/8/8/8/4K3 w - e9 0 1", 24, "e9"],
  ["4k3/8/8/8/8/8/8/4K3 w - - half 1", 26, "half"],
  ["4k3/8/8/8/8/8/8/4K3 w - - 0 many", 28, "many"],
  ["4k3/8/8/8/8/8/8/4K3 w - - 0 1 and more\n", 30, "and more"],
  ["4k3/8/8/8/8/8/8/4K3 w - - moves e1e2", 26, "moves e1e2"],
  ['4k3/8/8/8/8/8/8/4K3 w - - bm Ke2; id "x";', 26, 'bm Ke2; id "x";'],
  ["4k3/8/8/8/8/8/8/4K3 w - 🙂 0 1", 24, "🙂"],
  ["4k3/8/8/8/8/8/8/4K3 w ", 21, ""],
  ["4k3/8/8/8/8/8/8/4K3_w_-_-_0_1", 19, "_"],
  [" StartPos", 1, "StartPos"],
  ["  ", 0, ""],
  [`${startFen.padEnd(maxFenCharacters)} 🙂`, maxFenCharacters, " 🙂"],
  [" 4k3/8/8/8/8/8/8/8 w - - 0 1", 1, "4k3/8/8/8/8/8/8/8"],
  ["P3k3/8/8/8/8/8/8/4K3 w - - 0 1", 0, "P"],
  ["4k3/8/8/8/8/8/8/1P2K3 w - - 0 1", 17, "P"],
  [" 4k3/4K3/8/8/8/8/8/8 w - - 0 1", 6, "K"],
  ["4k3/8/8/8/8/8/8/4R1K1 w - - 0 1", 22, "w"],
])("the violation of the FEN %j points to offset %i with the text %j", (fen, offset, token) => {
  expect(violationsOf(fen)[0]).toMatchObject({ offset, token });
  expect(fen.slice(offset, offset + token.length)).toBe(token);
});

describe("the board field", () => {
  test.each([
    ["two adjacent digits", "4k3/44/8/8/8/8/8/4K3", "Rank 7"],
    ["the digit 9", "4k3/8/9/8/8/8/8/4K3", "Rank 6"],
    ["the digit 0", "4k3/8/8/0p7/8/8/8/4K3", "Rank 5"],
    ["a rank of nine squares", "4k3/8/8/8/ppppppppp/8/8/4K3", "Rank 4"],
    ["a rank of seven squares", "4k3/8/8/8/8/7/8/4K3", "Rank 3"],
    ["an empty rank", "4k3/8/8/8/8/8//4K3", "Rank 2"],
    ["an unknown piece", "4k3/8/8/8/8/8/8/4X3", "Rank 1"],
    ["a mark for a promoted piece", "4k3/8/8/8/8/8/8/Q~3K3", "Rank 1"],
    ["seven ranks", "4k3/8/8/8/8/8/4K3", "7 ranks"],
    ["nine ranks", "4k3/8/8/8/8/8/8/4K3/8", "9 ranks"],
    ["backslashes", "4k3\\8\\8\\8\\8\\8\\8\\4K3", "1 rank"],
    ["pockets of Crazyhouse", "4k3/8/8/8/8/8/8/4K3[Qq]", "Rank 1"],
  ])(
    "the board of a FEN is refused because of %s, and the message names the rank or the number of ranks",
    (_, text, place) => {
      expect(refusalOf(`${text} w - - 0 1`)).toContain(place);
    },
  );
});

describe("a FEN with fields missing", () => {
  test("a FEN with four or five fields is completed with a warning", () => {
    expect(positionOf(`${board} w KQkq -`).fen).toBe(startFen);
    expect(noticesOf(`${board} w KQkq -`)).toEqual(["clocks_defaulted"]);
    expect(positionOf(`${board} w KQkq - 3`).fen).toBe(`${board} w KQkq - 3 1`);
    expect(noticesOf(`${board} w KQkq - 3`)).toEqual(["clocks_defaulted"]);
  });

  test("a FEN with fewer than four fields is refused, and the complete FEN is suggested", () => {
    expect(refusalOf(board)).toContain("1 field;");
    expect(suggestionOf(board)).toBe(startFen);
    expect(suggestionOf(`${board} b`)).toBe(startFen.replace(" w ", " b "));
    expect(suggestionOf(`${board} w Kq`)).toBe(startFen.replace("KQkq", "Kq"));
    expect(suggestionOf(`${board} w HAha`)).toBe(startFen.replace("KQkq", "HAha"));
  });

  test("a suggested FEN has castling rights for kings and rooks on their original squares", () => {
    expect(suggestionOf("r3k3/8/8/8/8/8/8/R4K1R")).toBe("r3k3/8/8/8/8/8/8/R4K1R w q - 0 1");
  });

  test("a clock that is written as a dash gets a suggestion with the usual clock", () => {
    expect(suggestionOf(`${board} w KQkq - - 5`)).toBe(`${board} w KQkq - 0 5`);
    expect(suggestionOf(`${board} w KQkq - - -`)).toBe(startFen);
    expect(suggestionOf(`${board} w KQkq - x -`)).toBeUndefined();
  });

  test("an invalid FEN is never suggested", () => {
    expect(suggestionOf("8/8/8/8/8/8/8/8")).toBeUndefined();
    expect(suggestionOf("start")).toBeUndefined();
    expect(suggestionOf("4k3/8/8/8/8/8/4R3/4K3")).toBeUndefined();
    expect(suggestionOf(board, ["e2e5"])).toBeUndefined();
    expect(suggestionOf("")).toBeUndefined();
  });
});

describe("the clocks", () => {
  test("the move number 0 in a FEN is read as 1 with a warning", () => {
    expect(positionOf(`${board} w KQkq - 0 0`).fen).toBe(startFen);
    expect(noticesOf(`${board} w KQkq - 0 0`)).toEqual(["clocks_defaulted"]);
    expect(positionOf(`${board} w KQkq - 0 0`, { moves: ["Nf3", "Nf6"] }).fen).toMatch(/ 2 2$/);
  });

  test("the clock 9999 in a FEN is accepted unchanged", () => {
    expect(positionOf("4k3/8/8/8/8/8/8/R3K3 w - - 9999 9999").fen).toBe(
      "4k3/8/8/8/8/8/8/R3K3 w - - 9999 9999",
    );
  });

  test.each(["-1", "1.5", "1e3", "0x10", "NaN", "+1", "10000", "-"])(
    "the clocks of a FEN are refused because of %s",
    (clock) => {
      expect(refusalOf(`${board} w KQkq - ${clock} 1`)).toContain("half-move clock");
      expect(refusalOf(`${board} w KQkq - 0 ${clock}`)).toContain("move number");
    },
  );
});
