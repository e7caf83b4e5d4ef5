import { Chessground } from "@lichess-org/chessground";
import type { Api } from "@lichess-org/chessground/api";
import type { Config } from "@lichess-org/chessground/config";
import { type DrawBrush, type DrawShape, start as startDrawing } from "@lichess-org/chessground/draw";
import type { MouchEvent } from "@lichess-org/chessground/types";
import type { Color, Piece, Role, SquareName } from "chessops/types";
import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { Cursor } from "./cursor.tsx";
import { type Drawing, drawingOfShape, shapeOfDrawing } from "./drawing.ts";
import { focusBoard } from "./focus-board.ts";
import { Promotion } from "./promotion.tsx";
import { type Orientation, piecesOf } from "./squares.ts";
import "@lichess-org/chessground/assets/chessground.base.css";
import "@lichess-org/chessground/assets/chessground.brown.css";
import "@lichess-org/chessground/assets/chessground.cburnett.css";
import "./board.css";

export interface Arrow {
  readonly from: SquareName;
  readonly to: SquareName;
  /** The rank of the engine's line. 1 is the best line. */
  readonly rank: number;
}

export interface Glyph {
  readonly square: SquareName;
  readonly sign: string;
  readonly colour: string;
}

type BoardUse =
  | { readonly kind: "look" }
  | {
      readonly kind: "play";
      readonly turn: Color;
      readonly targets: ReadonlyMap<SquareName, readonly SquareName[]>;
      readonly chess960: boolean;
      readonly onMove: (from: SquareName, to: SquareName, promotion: Role | undefined) => void;
    }
  | {
      readonly kind: "set-up";
      /** The piece that a click puts on a square. `nothing` removes a piece. If undefined, the user can move the pieces. */
      readonly brush: Piece | "nothing" | undefined;
      /** Called with the first field of a FEN after each change. */
      readonly onPieces: (boardFen: string) => void;
      readonly onPaint: (square: SquareName) => void;
    };

interface BoardProps {
  readonly label: string;
  /** A FEN, or only the first field of a FEN. */
  readonly fen: string;
  readonly orientation: Orientation;
  readonly lastMove?: readonly SquareName[] | undefined;
  /** The side whose king is in check. */
  readonly check?: Color | undefined;
  readonly arrows?: readonly Arrow[];
  readonly glyph?: Glyph | undefined;
  readonly drawings?: readonly Drawing[];
  /** If undefined, the user cannot draw. */
  readonly onDraw?: ((drawings: readonly Drawing[]) => void) | undefined;
  /** True if a touch draws instead of moving a piece. */
  readonly isDrawing?: boolean;
  readonly use: BoardUse;
  readonly onReady?: (api: Api) => void;
}

export function Board(props: BoardProps) {
  const { label, fen, orientation, arrows = [], glyph, drawings = [], onDraw, use } = props;
  const place = useRef<HTMLDivElement>(null);
  const board = useRef<Api>(undefined);
  // Chessground keeps its first callbacks, so the callbacks read the latest props here.
  const latest = useRef(props);
  latest.current = props;
  const [held, setHeld] = useState<SquareName>();
  const [promoting, setPromoting] = useState<readonly [from: SquareName, to: SquareName]>();

  const show = () => board.current?.set(configOf(latest.current));
  useEffect(() => {
    const moved = (from: string, to: string) => onMoved(from as SquareName, to as SquareName);
    if (place.current) {
      board.current = Chessground(place.current, {
        ...configOf(latest.current),
        animation: { enabled: !matchMedia("(prefers-reduced-motion: reduce)").matches, duration: 150 },
        premovable: { enabled: false },
        events: { change: onChanged, select: onSelected },
        drawable: { onChange: onDrawn },
        movable: { ...configOf(latest.current).movable, events: { after: moved } },
      });
      Object.assign(board.current.state.drawable.brushes, engineBrushes);
      latest.current.onReady?.(board.current);
    }
    return () => board.current?.destroy();
  }, []);
  useEffect(() => {
    show();
    setHeld(undefined);
    setPromoting(undefined);
  }, [fen, orientation, props.lastMove?.join(), props.check, use.kind, targetsOf(use), brushOf(use)]);
  const signs = glyph ? [{ orig: glyph.square, label: { text: glyph.sign, fill: glyph.colour } }] : [];
  const shapes = [...arrows.map(shapeOf), ...signs];
  useEffect(() => board.current?.setAutoShapes(shapes), [JSON.stringify(shapes)]);

  const drawn = drawings.map(shapeOfDrawing);
  // Chessground removes the drawings at each change of the position, so this effect follows the effect above.
  useEffect(() => board.current?.setShapes(drawn), [JSON.stringify(drawn), fen]);

  function draw(drawing: Drawing) {
    const others = drawings.filter(({ from, to }) => from !== drawing.from || to !== drawing.to);
    const isErased = others.length < drawings.length;
    const name = drawing.to ? `Arrow from ${drawing.from} to ${drawing.to}` : `Circle on ${drawing.from}`;
    announce(`${name} ${isErased ? "erased" : "drawn"}.`);
    onDraw?.(isErased ? others : [...drawings, drawing]);
  }

  function onDrawn(shapes: readonly DrawShape[]) {
    latest.current.onDraw?.(shapes.map(drawingOfShape));
  }

  /** Chessground erases all drawings at a click, so it may draw only during a click with the right button. */
  function enableDrawing(isDrawing: boolean) {
    if (board.current) {
      board.current.state.drawable.enabled = isDrawing && latest.current.onDraw !== undefined;
    }
  }

  function onTouch(event: TouchEvent) {
    const isDrawing = props.isDrawing === true && onDraw !== undefined;
    enableDrawing(isDrawing);
    if (board.current && isDrawing) {
      // By itself, Chessground draws only with a mouse.
      startDrawing(board.current.state, event as MouchEvent);
    }
  }

  function onMoved(from: SquareName, to: SquareName) {
    const { use: now, fen: shown } = latest.current;
    setHeld(undefined);
    if (now.kind !== "play") {
      return;
    }
    const isPawn = piecesOf(shown).get(from)?.role === "pawn";
    if (isPawn && /[18]$/.test(to)) {
      setPromoting([from, to]);
    } else {
      now.onMove(from, to, undefined);
    }
  }

  function onChanged() {
    const { use: now } = latest.current;
    if (now.kind === "set-up" && board.current) {
      now.onPieces(board.current.getFen());
    }
  }

  function onSelected(square: string) {
    const { use: now } = latest.current;
    if (now.kind === "set-up" && now.brush !== undefined) {
      now.onPaint(square as SquareName);
    }
    noteHeld();
  }

  const noteHeld = () => setHeld(board.current?.state.selected as SquareName | undefined);
  const choose = (square: SquareName) => {
    board.current?.selectSquare(square);
    noteHeld();
  };

  const endPromotion = () => {
    setPromoting(undefined);
    show();
  };
  const targets = use.kind === "play" && held ? (use.targets.get(held) ?? []) : [];
  return (
    <div class="board" onPointerDown={focusBoard}>
      <div
        ref={place}
        class="board-drawn"
        aria-hidden="true"
        onMouseDownCapture={({ button, shiftKey }) => enableDrawing(button === 2 || shiftKey)}
        onTouchStartCapture={onTouch}
        onContextMenu={(event) => event.preventDefault()}
      />
      <Cursor
        label={label}
        fen={fen}
        orientation={orientation}
        held={held}
        targets={targets}
        onChoose={use.kind === "look" ? undefined : choose}
        onDraw={onDraw && draw}
        onRelease={() => {
          board.current?.selectSquare(null);
          noteHeld();
        }}
      />
      {promoting && use.kind === "play" && (
        <Promotion
          color={use.turn}
          square={promoting[1]}
          orientation={orientation}
          onCancel={endPromotion}
          onChoose={(role) => {
            setPromoting(undefined);
            use.onMove(...promoting, role);
          }}
        />
      )}
    </div>
  );
}

const targetsOf = (use: BoardUse) => (use.kind === "play" ? use.targets : undefined);
const brushOf = (use: BoardUse) => (use.kind === "set-up" ? use.brush : undefined);

function shapeOf({ from, to, rank }: Arrow): DrawShape {
  return { orig: from, dest: to, brush: rank === 1 ? "best" : "other" };
}

/** The arrows of the engine. The pieces stay visible below them, and the contrast to each square is at least 3. */
const engineBrushes: Readonly<Record<string, DrawBrush>> = {
  best: { key: "best", color: "#0018b8", opacity: 0.75, lineWidth: 12 },
  other: { key: "other", color: "#222222", opacity: 0.7, lineWidth: 7 },
};

function configOf({ fen, orientation, lastMove, check, use }: BoardProps): Config {
  const isSetUp = use.kind === "set-up";
  const moves = isSetUp && use.brush === undefined;
  return {
    fen,
    orientation,
    coordinates: true,
    ranksPosition: "left",
    ...(use.kind === "play" && { turnColor: use.turn }),
    lastMove: lastMove ? [...lastMove] : [],
    check: check ?? false,
    draggable: { enabled: use.kind === "play" || moves, deleteOnDropOff: isSetUp },
    selectable: { enabled: use.kind === "play" || moves },
    movable: {
      free: isSetUp,
      color: use.kind === "play" ? use.turn : "both",
      dests: use.kind === "play" ? new Map([...use.targets].map(([from, to]) => [from, [...to]])) : new Map(),
      showDests: true,
      rookCastle: use.kind === "play" && use.chess960,
    },
  };
}
