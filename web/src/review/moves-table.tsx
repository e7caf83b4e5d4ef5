import { useEffect, useRef } from "preact/hooks";
import { scoreText } from "../parts/score-text.ts";
import { texts } from "../texts.ts";
import { judgedOf } from "./judged.ts";
import { goTo, place } from "./looked-at.ts";
import { moveRows } from "./move-number.ts";
import type { PlayedGame } from "./played-game.ts";
import { explained } from "./run-review.ts";
import "./tables.css";

const words = texts.review;

/** The moves as they are written down, each with its sign and evaluation; a click leads to it. */
export function MovesTable({ game }: { readonly game: PlayedGame }) {
  const list = useRef<HTMLDivElement>(null);
  const { ply } = place.value;
  useEffect(() => {
    const { current } = list;
    const row = current?.querySelector("[aria-current]")?.closest("tr");
    if (current && row) {
      // By itself, `scrollIntoView` would move the page, too.
      const top = row.offsetTop - (current.clientHeight - row.offsetHeight) / 2;
      current.scrollTop = ply === 0 ? 0 : top;
    } else if (current) {
      current.scrollTop = 0;
    }
  }, [ply]);
  return (
    <div ref={list} class="moves-table panel">
      <table>
        <caption class="heard-only">{words.moves}</caption>
        <thead class="heard-only">
          <tr>
            {[words.number, words.white, words.black].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {moveRows(game.startFen, game.moves.length).map(({ number, white, black }) => (
            <tr key={number}>
              <th scope="row">{number}</th>
              {[white, black].map((at, index) => (
                <td key={index === 0 ? "white" : "black"}>
                  {at !== undefined && <MoveButton game={game} ply={at} isCurrent={at === ply} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface MoveButtonProps {
  readonly game: PlayedGame;
  readonly ply: number;
  readonly isCurrent: boolean;
}

function MoveButton({ game, ply, isCurrent }: MoveButtonProps) {
  const reviewed = explained.value[ply - 1];
  const judged = judgedOf(reviewed);
  // One stop for the tab key among hundreds of moves: arrows go on from there.
  const isStop = isCurrent || (place.value.ply === 0 && ply === 1);
  return (
    <button
      type="button"
      class="quiet move-button"
      tabIndex={isStop ? 0 : -1}
      {...(isCurrent && { "aria-current": "true" as const })}
      onClick={() => goTo({ ply, step: 0 })}
    >
      <span class={judged?.name}>
        {game.moves[ply - 1]?.san}
        {judged && (
          <>
            <span aria-hidden="true">{judged.sign}</span>
            <span class="heard-only">, {words.judgements[judged.name].one}</span>
          </>
        )}
      </span>
      <span class="move-score quiet-text">{scoreText(reviewed?.evaluation)}</span>
    </button>
  );
}
