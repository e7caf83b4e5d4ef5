import { useState } from "preact/hooks";
import { serviceUrl } from "../client/client.ts";
import type { Exchange } from "../client/exchange.ts";
import { problemOf } from "../client/problem.ts";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { texts } from "../texts.ts";
import { Code } from "./code.tsx";
import { JsonView } from "./json-view.tsx";
import { KeyField } from "./key-field.tsx";
import { LimitsView } from "./limits-view.tsx";
import { jsonText } from "./quote.ts";
import { shownAnswer, shownCall, shownProblem } from "./shown-call.ts";
import "./api-panel.css";

const words = texts.call;

/** The entry of the browser's storage for people who have opened the panel. */
const place = "kibitz-api-panel";

/** The latest call as code, its answer, the key, and the limits. Folded until somebody opens it. */
export function ApiPanel() {
  const [isOpen, setIsOpen] = useState(wasOpen);
  const exchange = usePage().client.lastExchange.value;
  return (
    <aside class="api-panel panel" aria-labelledby="api-title">
      <details
        open={isOpen}
        onToggle={({ currentTarget: { open } }) => {
          setIsOpen(open);
          keepOpen(open);
        }}
      >
        <summary>
          <h2 id="api-title">{words.title}</h2>
        </summary>
        <div class="api-parts">
          <div class="api-call">{isOpen && <LatestCall exchange={exchange} />}</div>
          <div class="api-caller">
            <KeyField />
            {exchange?.headers && <LimitsView headers={exchange.headers} />}
          </div>
        </div>
      </details>
    </aside>
  );
}

function LatestCall({ exchange }: { readonly exchange: Exchange | undefined }) {
  if (exchange === undefined) {
    return <p class="quiet-text">{words.none}</p>;
  }
  const call = shownCall(exchange, serviceUrl());
  const { method, state, totalMs, headers } = exchange;
  const requestId = headers?.get("X-Request-Id");
  return (
    <>
      <ul class="course">
        <li>
          <b>{method.name}</b> <span>{words.states[state]}</span>
        </li>
        {totalMs !== undefined && <li>{words.took(totalMs)}</li>}
        {requestId && (
          <li>
            {words.requestId} <code>{requestId}</code>
          </li>
        )}
      </ul>
      {call && <Code call={call} />}
      <Answer exchange={exchange} />
    </>
  );
}

function Answer({ exchange: { method, answer, error } }: { readonly exchange: Exchange }) {
  const problem = error === undefined ? undefined : problemOf(error);
  const plain = problem ? shownProblem(problem) : answer && shownAnswer(method, answer);
  return plain === undefined ? null : (
    <div>
      <h3>{words.answer}</h3>
      <div class="code-panel">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys must reach an area that scrolls. */}
        <section class="code-scroll" tabIndex={0} aria-label={words.answer}>
          <JsonView value={plain} />
        </section>
        <CopyButton label={words.copyAnswer} text={() => jsonText(plain)} />
      </div>
    </div>
  );
}

function wasOpen(): boolean {
  try {
    return localStorage.getItem(place) !== null;
  } catch {
    return false;
  }
}

function keepOpen(isOpen: boolean): void {
  try {
    if (isOpen) {
      localStorage.setItem(place, "open");
    } else {
      localStorage.removeItem(place);
    }
  } catch {
    // If the browser stores nothing, the panel is folded on each visit.
  }
}
