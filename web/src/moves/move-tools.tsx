import { usePage } from "../page.ts";

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
          Make main line
        </button>
      )}
      {at.value.move && (
        <button type="button" class="quiet" onClick={() => remove(at.value)}>
          Delete from here
        </button>
      )}
      {canUndo.value && (
        <button type="button" class="quiet" onClick={undo}>
          Undo
        </button>
      )}
    </div>
  );
}
