import type { JsonObject } from "@bufbuild/protobuf";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { getNewKey, issuesKeys } from "../client/account.ts";
import { key } from "../client/key.ts";
import { loadOffer } from "../client/offer.ts";
import { failureOf } from "../client/problem.ts";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { Countdown } from "./countdown.tsx";
import { focusKeyField, focusKeyFieldSoon } from "./focus-key-field.ts";
import { changesOf, needsKeyOfOperator, pageOf, placeOfFault, tellFailure } from "./tell-problem.ts";
import "./problem-view.css";

const words = texts.problem;

interface ProblemViewProps {
  /** The error that a call threw. If the page aborted the call, nothing is shown. */
  readonly error: unknown;
  /** Asks the same again: pressed, when the time has come that the service named, or when there is a network again. */
  onRetry(): void;
  /**
   * Asks what the service suggests instead, in plain JSON; `messageFromPlain` makes a message of it. Without it there is
   * no such button.
   */
  onSend?(suggested: JsonObject): void;
}

/** Explains the failure of a call, with a button for each way out. */
export function ProblemView({ error, onRetry, onSend }: ProblemViewProps) {
  const failure = failureOf(error);
  const titleId = useId();
  const told = failure.kind === "aborted" ? undefined : tellFailure(failure);
  useEffect(() => {
    if (told) {
      announce(`${told.title}. ${told.detail}`);
    }
  }, [error]);
  if (failure.kind === "aborted" || told === undefined) {
    return null;
  }
  const problem = failure.kind === "problem" ? failure.problem : undefined;
  return (
    <section class="problem" aria-labelledby={titleId}>
      <h3 id={titleId}>{told.title}</h3>
      <p>{told.detail}</p>
      {problem && <Faults problem={problem} />}
      {told.advice && <p>{told.advice}</p>}
      {problem ? (
        <WaysOut problem={problem} error={error} onRetry={onRetry} {...(onSend && { onSend })} />
      ) : (
        <RetryWithNetwork onRetry={onRetry} />
      )}
      {problem && <Reference problem={problem} />}
    </section>
  );
}

/** Each fault. Of a single one the detail has said all but its place in a text. */
function Faults({ problem }: { readonly problem: Problem }) {
  const { errors } = problem;
  const isSaid = errors.length === 1 && errors[0]?.line === undefined;
  return errors.length === 0 || isSaid ? null : (
    <ul>
      {errors.map((fault) => (
        <li key={`${fault.pointer} ${fault.message}`}>
          <code>{placeOfFault(fault)}</code> {fault.message}
        </li>
      ))}
    </ul>
  );
}

function WaysOut({ problem, error, onRetry, onSend }: ProblemViewProps & { readonly problem: Problem }) {
  const { nextAction, suggestedRequest, retryable, retryAfterMs } = problem;
  const changes = changesOf(problem);
  const [stopped, setStopped] = useState<unknown>();
  const waits = retryable && retryAfterMs !== undefined && stopped !== error;
  return (
    <div class="problem-ways">
      {suggestedRequest && onSend && (
        <button type="button" class="first" onClick={() => onSend(suggestedRequest)}>
          {changes === "" ? words.sendSuggested : words.sendWith(changes)}
        </button>
      )}
      {nextAction === "get_api_key" && <GetKey onGot={onRetry} />}
      {needsKeyOfOperator(problem) && <EnterKey />}
      {nextAction === "check_api_key" && (
        <>
          <button type="button" class="first" onClick={changeKey}>
            {words.changeKey}
          </button>
          <button
            type="button"
            onClick={() => {
              key.value = "";
              onRetry();
            }}
          >
            {words.withoutKey}
          </button>
        </>
      )}
      {waits && (
        <Countdown
          ms={retryAfterMs}
          onEnd={() => {
            announce(words.asking);
            onRetry();
          }}
          onStop={() => setStopped(error)}
        />
      )}
      {retryable && !waits && (
        <button type="button" class="first" onClick={onRetry}>
          {words.retry}
        </button>
      )}
    </div>
  );
}

function changeKey(): void {
  key.value = "";
  focusKeyFieldSoon();
}

/** Ignores a failure to load the offer: the call itself reports that the service does not answer. */
function ignoreHere(): void {}

function GetKey({ onGot }: { onGot(): void }) {
  const [isAsking, setIsAsking] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  useEffect(() => void loadOffer().catch(ignoreHere), []);
  if (!issuesKeys.value) {
    return <EnterKey />;
  }
  const get = () => {
    setIsAsking(true);
    setRefusal(undefined);
    getNewKey()
      .then(() => {
        announce(words.gotKey);
        onGot();
      }, setRefusal)
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

function EnterKey() {
  return (
    <button type="button" class="first" onClick={focusKeyField}>
      {words.enterKey}
    </button>
  );
}

/** Without an answer nobody says when to come again; the browser may say that there is a network again. */
function RetryWithNetwork({ onRetry }: { onRetry(): void }) {
  const retry = useRef(onRetry);
  retry.current = onRetry;
  useEffect(() => {
    const again = () => retry.current();
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, []);
  return (
    <div class="problem-ways">
      <button type="button" class="first" onClick={onRetry}>
        {words.retry}
      </button>
    </div>
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
