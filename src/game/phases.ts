export type Phase = "opening" | "middlegame" | "endgame";

/**
 * Finds the phases of a game by the rules in `Divider.scala` of Lichess's repository scalachess.
 * Call the returned function with the FEN of each position, in the order of the game.
 */
export function createDivider(): (fen: string) => Phase {
  let phase: Phase = "opening";
  return (fen) => {
    if (phase !== "endgame") {
      const board = readBoard(fen);
      if (board.pieces <= 6) {
        phase = "endgame";
      } else if (phase === "opening" && isMiddlegame(board)) {
        phase = "middlegame";
      }
    }
    return phase;
  };
}

interface Board {
  /** The number of pieces on the board other than kings and pawns. */
  readonly pieces: number;
  /** The ranks from 1 to 8. A rank has one character for each square: a piece letter or a space. */
  readonly ranks: readonly string[];
}

function readBoard(fen: string): Board {
  const placement = fen.slice(0, fen.indexOf(" "));
  const ranks = placement
    .replaceAll(/[1-8]/g, (digit) => " ".repeat(Number(digit)))
    .split("/")
    .toReversed();
  return { pieces: placement.replaceAll(/[^qrbn]/gi, "").length, ranks };
}

function isMiddlegame({ pieces, ranks }: Board): boolean {
  return pieces <= 10 || count(ranks[0], white) < 4 || count(ranks[7], black) < 4 || mixedness(ranks) > 150;
}

const white = /[A-Z]/g;
const black = /[a-z]/g;

function count(squares: string | undefined, side: RegExp): number {
  return squares?.match(side)?.length ?? 0;
}

/** Measures how close the pieces of the two sides are to each other. */
function mixedness(ranks: readonly string[]): number {
  let sum = 0;
  for (let y = 0; y < 7; y++) {
    for (let x = 0; x < 7; x++) {
      const square = `${ranks[y]?.slice(x, x + 2)}${ranks[y + 1]?.slice(x, x + 2)}`;
      sum += pointsOf(count(square, white), count(square, black), y + 1);
    }
  }
  return sum;
}

/** Returns the points of a block of two by two squares. `y` is the number of the lower rank, from 1 to 7. */
function pointsOf(whites: number, blacks: number, y: number): number {
  switch (`${whites}${blacks}`) {
    case "01":
      return 1 + y;
    case "02":
      return y < 6 ? 8 - y : 0;
    case "03":
    case "04":
      return y < 7 ? 10 - y : 0;
    case "10":
      return 9 - y;
    case "11":
      return 5 + Math.abs(4 - y);
    case "12":
      return 11 - y;
    case "13":
      return 12 - y;
    case "20":
      return y > 2 ? y : 0;
    case "21":
      return 3 + y;
    case "22":
      return 7;
    case "30":
    case "40":
      return y > 1 ? 2 + y : 0;
    case "31":
      return 4 + y;
    default:
      return 0;
  }
}
