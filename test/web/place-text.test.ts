import { expect, test } from "vitest";
import { fragmentOfPlace, type Place, placeFromFragment, startPlace } from "../../web/src/place-text.ts";

const fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";

test.each([
  [{}, "#analysis"],
  [{ settings: { depth: "20" } }, "#analysis&depth=20"],
  [{ fen }, "#fen=4k3/8/8/8/8/8/8/4K2R_w_K_-_0_1"],
  [{ moves: ["e4", "e5"], ply: 2, settings: { depth: "20" } }, "#moves=e4_e5&depth=20"],
  [{ moves: ["e4", "e5"], ply: 1, orientation: "black" }, "#moves=e4_e5&ply=1&board=black"],
  [
    { settings: { "options.uci_elo": "1500", movetime_ms: "50" } },
    "#analysis&options.uci_elo=1500&movetime_ms=50",
  ],
  [{ view: "review", settings: { depth: "20" } }, "#review&depth=20"],
  [
    { view: "review", pgn: '[White "A_B"]\n\n1. e4 e5 *', ply: 1, orientation: "black" },
    "#review&pgn=%5BWhite_%22A%5FB%22%5D%0A%0A1._e4_e5_*&ply=1&board=black",
  ],
  [{ pgn: "1. e4 (1. d4) *", at: 2, settings: { depth: "3" } }, "#analysis&pgn=1._e4_(1._d4)_*&at=2&depth=3"],
  [{ fen: "no_fen & <b>" }, "#fen=no%5Ffen_%26_%3Cb%3E"],
] as const)(
  "the page state %j is written as the link fragment %s, and is read back unchanged",
  (part, fragment) => {
    const place: Place = { ...startPlace, ...part };
    expect(fragmentOfPlace(place)).toBe(fragment);
    expect(placeFromFragment(fragment)).toEqual(place);
  },
);

test("a link contains moves without check signs", () => {
  expect(fragmentOfPlace({ ...startPlace, moves: ["Qh5+", "Qxf7#"], ply: 2 })).toBe("#moves=Qh5_Qxf7");
});

test.each(["", "#", "#analysis", "#x=y&&=", "#moves=", "#ply=9"])(
  "a link with the fragment %j shows the start position",
  (fragment) => {
    expect(placeFromFragment(fragment)).toEqual(startPlace);
  },
);

test("a link can be read even if a program has encoded or truncated the link", () => {
  expect(placeFromFragment("#fen=8/8%208&moves=e4,e5&ply=x")).toMatchObject({
    fen: "8/8 8",
    moves: ["e4", "e5"],
    ply: 2,
  });
  expect(placeFromFragment("#fen=8/8%2").fen).toBe("8/8%2");
});
