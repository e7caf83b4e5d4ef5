import type { Api } from "@lichess-org/chessground/api";
import { useSignal } from "@preact/signals";
import type { Color, Piece, Role } from "chessops/types";
import { h } from "preact";
import { useRef } from "preact/hooks";
import { played } from "../address.ts";
import { Board } from "../board/board.tsx";
import { pieceInWords } from "../board/words.ts";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { boardWith } from "./board-with.ts";
import { readPlay } from "./play.ts";
import {
  emptySetUp,
  enPassantSquares,
  fenOfSetUp,
  rightLetters,
  type SetUp,
  setUpFromFen,
  startSetUp,
} from "./set-up.ts";
import { position, takeFen } from "./state.ts";
import "./set-up-panel.css";

const words = texts.setUp;
const roles: readonly Role[] = ["king", "queen", "rook", "bishop", "knight", "pawn"];
type Tool = "hand" | "eraser" | `${Color} ${Role}`;

/** A board on which anything can be put anywhere, and what a board does not show. */
export function SetUpPanel({ onEnd }: { readonly onEnd: () => void }) {
  const setUp = useSignal<SetUp>(setUpFromFen(position.peek().fen));
  const tool = useSignal<Tool>("hand");
  const board = useRef<Api>(undefined);
  const change = (part: Partial<SetUp>) => {
    const next = { ...setUp.value, ...part };
    const { enPassant } = next;
    setUp.value = {
      ...next,
      enPassant: enPassantSquares(next).find((square) => square === enPassant) ?? "-",
    };
  };
  const fen = fenOfSetUp(setUp.value);
  const read = readPlay(fen, []);
  const brush = brushOf(tool.value);

  return (
    <section class="set-up" aria-labelledby="set-up-title">
      <div class="set-up-board">
        <Spares
          color="black"
          tool={tool.value}
          onTool={(next) => (tool.value = next)}
          board={() => board.current}
        />
        <Board
          label={words.board}
          fen={setUp.value.board}
          orientation={played.value.orientation}
          onReady={(api) => {
            board.current = api;
          }}
          use={{
            kind: "set-up",
            brush,
            onPieces: (pieces) => change({ board: pieces }),
            onPaint: (square) => {
              const piece = brush === "nothing" ? undefined : brush;
              change({ board: boardWith(setUp.value.board, square, piece) });
              announce(`${square}, ${piece ? pieceInWords(piece) : texts.board.empty}`);
            },
          }}
        />
        <Spares
          color="white"
          tool={tool.value}
          onTool={(next) => (tool.value = next)}
          board={() => board.current}
        />
      </div>
      <form
        class="panel stack set-up-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (takeFen(fen).kind === "play") {
            onEnd();
          }
        }}
      >
        <h3 id="set-up-title">{words.title}</h3>
        <fieldset class="row">
          <legend>{words.turn}</legend>
          {(["white", "black"] as const).map((color) => (
            <label key={color} class="choice">
              <input
                type="radio"
                name="turn"
                checked={setUp.value.turn === color}
                onChange={() => change({ turn: color })}
              />
              {texts.board.colours[color]}
            </label>
          ))}
        </fieldset>
        <fieldset class="set-up-rights">
          <legend>{words.castling}</legend>
          {rightLetters.map((right) => (
            <label key={right} class="choice">
              <input
                type="checkbox"
                checked={setUp.value.rights[right] !== undefined}
                onChange={({ currentTarget: { checked } }) => {
                  const { [right]: _, ...others } = setUp.value.rights;
                  change({ rights: checked ? { ...others, [right]: right } : others });
                }}
              />
              {words.rights[right]}
            </label>
          ))}
        </fieldset>
        <label class="row">
          {words.enPassant}
          <select
            value={setUp.value.enPassant}
            onChange={({ currentTarget }) => change({ enPassant: currentTarget.value })}
          >
            <option value="-">{words.none}</option>
            {enPassantSquares(setUp.value).map((square) => (
              <option key={square} value={square}>
                {square}
              </option>
            ))}
          </select>
        </label>
        <div class="row">
          <button type="button" onClick={() => change(startSetUp)}>
            {words.start}
          </button>
          <button type="button" onClick={() => change(emptySetUp)}>
            {words.clear}
          </button>
        </div>
        <ul class="set-up-notes" aria-live="polite">
          {(read.kind === "faults" ? read.faults : read.play.warnings).map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
          {read.kind === "play" && read.play.positions[0]?.chess960 && <li>{words.chess960}</li>}
        </ul>
        <div class="row">
          <button type="submit" class="first" disabled={read.kind === "faults"}>
            {words.done}
          </button>
          <button type="button" onClick={onEnd}>
            {words.cancel}
          </button>
        </div>
      </form>
    </section>
  );
}

function brushOf(tool: Tool): Piece | "nothing" | undefined {
  if (tool === "hand") {
    return undefined;
  }
  if (tool === "eraser") {
    return "nothing";
  }
  const [color, role] = tool.split(" ") as [Color, Role];
  return { color, role };
}

interface SparesProps {
  readonly color: Color;
  readonly tool: Tool;
  readonly onTool: (tool: Tool) => void;
  readonly board: () => Api | undefined;
}

/** Pieces to be dragged onto the board, or chosen for what a click puts there. */
function Spares({ color, tool, onTool, board }: SparesProps) {
  const tools: readonly Tool[] = [
    color === "white" ? "hand" : "eraser",
    ...roles.map((role) => `${color} ${role}` as const),
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: A fieldset cannot be a row of a grid in Chromium.
    <div class="spares cg-wrap" role="group" aria-label={`${words.pieces}: ${texts.board.colours[color]}`}>
      {tools.map((name) => {
        const piece = brushOf(name);
        const label = name === "hand" ? words.hand : name === "eraser" ? words.eraser : undefined;
        const drag = (event: MouseEvent | TouchEvent) => {
          if (typeof piece === "object") {
            board()?.dragNewPiece(piece, event, true);
          }
        };
        return (
          <button
            key={name}
            type="button"
            class="spare"
            aria-pressed={tool === name}
            aria-label={label ?? (typeof piece === "object" ? pieceInWords(piece) : undefined)}
            title={label}
            onMouseDown={drag}
            onTouchStart={drag}
            onClick={() => onTool(name)}
          >
            {typeof piece === "object" ? (
              h("piece", { class: `${piece.role} ${piece.color}` })
            ) : (
              <ToolIcon name={name} />
            )}
          </button>
        );
      })}
    </div>
  );
}

function ToolIcon({ name }: { readonly name: Tool }) {
  const path = name === "hand" ? "M3 2l9 5-4 1-2 5z" : "M3 3l10 10M13 3L3 13";
  return (
    <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.75" stroke-linejoin="round" />
    </svg>
  );
}
