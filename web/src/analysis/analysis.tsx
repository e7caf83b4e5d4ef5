import { useEffect } from "preact/hooks";
import { linkToHere, played } from "../address.ts";
import { BoardView } from "../board/board-view.tsx";
import { EvaluationBar } from "../board/evaluation-bar.tsx";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { RequestForm } from "../request/request-form.tsx";
import { texts } from "../texts.ts";
import { analyseByItself } from "./auto.ts";
import { FenField, LinkFault } from "./fen-field.tsx";
import { tellChanges } from "./heard.ts";
import { evaluations } from "./live.ts";
import { MoveField } from "./move-field.tsx";
import { MoveList, MoveSteps, stepByKeys } from "./move-list.tsx";
import { scoreNow } from "./score-now.ts";
import { SearchPanel } from "./search-panel.tsx";
import { ShownBoard } from "./shown-board.tsx";
import { flip, position } from "./state.ts";
import "./analysis.css";

const words = texts.analysis;

/** A position on a board, and what the engine says of it while it searches. */
export function Analysis() {
  useEffect(() => {
    const ends = [analyseByItself(), tellChanges()];
    return () => {
      for (const end of ends) {
        end();
      }
    };
  }, []);

  return (
    <section aria-labelledby="analysis-title">
      <h2 id="analysis-title" class="heard-only">
        {words.title}
      </h2>
      <LinkFault />
      <Play />
    </section>
  );
}

function Play() {
  const { address } = usePage();
  const latest = evaluations.value.at(-1);
  useEffect(stepByKeys, []);
  return (
    <BoardView
      bar={
        <EvaluationBar
          percent={scoreNow.value.percent}
          score={scoreNow.value.text}
          orientation={played.value.orientation}
        />
      }
      board={<ShownBoard lines={latest?.lines ?? []} />}
      tools={
        <>
          <MoveSteps />
          <button type="button" class="quiet" aria-label={words.flip} title={words.flip} onClick={flip}>
            <Icon name="flip" /> Flip
          </button>
          <button type="button" class="quiet" onClick={() => address.show("set-up")}>
            <Icon name="setUp" /> {words.setUp}
          </button>
          <CopyButton
            label={words.copyLink}
            face="Link"
            icon="link"
            done={words.linkCopied}
            isQuiet
            text={linkToHere}
          />
          <CopyButton
            label={words.copyFen}
            face="FEN"
            icon="copy"
            done={words.fenCopied}
            isQuiet
            text={() => position.peek().fen}
          />
        </>
      }
    >
      <SearchPanel />
      <div class="panel stack">
        <MoveList />
        <MoveField />
        <FenField />
      </div>
      <div class="panel">
        <RequestForm />
      </div>
    </BoardView>
  );
}
