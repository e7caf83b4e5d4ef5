import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clockOf } from "../../../src/game/game.ts";
import { glyphsOfNags } from "../../../src/game/read-word.ts";
import { commentTexts, type GameNode, mainlineOf } from "../game/game.ts";
import { ownNags } from "../game/pgn.ts";
import { usePage } from "../page.ts";
import { clockText } from "./clock-text.ts";
import { moveNumber } from "./move-number.ts";
import "./moves.css";

export interface MoveNote {
  readonly score: string;
  readonly judged: { readonly sign: string; readonly name: string } | undefined;
}

interface MoveListProps {
  readonly noteOf?: (node: GameNode) => MoveNote | undefined;
}

export function MoveList({ noteOf }: MoveListProps) {
  const { game, at, goTo } = usePage().game;
  const list = useRef<HTMLOListElement>(null);
  const current = at.value;
  useEffect(() => {
    const { current: place } = list;
    if (!place) {
      return;
    }
    // Scroll only the list: `scrollIntoView` would also scroll the page.
    const scroll = () => {
      const button = place.querySelector<HTMLElement>("[aria-current]");
      place.scrollTop = button ? button.offsetTop - (place.clientHeight - button.offsetHeight) / 2 : 0;
    };
    scroll();
    // The list becomes shorter when the lines of the analysis arrive.
    const sizes = new ResizeObserver(scroll);
    sizes.observe(place);
    return () => sizes.disconnect();
  }, [current]);
  const { start } = game.value;
  const line = mainlineOf(game.value);
  const commentsOf = (node: GameNode) => commentTexts(node.comments, noteOf?.(node) !== undefined);
  const move = (node: GameNode, isNumbered: boolean) => (
    <MoveButton
      key={node.id}
      node={node}
      note={noteOf?.(node)}
      isNumbered={isNumbered}
      isCurrent={node === current}
      isTabStop={node === current || (current === start && node === line[1])}
      onChoose={() => goTo(node)}
    />
  );
  return (
    <ol ref={list} class="move-list figures" aria-label="Moves">
      {start.comments.length > 0 && (
        <li>
          <Comments texts={commentTexts(start.comments)} />
        </li>
      )}
      {rowsOf(line, commentsOf).map(([first, second]) => {
        const isBlack = first.node.position.turn === "white";
        const hasNotes = isInterrupted(first);
        const number = moveNumber(first.node.position).replace(/\D/, "");
        return (
          <li key={first.node.id} class="move-row">
            <span class="move-number">{number}</span>
            {isBlack && <span class="move-gap">…</span>}
            {move(first.node, false)}
            {hasNotes && <Notes {...first} move={move} />}
            {hasNotes && second && (
              <>
                <span class="move-number">{number}</span>
                <span class="move-gap">…</span>
              </>
            )}
            {second && move(second.node, false)}
            {second && <Notes {...second} move={move} />}
          </li>
        );
      })}
    </ol>
  );
}

interface Entry {
  readonly node: GameNode;
  readonly comments: readonly string[];
  readonly variations: readonly GameNode[];
}

/** Groups the moves in pairs of White and Black. Only the first pair may begin with Black. */
function rowsOf(
  line: readonly GameNode[],
  commentsOf: (node: GameNode) => readonly string[],
): readonly (readonly [Entry, Entry?])[] {
  const rows: [Entry, Entry?][] = [];
  for (const [index, node] of line.slice(1).entries()) {
    const entry = { node, comments: commentsOf(node), variations: line[index]?.children.slice(1) ?? [] };
    const row = rows.at(-1);
    if (row && node.position.turn === "white") {
      row.push(entry);
    } else {
      rows.push([entry]);
    }
  }
  return rows;
}

const isInterrupted = ({ comments, variations }: Entry) => variations.length > 0 || comments.length > 0;

type RenderMove = (node: GameNode, isNumbered: boolean) => ComponentChildren;

function Notes({ move, ...entry }: Entry & { readonly move: RenderMove }) {
  return isInterrupted(entry) ? (
    <div class="move-notes">
      <Comments texts={entry.comments} />
      {entry.variations.map((variation) => (
        <Variation key={variation.id} first={variation} move={move} />
      ))}
    </div>
  ) : null;
}

function Variation({ first, move }: { readonly first: GameNode; readonly move: RenderMove }) {
  const parts: ComponentChildren[] = [<Comments key="before" texts={commentTexts(first.startingComments)} />];
  let others: readonly GameNode[] = [];
  let isNumbered = true;
  for (let node: GameNode | undefined = first; node; node = node.children[0]) {
    parts.push(
      move(node, isNumbered || node.position.turn === "black"),
      <Comments key={`after ${node.id}`} texts={commentTexts(node.comments)} />,
      ...others.map((other) => <Variation key={other.id} first={other} move={move} />),
    );
    isNumbered = node.comments.length > 0 || others.length > 0;
    others = node.children.slice(1);
  }
  return <div class="move-variation">{parts}</div>;
}

function Comments({ texts: comments }: { readonly texts: readonly string[] }) {
  return (
    <>
      {comments.map((text) => (
        <span key={text} class="move-comment">
          {text}
        </span>
      ))}
    </>
  );
}

interface MoveButtonProps {
  readonly node: GameNode;
  readonly note: MoveNote | undefined;
  readonly isNumbered: boolean;
  readonly isCurrent: boolean;
  /** The Tab key reaches only one move. The arrow keys select the other moves. */
  readonly isTabStop: boolean;
  onChoose(): void;
}

function MoveButton({ node, note, isNumbered, isCurrent, isTabStop, onChoose }: MoveButtonProps) {
  const judged = note?.judged;
  const clock = clockOf(node.comments);
  const nags = note ? ownNags(node) : node.nags;
  // As in the PGN, the author's own judgement stands instead of the sign of the review.
  const sign = nags.some((nag) => nag <= 6) ? "" : judged?.sign;
  return (
    <button
      type="button"
      class="quiet move"
      tabIndex={isTabStop ? 0 : -1}
      {...(isCurrent && { "aria-current": "step" as const })}
      onClick={onChoose}
    >
      <span class={judged?.name}>
        {isNumbered && <span class="move-number">{moveNumber(node.position)} </span>}
        {node.move?.san}
        {judged && (
          <>
            <span aria-hidden="true">{sign}</span>
            <span class="heard-only">, {judged.name}</span>
          </>
        )}
        {glyphsOfNags(nags)}
      </span>
      {(note || clock !== undefined) && (
        <span class="move-aside quiet-text">
          {clock !== undefined && (
            <span>
              <span class="heard-only">, clock </span>
              {clockText(clock)}
            </span>
          )}
          {note && <span class="move-score">{note.score}</span>}
        </span>
      )}
    </button>
  );
}
