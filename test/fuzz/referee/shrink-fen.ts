/** A smaller FEN of which `holds` is still true: pieces and fields go, one after the other, as long as it is. */
export async function shrinkFen(fen: string, holds: (fen: string) => Promise<boolean>): Promise<string> {
  let smallest = fen;
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const candidate of candidatesOf(smallest)) {
      if (await holds(candidate)) {
        smallest = candidate;
        shrunk = true;
        break;
      }
    }
  }
  return smallest;
}

const plain = ["", "w", "-", "-", "0", "1"];

/** Each is simpler than `fen`, so that shrinking ends. */
function* candidatesOf(fen: string): Generator<string> {
  const fields = fen.split(" ");
  for (const [index, field] of fields.entries()) {
    const simple = plain[index];
    if (index > 1 && simple !== undefined && field !== simple) {
      yield fields.with(index, simple).join(" ");
    }
    if (index === 2 && field.length > 1) {
      for (const letter of field) {
        yield fields.with(2, field.replace(letter, "")).join(" ");
      }
    }
  }
  const [board = "", ...rest] = fields;
  for (let at = 0; at < board.length; at++) {
    if (/[a-z]/i.test(board[at] ?? "")) {
      const open = board.replace(/[2-8]/g, (digit) => "1".repeat(Number(digit)));
      const place = openPlace(board, at);
      const taken = `${open.slice(0, place)}1${open.slice(place + 1)}`;
      yield [taken.replace(/1+/g, (run) => String(run.length)), ...rest].join(" ");
    }
  }
}

/** Returns the index of the symbol at `at` after empty squares are written one by one. */
function openPlace(board: string, at: number): number {
  return board.slice(0, at).replace(/[2-8]/g, (digit) => "1".repeat(Number(digit))).length;
}
