import type { Api } from "@lichess-org/chessground/api";
import { useSignal } from "@preact/signals";
import type { Color, Piece, Role } from "chessops/types";
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Board } from "../board/board.tsx";
import { BoardView } from "../board/board-view.tsx";
import { colourName, pieceInWords } from "../board/words.ts";
import { gameFromFen } from "../game/game.ts";
import { usePage } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { announce } from "../parts/live-region.tsx";
import { selectAtClick } from "../parts/select-at-click.ts";
import { isComplete } from "../pasted-text.ts";
import {
  boardWith,
  chess960Max,
  chess960SetUp,
  emptySetUp,
  enPassantSquares,
  fenOfSetUp,
  hasBoard,
  rightLetters,
  type SetUp,
  setUpFromFen,
  startSetUp,
} from "./set-up.ts";
import "./fields.css";
import "./set-up-panel.css";

const rightNames = {
  K: "White kingside",
  Q: "White queenside",
  k: "Black kingside",
  q: "Black queenside",
};
const roles: readonly Role[] = ["king", "queen", "rook", "bishop", "knight", "pawn"];
type Tool = "move" | "remove" | Piece;

export function SetUpPanel() {
  const { address, game, setUp } = usePage();
  const tool = useSignal<Tool>("move");
  const board = useRef<Api>(undefined);
  /** The edited text. Undefined while the field shows the position of the editor. */
  const typed = useSignal<string | undefined>(undefined);
  const { board: pieces, turn, rights, enPassant } = setUp.now.value;
  const fen = typed.value ?? fenOfSetUp(setUp.now.value);
  const read = gameFromFen(fen);
  const brush = tool.value;
  const change = (part: Partial<SetUp>) => {
    typed.value = undefined;
    setUp.change(part);
  };
  const leave = () => address.show("analysis");
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) {
        leave();
      }
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);

  return (
    <section aria-labelledby="set-up-title">
      <BoardView
        board={
          <Board
            label="Board, being set up"
            fen={pieces}
            orientation={game.orientation.value}
            onReady={(api) => {
              board.current = api;
            }}
            use={{
              kind: "set-up",
              brush: brush === "move" ? undefined : brush === "remove" ? "nothing" : brush,
              onPieces: (next) => change({ board: next }),
              onPaint: (square) => {
                const piece = typeof brush === "object" ? brush : undefined;
                change({ board: boardWith(pieces, square, piece) });
                announce(`${square}, ${piece ? pieceInWords(piece) : "empty"}`);
              },
            }}
          />
        }
        tools={
          <Tools
            tool={brush}
            onTool={(next) => {
              tool.value = next;
            }}
            onDrag={(piece, event) => board.current?.dragNewPiece(piece, event, true)}
          />
        }
      >
        <form
          class="panel stack"
          onSubmit={(event) => {
            event.preventDefault();
            // An unchanged position keeps its game.
            const isSame = fen === fenOfSetUp(setUpFromFen(game.at.peek().position.fen));
            if (isSame || game.takeFen(fen).kind === "game") {
              setUp.reset();
              leave();
            }
          }}
        >
          <h2 id="set-up-title">Set up a position</h2>
          <label class="set-up-fen">
            FEN
            <input
              type="text"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={fen}
              {...selectAtClick}
              onPaste={({ currentTarget, clipboardData }) => {
                if (isComplete(clipboardData?.getData("text/plain") ?? "")) {
                  currentTarget.select();
                }
              }}
              aria-invalid={read.kind === "violations"}
              aria-describedby="set-up-notes"
              onInput={({ currentTarget: { value } }) => {
                if (hasBoard(value)) {
                  setUp.change(setUpFromFen(value));
                }
                typed.value = value;
              }}
            />
          </label>
          <ul id="set-up-notes" class="set-up-notes" aria-live="polite">
            {(read.kind === "violations" ? read.violations : read.game.warnings).map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
            {read.kind === "game" && read.game.start.position.chess960 && (
              <li>This is a position of Chess960.</li>
            )}
          </ul>
          <fieldset class="row">
            <legend>To move</legend>
            {(["white", "black"] as const).map((color) => (
              <label key={color} class="choice">
                <input
                  type="radio"
                  name="turn"
                  checked={turn === color}
                  onChange={() => change({ turn: color })}
                />
                {colourName(color)}
              </label>
            ))}
          </fieldset>
          <fieldset class="set-up-rights">
            <legend>Castling</legend>
            {rightLetters.map((right) => (
              <label key={right} class="choice">
                <input
                  type="checkbox"
                  checked={rights[right] !== undefined}
                  onChange={({ currentTarget: { checked } }) => {
                    const { [right]: _, ...others } = rights;
                    change({ rights: checked ? { ...others, [right]: right } : others });
                  }}
                />
                {rightNames[right]}
              </label>
            ))}
          </fieldset>
          <label class="row">
            En passant
            <select
              value={enPassant}
              onChange={({ currentTarget }) => change({ enPassant: currentTarget.value })}
            >
              <option value="-">none</option>
              {enPassantSquares(setUp.now.value).map((square) => (
                <option key={square} value={square}>
                  {square}
                </option>
              ))}
            </select>
          </label>
          <div class="row">
            <button type="button" onClick={() => change(startSetUp)}>
              Start position
            </button>
            <button type="button" onClick={() => change(emptySetUp)}>
              Clear
            </button>
            <label class="row">
              Chess960, 0 to {chess960Max}
              <input
                type="number"
                min={0}
                max={chess960Max}
                onInput={({ currentTarget: { value, valueAsNumber, validity } }) => {
                  if (value !== "" && validity.valid) {
                    change(chess960SetUp(valueAsNumber));
                  }
                }}
              />
            </label>
          </div>
          <div class="row">
            <button type="submit" class="first" disabled={read.kind === "violations"}>
              Done
            </button>
            <button
              type="button"
              onClick={() => {
                setUp.reset();
                leave();
              }}
            >
              Cancel
            </button>
          </div>
        </form>
      </BoardView>
    </section>
  );
}

interface ToolsProps {
  readonly tool: Tool;
  readonly onTool: (tool: Tool) => void;
  readonly onDrag: (piece: Piece, event: MouseEvent | TouchEvent) => void;
}

function Tools({ tool, onTool, onDrag }: ToolsProps) {
  const { game } = usePage();
  const colours: readonly Color[] =
    game.orientation.value === "white" ? ["black", "white"] : ["white", "black"];
  const pieces = colours.flatMap((color) => roles.map((role): Piece => ({ color, role })));
  const isOn = (piece: Piece) =>
    typeof tool === "object" && tool.color === piece.color && tool.role === piece.role;
  return (
    // biome-ignore lint/a11y/useSemanticElements: A fieldset cannot be a grid in Chromium.
    <div class="set-up-tools cg-wrap" role="group" aria-label="What a click does">
      {(
        [
          ["move", "Move"],
          ["remove", "Remove"],
        ] as const
      ).map(([name, label]) => (
        <button
          key={name}
          type="button"
          class="set-up-tool"
          aria-pressed={tool === name}
          onClick={() => onTool(name)}
        >
          <Icon name={name} /> {label}
        </button>
      ))}
      <button type="button" class="set-up-tool quiet" aria-label="Flip board" onClick={game.flip}>
        <Icon name="flip" /> Flip
      </button>
      {pieces.map((piece) => {
        const drag = (event: MouseEvent | TouchEvent) => onDrag(piece, event);
        return (
          <button
            key={`${piece.color} ${piece.role}`}
            type="button"
            class="set-up-piece"
            aria-pressed={isOn(piece)}
            aria-label={pieceInWords(piece)}
            onMouseDown={drag}
            onTouchStart={drag}
            onClick={() => onTool(piece)}
          >
            {h("piece", { class: `${piece.role} ${piece.color}` })}
          </button>
        );
      })}
    </div>
  );
}
