import { mainlineOf } from "../game/game.ts";
import { usePage } from "../page.ts";
import { RemarksPanel } from "./remarks-panel.tsx";

export function MoveTools() {
  const { game, at, promote, remove, undo, canUndo, redo, canRedo } = usePage().game;
  return (
    <>
      <div class="move-tools row">
        {!mainlineOf(game.value).includes(at.value) && (
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
        {canRedo.value && (
          <button type="button" class="quiet" onClick={redo}>
            Redo
          </button>
        )}
      </div>
      <RemarksPanel />
    </>
  );
}
