import type { JsonObject } from "@bufbuild/protobuf";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import type { Wait } from "../client/keep-asking.ts";
import { failureOf } from "../client/problem.ts";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { Countdown } from "./countdown.tsx";
import { focusKeyField } from "./focus-key-field.ts";
import { pageOf, problemWords, suggestionWords } from "./problem-words.ts";
import "./problem-view.css";

const words = texts.problem;

interface ProblemViewProps {
  /** The error that a call threw. If the page aborted the call, nothing is shown. */
  readonly error: unknown;
  /** The pause if the page asks again by itself. */
  readonly wait?: Wait | undefined;
  /** Ends the pause. */
  readonly onCancel?: (() => void) | undefined;
  /** Asks the same again. */
  onRetry(): void;
  /**
   * Asks what the service suggests instead, in plain JSON; `messageFromPlain` makes a message of it. Without it there is
   * no such button.
   */
  readonly onSend?: ((suggested: JsonObject) => void) | undefined;
}

/** Explains the failure of a call, with a button for each way out. */
export function ProblemView(props: ProblemViewProps) {
  const { error } = props;
  const { client, request } = usePage();
  const titleId = useId();
  const view = useRef<HTMLElement>(null);
  const told = problemWords(error, {
    limits: client.account.limits.value,
    searchMoves: request.search.value.searchMoves ?? [],
  });
  useEffect(() => {
    if (told) {
      announce([told.title, ...told.details].join(". "));
      view.current?.scrollIntoView({ block: "nearest" });
    }
  }, [error]);
  if (told === undefined) {
    return null;
  }
  const failure = failureOf(error);
  const problem = failure.kind === "problem" ? failure.problem : undefined;
  return (
    <section ref={view} class="problem" aria-labelledby={titleId}>
      <h3 id={titleId}>{told.title}</h3>
      {told.details.length === 1 && <p>{told.details[0]}</p>}
      {told.details.length > 1 && (
        <ul>
          {told.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      <WaysOut {...props} problem={problem} />
      {problem && <Reference problem={problem} />}
    </section>
  );
}

interface WaysOutProps extends ProblemViewProps {
  readonly problem: Problem | undefined;
}

function WaysOut({ problem, wait, onCancel, onRetry, onSend }: WaysOutProps) {
  const { account, key } = usePage().client;
  const retry = wait?.retry ?? onRetry;
  const needsKey = problem?.code === "api_key_required" || problem?.nextAction === "get_api_key";
  const suggested = problem?.suggestedRequest;
  return (
    <>
      {wait && <Countdown wait={wait} onCancel={onCancel} />}
      <div class="problem-ways">
        {problem && suggested && onSend && (
          <button type="button" class="first" onClick={() => onSend(suggested)}>
            {suggestionWords(problem, account.limits.value)}
          </button>
        )}
        {problem?.nextAction === "get_api_key" && <GetKey onGot={retry} />}
        {needsKey && (
          <button type="button" onClick={focusKeyField}>
            {words.enterKey}
          </button>
        )}
        {problem?.nextAction === "check_api_key" && (
          <>
            <button
              type="button"
              class="first"
              onClick={() => {
                key.value = "";
                focusKeyField();
              }}
            >
              {words.changeKey}
            </button>
            <button
              type="button"
              onClick={() => {
                key.value = "";
                retry();
              }}
            >
              {words.withoutKey}
            </button>
          </>
        )}
        {!wait && (problem?.retryable ?? true) && (
          <button type="button" class="first" onClick={onRetry}>
            {words.retry}
          </button>
        )}
      </div>
    </>
  );
}

function GetKey({ onGot }: { onGot(): void }) {
  const { account } = usePage().client;
  const [isAsking, setIsAsking] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  if (!account.issuesKeys.value) {
    return null;
  }
  const get = () => {
    setIsAsking(true);
    setRefusal(undefined);
    account
      .create()
      .then(onGot, setRefusal)
      .finally(() => setIsAsking(false));
  };
  return (
    <>
      <button type="button" disabled={isAsking} onClick={get}>
        {words.getKey}
      </button>
      {refusal !== undefined && <ProblemView error={refusal} onRetry={get} />}
    </>
  );
}

function Reference({ problem }: { readonly problem: Problem }) {
  const page = pageOf(problem);
  return (
    <p class="problem-reference">
      {page && <a href={page}>{words.about(problem.code)}</a>}
      <span>
        {words.requestId} <code>{problem.requestId}</code>
      </span>
    </p>
  );
}
