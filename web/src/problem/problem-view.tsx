import type { JsonObject } from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import type { Wait } from "../client/keep-asking.ts";
import { failureOf } from "../client/problem.ts";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { Countdown } from "./countdown.tsx";
import { focusKeyField } from "./focus-key-field.ts";
import { pageOf, problemWords, suggestionWords } from "./problem-words.ts";
import "./problem-view.css";

interface ProblemViewProps {
  /** If the page aborted the call, the error is not shown. */
  readonly error: unknown;
  readonly wait?: Wait | undefined;
  readonly onCancel?: (() => void) | undefined;
  onRetry(): void;
  /** Sends the corrected request that the error contains. If undefined, the button is missing. */
  readonly onSend?: ((suggested: JsonObject) => void) | undefined;
  /** Another button. */
  readonly children?: ComponentChildren;
}

export function ProblemView(props: ProblemViewProps) {
  const { error } = props;
  const { client, request } = usePage();
  const titleId = useId();
  const view = useRef<HTMLElement>(null);
  const words = problemWords(error, {
    limits: client.account.limits.value,
    searchMoves: request.search.value.searchMoves ?? [],
  });
  useEffect(() => {
    if (words) {
      announce([words.title, ...words.details].join(". "));
      view.current?.scrollIntoView({ block: "nearest" });
    }
  }, [error]);
  if (words === undefined) {
    return null;
  }
  const failure = failureOf(error);
  const problem = failure.kind === "problem" ? failure.problem : undefined;
  return (
    <section ref={view} class="problem" aria-labelledby={titleId}>
      <h3 id={titleId}>{words.title}</h3>
      {words.details.length === 1 && <p>{words.details[0]}</p>}
      {words.details.length > 1 && (
        <ul>
          {words.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      <WaysOut {...props} problem={problem} />
      {problem?.requestId && <Reference problem={problem} />}
    </section>
  );
}

const limits: ReadonlySet<string> = new Set(["rate_limited", "quota_exhausted", "concurrency_limited"]);

interface WaysOutProps extends ProblemViewProps {
  readonly problem: Problem | undefined;
}

function WaysOut({ problem, wait, onCancel, onRetry, onSend, children }: WaysOutProps) {
  const { account, key, offer } = usePage().client;
  const retry = wait?.retry ?? onRetry;
  // A free key has higher limits.
  const isLimit = limits.has(problem?.code ?? "") && key.value === "" && account.issuesKeys.value;
  const needsKey = isLimit || problem?.code === "api_key_required" || problem?.nextAction === "get_api_key";
  const isKeyless = offer.price.value?.plans.some(({ requiresKey }) => !requiresKey) ?? true;
  const suggested = problem?.suggestedRequest;
  return (
    <>
      <div class="problem-ways row">
        {problem && suggested && onSend && (
          <button type="button" class="first" onClick={() => onSend(suggested)}>
            {suggestionWords(problem, account.limits.value)}
          </button>
        )}
        {children}
        {(isLimit || problem?.nextAction === "get_api_key") && <GetKey onGot={retry} />}
        {needsKey && (
          <button type="button" onClick={focusKeyField}>
            Enter a key
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
              Correct the key
            </button>
            {isKeyless && (
              <button
                type="button"
                onClick={() => {
                  key.value = "";
                  retry();
                }}
              >
                Go on without a key
              </button>
            )}
          </>
        )}
        {!wait && (problem?.retryable ?? true) && (
          <button type="button" class="first" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
      {wait && <Countdown wait={wait} onCancel={onCancel} />}
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
        Get a free key
      </button>
      {refusal !== undefined && <ProblemView error={refusal} onRetry={get} />}
    </>
  );
}

function Reference({ problem }: { readonly problem: Problem }) {
  const page = pageOf(problem);
  return (
    <details class="quiet-text">
      <summary>Details</summary>
      <p class="problem-reference row">
        {page && <a href={page}>About {problem.code}</a>}
        <span>
          Request <code>{problem.requestId}</code>
        </span>
      </p>
    </details>
  );
}
