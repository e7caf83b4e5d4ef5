import { usePage } from "../page.ts";
import { texts } from "../texts.ts";

const words = texts.moves;

/** Changes the tree of moves at the move on the board, and takes changes back. */
export function MoveTools() {
  const { at, path, promote, remove, undo, canUndo } = usePage().game;
  const isInVariation = path.value.some(
    (node, index) => index > 0 && path.value[index - 1]?.children[0] !== node,
  );
  return (
    <div class="move-tools row">
      {isInVariation && (
        <button type="button" class="quiet" onClick={() => promote(at.value)}>
          {words.promote}
        </button>
      )}
      {at.value.move && (
        <button type="button" class="quiet" onClick={() => remove(at.value)}>
          {words.remove}
        </button>
      )}
      {canUndo.value && (
        <button type="button" class="quiet" onClick={undo}>
          {words.undo}
        </button>
      )}
    </div>
  );
}
